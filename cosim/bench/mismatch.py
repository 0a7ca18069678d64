"""Compared elements of results that differ from the expected ones: their rows and texts, their groups, and the first one
minimised."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, NamedTuple

from cosim.bench.operand_widths import FixedPoint
from cosim.bench.products import Bits, DotProducts, Element, Raised, Returned, heading
from golden import Cls, Format

UNDEFINED = "undefined"
"""Class of a result with bits that are neither 0 nor 1."""

BUCKETS = (1, 2, 8, 64, 1024)
"""Upper ends of the ranges of distances, in ulp; one more range holds all larger distances."""


class Arrival(NamedTuple):
    """The time of a result since the start of its simulation.

    Attributes:
        cycle: rising clock edges before it, None where there is no clock. time: simulated time (ns).
    """

    cycle: int | None
    time: float


@dataclass(frozen=True, kw_only=True)
class ComparedRow:
    """One compared element of a result: a dot product's operands as codes, the design's result and golden's.

    Attributes:
        vector: number of the vector in the run, from 0, as `--vector` takes it.
        place: place of the element in the result, as text; empty where a result is one element.
        products: `DotProducts.name`: the format, for a datapath of several formats; empty where there is one kind.
        stimulus_class: class or corner of the stimulus that the row is from.
        a, b: codes [K]. c: code. scale_a, scale_b: codes [K/K_block], None where unscaled.
        got: code of d from the design, or its bits as text where some are neither 0 nor 1. expected: golden's code.
        cycle, time: as in `Arrival`.
        ports: codes that a user's specification sends, by port; a and b are then empty and c is 0. Of a unit those of
            operands that [controls] adds; with metadata also all elements of b, of which the row's are the selected ones.
    """

    vector: int
    place: str
    products: str
    stimulus_class: str
    a: tuple[int, ...]
    b: tuple[int, ...]
    c: int
    scale_a: tuple[int, ...] | None
    scale_b: tuple[int, ...] | None
    got: int | str
    expected: int
    cycle: int | None
    time: float
    ports: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Mismatch(ComparedRow):
    """An element that differs, with the difference.

    Attributes:
        expected_class, got_class: class of each code, in lower case; `UNDEFINED` where bits are neither 0 nor 1.
        ulp: `ulp_distance`.
        distance: `distance_kind`, by which mismatches are grouped.
    """

    expected_class: str
    got_class: str
    ulp: int | None
    distance: str

    @classmethod
    def of(cls, row: ComparedRow, d: Format | Bits) -> "Mismatch":
        """The mismatch of a row whose result has format d."""
        return cls(
            **{field.name: getattr(row, field.name) for field in fields(ComparedRow)},
            expected_class=class_name(row.expected, d),
            got_class=class_name(row.got, d),
            ulp=ulp_distance(row.got, row.expected, d),
            distance=distance_kind(row.got, row.expected, d),
        )

    @property
    def group(self) -> "GroupKey":
        """The key of its group."""
        return GroupKey(self.stimulus_class, self.expected_class, self.got_class, self.distance)

    def as_dict(self) -> dict[str, Any]:
        """The mismatch for JSON; `cosim.runner.job.read` reads it back."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Minimised:
    """A mismatch, as small as was found.

    Attributes:
        row: operands, got and expected: the smallest, or the first mismatch itself.
        reproduced: whether the first mismatch fails when it is sent alone.
        asked: vectors that the design was asked for.
        note: how far it was minimised, or why it was not, in one line.
    """

    row: ComparedRow
    reproduced: bool
    asked: int
    note: str

    def as_dict(self) -> dict[str, Any]:
        """The minimised mismatch as plain JSON."""
        return asdict(self)


class GroupKey(NamedTuple):
    """The properties that the mismatches of a group share."""

    stimulus_class: str
    expected_class: str
    got_class: str
    distance: str


def class_name(code: int | str, d: Format | Bits) -> str:
    """The class of a result, in lower case."""
    return UNDEFINED if isinstance(code, str) else d.decode(code).cls.name.lower()


def ulp_distance(got: int | str, expected: int, d: Format | Bits) -> int | None:
    """The number of steps from expected to got through the numbers of the format; negative where got is lower.

    The distance counts codes in the order of their values, across powers of two and across zero; two zeros have distance 0.
    A difference only in low bits that the format leaves at zero counts as 1. None where either result is an infinity, a NaN
    or undefined.
    """
    if isinstance(got, str) or max(d.decode(got).cls, d.decode(expected).cls) >= Cls.INFINITY:
        return None
    codes = _ordered(got, d) - _ordered(expected, d)
    whole = -(-abs(codes) >> (d.pad_bits if isinstance(d, Format) else 0))
    return whole if codes >= 0 else -whole


def _ordered(code: int, d: Format | Bits) -> int:
    """The position of a finite code in the order of the values."""
    if isinstance(d, Bits):
        return d.number(code) if isinstance(d, FixedPoint) else code
    magnitude = code & ((1 << (d.width - 1)) - 1)
    return -magnitude if d.decode(code).sign else magnitude


def distance_kind(got: int | str, expected: int, d: Format | Bits) -> str:
    """The range of the distance in ulp, such as `+1 ulp` or `-3 to -8 ulp`; a phrase where there is no distance: for
    infinities, NaNs, undefined bits and zeros of different sign."""
    if isinstance(got, str):
        return "undefined bits"
    if isinstance(d, Raised):
        return d.difference(got, expected)
    if isinstance(d, Returned):
        return "another value"
    ulp = ulp_distance(got, expected, d)
    if ulp is not None:
        return _bucket(ulp) if ulp else "sign of zero"
    got_cls, expected_cls = d.decode(got).cls, d.decode(expected).cls
    if got_cls is expected_cls:
        return "another NaN" if got_cls is Cls.NAN else "sign of infinity"
    return f"{_kind(got_cls)} for {_kind(expected_cls)}"


def _kind(cls: Cls) -> str:
    return {Cls.INFINITY: "infinity", Cls.NAN: "NaN"}.get(cls, "a number")


def _bucket(ulp: int) -> str:
    sign, size = "+" if ulp > 0 else "-", abs(ulp)
    for low, high in pairwise((0, *BUCKETS)):
        if size <= high:
            return f"{sign}{high:,} ulp" if high == low + 1 else f"{sign}{low + 1:,} to {sign}{high:,} ulp"
    return f"beyond {sign}{BUCKETS[-1]:,} ulp"


RECORDED = 8
"""Mismatches of a group that are recorded in full; the others are only counted."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Mismatches with the same class of stimulus, classes of expected and received results, and range of distances.

    Attributes:
        stimulus_class, expected_class, got_class, distance: as in `Mismatch`.
        count: elements of results in the group.
        first: the first mismatch in full, as text.
        mismatches: the first `RECORDED` mismatches.
        diagnoses: change of the model to the number of recorded mismatches that it explains; empty before the diagnosis.
    """

    stimulus_class: str
    expected_class: str
    got_class: str
    distance: str
    count: int
    first: str
    mismatches: tuple[Mismatch, ...]
    diagnoses: dict[str, int] = field(default_factory=dict)

    @property
    def key(self) -> GroupKey:
        """The properties that its mismatches share."""
        return GroupKey(self.stimulus_class, self.expected_class, self.got_class, self.distance)

    @property
    def result_class(self) -> str:
        """The classes of expected and received results, as text."""
        if self.expected_class == self.got_class:
            return self.expected_class
        return f"{self.got_class} for {self.expected_class}"

    @property
    def diagnosis(self) -> str:
        """The diagnoses of the recorded mismatches, as text."""
        recorded = len(self.mismatches)
        return ", ".join(f"{text} ({count} of {recorded})" for text, count in self.diagnoses.items())

    def as_dict(self) -> dict[str, Any]:
        """The group for JSON; `cosim.runner.job.read` reads it back."""
        return asdict(self)


class Groups:
    """Mismatches of a run by group, in memory that does not grow with their number."""

    def __init__(self) -> None:
        self._groups: dict[GroupKey, Group] = {}

    def add(self, mismatch: Mismatch, text: str) -> bool:
        """Add a mismatch to its group.

        Args:
            text: the mismatch in full; used where it is the first of its group.

        Returns:
            Whether it is recorded in full; otherwise it is only counted.
        """
        group = self._groups.get(mismatch.group)
        if group is None:
            key = mismatch.group._asdict()
            self._groups[mismatch.group] = Group(**key, count=1, first=text, mismatches=(mismatch,))
            return True
        recorded = group.mismatches if len(group.mismatches) == RECORDED else (*group.mismatches, mismatch)
        self._groups[mismatch.group] = replace(group, count=group.count + 1, mismatches=recorded)
        return recorded is not group.mismatches

    def all(self) -> tuple[Group, ...]:
        """The groups, the largest first; groups of equal size by their first mismatch."""
        return ordered(self._groups.values())


def ordered(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Sort groups: the largest first, groups of equal size by their first mismatch."""
    return tuple(sorted(groups, key=lambda group: (-group.count, group.mismatches[0].vector, group.mismatches[0].place)))


def joined(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Join the groups of several simulations: those with the same key become one."""
    found: dict[GroupKey, Group] = {}
    for group in groups:
        same = found.get(group.key)
        if same is None:
            found[group.key] = group
            continue
        recorded = (*same.mismatches, *group.mismatches)[:RECORDED]
        found[group.key] = replace(same, count=same.count + group.count, mismatches=recorded)
    return ordered(found.values())


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
    beside = {name: value for name, value in codes.items() if name not in OPERANDS}
    if isinstance(products, DotProducts) and products.selected is not None:
        beside["b"] = tuple(map(int, products.sent.b[row].tolist()))
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
        ports=beside,
    )


def described(vector: int, element: Element, code: int | str) -> str:
    """Describe an element that differs: its place, its inputs, the result and the expected result."""
    products = element.products
    first = heading(vector, element.place, products.made_by(element.row))
    return "\n".join([first, *products.described(element.row, code)])
