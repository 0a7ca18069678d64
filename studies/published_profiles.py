"""Tables 12 to 15 of paper 001 (W. Sun et al., TPDS 2023, section 8), as printed: mean errors on an A100.

Each row has a multiplication, an addition in the inner product and an accumulation.
"""

from typing import Literal

Init = Literal["low", "fp32"]
"""How operands begin: in the type of A and B, or as fp32."""

Printed = tuple[str, str, str]

PAPER_001: dict[tuple[str, Init, str], Printed] = {
    ("bf16 → fp32", "low", "fp32"): ("0.0", "0.0", "1.89E-08"),
    ("bf16 → fp32", "fp32", "fp32"): ("1.29E-03", "1.72E-03", "1.13E-03"),
    ("fp16 → fp32", "low", "fp32"): ("0.00", "0.00", "0.00"),
    ("fp16 → fp32", "fp32", "fp32"): ("1.59E-04", "2.18E-04", "1.36E-04"),
    ("fp16 → fp16", "low", "fp32"): ("1.22E-04", "1.81E-04", "1.81E-04"),
    ("fp16 → fp16", "fp32", "fp32"): ("1.94E-04", "2.99E-04", "2.99E-04"),
    ("fp16 → fp16", "low", "fp16"): ("0.00", "0.00", "0.00"),
    ("fp16 → fp16", "fp32", "fp16"): ("1.67E-04", "2.21E-04", "2.21E-04"),
    ("tf32 → fp32", "low", "fp32"): ("0.0", "0.0", "0.0"),
    ("tf32 → fp32", "fp32", "fp32"): ("1.59E-04", "2.17E-04", "1.36E-04"),
}
"""By types, how operands begin, and whether the error is against the fp32 result or the same rounded to fp16 (table 14)."""

LAST_DIGIT: dict[tuple[str, Init, str, int], str] = {
    ("bf16 → fp32", "low", "fp32", 2):
        "one unit of the last digit: c holds the draws' last places, and by how a C++ compiler rounds in between the same "
        "program gives 1.86e-8 to 1.90e-8 (g++ 12: -ffast-math -mfma 1.857e-8, -mfpmath=387 1.891e-8, default 1.898e-8)",
    ("fp16 → fp32", "fp32", "fp32", 1):
        "one unit of the last digit: the paper's tf32 has 2.17E-04 for the same draws, which both types round alike",
}  # fmt: skip
"""Where the model's figure is not the printed one, by row and column, and why."""
