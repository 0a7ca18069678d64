"""Diagnosis of mismatches: finds the single change of the golden model that gives the design's results for all of them.

`diagnose` tries the variants of the model (`golden.variants`); `mismatch_places` says where mismatches are, and whether
right results or operands come at the wrong time.
"""

from cosim.diagnosis.explain import Cause, Diagnosis, diagnose

__all__ = ["Cause", "Diagnosis", "diagnose"]
