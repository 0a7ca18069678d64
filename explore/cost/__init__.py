"""What a unit costs: cells, depth, area, delay, power, energy, stages for a clock, and logic of an FPGA."""

from explore.cost.measure import COLUMNS, CostError, check_wanted, measure, tool_versions
from explore.cost.wanted import Wanted

__all__ = ["COLUMNS", "CostError", "Wanted", "check_wanted", "measure", "tool_versions"]
