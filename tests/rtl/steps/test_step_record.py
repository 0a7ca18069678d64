"""Names and order of a record's values, and that nothing but values changes when it is mapped."""

from dataclasses import dataclass, field

from amaranth import Const, Signal, Value

from rtl.steps.interfaces import ExpRange, Term, TermFormat, TermSignature
from rtl.steps.step_record import COLUMNS, INLINE, Record

FORMAT = TermFormat(ExpRange(-3, 4), 5, 3)


@dataclass(frozen=True, eq=False)
class Row(Record):
    sign: Value
    aligned: Value


@dataclass(frozen=True, eq=False)
class Named(Record):
    name: str
    rows: tuple[Row, ...] = field(metadata=COLUMNS)
    exp: Value
    F: int


@dataclass(frozen=True, eq=False)
class Inner(Record):
    c: Value
    none: Value | None


@dataclass(frozen=True, eq=False)
class Whole(Record):
    prod: tuple[tuple[Term, ...], ...]
    inner: Inner = field(metadata=INLINE)
    sums: tuple[Named, ...]


def whole() -> Whole:
    term = TermSignature(FORMAT).create(path=("t",))
    rows = (Row(Signal(), Signal(4)), Row(Signal(), Signal(6)))
    return Whole(((term,), (term, term)), Inner(Const(3, 4), None), (Named("out", rows, Signal(3), 9),))


def test_values_come_in_the_order_of_the_fields_under_their_paths() -> None:
    assert [name for name, _ in whole().values()] == [
        "prod_0_0_sign", "prod_0_0_exp", "prod_0_0_sig",
        "prod_1_0_sign", "prod_1_0_exp", "prod_1_0_sig",
        "prod_1_1_sign", "prod_1_1_exp", "prod_1_1_sig",
        "c",
        "out_sign_0", "out_aligned_0", "out_sign_1", "out_aligned_1", "out_exp",
    ]  # fmt: skip


def test_mapping_replaces_values_and_keeps_constants() -> None:
    before = whole()
    after = before.mapped(lambda name, value: Signal.like(value, name=f"r_{name}"))
    assert [(name, value.name) for name, value in after.values() if isinstance(value, Signal)] == [
        (name, f"r_{name}") for name, _ in before.values()
    ]
    assert [value.shape() for _, value in after.values()] == [value.shape() for _, value in before.values()]
    assert after.prod[1][0].format == FORMAT
    assert (after.sums[0].name, after.sums[0].F, after.inner.none) == ("out", 9, None)
