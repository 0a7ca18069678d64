"""A design space: its units, the measurements, and the limits."""

from mmau.explore.space.read import load_space, space_from_table
from mmau.explore.space.space import Accuracy, Cosimulation, Search, Space
from mmau.explore.space.space_points import Point

__all__ = ["Accuracy", "Cosimulation", "Point", "Search", "Space", "load_space", "space_from_table"]
