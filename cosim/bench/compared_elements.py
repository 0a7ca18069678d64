"""The record of compared elements: every mismatch by group, and a few elements of each class that agreed."""

from collections import Counter
from collections.abc import Callable

from cosim.bench.groups import Group, Groups
from cosim.bench.mismatch import Arrival, ComparedRow, Mismatch
from cosim.bench.mismatch_text import heading
from cosim.bench.products import Element

AGREEING = 64
"""Elements of each class that are recorded although they agreed: a diagnosis of the mismatches must fit them too."""

DIFFERING = 20_000
"""Differing elements that are recorded, enough for a run of default length; beyond that only the first of each group."""

OPERANDS = ("a", "b", "c", "scale_a", "scale_b")
"""The operands of a dot product, fields of `ComparedRow`; anything else that a specification sends is in its `ports`."""


class Record:
    """Compared elements of a run, in memory that does not grow with their number."""

    def __init__(self) -> None:
        self.first_mismatch: str | None = None
        self._groups = Groups()
        self._differing: list[ComparedRow] = []
        self._agreed: Counter[str] = Counter()
        self._enough: set[tuple[str, int]] = set()  # (name of rows, label) of classes with AGREEING elements
        self._agreeing: list[tuple[int, Element, int | str, Arrival]] = []

    def differs(self, vector: int, element: Element, code: int | str, arrival: Arrival) -> None:
        """Record an element that differs."""
        row = compared_row(vector, element, code, arrival)
        mismatch = Mismatch.of(row, element.products.result)
        text = described(vector, element, code)
        self.first_mismatch = self.first_mismatch or text
        recorded = self._groups.add(mismatch, text)
        if recorded or len(self._differing) < DIFFERING:
            self._differing.append(row)

    def agrees(self, vector: int, element: Element, code: int | str, now: Callable[[], Arrival]) -> None:
        """Record an element that agrees, unless its class has enough of them."""
        class_of = element.products.name, element.products.label.item(element.row)
        if class_of in self._enough:
            return
        name = element.products.made_by(element.row)
        if self._agreed[name] >= AGREEING:
            self._enough.add(class_of)
        else:
            self._agreed[name] += 1
            self._agreeing.append((vector, Element(element.products.alone(element.row), 0, element.place), code, now()))

    def differing(self) -> tuple[ComparedRow, ...]:
        """The first elements that differ, and all that are recorded in groups."""
        return tuple(self._differing)

    def groups(self) -> tuple[Group, ...]:
        """All mismatches, the largest group first."""
        return self._groups.all()

    def agreeing(self) -> tuple[ComparedRow, ...]:
        """The first elements of each class that agreed."""
        return tuple(compared_row(*each) for each in self._agreeing)


def compared_row(vector: int, element: Element, code: int | str, arrival: Arrival) -> ComparedRow:
    """The `ComparedRow` of an element."""
    products, row = element.products, element.row
    codes = products.codes_by_name(row)
    return ComparedRow(
        vector=vector,
        place=element.place,
        products=products.name,
        stimulus_class=products.made_by(row),
        a=codes.get("a", ()),
        b=codes.get("b", ()),
        c=codes.get("c", (0,))[0],
        scale_a=codes.get("scale_a"),
        scale_b=codes.get("scale_b"),
        got=code,
        expected=int(products.expected[row]),
        cycle=arrival.cycle,
        time=arrival.time,
        ports={name: value for name, value in codes.items() if name not in OPERANDS},
    )


def described(vector: int, element: Element, code: int | str) -> str:
    """Describe an element that differs: its place, its inputs, the result and the expected result."""
    products = element.products
    first = heading(vector, element.place, products.made_by(element.row))
    return "\n".join([first, *products.described(element.row, code)])
