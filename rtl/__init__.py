"""Datapaths in Amaranth, one component an operation, made from the golden parameter objects; their Verilog and its cost."""

from rtl.cost.flow import cost_report
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.ports import Port
from rtl.designs.stream import StreamDatapath
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit import DATAPATHS, unit_datapath
from rtl.designs.unit_design import UnitDesign, as_design
from rtl.tools import MissingTool
from rtl.verilog.emit import YosysError, to_verilog

__all__ = [
    "DATAPATHS",
    "Design",
    "MissingTool",
    "MultiFormatDesign",
    "Port",
    "StreamDatapath",
    "TileDesign",
    "UnitDesign",
    "YosysError",
    "as_design",
    "cost_report",
    "to_verilog",
    "unit_datapath",
]
