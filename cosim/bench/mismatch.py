"""A result that differs from golden's: what went in, what came out, where and when, and how the two differ."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from typing import Any, NamedTuple, Self

from cosim.bench.rows import Bits
from golden import Cls, Format

UNDEFINED = "undefined"
"""Class of a result some of whose bits are neither 0 nor 1."""

BUCKETS = (1, 2, 8, 64, 1024)
"""Upper ends of the ranges of distances, in ulp; what is farther is one more range."""


class Arrival(NamedTuple):
    """When a result came, from the start of its simulation.

    Attributes:
        cycle: rising edges of the clock before it, None where there is no clock. time: simulated (ns).
    """

    cycle: int | None
    time: float


@dataclass(frozen=True, kw_only=True)
class ComparedRow:
    """One element of a result, compared: a dot product's operands as codes, and what the design and golden gave for it.

    Attributes:
        vector: its number in the run, from 0, as `--vector` takes it.
        place: where in the result it is, in words; empty where a result is one element.
        products: which of several dot products it is one of, as `DotProducts.name`: a format of a datapath of several; empty
            where there is one kind.
        stimulus_class: class or corner of the stimulus that made it.
        a, b: codes [K]. c: code. scale_a, scale_b: codes [K/K_block], None where unscaled.
        got: code of d, or its bits as text where some are neither 0 nor 1. expected: golden's code.
        cycle, time: as `Arrival`.
        ports: codes of what is sent by a specification of one's own, by port; a and b are empty and c is 0 there.
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
        """The row that `dataclasses.asdict` made this of, by way of JSON too."""
        lists = {key: tuple(value) for key, value in table.items() if isinstance(value, (list, tuple))}
        ports = {port: tuple(codes) for port, codes in table["ports"].items()}
        return cls(**{**table, **lists, "ports": ports})


@dataclass(frozen=True, kw_only=True)
class Mismatch(ComparedRow):
    """An element that differs, and how.

    Attributes:
        expected_class, got_class: class of either code, in lower case; `UNDEFINED` where bits are neither 0 nor 1.
        ulp: `ulp_distance`, None where there is none.
        distance: `distance_kind`, what mismatches are grouped by.
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
        """What it has in common with others."""
        return GroupKey(self.stimulus_class, self.expected_class, self.got_class, self.distance)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; `from_dict` reads it back."""
        return asdict(self)


class GroupKey(NamedTuple):
    """What the mismatches of a group have in common."""

    stimulus_class: str
    expected_class: str
    got_class: str
    distance: str


def class_name(code: int | str, d: Format | Bits) -> str:
    """The class of a result, in lower case."""
    return UNDEFINED if isinstance(code, str) else d.decode(code).cls.name.lower()


def ulp_distance(got: int | str, expected: int, d: Format | Bits) -> int | None:
    """How many numbers of the format lie from expected up to got: negative where got is the lower, 0 for two zeros.

    Across a power of two and across zero it counts on: codes in order of their values, not a difference of values. Low bits
    that the format leaves at zero count as a whole one. None where either is an infinity, a NaN or undefined.
    """
    if isinstance(got, str) or max(d.decode(got).cls, d.decode(expected).cls) >= Cls.INFINITY:
        return None
    codes = _ordered(got, d) - _ordered(expected, d)
    whole = -(-abs(codes) >> (d.pad_bits if isinstance(d, Format) else 0))
    return whole if codes >= 0 else -whole


def _ordered(code: int, d: Format | Bits) -> int:
    """A finite code's place in the order of the values."""
    if isinstance(d, Bits):
        return code
    magnitude = code & ((1 << (d.width - 1)) - 1)
    return -magnitude if d.decode(code).sign else magnitude


def distance_kind(got: int | str, expected: int, d: Format | Bits) -> str:
    """The range of a distance in ulp, such as `+1 ulp` or `-3 to -8 ulp`; in words where infinities, NaN, zeros of the other
    sign or undefined bits leave no distance."""
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
