"""What a run keeps of the elements that it has compared: every mismatch by group, and of each class some that agreed."""

from collections import Counter
from collections.abc import Callable

from cosim.bench.groups import Group, Groups
from cosim.bench.mismatch import Arrival, ComparedRow, Mismatch
from cosim.bench.products import Element

AGREEING = 64
"""Elements of each class that are kept although they agreed: an explanation of the others must fit them too."""

DIFFERING = 20_000
"""Elements that differ and are kept, all of a run of default length; the first of each group are kept beyond that."""

OPERANDS = ("a", "b", "c", "scale_a", "scale_b")
"""The operands of a dot product, as fields of `ComparedRow`; what else a specification sends is one of its `ports`."""


class Record:
    """Collects compared elements; what it takes of memory does not grow with their number."""

    def __init__(self) -> None:
        self.first_mismatch: str | None = None
        self._groups = Groups()
        self._differing: list[ComparedRow] = []
        self._agreed: Counter[str] = Counter()
        self._enough: set[tuple[str, int]] = set()  # names of rows and labels whose class has as many
        self._agreeing: list[tuple[int, Element, int | str, Arrival]] = []

    def differs(self, vector: int, element: Element, code: int | str, arrival: Arrival) -> None:
        """An element that differs."""
        row = compared_row(vector, element, code, arrival)
        mismatch = Mismatch.of(row, element.products.result)
        text = described(vector, element, code)
        self.first_mismatch = self.first_mismatch or text
        recorded = self._groups.add(mismatch, text)
        if recorded or len(self._differing) < DIFFERING:
            self._differing.append(row)

    def agrees(self, vector: int, element: Element, code: int | str, now: Callable[[], Arrival]) -> None:
        """An element that agrees."""
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
        """The first elements that differ, and those that are recorded in groups."""
        return tuple(self._differing)

    def groups(self) -> tuple[Group, ...]:
        """All mismatches, the largest group first."""
        return self._groups.all()

    def agreeing(self) -> tuple[ComparedRow, ...]:
        """The first elements of each class that agreed."""
        return tuple(compared_row(*each) for each in self._agreeing)


def compared_row(vector: int, element: Element, code: int | str, arrival: Arrival) -> ComparedRow:
    """An element as a record."""
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
    """An element that differs: where it is, its inputs, got and expected."""
    products = element.products
    where = f"vector {vector}, {element.place}" if element.place else f"vector {vector}"
    return "\n".join([f"{where} ({products.made_by(element.row)})", *products.described(element.row, code)])
