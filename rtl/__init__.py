"""Datapaths in Amaranth, one component an operation, made from the golden parameter objects."""

from rtl.units import DATAPATHS, datapath
from rtl.verilog import YosysError, multi_format_verilog, tile_verilog, verilog

__all__ = ["DATAPATHS", "YosysError", "datapath", "multi_format_verilog", "tile_verilog", "verilog"]
