"""Datapaths in Amaranth, one component an operation, made from the golden parameter objects; their Verilog and its cost."""

from rtl.cost.flow import MissingTool, cost_report
from rtl.designs.design import Generated, generated_formats, generated_tile, generated_unit
from rtl.designs.unit import DATAPATHS, unit_datapath
from rtl.verilog.emit import YosysError, multi_format_verilog, tile_verilog, unit_verilog

__all__ = [
    "DATAPATHS",
    "Generated",
    "MissingTool",
    "YosysError",
    "cost_report",
    "generated_formats",
    "generated_tile",
    "generated_unit",
    "multi_format_verilog",
    "tile_verilog",
    "unit_datapath",
    "unit_verilog",
]
