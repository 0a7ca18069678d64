"""Mismatches: the operands, the result, the expected result, their place and time, and the distance between the two."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from typing import Any, NamedTuple, Self

from cosim.bench.specified_rows import Bits, FixedPoint
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
        ports: codes that a user's specification sends, by port; a and b are then empty and c is 0.
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

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Self:
        """The row that `dataclasses.asdict` converted, also after a round trip through JSON."""
        lists = {key: tuple(value) for key, value in table.items() if isinstance(value, (list, tuple))}
        ports = {port: tuple(codes) for port, codes in table["ports"].items()}
        return cls(**{**table, **lists, "ports": ports})


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
        """The mismatch for JSON; `from_dict` reads it back."""
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
