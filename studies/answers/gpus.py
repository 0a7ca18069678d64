"""GPUs beside each other: one input, many inputs, an exact sum, faults that a tolerance lets pass."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import golden
from golden.operations import EFDPA
from mmau.report import markdown
from studies.answers.rows import Model

K = 16

FP16 = {
    "Volta V100": ("sm_70", "mma.m8n8k4.f32.f16.f16.f32"),
    "Turing T4": ("sm_75", "mma.m16n8k8.f32.f16.f16.f32"),
    "Ampere A100": ("sm_80", "mma.m16n8k16.f32.f16.f16.f32"),
    "Ada": ("sm_89", "mma.m16n8k16.f32.f16.f16.f32"),
    "Hopper H100": ("sm_90", "mma.m16n8k16.f32.f16.f16.f32"),
    "CDNA1 MI100": ("gfx908", "v_mfma_f32_16x16x16f16"),
    "CDNA2 MI250": ("gfx90a", "v_mfma_f32_16x16x16f16"),
    "CDNA3 MI300": ("gfx942", "v_mfma_f32_16x16x16_f16"),
    "RDNA3": ("gfx1100", "v_wmma_f32_16x16x16_f16_w64"),
    "RDNA4": ("gfx1201", "v_wmma_f32_16x16x16_f16_w64"),
}
"""The instruction of each architecture that multiplies fp16 and gives fp32."""

Floats = npt.NDArray[Any]


@cache
def matrices(K: int) -> tuple[Floats, Floats]:
    """A [32, K] and B [K, 32] of N(0, 1), in fp16; seed 0."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((32, K)).astype(np.float16), rng.standard_normal((K, 32)).astype(np.float16)


def product(model: Model, K: int, order: golden.GemmOrder | None = None) -> Floats:
    """A·B in fp32. A model with fp32 operands gets the same numbers as the others."""
    A, B = (each.astype(np.float32) if model.a.name == "fp32" else each for each in matrices(K))
    return np.asarray(golden.gemm(model, A, B, np.zeros((32, 32), np.float32), order=order))


@cache
def exact(K: int) -> Floats:
    """A·B, each sum exact and rounded once to fp32, by nearest even."""
    fp16, fp32 = golden.FORMATS["fp16"], golden.FORMATS["fp32"]
    A, B = matrices(K)
    scaled_A, scaled_B = (_integers(each, fp16) for each in (A, B))
    sums = scaled_A @ scaled_B  # Python integers in units of 2^−48
    codes = [fp32.encode_scaled(int(total), -48, "RNE") for total in sums.ravel()]
    return np.array(codes, np.uint32).view(np.float32).reshape(sums.shape)


def _integers(values: Floats, fmt: golden.Format) -> npt.NDArray[Any]:
    """Numbers of fp16 in units of 2^−24, its smallest, as Python integers."""
    numbers = [fmt.value(int(code)) or Fraction(0) for code in values.view(np.uint16).ravel()]
    return np.array([int(number * 2**24) for number in numbers], dtype=object).reshape(values.shape)


def exact_unit(L: int) -> golden.Unit:
    """A unit that adds L fp16 products and an fp32 c exactly and rounds once, to nearest even."""
    fp16, fp32 = golden.FORMATS["fp16"], golden.FORMATS["fp32"]
    return golden.Unit(name="exact", operation=EFDPA(a=fp16, b=fp16, c=fp32, L=L))


def units() -> Mapping[str, golden.Instruction]:
    return {label: golden.instruction(arch, name) for label, (arch, name) in FP16.items()}


def differing_shares() -> str:
    """A table, by unit, of the share of results that differ from those of A100, of H100 and of the rounded exact sum, for K
    = 1024."""
    results = {label: product(unit, 1024) for label, unit in units().items()}
    rounded = exact(1024)
    rows = [
        [
            label,
            *(percent(d != other) for other in (results["Ampere A100"], results["Hopper H100"], rounded)),
            worst(d, rounded),
        ]
        for label, d in results.items()
    ]
    header = (
        "unit",
        "other bits than A100",
        "other bits than H100",
        "other bits than the exact sum, rounded",
        "largest error",
    )
    return markdown.table(header, rows, numbers=(1, 2, 3, 4))


def exact_beside_units() -> str:
    """Errors of one instruction's sum, and of a long one, against an exact dot product rounded once."""
    fp32 = golden.FORMATS["fp32"]
    models: dict[str, Model] = {
        **units(),
        "exact sums of 16 products and c": exact_unit(K),
        "fp32 multiply-adds, one after the other": golden.Unit(
            name="fp32", operation=golden.OPERATIONS["FMA"](a=fp32, b=fp32, c=fp32)
        ),
    }
    rows = []
    for label, model in models.items():
        cells = [label, model.operation.name]
        for length in (K, 1024):
            d = product(model, length)
            cells += [percent(d == exact(length)), worst(d, exact(length))]
        rows.append(cells)
    columns = [f"K = {length}: {what}" for length in (K, 1024) for what in ("as the exact sum", "largest error")]
    return markdown.table(("unit", "operation", *columns), rows, numbers=(2, 3, 4, 5))


def orders() -> str:
    """A table of one matrix product on one unit in several orders of K: its bits in fp32 and after rounding to fp16 and
    bf16."""
    unit = golden.instruction(*FP16["Hopper H100"])
    alone = product(unit, 4096)
    choices = {
        "one chain": golden.GemmOrder(),
        "split-K, 2 parts": golden.GemmOrder(split_k=2),
        "split-K, 8 parts": golden.GemmOrder(split_k=8),
        "promoted every 8 instructions (128 products)": golden.GemmOrder(promote_every=8),
    }
    rows = []
    for label, order in choices.items():
        d = product(unit, 4096, order)
        rows.append(
            [
                label,
                percent(d != alone),
                *(percent(d.astype(low) != alone.astype(low)) for low in (np.float16, ml_dtypes.bfloat16)),
                worst(d, exact(4096)),
            ]
        )
    header = ("order of K = 4096", "fp32: other bits than one chain", "rounded to fp16", "rounded to bf16", "largest error")
    return markdown.table(header, rows, numbers=(1, 2, 3, 4))


def percent(where: Any) -> str:
    """The share of elements that are true; none and all differ from nearly none and nearly all."""
    count, total = int(np.count_nonzero(where)), int(np.size(where))
    if count in (0, total):
        return "100 %" if count else "0"
    return f"{min(max(100 * count / total, 0.1), 99.9):.1f} %"


def worst(d: Floats, rounded: Floats) -> str:
    """The largest distance from the exact sum, over the root mean square of the exact sums."""
    error = float(np.max(np.abs(d.astype(np.float64) - rounded.astype(np.float64))))
    return f"{error / float(np.sqrt(np.mean(rounded.astype(np.float64) ** 2))):.1e}" if error else "0"
