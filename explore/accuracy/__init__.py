"""Accuracy of a unit over stated workloads, against exact results (docs/explore/accuracy.md)."""

from explore.accuracy.measure import check_measurable, measure
from explore.accuracy.workload import Workload, check_workload, with_files, workload_name

__all__ = ["Workload", "check_measurable", "check_workload", "measure", "with_files", "workload_name"]
