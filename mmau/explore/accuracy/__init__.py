"""Accuracy of a unit over stated workloads, against exact results (docs/guides/explore-accuracy.md)."""

from mmau.explore.accuracy.error_measures import check_measurable, measure
from mmau.explore.accuracy.workload import Workload, check_workload, with_files, workload_name

__all__ = ["Workload", "check_measurable", "check_workload", "measure", "with_files", "workload_name"]
