"""Evaluates the points of a space: tasks whose results are stored one by one, records, files."""

from mmau.explore.run.explore import Exploration, explore

__all__ = ["Exploration", "explore"]
