"""The second implementation: every rule computed again on exact rationals, without importing anything of golden."""
