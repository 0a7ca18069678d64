"""What a unit costs: cells, depth, area, delay, power, energy, stages for a clock, and logic of an FPGA."""

from explore.cost.measure import COLUMNS, CostError, measure
from explore.cost.wanted import Wanted

__all__ = ["COLUMNS", "CostError", "Wanted", "measure"]
