"""Operations with what no published unit has: a sticky bit, flushes, other overflow, RO, RNA, e4m3ieee.

Every operation that takes a key has a unit of each of its values. The formats are such that sums overflow and are tiny: the
results are narrower than the products, or the products reach as far as fp32.
"""

from typing import Any

from golden import Operation
from golden.operations import EFDPA, FMA, GSTFDPA, GTRFDPA, OCFDPA, PSFDPA, STFDPA, TFDPA, TRFDPA

_SUMS: tuple[dict[str, Any], ...] = (
    {"a": "e4m3ieee", "b": "e5m2", "rho": "RNE-FP16", "overflow": "saturate", "flush_inputs": True},
    {"a": "bf16", "b": "bf16", "rho": "RO-FP32", "overflow": "by-mode", "flush_results": True},
    {"a": "bf16", "b": "e4m3ieee", "rho": "RNA-FP16", "overflow": "saturate", "flush_inputs": True, "flush_results": True},
    {"a": "fp16", "b": "fp16", "rho": "RU-FP16", "overflow": "by-mode"},
)
"""Formats of the multiplicands, and the keys that every operation but FTZ-AddMul has."""

_TRUNCATED: tuple[dict[str, Any], ...] = (
    {"c": "fp16", "F": 13, "e_zero": -21, "truncation": "RZ", "sticky": True},
    {"c": "fp32", "F": 25, "e_zero": -133, "truncation": "RD", "sticky": True},
    {"c": "bf16", "F": 11, "e_zero": -133, "truncation": "RO"},
    {"c": "fp16", "F": 10, "e_zero": -19, "truncation": "RD", "sticky": True},
)
"""Alignments of the terms of T-, ST- and GST-FDPA."""

_GROUPS: tuple[dict[str, Any], ...] = (
    {"G": 1, "K_block": 2, "scale": "ue4m3"},
    {"G": 3, "K_block": 3, "scale": "ue8m0"},
    {"G": 1, "K_block": 4, "scale": "ue8m0"},
    {"G": 2, "K_block": 2, "scale": "ue4m3"},
)
"""The groups of GST-FDPA."""

_ROUNDED: tuple[dict[str, Any], ...] = (
    {"c": "fp32", "F": 24, "F2": 31, "truncation": "RD"},
    {"c": "fp32", "F": 24, "F2": 31, "truncation": "RZ"},
    {"c": "fp32", "F": 9, "F2": 12, "truncation": "RD"},
    {"c": "fp32", "F": 13, "F2": 40, "truncation": "RZ"},
)
"""Alignments of the terms of TR- and GTR-FDPA."""

_HEADROOM: tuple[dict[str, Any], ...] = (
    {"c": "fp16", "F": 13, "h": 2, "e_zero": -14},
    {"c": "fp32", "F": 24, "h": 1, "e_zero": -126},
    {"c": "fp16", "F": 26, "h": 3, "e_zero": -20},
    {"c": "fp16", "F": 10, "h": 0, "e_zero": -14},
)
"""Alignments of the terms of OC- and PS-FDPA."""

_RDNA: dict[str, Any] = {
    "a": "fp16", "b": "fp16", "c": "fp16", "F": 26, "h": 2, "rho": "RNE-FP16", "e_zero": -14, "overflow": "saturate",
}  # fmt: skip
"""RDNA3's and RDNA4's fp16 instructions under MODE.FP16_OVFL, which are no entries of the catalogue."""

_PAIRED: tuple[dict[str, Any], ...] = ({"P": 1}, {"P": 3}, {"P": 1}, {"P": 2})
"""The groups of PS-FDPA."""

_LENGTHS = (2, 3, 1, 4)


def _sums(*keys: dict[str, Any]) -> list[dict[str, Any]]:
    """The keys of four operations: the common ones and those of each."""
    return [{**common, "L": L, **own} for common, L, own in zip(_SUMS, _LENGTHS, keys, strict=True)]


def _fma(name: str, rho: str, **keys: Any) -> FMA:
    return FMA(a=name, b=name, c=name, rho=f"{rho}-{name.upper()}", **keys)  # type: ignore[arg-type]


def _e_fdpa(rho: str, **keys: Any) -> EFDPA:
    return EFDPA(a="e4m3", b="e5m2", rho=rho, zero="ieee", **keys)  # type: ignore[arg-type]


OWN_KEYS: dict[type[Operation], list[Operation]] = {
    FMA: [
        _fma("fp16", "RO", overflow="by-mode"),
        _fma("bf16", "RNA", overflow="saturate", flush_inputs=True),
        _fma("fp32", "RD", overflow="by-mode", flush_results=True),
        _fma("fp16", "RU", overflow="by-mode", flush_inputs=True, flush_results=True),
        _fma("fp64", "RZ", overflow="by-mode"),
        _fma("bf16", "RNE"),
        _fma("fp16", "RU", nan="first", flush_inputs=True),
        _fma("fp32", "RNE", nan="first"),
        # the multiply-add of Arm's bfdot
        FMA(a="bf16", b="bf16", c="fp32", rho="RO-FP32", flush_inputs=True, flush_results=True),  # type: ignore[arg-type]
    ],
    EFDPA: [
        *(EFDPA(**keys) for keys in _sums({"c": "fp16"}, {"c": "fp32"}, {"c": "bf16"}, {"c": "fp16"})),
        _e_fdpa("RNE-FP16", c="fp16", L=2),
        _e_fdpa("RD-FP16", c="fp16", L=3, flush_inputs=True),
    ],
    TFDPA: [TFDPA(**keys) for keys in _sums(*_TRUNCATED)],
    STFDPA: [STFDPA(**keys, K_block=K_block) for keys, K_block in zip(_sums(*_TRUNCATED), (1, 6, 1, 2), strict=True)],
    GSTFDPA: [GSTFDPA(**keys, **groups) for keys, groups in zip(_sums(*_TRUNCATED), _GROUPS, strict=True)],
    TRFDPA: [TRFDPA(**keys) for keys in _sums(*_ROUNDED)],
    GTRFDPA: [GTRFDPA(**keys) for keys in _sums(*_ROUNDED)],
    OCFDPA: [
        *(OCFDPA(**keys) for keys in _sums(*_HEADROOM)),
        OCFDPA(**_RDNA, L=2, flush_inputs=True),
    ],
    PSFDPA: [
        *(PSFDPA(**keys, **groups) for keys, groups in zip(_sums(*_HEADROOM), _PAIRED, strict=True)),
        PSFDPA(**_RDNA, L=4, P=2),
    ],
}
"""Operations by kind."""
