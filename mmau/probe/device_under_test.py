"""Devices under test: anything that computes a dot product of bit patterns and does not reveal how.

The probe reaches a device under test only through `Questioner`, which checks, counts and remembers every answer.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from golden.arrays import BitArray, bits_dtype
from golden.chains.chain import RUNS, ChainTable, product_order
from golden.checks import check_name, check_type
from golden.device import Device, formats_of
from golden.program import ProgramError
from golden.stimulus import Operands, OperandShape
from golden.units.model import Model
from golden.units.unit import Unit
from mmau.probe.journal import Journal, row_keys

FIRST_BATCH = 64
"""Vectors of the first question: few, because the device's speed is not known yet."""

SECONDS_A_BATCH = 5.0
"""Target time of one question (s), so that few answers are lost if the device under test dies."""

MAX_BATCH = 1 << 16


class DeviceUnderTestError(ValueError):
    """The device under test broke a rule; the message states the rule and what the device did.

    Attributes:
        answers: those that it had given to the rows of the question, from the first on.
    """

    def __init__(self, message: str, answers: BitArray | None = None) -> None:
        super().__init__(message)
        self.answers = answers


class TwoAnswersError(DeviceUnderTestError):
    """The device under test gave two answers to one question.

    Attributes:
        row: the question. first, then: the codes of d.
    """

    def __init__(self, message: str, row: Operands, first: int, then: int) -> None:
        super().__init__(message)
        self.row, self.first, self.then = row, first, then


@dataclass(frozen=True, kw_only=True)
class ModelDevice:
    """A device that is a function, such as a model's.

    Attributes:
        name, shape, identity: as `golden.device.Device` has them.
        function: computes d [rows] of rows of operands.
    """

    name: str
    shape: OperandShape
    function: Callable[[Operands], Any]
    identity: str = ""

    def __post_init__(self) -> None:
        check_name("name of a device under test", self.name)
        check_type("shape of a device under test", self.shape, OperandShape)

    def dot(self, rows: Operands) -> Any:
        """Compute d [rows]."""
        return self.function(rows)


def dut_of(model: Model, K: int | None = None) -> ModelDevice:
    """The device that computes one element of an instruction's D, or K products on a unit. By default K is what two steps of
    the unit take if it can take its result as c, else what one step takes. A chain has its usual K, doubled where its order
    would otherwise be the order of k."""
    if K is None:
        K = _usual_products(model) if isinstance(model, Unit) else model.usual_K
    return ModelDevice(name=model.label, shape=formats_of(model, K), function=lambda rows: model.dot(*rows))


def _usual_products(unit: Unit) -> int:
    o = unit.operation
    if unit.chain != ChainTable() or unit.sums is not None:
        K = unit.usual_K
        in_order = RUNS.get(unit.chain.order) and product_order(unit.chain.order, K) == list(range(K))
        return 2 * K if in_order else K
    try:
        o.accumulating()
    except ValueError:
        return o.length
    return 2 * o.length


class Questioner:
    """Asks a device under test, checks its answers and counts them.

    Attributes:
        questions: calls of the device's `dot`.
        vectors: rows that it was asked in total; rows of the journal are not asked again.
        seconds: the device's computing time in total.
    """

    def __init__(self, dut: Device, journal: Journal, seconds: float | None = None) -> None:
        self.dut, self.journal = dut, journal
        self.questions = self.vectors = 0
        self.seconds = 0.0
        self._limit = seconds
        self._batch = FIRST_BATCH

    def ask(self, operands: Operands) -> BitArray:
        """The device's answers; those of rows in the journal are taken from there.

        Raises:
            DeviceUnderTestError: the device under test died, or answered with another shape or type, or the time is used up.
        """
        keys = row_keys(operands)
        first = {key: i for i, key in reversed(list(enumerate(keys))) if key not in self.journal.answers}
        fresh = np.array(sorted(first.values()), np.int64)
        if fresh.size:
            asked = operands.rows(fresh)
            for start in self._starts(len(fresh)):
                part = asked.rows(slice(start, start + self._batch))
                try:
                    codes = self._answer(part)
                except DeviceUnderTestError as error:
                    if error.answers is not None:
                        self._record(part, error.answers, keys, fresh[start:])
                    raise
                self._record(part, codes, keys, fresh[start:])
        return np.array([self.journal.answers[key] for key in keys], bits_dtype(self.dut.shape.d))

    def _record(self, asked: Operands, codes: BitArray, keys: list[bytes], fresh: np.ndarray) -> None:
        """Record the answers to the first rows of a question."""
        self.journal.add(asked.rows(slice(0, len(codes))), codes, [keys[i] for i in fresh[: len(codes)]])

    def ask_unrecorded(self, operands: Operands) -> BitArray:
        """The device's answers to rows that are too many to record, or are asked again on purpose.

        Raises:
            DeviceUnderTestError: as `ask`.
        """
        rows = len(operands.c)
        parts = [self._answer(operands.rows(slice(start, start + self._batch))) for start in self._starts(rows)]
        return np.concatenate(parts) if parts else np.empty(0, bits_dtype(self.dut.shape.d))

    def ask_again(self, operands: Operands, d: BitArray, some: np.ndarray, rng: np.random.Generator) -> None:
        """Ask some rows a second time, in this order: the answers must not depend on the place of a row in a question.
        Where one is not, all rows are asked again, and the journal does not keep those with two answers, nor, if it was one
        of these, any answer of an earlier run.

        Args:
            operands, d: all rows, and the answers to them. some: indices of the rows to ask again. rng: draws the order
                of all.

        Raises:
            TwoAnswersError: a row got two answers. DeviceUnderTestError: as `ask`.
        """
        others: dict[int, int] = {}
        for rows in (some, rng.permutation(len(d))):
            try:
                again = self.ask_unrecorded(operands.rows(rows))
            except DeviceUnderTestError:
                if not others:
                    raise
                break
            differing = again != d[rows]
            if not differing.any() and not others:
                return
            others |= dict(zip(rows[differing].tolist(), again[differing].tolist(), strict=True))
            keys = row_keys(operands.rows(rows[differing]))
            self.journal.forget(keys)
            if not self.journal.earlier.isdisjoint(keys):
                self.journal.forget(self.journal.earlier)
        row = next(iter(others))
        first, then = int(d[row]), others[row]
        raise TwoAnswersError(
            f"{self.dut.name} must give the same result whenever it is asked, and gave {len(others)} of {len(d)} "
            f"vectors another one: {self.dut.shape.d} {first:#x} first, then {then:#x}",
            operands.rows(slice(row, row + 1)), first, then,
        )  # fmt: skip

    def _starts(self, rows: int) -> Any:
        """The first row of each question; the length `_batch` may change from one question to the next."""
        start = 0
        while start < rows:
            yield start
            start += self._asked_last

    _asked_last = 0

    def _answer(self, operands: Operands) -> BitArray:
        rows = len(operands.c)
        if self._limit is not None and self.seconds >= self._limit:
            raise DeviceUnderTestError(
                f"{self.dut.name} has answered {self.vectors} vectors in {self.seconds:.1f} s and used up its limit of "
                f"{self._limit:g} s; raise the limit, or probe a faster device"
            )
        began = time.perf_counter()
        try:
            d = self.dut.dot(operands)
        except ProgramError as error:
            raise DeviceUnderTestError(f"after {self.vectors} vectors {error}", error.answers) from error
        except Exception as error:
            raise DeviceUnderTestError(
                f"{self.dut.name} died after {self.vectors} vectors: {type(error).__name__}: {error}"
            ) from error
        took = time.perf_counter() - began
        self.seconds += took
        self.questions += 1
        self.vectors += rows
        self._asked_last = rows
        self._batch = int(np.clip(rows * SECONDS_A_BATCH / max(took, 1e-6), 1, min(MAX_BATCH, 4 * rows + 4)))
        return self._checked(d, rows)

    def _checked(self, d: Any, rows: int) -> BitArray:
        expected = bits_dtype(self.dut.shape.d)
        if not isinstance(d, np.ndarray):
            raise DeviceUnderTestError(
                f"{self.dut.name} must answer with a NumPy array of {expected}, got {type(d).__name__}"
            )
        if d.shape != (rows,):
            raise DeviceUnderTestError(
                f"{self.dut.name} must answer {rows} vectors with d of shape ({rows},), got {d.shape}"
            )
        if d.dtype != expected:
            raise DeviceUnderTestError(
                f"{self.dut.name} must answer with {expected}, the bits of {self.dut.shape.d}, got {d.dtype}"
            )
        return d
