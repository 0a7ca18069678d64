"""Which order of `golden.gemm` gives every recorded element of a product, found by trying candidates.

python -m studies.library_products.found_orders h100.npz docs/evidence/library-products.json
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from itertools import permutations
from itertools import product as pairs
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt

import golden
from golden import GemmOrder, gemm
from golden.arrays import bits_dtype
from golden.files import write_atomically
from golden.operations import FMA
from golden.products.epilogue import OUTPUTS
from golden.recordings.npz import read_npz
from studies.library_products.drawn_codes import SCALE_A, SCALE_B
from studies.library_products.recorded_products import (
    Case,
    Operands,
    Tile,
    operands,
    sampled,
    scale_shapes,
    scales,
)

OPERANDS = ("as they are", "rounded to tf32, to nearest even", "cut to tf32", "widened to fp16")
"""Conversions of the operands before a kernel multiplies."""

MOST_PARTS = 64
"""Largest number of parts of K that are tried."""

FLOAT_OF_8 = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}

RESULTS = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16", "float64": "fp64", "int32": "int32"}


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """How every recorded element of a product is computed.

    Attributes:
        instruction: an instruction of sm_90, or `FMA fp32` for multiply-adds on CUDA cores. operands: one of `OPERANDS`.
        promote_every, split_k, split_tile, stripes, stripe_order: as `golden.GemmOrder`.
    """

    instruction: str
    operands: str = "as they are"
    promote_every: int = 0
    split_k: int = 1
    split_tile: int | None = None
    stripes: tuple[int, int] | None = None
    stripe_order: tuple[Any, ...] | str | None = None


class Product(NamedTuple):
    """One recorded product: its case, the sampled codes of D, the kernels that ran, and the format of D."""

    case: Case
    d: npt.NDArray[Any]
    kernels: tuple[str, ...]
    result: str
    sums: tuple[int, int]


class Recorded(NamedTuple):
    """A file of products: the machine's versions, the products by name, and why others were refused."""

    machine: dict[str, str]
    products: dict[str, Product]
    refused: dict[str, str]


def read(path: Path) -> Recorded:
    """The products of a file that `studies.library_products.record` wrote.

    Raises:
        ValueError: a damaged file. OSError: it cannot be read.
    """
    about = json.loads(read_npz(path, ["about"])["about"].tobytes())
    arrays = read_npz(path, [name for name, entry in about["cases"].items() if "refused" not in entry])
    products, refused = {}, {}
    for name, entry in about["cases"].items():
        if "refused" in entry:
            refused[name] = entry["refused"]
            continue
        tile = entry["case"]["tile"]
        case = Case(**entry["case"] | {"tile": tile and Tile(*tile)})
        ran = entry.get("instructions") or entry["kernels"]
        products[name] = Product(case, arrays[name], tuple(ran), RESULTS[entry["d"]], tuple(entry["sums"]))
    return Recorded({key: str(about[key]) for key in ("device", "torch", "cuda", "triton")}, products, refused)


def differing(product: Product, explanation: Explanation, rows: slice = slice(None)) -> int:
    """Sampled elements, of some of the rows, that the explanation does not give."""
    return int(np.count_nonzero(computed(product, explanation, rows) != product.d[rows]))


def computed(product: Product, explanation: Explanation, rows: slice = slice(None)) -> npt.NDArray[Any]:
    """D's sampled codes under an explanation."""
    case = product.case
    made = _operands(case)
    instruction = _model(explanation.instruction)
    a, b = (_converted(codes, form, explanation.operands) for codes, form in ((made.a[rows], case.a), (made.b, case.b)))
    keys: dict[str, Any] = {"promote_every": explanation.promote_every, "split_k": explanation.split_k}
    keys |= {
        key: value for key in ("split_tile", "stripes", "stripe_order") if (value := getattr(explanation, key)) is not None
    }
    if case.route.startswith("scaled-rows"):
        sums = gemm(instruction, a, b, order=GemmOrder(**keys)).view(np.float32)
        scale_a, scale_b = _scales(case)
        return _as(sums_by_rows(sums, scale_a[rows], scale_b), product.result)
    c = None
    if product.result in OUTPUTS:
        keys["output"] = product.result
    if case.route == "scaled-blocks":
        scale_a, scale_b = _scales(case)
        order = GemmOrder(**keys, scale_at="promotion")
        return np.asarray(gemm(instruction, a, b, scale_a=scale_a[rows], scale_b=scale_b, order=order))
    bias = None
    if case.c:
        assert made.c is not None
        numbers = _float(made.c if case.route == "linear" else made.c[rows], case.c)
        if case.route == "linear":
            keys["epilogue"], bias = ("bias",), numbers
        else:
            keys |= {"epilogue": ("alpha-beta",), "alpha": 1.5, "beta": 0.5}
            c = numbers
    d = np.asarray(gemm(instruction, a, b, c, order=GemmOrder(**keys), bias=bias))
    bits: npt.NDArray[Any] = d.view(product.d.dtype)
    return bits


def sums_by_rows(
    sums: npt.NDArray[np.float32], scale_a: npt.NDArray[np.float32], scale_b: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Sums times scales of rows [rows, 1] and columns [1, columns]: first that of the column, each rounded to fp32."""
    return scale_a * (scale_b * sums)


def _model(name: str) -> golden.Instruction | golden.Unit:
    kind, _, form = name.partition(" ")
    if kind != "FMA":
        return golden.instruction("sm_90", name)
    operand = golden.FORMATS[form]
    return golden.Unit(name="multiply-add", operation=FMA(a=operand, b=operand, c=operand))


def candidates(product: Product) -> Iterator[Explanation]:
    """Explanations to try, the plain chain first."""
    case = product.case
    for name, conversion in _instructions(product):
        width = golden.instruction("sm_90", name).k
        every = (0, 128 // width, 64 // width) if case.a in FLOAT_OF_8 and conversion == "as they are" else (0,)
        if case.route == "scaled-blocks":
            every = (128 // width,)
        for promote in every:
            yield Explanation(instruction=name, operands=conversion, promote_every=promote)
            if any("split" in kernel for kernel in product.kernels):
                for tile in (128,) if case.a in FLOAT_OF_8 else (64,) if case.a in ("bf16", "fp16") else (16, 32, 64, 4):
                    for parts in range(2, MOST_PARTS + 1):
                        yield Explanation(
                            instruction=name, operands=conversion, promote_every=promote, split_k=parts, split_tile=tile
                        )  # fmt: skip
        if case.a == "fp64":
            yield from striped(name)
    if case.M == 1 and case.a in ("fp32", "fp64"):
        for number, width in pairs((4, 8, 16, 32, 64, 128), (1, 2, 4, 8, 16, 32, 64)):
            yield Explanation(instruction=f"FMA {case.a}", stripes=(number, width), stripe_order="butterfly")


EIGHT_STRIPES = ((0, 4), 7, (1, 5), (2, 6), 3)
"""The tree of eight stripes that `mmau order` found."""


def striped(instruction: str) -> Iterator[Explanation]:
    """Explanations by interleaved stripes, as of kernels whose warps share K: four in every order, eight in one."""
    for width in (16, 32, 64):
        for order in (order for order in permutations(range(4)) if order[0] < order[1]):
            yield Explanation(instruction=instruction, stripes=(4, width), stripe_order=order)
        yield Explanation(instruction=instruction, stripes=(8, width), stripe_order=EIGHT_STRIPES)


def explain(product: Product) -> Explanation | None:
    """The first candidate that gives every sampled element; None if there is none.

    Raises:
        ValueError: the operands drawn here are not those that the GPU multiplied.
    """
    made = _operands(product.case)
    if tuple(int(side.astype(np.uint64).sum()) for side in (made.a, made.b)) != product.sums:
        raise ValueError(
            f"{product.case.name}: the sums of the operands' codes must be {product.sums}, those drawn here differ"
        )
    few = slice(0, 2)
    for candidate in candidates(product):
        if not differing(product, candidate, few) and not differing(product, candidate):
            return candidate
    return None


def _instructions(product: Product) -> Iterator[tuple[str, str]]:
    """Instructions that may have run, and what was done to the operands before."""
    a, b = product.case.a, product.case.b
    if a in ("fp16", "bf16"):
        short = {"fp16": "f16", "bf16": "bf16"}[a]
        yield f"wgmma.m64n128k16.f32.{short}.{short}", "as they are"
    elif a in FLOAT_OF_8:
        if any(ran.startswith("mma.sync") for ran in product.kernels):
            yield "mma.m16n8k16.f32.f16.f16.f32", "widened to fp16"
        else:
            yield f"wgmma.m64n128k32.f32.{a}.{b}", "as they are"
    elif a == "fp32":
        for conversion in ("rounded to tf32, to nearest even", "cut to tf32"):
            yield "wgmma.m64n128k8.f32.tf32.tf32", conversion
    elif a == "fp64":
        yield "mma.m16n8k16.f64.f64.f64.f64", "as they are"
    elif a == "int8":
        yield "wgmma.m64n128k32.s32.s8.s8", "as they are"


@cache
def _operands(case: Case) -> Operands:
    return operands(case)


def _converted(codes: npt.NDArray[Any], form: str, conversion: str) -> npt.NDArray[Any]:
    """Codes of a format as codes of what the instruction takes."""
    if conversion == "widened to fp16":
        wide: npt.NDArray[Any] = codes.astype(np.uint8).view(FLOAT_OF_8[form]).astype(np.float16).view(np.uint16)
        return wide
    if conversion == "rounded to tf32, to nearest even":
        codes = codes + 0xFFF + (codes >> 13 & 1)
    if conversion != "as they are":
        codes = codes & ~0x1FFF
    return codes.astype(np.uint8).view(np.int8) if form == "int8" else codes.astype(bits_dtype(golden.FORMATS[form]))


def _scales(case: Case) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """The scales of the sampled rows and columns."""
    rows, columns = sampled(case)
    (_, of_a), (of_b, wide) = scale_shapes(case)
    a = scales(case, SCALE_A, rows[:, None] * of_a + np.arange(of_a))
    which = columns // 128 if case.route == "scaled-blocks" else columns
    b = scales(case, SCALE_B, np.arange(of_b)[:, None] * wide + which)
    return a.astype(np.uint32).view(np.float32), b.astype(np.uint32).view(np.float32)


def _float(codes: npt.NDArray[Any], form: str) -> npt.NDArray[np.float32]:
    """Codes of fp16 or bf16 as fp32."""
    dtype = np.float16 if form == "fp16" else ml_dtypes.bfloat16
    return codes.astype(np.uint16).view(dtype).astype(np.float32)


def _as(numbers: npt.NDArray[np.float32], result: str) -> npt.NDArray[Any]:
    """fp32 numbers as codes of the result's format."""
    return numbers.astype(ml_dtypes.bfloat16).view(np.uint16) if result == "bf16" else numbers.view(np.uint32)


def main(arguments: list[str]) -> int:
    """Explain every product of a file and write what was found."""
    recorded = read(Path(arguments[0]))
    found: dict[str, Any] = {"machine": recorded.machine, "refused": recorded.refused, "products": {}}
    for name, product in recorded.products.items():
        explanation = explain(product)
        plain = next(candidates(product))
        found["products"][name] = {
            "elements": product.d.size, "kernels": list(product.kernels),
            "plain chain differs": differing(product, plain), "explanation": explanation and asdict(explanation),
        }  # fmt: skip
        print(name, explanation and asdict(explanation), flush=True)
    write_atomically(Path(arguments[1]), (json.dumps(found, indent=1, ensure_ascii=False) + "\n").encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
