"""Golden's own source executed another way: changed by a mutation, or on operands that are a solver's terms."""
