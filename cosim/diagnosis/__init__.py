"""Diagnosis of mismatches: which single change of the golden model gives what the design gave, for all of them.

`diagnose` tries the variants of the model (`golden.variants`); `mismatch_places` says where mismatches are, `shifted` and
`late_operands` whether right results or operands come at the wrong time.
"""

from cosim.diagnosis.explain import Cause, Diagnosis, diagnose

__all__ = ["Cause", "Diagnosis", "diagnose"]
