"""Hypothesis strategies: operations with any parameters their rules allow, and operands for them."""

from typing import Any

from hypothesis import strategies as st

import golden
from tests.golden.inputs import Operands, operands

MULTIPLICANDS = ("tf32", "bf16", "fp16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e3m2", "e2m3", "e2m1", "e4m3ieee")
INTEGERS = ("int8", "uint8", "int8", "uint8", "int4", "uint4", "b1", "int16", "uint16", "int5", "uint11")
ACCUMULATORS = ("fp32", "fp16", "bf16")
SCALES = ("ue8m0", "ue4m3", "ue4m3", "fp16", "bf16", "fp32", "e5m2", "e4m3fnuz", "e4m3ieee", "e3m2", "e2m1")
MODES = ("RZ", "RNE", "RD", "RU", "RO", "RNA")
RHO = (*(f"{mode}-{d}" for mode in MODES for d in ("FP32", "FP16", "BF16")), "RZ-E8M13")
TO_BF16 = "RNE-FP32-RZ-BF16"
"""The ρ of OC- and PS-FDPA alone."""
LENGTHS = st.integers(1, 9) | st.sampled_from((16, 32))
FRACTIONS = st.integers(1, 40) | st.integers(10, 27)
E_ZERO = st.sampled_from((-139, -133, -132, -131, -21, -20, -19)) | st.integers(-170, 60) | st.sampled_from((-1024, 1024))
PAIR = {"a": st.sampled_from(MULTIPLICANDS), "b": st.sampled_from(MULTIPLICANDS)}
RARELY = st.sampled_from((False, False, True))
AROUND_RANGE = {
    "flush_inputs": RARELY,
    "flush_results": RARELY,
    "overflow": st.sampled_from(("infinity", "infinity", "saturate", "by-mode")),
}
"""Keys of every operation but FTZ-AddMul."""
RAISED = {
    "tininess": st.sampled_from(("after", "before")),
    "beside_nan": st.sampled_from(("invalid", "quiet")),
}
"""Keys of the operations that round one exact sum."""
LOSING = st.fixed_dictionaries({"truncation": st.sampled_from(("RZ", "RZ", "RD")), "sticky": RARELY}) | st.just(
    {"truncation": "RO"}
)
TRUNCATED = {
    **AROUND_RANGE,
    "c": st.sampled_from(ACCUMULATORS),
    "F": FRACTIONS,
    "rho": st.sampled_from(RHO),
    "e_zero": E_ZERO,
}


@st.composite
def gst_keys(draw: st.DrawFn) -> dict[str, Any]:
    """G divides L and K_block; of L and K_block one divides the other."""
    G = draw(st.sampled_from((1, 2, 3, 4, 8)))
    small = G * draw(st.integers(1, 3))
    large = small * draw(st.integers(1, 3))
    L, K_block = draw(st.sampled_from(((small, large), (large, small))))
    return {"G": G, "L": L, "K_block": K_block}


@st.composite
def st_keys(draw: st.DrawFn) -> dict[str, Any]:
    """L and K_block, one a multiple of the other."""
    small = draw(st.integers(1, 6))
    large = small * draw(st.integers(1, 4))
    L, K_block = draw(st.sampled_from(((small, large), (large, small))))
    return {"L": L, "K_block": K_block}


@st.composite
def same_formats(draw: st.DrawFn, names: tuple[str, ...], operands: str) -> dict[str, Any]:
    """One format for all the named operands."""
    return dict.fromkeys(operands, draw(st.sampled_from(names)))


@st.composite
def fma_keys(draw: st.DrawFn) -> dict[str, Any]:
    """One format for all; ρ to that format, or left out."""
    formats = draw(same_formats(("fp16", "bf16", "fp32", "fp64"), "abc"))
    rho = draw(st.sampled_from((None, *MODES)))
    formats = formats if rho is None else formats | {"rho": f"{rho}-{formats['c'].upper()}"}
    if formats["c"] == "fp32" and draw(st.booleans()):
        return formats | {"a": "bf16", "b": "bf16"}
    return formats if draw(st.integers(0, 2)) else formats | {"nan": draw(st.sampled_from(("first", "b-c-a")))}


@st.composite
def ieee_keys(draw: st.DrawFn) -> dict[str, Any]:
    """One format for a and b; ρ to that format, or left out."""
    formats = draw(same_formats(("fp16", "bf16", "fp32", "fp64"), "ab"))
    rho = draw(st.sampled_from((None, *MODES)))
    formats = formats if rho is None else formats | {"rho": f"{rho}-{formats['a'].upper()}"}
    return formats | {"nan": draw(st.sampled_from(("quiet", "first", "b-c-a")))}


@st.composite
def conversion_keys(draw: st.DrawFn) -> dict[str, Any]:
    """Any two formats; where d has no NaN, an a without one, and saturation."""
    a = draw(st.sampled_from((*MULTIPLICANDS, "fp32", "fp64", "ue4m3")))
    to = ("FP64", "FP32", "FP16", "BF16", "TF32", "E8M13", "E5M2", "E4M3", "E4M3FNUZ", "E5M2FNUZ", "E4M3IEEE")
    finite = ("E3M2", "E2M3", "E2M1") if a in ("e3m2", "e2m3", "e2m1") else ()
    d = draw(st.sampled_from((*to, *finite)))
    formats = {"a": a, "rho": f"{draw(st.sampled_from(MODES))}-{d}"}
    has_nans = {a, d.lower()} <= {"fp64", "fp32", "fp16", "bf16", "tf32", "e8m13", "e5m2", "e4m3ieee"}
    formats |= {"nan": draw(st.sampled_from(("quiet", "first")))} if has_nans else {}
    return formats | ({"overflow": "saturate"} if d in finite else {})


@st.composite
def headroom_keys(draw: st.DrawFn) -> dict[str, Any]:
    """c is what ρ gives; e_zero mostly e_min of c, as published."""
    rho = draw(st.sampled_from(("RNE-FP32", "RNE-FP16", TO_BF16)) | st.sampled_from((*RHO, TO_BF16)))
    c = "fp32" if rho == "RZ-E8M13" else rho.split("-")[-1].lower()
    e_min = -14 if c == "fp16" else -126
    return {"rho": rho, "c": c, "e_zero": draw(st.sampled_from((e_min, e_min, e_min)) | E_ZERO)}


@st.composite
def pairs_of_integers(draw: st.DrawFn) -> dict[str, Any]:
    """Any two; two of one bit may be compared."""
    a, b = draw(st.sampled_from(INTEGERS)), draw(st.sampled_from(INTEGERS))
    if draw(st.integers(0, 4)) == 0:
        return {"a": "b1", "b": "b1", "combination": draw(st.sampled_from(("multiply", "xor")))}
    return {"a": a, "b": b}


@st.composite
def ps_lengths(draw: st.DrawFn) -> dict[str, Any]:
    """L is a multiple of P."""
    P = draw(st.sampled_from((1, 2, 2, 2, 3, 4)))
    return {"P": P, "L": P * draw(st.integers(1, 4))}


def keys(*parts: st.SearchStrategy[dict[str, Any]], **single: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """The keys of all parts and the single ones, in one table."""
    return st.tuples(*parts, st.fixed_dictionaries(single)).map(
        lambda tables: {k: v for table in tables for k, v in table.items()}
    )


ROUNDED = keys(
    **PAIR, **AROUND_RANGE, c=st.just("fp32"), L=LENGTHS, F=FRACTIONS, F2=FRACTIONS, rho=st.sampled_from(RHO),
    truncation=st.sampled_from(("RD", "RD", "RZ")),
)  # fmt: skip

HEADROOM = (
    headroom_keys(),
    keys(**PAIR, **AROUND_RANGE, F=st.just(26) | FRACTIONS, h=st.sampled_from((2, 2, 2, 0, 1, 3, 8))),
)

KEYS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "FMA": keys(fma_keys(), **AROUND_RANGE, **RAISED),
    "FTZ-AddMul": keys(same_formats(("fp16", "bf16"), "ab"), c=st.just("fp32"), P=st.sampled_from((1, 2, 4, 8))),
    "E-FDPA": keys(
        **PAIR,
        **AROUND_RANGE,
        **RAISED,
        c=st.sampled_from(ACCUMULATORS),
        L=LENGTHS,
        rho=st.sampled_from(RHO),
        zero=st.sampled_from(("positive", "ieee")),
    ),
    "T-FDPA": keys(LOSING, **PAIR, **TRUNCATED, L=LENGTHS),
    "ST-FDPA": keys(st_keys(), LOSING, **PAIR, **TRUNCATED, scale=st.just("ue8m0") | st.sampled_from(SCALES)),
    "GST-FDPA": keys(gst_keys(), LOSING, **PAIR, **TRUNCATED, scale=st.sampled_from(SCALES)),
    "TR-FDPA": ROUNDED,
    "GTR-FDPA": ROUNDED,
    "OC-FDPA": keys(*HEADROOM, L=st.just(2) | st.integers(1, 9)),
    "PS-FDPA": keys(*HEADROOM, ps_lengths()),
    "FTZ-FMA": keys(same_formats(("fp16", "bf16"), "ab"), c=st.just("fp32"), L=LENGTHS),
    "FTZ-EO-FMA": keys(same_formats(("fp16", "bf16"), "ab"), c=st.just("fp32"), L=st.sampled_from((2, 4, 6, 8, 16, 32))),
    "IDPA": keys(
        pairs_of_integers(),
        c=st.just("int32") | st.sampled_from(("int16", "int24", "int48", "int8")),
        L=LENGTHS,
        overflow=st.sampled_from(("wrap", "saturate")),
    ),
    "MUL": keys(ieee_keys(), **AROUND_RANGE, **RAISED),
    "ADD": keys(ieee_keys(), **AROUND_RANGE, **RAISED),
    "CVT": st.tuples(keys(**AROUND_RANGE, **RAISED), conversion_keys()).map(lambda each: each[0] | each[1]),
}


def operations(name: str) -> st.SearchStrategy[golden.Operation]:
    """Any operation of that name."""
    return KEYS[name].map(lambda table: golden.OPERATIONS[name](**table))


def products(draw: st.DrawFn, operation: golden.Operation) -> int:
    """K: one step shorter than L where that keeps its rules, one step, or a chain of two or three.

    A TR-FDPA whose ρ is not fp32 cannot run twice, for its c is fp32.
    """
    L = operation.length
    if operation.name in ("MUL", "ADD", "CVT"):
        return 1
    if operation.name in ("TR-FDPA", "GTR-FDPA") and operation.d is not operation.c:
        return L
    if operation.name in ("T-FDPA", "E-FDPA") and draw(st.integers(0, 3)) == 0:
        return draw(st.integers(1, L))
    return L * draw(st.sampled_from((1, 1, 1, 2, 3)))


@st.composite
def cases(draw: st.DrawFn, name: str) -> tuple[golden.Operation, Operands]:
    """An operation of that name and operands for it."""
    operation = draw(operations(name))
    K = products(draw, operation)
    return operation, operands(draw(st.randoms(use_true_random=False)), operation, K)
