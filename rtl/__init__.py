"""Datapaths in Amaranth, one component an operation, made from the golden parameter objects; their Verilog and its cost."""

from rtl.cost import MissingTool, cost
from rtl.generated import Generated, generated_formats, generated_tile, generated_unit
from rtl.units import DATAPATHS, datapath
from rtl.verilog import YosysError, multi_format_verilog, tile_verilog, verilog

__all__ = [
    "DATAPATHS",
    "Generated",
    "MissingTool",
    "YosysError",
    "cost",
    "datapath",
    "generated_formats",
    "generated_tile",
    "generated_unit",
    "multi_format_verilog",
    "tile_verilog",
    "verilog",
]
