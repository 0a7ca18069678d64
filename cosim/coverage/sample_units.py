"""Units whose coverage is kept complete: of each operation the largest, a small one, one with keys of its own."""

from typing import Any

import golden
from golden import Unit

_LARGEST: dict[str, tuple[str, str]] = {
    "FMA": ("sm_80", "mma.m8n8k4.f64.f64.f64.f64"),
    "FTZ-AddMul": ("gfx90a", "v_mfma_f32_32x32x8bf16_1k"),
    "E-FDPA": ("gfx908", "v_mfma_f32_32x32x8f16"),
    "T-FDPA": ("sm_90", "wgmma.m64n8k32.f32.e5m2.e5m2"),
    "ST-FDPA": ("sm_100", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e5m2.ue8m0"),
    "GST-FDPA": ("sm_100", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"),
    "TR-FDPA": ("gfx942", "v_mfma_f32_32x32x8_bf16"),
    "GTR-FDPA": ("gfx942", "v_mfma_f32_32x32x16_bf8_bf8"),
    "OC-FDPA": ("gfx1100", "v_wmma_f32_16x16x16_bf16_w32"),
    "PS-FDPA": ("gfx1201", "v_wmma_f32_16x16x16_bf16_w32"),
    "FTZ-FMA": ("x86-avx512", "vdpbf16ps"),
    "FTZ-EO-FMA": ("x86-amx", "tdpbf16ps.m16n16k32"),
    "IDPA": ("sm_80", "mma.m16n8k32.satfinite.s32.s8.s8.s32"),
}
"""Architecture and instruction with the widest step."""

_RANGE = {"flush_inputs": True, "flush_results": True}

_SMALL: tuple[tuple[str, dict[str, Any]], ...] = (
    ("FMA", {"a": "fp16", "b": "fp16", "c": "fp16"}),
    ("FTZ-AddMul", {"a": "fp16", "b": "fp16", "c": "fp32", "P": 2}),
    ("E-FDPA", {"a": "e4m3", "b": "e4m3", "c": "fp16", "L": 2, "rho": "RNE-FP16"}),
    ("T-FDPA", {"a": "fp16", "b": "fp16", "c": "fp16", "L": 2, "F": 12, "rho": "RNE-FP16", "e_zero": -20}),
    ("ST-FDPA", {"a": "e2m3", "b": "e5m2", "c": "fp32", "L": 2, "F": 25, "rho": "RZ-FP32", "e_zero": -133, "K_block": 1}),
    ("GST-FDPA", {
        "a": "e2m1", "b": "e2m1", "c": "fp32", "L": 4, "F": 35, "rho": "RZ-FP32", "e_zero": -139, "G": 2, "K_block": 2,
        "scale": "ue8m0",
    }),
    ("TR-FDPA", {"a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "F": 24, "F2": 31}),
    ("GTR-FDPA", {"a": "e4m3fnuz", "b": "e4m3fnuz", "c": "fp32", "L": 4, "F": 24, "F2": 31}),
    ("OC-FDPA", {"a": "e5m2", "b": "e5m2", "c": "fp16", "L": 2, "F": 26, "h": 2, "rho": "RNE-FP16", "e_zero": -14}),
    ("PS-FDPA", {"a": "fp16", "b": "fp16", "c": "fp16", "L": 2, "P": 2, "F": 26, "h": 2, "rho": "RNE-FP16", "e_zero": -14}),
    ("FTZ-FMA", {"a": "fp16", "b": "fp16", "c": "fp32", "L": 1}),
    ("FTZ-EO-FMA", {"a": "fp16", "b": "fp16", "c": "fp32", "L": 2}),
    ("IDPA", {"a": "uint8", "b": "int8", "c": "int32", "L": 2, "overflow": "saturate"}),
)  # fmt: skip
"""Operation and keys."""

_OWN_KEYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("FMA", {"a": "bf16", "b": "bf16", "c": "bf16", "rho": "RU-BF16", "overflow": "by-mode", **_RANGE}),
    ("E-FDPA", {"a": "bf16", "b": "bf16", "c": "fp32", "L": 2, "rho": "RNA-FP32", "overflow": "saturate", **_RANGE}),
    ("E-FDPA", {"a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "zero": "ieee"}),
    ("E-FDPA", {"a": "e4m3", "b": "e5m2", "c": "fp16", "L": 3, "rho": "RD-FP16", "zero": "ieee"}),
    ("T-FDPA", {
        "a": "bf16", "b": "bf16", "c": "fp32", "L": 4, "F": 24, "rho": "RNE-FP32", "e_zero": -132, "sticky": True,
        "flush_results": True, "overflow": "by-mode",
    }),
    ("T-FDPA", {
        "a": "fp16", "b": "fp16", "c": "fp16", "L": 4, "F": 12, "rho": "RD-FP16", "e_zero": -20, "sticky": True,
        "truncation": "RD", "overflow": "saturate",
    }),
    ("ST-FDPA", {
        "a": "e4m3", "b": "e4m3", "c": "fp32", "L": 4, "F": 25, "rho": "RO-FP32", "e_zero": -133, "K_block": 2,
        "truncation": "RO", "flush_inputs": True, "overflow": "by-mode",
    }),
    ("TR-FDPA", {"a": "bf16", "b": "bf16", "c": "fp32", "L": 2, "F": 24, "F2": 31, "truncation": "RZ", **_RANGE}),
)  # fmt: skip
"""Operation and keys, among them each that units of one's own have."""


def sample_units() -> list[Unit]:
    """The units, operation by operation: the largest, small ones, those with keys of their own."""
    units = []
    for name, (arch, instruction) in _LARGEST.items():
        units.append(Unit(name=f"{arch} {instruction}", operation=golden.instruction(arch, instruction).operation))
        units += [_unit(f"small {name}", name, keys) for of, keys in _SMALL if of == name]
        own = [keys for of, keys in _OWN_KEYS if of == name]
        units += [_unit(f"{name} of one's own {number}", name, keys) for number, keys in enumerate(own)]
    return units


def _unit(title: str, name: str, keys: dict[str, Any]) -> Unit:
    make: Any = golden.OPERATIONS[name]
    return Unit(name=title, operation=make(**keys))
