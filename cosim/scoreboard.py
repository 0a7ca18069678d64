"""The scoreboard: what went in, what came out, and whether the golden model says the same."""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from golden import Cls, Unit
from golden.formats import Format
from golden.stimulus import OperandShape, Stimulus, generate


@dataclass
class Scoreboard:
    """Compares results in order with the golden model's.

    Attributes:
        unit: what the design should be.
        stimulus: the vectors, one a row.
        expected: the golden model's results, codes of d.
    """

    unit: Unit
    stimulus: Stimulus
    expected: Sequence[int]
    sent: int = 0
    received: int = 0
    surplus: int = 0
    mismatches: int = 0
    first_mismatch: str | None = None
    stopped: str | None = None
    _waiting: deque[int] = field(default_factory=deque)
    _compared: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, unit: Unit, vectors: int, seed: int) -> "Scoreboard":
        """A scoreboard with fresh stimulus and the golden model's answers to it."""
        stimulus = generate(OperandShape.of_operation(unit.operation), vectors, seed)
        expected = unit.dot(*stimulus.operands).tolist()
        return cls(unit, stimulus, expected)

    @property
    def waiting(self) -> int:
        """Vectors that went in and have no result yet."""
        return len(self._waiting)

    def took(self, row: int) -> None:
        """The design took vector `row`."""
        self._waiting.append(row)
        self.sent += 1

    def gave(self, result: int | str) -> None:
        """The design gave a result: the code of d, or its bits as text where some are neither 0 nor 1."""
        if not self._waiting:
            self.surplus += 1
            return
        row = self._waiting.popleft()
        self.received += 1
        self._compared.append(row)
        if not self._agrees(result, self.expected[row]):
            self.mismatches += 1
            if self.first_mismatch is None:
                self.first_mismatch = self._described(row, result)

    def stop(self, reason: str) -> None:
        """The run ends early; the first reason counts."""
        self.stopped = self.stopped or reason

    def classes(self) -> dict[str, int]:
        """How many compared vectors each class and corner made, of those that the stimulus has."""
        compared = self.stimulus.rows(np.array(self._compared, np.int64)).counts()
        return {name: compared[name] for name, rows in self.stimulus.counts().items() if rows}

    def result_classes(self) -> dict[str, int]:
        """How many compared vectors should give each class of result."""
        tally = Counter(self.unit.operation.d.decode(self.expected[row]).cls for row in self._compared)
        return {cls.name.lower(): tally[cls] for cls in Cls}

    def _agrees(self, result: int | str, expected: int) -> bool:
        if result == expected:
            return True
        d, operation = self.unit.operation.d, self.unit.operation
        if isinstance(result, str) or operation.nan_is_fixed():
            return False
        return d.decode(result).cls is Cls.NAN and d.decode(expected).cls is Cls.NAN

    def _described(self, row: int, result: int | str) -> str:
        """Inputs, got and expected, each as bits, sign, exponent and significand."""
        operation, operands = self.unit.operation, self.stimulus.operands
        lines = [f"vector {row} ({self.stimulus.names[self.stimulus.label[row]]})"]
        lines += _elements("a", operands.a[row], operation.a) + _elements("b", operands.b[row], operation.b)
        if operation.scale_format is not None and operands.scale_a is not None and operands.scale_b is not None:
            lines += _elements("scale_a", operands.scale_a[row], operation.scale_format)
            lines += _elements("scale_b", operands.scale_b[row], operation.scale_format)
        lines.append(f"  c        {operation.c.describe(int(operands.c[row]))}")
        if isinstance(result, str):
            lines.append(f"  got      {operation.d} {result}: bits that are neither 0 nor 1")
        else:
            lines.append(f"  got      {operation.d.describe(result)}")
        lines.append(f"  expected {operation.d.describe(self.expected[row])}")
        return "\n".join(lines)


def _elements(name: str, codes: np.ndarray, operand: Format) -> list[str]:
    return [f"  {f'{name}[{k}]':<8} {operand.describe(code)}" for k, code in enumerate(codes.tolist())]
