"""Datapaths in Amaranth, one component for each operation, made from the golden parameter objects; their Verilog and its
cost."""

from typing import TYPE_CHECKING

from golden.on_demand import on_demand

if TYPE_CHECKING:
    from rtl.cost.cost_request import CostError
    from rtl.cost.cost_results import CostReport
    from rtl.cost.flow import cost_report
    from rtl.cost.meet_clock import MetClock, meet_clock
    from rtl.designs.controlled_design import ControlledDesign
    from rtl.designs.design import Design
    from rtl.designs.multi_format_design import MultiFormatDesign
    from rtl.designs.ports import Port
    from rtl.designs.stream import StreamDatapath
    from rtl.designs.tile_design import TileDesign
    from rtl.designs.unit import DATAPATHS, unit_datapath
    from rtl.designs.unit_design import UnitDesign, as_design
    from rtl.tools import MissingTool
    from rtl.verilog.emit import to_verilog
    from rtl.yosys import YosysError

__all__ = [
    "DATAPATHS",
    "ControlledDesign",
    "CostError",
    "CostReport",
    "Design",
    "MetClock",
    "MissingTool",
    "MultiFormatDesign",
    "Port",
    "StreamDatapath",
    "TileDesign",
    "UnitDesign",
    "YosysError",
    "as_design",
    "cost_report",
    "meet_clock",
    "to_verilog",
    "unit_datapath",
]

__getattr__, __dir__ = on_demand(
    __name__,
    {
        "CostError": "cost.cost_request",
        "CostReport": "cost.cost_results",
        "DATAPATHS": "designs.unit",
        "Design": "designs.design",
        "MetClock": "cost.meet_clock",
        "MissingTool": "tools",
        "ControlledDesign": "designs.controlled_design",
        "MultiFormatDesign": "designs.multi_format_design",
        "Port": "designs.ports",
        "StreamDatapath": "designs.stream",
        "TileDesign": "designs.tile_design",
        "UnitDesign": "designs.unit_design",
        "YosysError": "yosys",
        "as_design": "designs.unit_design",
        "cost_report": "cost.flow",
        "meet_clock": "cost.meet_clock",
        "to_verilog": "verilog.emit",
        "unit_datapath": "designs.unit",
    },
    __all__,
)
"""Public name to the module that defines it. A module is imported when its name is first asked for, so that
`rtl.designs.identity` can be imported without Amaranth."""
