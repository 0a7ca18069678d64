"""Measures one unit over one workload: its errors, and how often it agrees with instructions of named GPUs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import golden
from golden.arrays import BitArray
from golden.checks import check_least
from golden.comparison import is_nan
from golden.engines import Batch
from golden.formats import IntegerFormat
from golden.gemm_order import GemmOrder
from golden.instruction import Instruction
from golden.operations import Operation
from golden.stimulus import Operands, OperandShape
from golden.tiled import check_products, dots_in_order
from golden.unit import Unit
from mmau.explore.accuracy.dataset import DataSet, data_set, products_of_file, rows_of
from mmau.explore.accuracy.properties import properties
from mmau.explore.accuracy.statistics import BLOCK, Errors
from mmau.explore.accuracy.workload import PROPERTIES, Workload, check_workload
from mmau.explore.network import workload as network
from mmau.explore.network.product_arithmetic import Product


def measure(
    unit: Unit,
    workload: str | Mapping[str, Any],
    rows: int,
    seed: int,
    references: Sequence[str] = (),
    folder: Path | None = None,
    instruction: str | None = None,
) -> dict[str, Any]:
    """Errors of a unit's results, as plain JSON (docs/guides/explore-accuracy.md defines each measure).

    Args:
        workload: a name or a table, as `check_workload` takes it.
        rows: dot products; chains have fewer, depending on their length; from a file at most this number is read.
        seed: from 0 on; the same seed gives the same operands to every unit of the same formats and K.
        references: instructions ARCH:NAME, with which the results are compared bit by bit.
        instruction: the instruction ARCH:NAME to compute with instead of the unit that represents it: it takes k products
            at a time, by which orders count, too, where a unit takes those of a step.
        folder: the cache of operands and exact results for other points and processes; None for this process alone.

    Raises:
        ValueError, TypeError: a wrong workload, rows, seed or reference, or a K that the unit does not take.
        OSError: a file that cannot be read or written.
    """
    checked = check_workload(workload)
    check_least("seed", seed, 0)
    for name in references:
        reference(name)
    named = None if instruction is None else reference(instruction)
    if checked.kind == PROPERTIES:
        return properties(unit, seed)
    if checked.network is not None:
        return network.measure(named or unit, checked.network, seed)
    shape = OperandShape.of_unit(unit, products(unit, checked))
    data = data_set(checked, shape, rows_of(checked, shape.K, rows), seed, folder)
    order = checked.order
    if named is not None:
        d = results(named, data.operands, order)
    else:
        d = unit.dot(*data.operands) if order is None else dots_in_order(unit, Batch(*data.operands), order)
    return {**measured(unit, d, data), "agreement": agreement(unit, d, data, references, order)}


def check_measurable(unit: Unit, workload: Workload, rows: int) -> None:
    """Raise ValueError where `measure` could not measure a unit on a workload; files are not looked at.

    Args:
        rows: as of `measure`.
    """
    if workload.kind == PROPERTIES or workload.path is not None:
        return
    if workload.network is not None:
        Product(unit, workload.network.promote_every, workload.network.split_k)
        return
    if workload.condition is not None and isinstance(unit.a, IntegerFormat):
        raise ValueError("ill-conditioned sums are for floating-point operands; integers are added exactly")
    rows_of(workload, products(unit, workload), rows)


def products(unit: Unit, workload: Workload) -> int:
    """K of a workload's rows: the workload's own, or that of the unit's step.

    Raises:
        ValueError: a K that the unit does not take.
    """
    K = products_of_file(workload.path) if workload.path is not None else workload.K
    if K is None:
        return unit.usual_K
    try:
        unit.chain_over(K)
        if workload.order is not None:
            workload.order.check(unit)
            check_products(unit, K)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"workload {workload.name} has rows of {K} products, which {unit.name} does not take: {error}"
        ) from error
    return K


def measured(unit: Unit, d: BitArray, data: DataSet) -> dict[str, Any]:
    """The measures of results over the rows of a data set."""
    errors = Errors(unit.operation.d, data.rows)
    for start in range(0, data.rows, BLOCK):
        block = slice(start, start + BLOCK)
        errors.add(d[block], data.exact.rows(block))
    return errors.measures()


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
