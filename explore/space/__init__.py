"""A design space: which units there are, what is measured of them, and within which limits."""

from explore.space.points import Point
from explore.space.read import load_space, space_from_table
from explore.space.space import Accuracy, Proof, Search, Space

__all__ = ["Accuracy", "Point", "Proof", "Search", "Space", "load_space", "space_from_table"]
