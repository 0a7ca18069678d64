"""Datapaths in Amaranth, one component an operation, made from the golden parameter objects."""
