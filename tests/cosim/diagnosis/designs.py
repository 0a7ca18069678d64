"""Rows of designs that exist in Python alone: operands of the stimulus, golden's results, and what the design gives."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from cosim.bench.mismatch import ComparedRow
from cosim.diagnosis import Diagnosis, diagnose
from golden import Instruction, Operation, Unit
from golden.chains.chain import Chain
from golden.comparison import differing
from golden.engines.engine import Batch, run
from golden.stimulus import Operands, OperandShape, generate

Codes = npt.NDArray[np.uint64]
Design = Callable[[Operands, Codes], Sequence[int] | Codes]
"""From operands and golden's results to the design's."""


def golden_results(operation: Operation, operands: Operands) -> Codes:
    """golden's d of every row."""
    return run(None, Chain(operation), Batch(*operands))


def compared(operation: Operation, design: Design, count: int, seed: int = 7) -> tuple[list[ComparedRow], list[ComparedRow]]:
    """The rows of a run that differ, and those that agree."""
    operands = generate(OperandShape.of_operation(operation), count, seed).operands
    expected = golden_results(operation, operands)
    return split(operation, operands, np.array(design(operands, expected), expected.dtype), expected)


def split(
    operation: Operation, operands: Operands, got: Codes, expected: Codes
) -> tuple[list[ComparedRow], list[ComparedRow]]:
    """Rows that differ, and those that agree."""
    rows = [_row(operands, number, int(got[number]), int(expected[number])) for number in range(len(got))]
    differs = differing(got, expected, operation).tolist()
    wrong = [row for row, differ in zip(rows, differs, strict=True) if differ]
    return wrong, [row for row, differ in zip(rows, differs, strict=True) if not differ]


def _row(operands: Operands, number: int, got: int, expected: int) -> ComparedRow:
    scales = [None if codes is None else tuple(codes[number].tolist()) for codes in operands[3:]]
    return ComparedRow(
        vector=number, place="", products="", stimulus_class="any", a=tuple(operands.a[number].tolist()),
        b=tuple(operands.b[number].tolist()), c=int(operands.c[number]), scale_a=scales[0], scale_b=scales[1], got=got,
        expected=expected, cycle=None, time=0.0, ports={},
    )  # fmt: skip


def diagnosis(operation: Operation, design: Design, count: int = 1000) -> Diagnosis:
    """The diagnosis of a run with such a design."""
    wrong, agreeing = compared(operation, design, count)
    assert wrong, "the design never differs"
    return diagnosed(operation, wrong, agreeing)


def diagnosed(
    model: Operation | Unit | Instruction, wrong: Sequence[ComparedRow], agreeing: Sequence[ComparedRow] = ()
) -> Diagnosis:
    """The diagnosis of rows, for which a busy machine takes as long as it needs."""
    return diagnose(model, wrong, agreeing, seconds=3600)
