"""Evaluates the points of a space: tasks that are kept as they come, records, files."""

from explore.run.explore import Exploration, explore

__all__ = ["Exploration", "explore"]
