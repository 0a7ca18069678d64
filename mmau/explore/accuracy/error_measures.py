"""The measures of one unit over one workload."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from golden.arrays import BitArray
from golden.checks import check_least
from golden.engines import Batch
from golden.formats import IntegerFormat
from golden.stimulus import OperandShape
from golden.tiled import check_products, dots_in_order
from golden.unit import Unit
from mmau.explore.accuracy.dataset import DataSet, data_set, rows_of
from mmau.explore.accuracy.gpu_agreement import agreement, reference, results
from mmau.explore.accuracy.properties import properties
from mmau.explore.accuracy.statistics import BLOCK, Errors
from mmau.explore.accuracy.user_file import products_of_file
from mmau.explore.accuracy.workload import PROPERTIES, Workload, check_workload
from mmau.explore.network.network_workload import train_and_test
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
        rows: dot products; of chains fewer, by their length; of a file at most so many.
        seed: from 0 on; the same seed gives the same operands to every unit of the same formats and K.
        references: instructions ARCH:NAME, with which the results are compared bit by bit.
        instruction: the instruction ARCH:NAME that the unit stands for, which computes in its place: it takes k products
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
        return train_and_test(named or unit, checked.network, seed)
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
