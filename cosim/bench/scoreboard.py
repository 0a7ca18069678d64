"""The scoreboard: what went in, what came out, and whether the golden model says the same."""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from cosim.bench.subject import Subject
from cosim.bench.vectors import Element, Vectors
from golden import Cls


@dataclass
class Scoreboard:
    """Compares results in order with the golden model's.

    Attributes:
        subject: what the design should be.
        vectors: what goes in and must come out.
    """

    subject: Subject
    vectors: Vectors
    sent: int = 0
    received: int = 0
    surplus: int = 0
    mismatches: int = 0
    first_mismatch: str | None = None
    stopped: str | None = None
    _waiting: deque[int] = field(default_factory=deque)
    _classes: Counter[str] = field(default_factory=Counter)
    _result_classes: Counter[Cls] = field(default_factory=Counter)

    @classmethod
    def of(cls, subject: Subject, vectors: int, seed: int) -> "Scoreboard":
        """A scoreboard with fresh stimulus and the golden model's answers to it."""
        return cls(subject, subject.vectors(vectors, seed))

    @property
    def waiting(self) -> int:
        """Vectors that went in and have no result yet."""
        return len(self._waiting)

    def took(self) -> None:
        """The design took all of the next vector."""
        self._waiting.append(self.sent)
        self.sent += 1

    def gave(self, result: int | str) -> None:
        """The design gave a result: the code of d, or its bits as text where some are neither 0 nor 1."""
        if not self._waiting:
            self.surplus += 1
            return
        number = self._waiting.popleft()
        self.received += 1
        elements = self.vectors.results[number]
        wrong = [
            (element, code)
            for element, code in zip(elements, parts(result, elements), strict=True)
            if not element.products.agrees(element.row, code)
        ]
        for element in elements:
            products = element.products
            self._classes[products.made_by(element.row)] += 1
            self._result_classes[products.operation.d.decode(products.expected[element.row]).cls] += 1
        self.mismatches += bool(wrong)
        if wrong and self.first_mismatch is None:
            self.first_mismatch = described(number, *wrong[0])

    def stop(self, reason: str) -> None:
        """The run ends early; the first reason counts."""
        self.stopped = self.stopped or reason

    def classes(self) -> dict[str, int]:
        """How many compared elements each class and corner made, of those that the vectors have."""
        return {name: self._classes[name] for name in self.vectors.classes()}

    def result_classes(self) -> dict[str, int]:
        """How many compared elements should be of each class."""
        return {cls.name.lower(): self._result_classes[cls] for cls in Cls}


def parts(result: int | str, elements: Sequence[Element]) -> list[int | str]:
    """The code of each element, the first from the low bits; undefined bits stay text."""
    widths = [element.products.operation.d.width for element in elements]
    if isinstance(result, int):
        starts = [sum(widths[:place]) for place in range(len(widths))]
        return [result >> start & (1 << width) - 1 for start, width in zip(starts, widths, strict=True)]
    bits = [result[len(result) - sum(widths[: place + 1]) :][:width] for place, width in enumerate(widths)]
    return [int(code, 2) if set(code) <= {"0", "1"} else code for code in bits]


def described(number: int, element: Element, code: int | str) -> str:
    """An element that differs: where it is, its inputs, got and expected."""
    products = element.products
    where = f"vector {number}, {element.place}" if element.place else f"vector {number}"
    return "\n".join([f"{where} ({products.made_by(element.row)})", *products.described(element.row, code)])
