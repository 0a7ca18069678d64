"""Diagnosis of mismatches: which single change of the golden model gives what the design gave, for all of them.

`diagnose` tries changes of parameters, formats, steps, operands, bytes, roundings, results and lanes, each kind in a module
of its own (`changed_…`); `located` says where mismatches are.
"""

from cosim.diagnosis.explain import Cause, Diagnosis, diagnose

__all__ = ["Cause", "Diagnosis", "diagnose"]
