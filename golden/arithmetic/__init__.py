"""Numbers: formats and their codes, rounding, conversion, special values, and the steps that operations are made of."""
