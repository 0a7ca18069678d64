"""Building of designs into programs: sources, arguments, error messages and the cache of compiled designs."""
