"""Coverage of whole units, as the tests ask for it."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from cosim.coverage.coverage_model import Counts, Model, count, covergroups
from cosim.coverage.covergroup import Reason
from golden import Operation
from golden.stimulus import Operands, OperandShape, generate

DEFAULT = ((19000, 0), (1000, 1))
"""Vectors and seeds that `mmau cosim` runs by default through a unit with a clock: it is powered up twice."""


@cache
def counts_of(operation: Operation, runs: tuple[tuple[int, int], ...] = DEFAULT, K: int | None = None) -> Counts:
    """The bins that runs of so many vectors of those seeds hit together."""
    K = operation.length if K is None else K
    model, shape = Model(operation, K), OperandShape.of_operation(operation, K)
    first, *others = [count(model, generate(shape, vectors, seed).operands) for vectors, seed in runs]
    for other in others:
        first = first.merged(other)
    return first


def bins_of(counts: Counts) -> Iterator[tuple[str, str, Reason, int]]:
    """Covergroup, bin, why it is unreachable, hits."""
    for group in covergroups(counts.model):
        for name, reason, hits in zip(group.bins, group.reasons, counts.hits[group.name], strict=True):
            yield group.name, name, reason, hits


def missed(counts: Counts) -> list[str]:
    """The bins that could be hit and were not."""
    return [f"{group}: {name}" for group, name, reason, hits in bins_of(counts) if reason is None and not hits]


def wrongly_unreachable(counts: Counts) -> list[str]:
    """The bins that were hit although they are called unreachable."""
    return [f"{group}: {name} ({reason})" for group, name, reason, hits in bins_of(counts) if reason is not None and hits]


def contradicted(counts: Counts, times: int = 3) -> tuple[Counts, str]:
    """Counts with hits of the first bin that is called unreachable, and what is said of it."""
    group, name, reason, _ = next(each for each in bins_of(counts) if each[2] is not None)
    (of_group,) = [each for each in covergroups(counts.model) if each.name == group]
    hits = list(counts.hits[group])
    hits[of_group.bins.index(name)] = times
    said = f"{group}: {name} (hit {times} times; declared unreachable: {reason})"
    return replace(counts, hits={**counts.hits, group: hits}), said


def operands(operation: Operation, rows: int, seed: int = 0, K: int | None = None) -> Operands:
    """Rows for an operation."""
    return generate(OperandShape.of_operation(operation, K), rows, seed).operands
