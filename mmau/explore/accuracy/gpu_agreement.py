"""How often a unit gives the bits that instructions of named GPUs give for the same operands."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import golden
from golden.arrays import BitArray
from golden.comparison import is_nan
from golden.engines import Batch
from golden.gemm_order import GemmOrder
from golden.instruction import Instruction
from golden.operations import Operation
from golden.stimulus import Operands
from golden.tiled import dots_in_order
from golden.unit import Unit
from mmau.explore.accuracy.dataset import DataSet


def reference(name: str) -> Instruction:
    """The instruction of a name ARCH:NAME.

    Raises:
        ValueError: another text, or no such instruction; the message suggests near spellings.
    """
    arch, colon, instruction = str(name).partition(":")
    if not colon:
        raise ValueError(f"a reference must be ARCH:NAME, as sm_90:mma.m16n8k16.f32.f16.f16.f32; got {name!r}")
    return golden.instruction(arch, instruction)


def agreement(
    unit: Unit, d: BitArray, data: DataSet, references: Sequence[str], order: GemmOrder | None = None
) -> dict[str, float | None]:
    """The share of rows in which each instruction gives d; None for one with other formats.

    Args:
        order: the order of the steps along K; None for one after the other.

    A NaN agrees with any NaN where one of the two arithmetics leaves its encoding open.
    """
    found: dict[str, float | None] = {}
    for name in references:
        instruction = reference(name)
        if not _takes(instruction, unit):
            found[name] = None
            continue
        key = f"{name} {order}"
        if key not in data.results:
            data.results[key] = results(instruction, data.operands, order)
        same = ~differing(d, data.results[key], (unit.operation, instruction.operation))
        found[name] = float(np.count_nonzero(same)) / len(d)
    return found


def _takes(instruction: Instruction, unit: Unit) -> bool:
    """Whether an instruction takes the operands of a unit, and gives its format."""
    o, p = instruction.operation, unit.operation
    formats = (instruction.a, instruction.b, o.c, o.d, o.scale_format, o.block_size)
    return formats == (unit.a, unit.b, p.c, p.d, p.scale_format, p.block_size)


def differing(got: BitArray, expected: BitArray, operations: tuple[Operation, Operation]) -> npt.NDArray[np.bool_]:
    """Where results differ; NaN is compared as in `agreement`."""
    differs = np.asarray(got != expected)
    if operations[0].d.infinity is None or all(operation.nan_is_fixed() for operation in operations):
        return differs
    return np.asarray(differs & ~(is_nan(got, operations[0].d) & is_nan(expected, operations[0].d)))


def results(instruction: Instruction, operands: Operands, order: GemmOrder | None = None) -> BitArray:
    """d of each row as the instruction computes it in a matrix product: K is padded to a multiple of its k with zeros, and
    each k products take the d of the previous k as their c, unless `order` is given (golden.gemm)."""
    return dots_in_order(instruction, Batch(*_padded(instruction, operands)), order or GemmOrder())


def _padded(instruction: Instruction, operands: Operands) -> Operands:
    K = operands.a.shape[1]
    missing = -K % instruction.k
    if not missing:
        return operands
    a, b = (np.pad(x, ((0, 0), (0, missing))) for x in (operands.a, operands.b))
    scale_a, scale_b = operands.scale_a, operands.scale_b
    if instruction.scale is not None and instruction.block_size is not None and scale_a is not None and scale_b is not None:
        lacking = (K + missing) // instruction.block_size - scale_a.shape[1]
        one = instruction.scale.encode(1)
        scale_a, scale_b = (np.pad(x, ((0, 0), (0, lacking)), constant_values=one) for x in (scale_a, scale_b))
    return Operands(a, b, operands.c, scale_a, scale_b)
