"""Diagnosis of mismatches: which single change of the golden model gives what the design gave, for all of them.

`diagnose` tries parameters (`cosim.diagnosis.parameters`), steps (`steps`), operands (`operands`) and results (`results`).
"""

from cosim.diagnosis.diagnose import diagnose
from cosim.diagnosis.diagnosis import Cause, Diagnosis

__all__ = ["Cause", "Diagnosis", "diagnose"]
