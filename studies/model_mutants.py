"""Mutants of a chain's model: one key, the step's length or the order of products changed, computed by the native engine.

What changes no result has a reason here why (`equivalence`), which is checked against formats and keys.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.chain import ORDERS, Chain
from golden.conversion import CONVERSIONS, FP64_CONVERSIONS
from golden.formats import FP32
from golden.native.engine import compute
from golden.operations import OCFDPA
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.rounding import OVERFLOWS
from golden.stimulus import Operands, OperandShape
from golden.stimulus.codes import lowest_lead
from golden.stimulus.placed_products import lead_range

AnyChain = Chain
Results = npt.NDArray[Any]
Model = Callable[[Operands], Results]

NUMBERS = ("F", "F2", "e_zero", "h")
FLAGS = ("sticky", "flush_inputs", "flush_results")
TRUNCATIONS = ("RZ", "RD", "RO")


def mutants(chain: AnyChain, shape: OperandShape) -> Iterator[tuple[str, Model]]:
    """Name and model of every mutant that the operation's rules accept."""
    for name, keys in _keys(chain):
        try:
            yield name, _native(_with_operation(chain, chain.operation.changed(**keys)))
        except ValueError:  # a key that this operation or this value of another key does not go with
            continue
    yield from _lengths(chain, shape.K)
    yield from _orders(chain, shape)


def _with_operation(chain: AnyChain, operation: Any) -> AnyChain:
    return replace(chain, operation=operation)


def _native(chain: AnyChain) -> Model:
    return lambda rows: compute(chain, *rows)


def _keys(chain: AnyChain) -> Iterator[tuple[str, dict[str, Any]]]:
    operation = chain.operation
    for key in NUMBERS:
        if hasattr(operation, key):
            yield from ((f"{key}{by:+}", {key: getattr(operation, key) + by}) for by in (-1, 1))
    rho = str(getattr(operation, "rho", ""))
    kept = rho.partition("-")[2]
    for other in CONVERSIONS | FP64_CONVERSIONS if rho else ():
        if other != rho and other.endswith("-FP32" if kept == "E8M13" else f"-{kept}"):
            yield other, {"rho": other}
    for other in TRUNCATIONS if hasattr(operation, "truncation") else ():
        if other != getattr(operation, "truncation", other):
            yield f"aligned {other}", {"truncation": other}
    yield from ((key, {key: True}) for key in FLAGS if getattr(operation, key, None) is False)
    for overflow in OVERFLOWS if hasattr(operation, "overflow") else ():
        if overflow != getattr(operation, "overflow", overflow):
            yield overflow, {"overflow": overflow}
    if hasattr(operation, "G"):
        yield from ((f"G={G}", {"G": G}) for G in (operation.G // 2, operation.G * 2))


def _lengths(chain: AnyChain, K: int) -> Iterator[tuple[str, Model]]:
    """Steps of half and of twice as many products, where these divide K."""
    operation = chain.operation
    for length in (operation.length // 2, operation.length * 2):
        if operation.name == "FMA" or not 1 <= length <= K or K % length:
            continue
        try:
            yield f"L={length}", _native(_with_operation(chain, operation.with_length(length)))
        except ValueError:  # shorter than the groups that the operation sums first
            continue


def _orders(chain: AnyChain, shape: OperandShape) -> Iterator[tuple[str, Model]]:
    """Other orders of products, where they are not all in one exact sum and have no scales."""
    if chain.fp16_order is not None:
        yield from ((order, _native(replace(chain, order=order))) for order in ORDERS if order != chain.order)
        return
    one_sum = chain.operation.length >= shape.K and chain.operation.name not in ("FTZ-AddMul", "GTR-FDPA")
    if one_sum or shape.scale is not None or shape.K == 1:
        return
    k = np.arange(shape.K)
    for name, order in (("halves swapped", np.roll(k, shape.K // 2)), ("even-odd", np.r_[k[::2], k[1::2]])):
        yield name, _reordered(chain, order)


def _reordered(chain: Chain, order: npt.NDArray[np.int64]) -> Model:
    def model(rows: Operands) -> Results:
        return compute(chain, rows.a[:, order], rows.b[:, order], rows.c, None, None)

    return model


def equivalence(chain: AnyChain, shape: OperandShape, name: str) -> str | None:
    """Why a mutant gives the same results on all operands; None where that is not known."""
    operation = chain.operation
    if operation.name == "IDPA" and name not in OVERFLOWS:
        return _one_sum_of_integers(operation)
    mode = str(getattr(operation, "rho", "RNE-")).partition("-")[0]
    if name == "sticky" and mode == "RZ":
        return "RZ drops what the sticky bit says"
    if name == "by-mode" and mode in ("RNE", "RNA"):
        return f"{mode} overflows to infinity by its mode"
    if name in ("saturate", "by-mode") and _no_sum_overflows(shape):
        return "no sum reaches half a last place above the largest c"
    if name == "e_zero-1" and isinstance(operation, OCFDPA) and _flushed_below_e_zero(operation):
        return "what is summed below e_zero is below the smallest normal of d, and flushed"
    if name.startswith("e_zero"):
        return _e_zero_never_counts(chain, shape)
    narrow = not any(operand.e_min == FP32.e_min for operand in (shape.a, shape.b, shape.c))
    if name == "flush_inputs" and isinstance(operation, HeadroomFDPA) and narrow:
        return "no operand has the exponents of fp32"
    from_zero = chain.fp16_order is not None and shape.d.name == "fp32"
    if name == "flush_inputs" and from_zero and min(lowest_lead(shape.a), lowest_lead(shape.b)) >= operation.a.e_min:
        return "no number of the FP8 format is subnormal in fp16"
    if name == "flush_results" and from_zero and lead_range(shape)[0] >= shape.d.e_min:
        return "no step has a subnormal result, and the addition of c is not flushed"
    return None


def _one_sum_of_integers(operation: Any) -> str | None:
    """Why integers give the same sum in steps of any length and order."""
    if operation.overflow == "wrap":
        return "integers that wrap give one sum in every order, in steps of any length"
    signed = min(operation.a.lowest, operation.b.lowest) < 0
    return None if signed else "products of unsigned integers only add, and what has saturated stays"


def _no_sum_overflows(shape: OperandShape) -> bool:
    """Whether all products together, under 4 · 4 · 2^high each with scales, are below half of the largest c's last place."""
    highest = lead_range(shape)[1] + (4 if shape.scale is not None else 2) + (shape.K - 1).bit_length()
    return highest <= shape.c.e_max - shape.c.man_bits - 1


def _flushed_below_e_zero(operation: OCFDPA) -> bool:
    """Whether L products under 2^(e_zero + 1 - h) each sum to less than the smallest normal of d, where c is a zero."""
    is_flushed = operation.flush_inputs and operation.flush_results and operation.c.e_min == FP32.e_min
    return is_flushed and (operation.L - 1).bit_length() + operation.e_zero + 1 - operation.h <= operation.d.e_min


def _e_zero_never_counts(chain: AnyChain, shape: OperandShape) -> str | None:
    operation: Any = chain.operation
    smallest = 2 * shape.scale.e_min if shape.scale is not None else 0
    if chain.fp16_order is not None:  # FP8's subnormals may be normal numbers of fp16
        smallest = lead_range(shape)[0]
    elif operation.name != "GST-FDPA":  # whose exponents are those of the scales
        smallest += shape.a.e_min + shape.b.e_min
    if min(smallest, shape.c.e_min) > operation.e_zero:
        return "every term that is not zero has an exponent above e_zero"
    zeros_count = operation.name == "OC-FDPA"  # as -1 in units of the last place of the alignment
    if shape.scale is None and not zeros_count and lead_range(shape)[0] >= operation.e_zero + 1 - operation.F:
        return "alignment at e_zero, or one beside it, cuts no bit of any product"
    return None
