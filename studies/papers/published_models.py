"""Tables 2 to 8 of paper 000 (P. Xie et al.), as printed: which model each architecture's instructions have, and with which
parameters; and the results of one input on all of them (equation 10)."""

from typing import NamedTuple

FP8, FP6, FP4 = ("e4m3", "e5m2"), ("e3m2", "e2m3"), ("e2m1",)
SHORT = (*FP8, *FP6, *FP4)
FNUZ = ("e4m3fnuz", "e5m2fnuz")

TABLE_2 = {"RZ-FP32": ("RZ", 8, 23), "RZ-E8M13": ("RZ", 8, 13), "RNE-FP32": ("RNE", 8, 23), "RNE-FP16": ("RNE", 5, 10)}
"""Each ρ: mode of rounding, exponent bits and mantissa bits of what it rounds to."""

TYPES_3 = {
    "FP64": (("fp64",), "FMA"),
    "TF32/BF16/FP16": (("tf32", "bf16", "fp16"), "T-FDPA"),
    "FP8": (FP8, "T-FDPA"),
    "FP6/FP4": ((*FP6, *FP4), "T-FDPA"),
    "MXFP8/6/4": (SHORT, "ST-FDPA"),
    "MXFP4/NVFP4": (FP4, "GST-FDPA"),
}
"""Table 3: NVIDIA's input types, as formats of a and b, and their model."""


class Row(NamedTuple):
    """A row of table 4 or 5: L_max (table 5: L), F and ρ, and G of table 5."""

    arch: str
    operation: str
    inputs: tuple[str, ...]
    output: str
    L: int
    F: int
    rho: str
    G: int | None = None


def _hopper_like(arch: str) -> tuple[Row, ...]:
    return (
        Row(arch, "T-FDPA", ("tf32",), "fp32", 8, 25, "RZ-FP32"), Row(arch, "T-FDPA", ("bf16",), "fp32", 16, 25, "RZ-FP32"),
        Row(arch, "T-FDPA", ("fp16",), "fp32", 16, 25, "RZ-FP32"),
        Row(arch, "T-FDPA", ("fp16",), "fp16", 16, 25, "RNE-FP16"),
    )  # fmt: skip


def _ampere_like(arch: str) -> tuple[Row, ...]:
    return (
        Row(arch, "T-FDPA", ("tf32",), "fp32", 4, 24, "RZ-FP32"), Row(arch, "T-FDPA", ("bf16",), "fp32", 8, 24, "RZ-FP32"),
        Row(arch, "T-FDPA", ("fp16",), "fp32", 8, 24, "RZ-FP32"), Row(arch, "T-FDPA", ("fp16",), "fp16", 8, 24, "RNE-FP16"),
    )  # fmt: skip


def _blackwell_like(arch: str) -> tuple[Row, ...]:
    return (
        *_hopper_like(arch),
        Row(arch, "T-FDPA", SHORT, "fp32", 32, 25, "RZ-FP32"), Row(arch, "T-FDPA", SHORT, "fp16", 32, 25, "RNE-FP16"),
        Row(arch, "ST-FDPA", SHORT, "fp32", 32, 25, "RZ-FP32"),
    )  # fmt: skip


TABLE_4 = (
    Row("sm_70", "T-FDPA", ("fp16",), "fp32", 4, 23, "RZ-FP32"),
    Row("sm_70", "T-FDPA", ("fp16",), "fp16", 4, 23, "RNE-FP16"),
    Row("sm_75", "T-FDPA", ("fp16",), "fp32", 8, 24, "RZ-FP32"),
    Row("sm_75", "T-FDPA", ("fp16",), "fp16", 8, 24, "RNE-FP16"),
    *_ampere_like("sm_80"),
    *_ampere_like("sm_89"),
    Row("sm_89", "T-FDPA", FP8, "fp32", 16, 13, "RZ-E8M13"), Row("sm_89", "T-FDPA", FP8, "fp16", 16, 13, "RNE-FP16"),
    *_hopper_like("sm_90"),
    Row("sm_90", "T-FDPA", FP8, "fp32", 32, 13, "RZ-E8M13"), Row("sm_90", "T-FDPA", FP8, "fp16", 32, 13, "RNE-FP16"),
    *_blackwell_like("sm_100"),
    *_blackwell_like("sm_120"),
)  # fmt: skip

TABLE_5 = tuple(Row(arch, "GST-FDPA", FP4, "fp32", 64, 35, "RZ-FP32", 16) for arch in ("sm_100", "sm_120"))

TABLE_6 = (
    ("gfx908", ("fp32",), "", "FMA", None), ("gfx908", ("bf16",), "", "E-FDPA", ("L", 2)),
    ("gfx908", ("fp16",), "", "E-FDPA", ("L", 4)), ("gfx90a", ("fp64", "fp32"), "", "FMA", None),
    ("gfx90a", ("bf16",), "w/o _1k", "FTZ-AddMul", ("P", 2)), ("gfx90a", ("bf16",), "w/ _1k", "FTZ-AddMul", ("P", 4)),
    ("gfx90a", ("fp16",), "", "FTZ-AddMul", ("P", 4)), ("gfx942", ("fp64", "fp32"), "", "FMA", None),
    ("gfx942", ("tf32", "bf16", "fp16"), "", "TR-FDPA", None), ("gfx942", FNUZ, "", "GTR-FDPA", None),
)  # fmt: skip
"""Architecture, formats, suffix of the name, model, and the parameter that the table has."""

TABLE_7 = ((("tf32",), 4, 24, 31, "RNE-FP32"), (("bf16", "fp16"), 8, 24, 31, "RNE-FP32"), (FNUZ, 16, 24, 31, "RNE-FP32"))
"""Formats on CDNA3, L_max, F, F2 and ρ."""

TABLE_8: dict[tuple[str, str], str] = {
    ("sm_70", "fp16"): "0.0", ("sm_75", "fp16"): "-0.5",
    **{(arch, t): "-0.5" for arch in ("sm_80", "sm_89") for t in ("tf32", "bf16", "fp16")},
    **{(arch, t): "-0.75" for arch in ("sm_90", "sm_100", "sm_120") for t in ("tf32", "bf16", "fp16")},
    ("sm_89", "e5m2"): "0.0", ("sm_90", "e5m2"): "0.0", ("sm_100", "e5m2"): "-0.75", ("sm_120", "e5m2"): "-0.75",
    ("gfx908", "bf16"): "-0.875", ("gfx908", "fp16"): "-0.875",
    ("gfx90a", "bf16"): "-0.375 or 0.0", ("gfx90a", "fp16"): "0.0",
    ("gfx942", "tf32"): "-0.5", ("gfx942", "bf16"): "-0.5", ("gfx942", "fp16"): "-0.5", ("gfx942", "e5m2fnuz"): "-1.0",
    **{(arch, "fp64"): "-0.875" for arch in ("sm_80", "sm_89", "sm_90", "sm_100", "sm_120", "gfx90a", "gfx942")},
    **{(arch, "fp32"): "-0.875" for arch in ("gfx908", "gfx90a", "gfx942")},
}  # fmt: skip
"""d of equation 10 by architecture and format; of the 8-bit formats the ones that hold its operands."""
