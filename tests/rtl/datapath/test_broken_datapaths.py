"""Datapaths with a step that breaks what it declares: refused wherever the registers stand."""

import gc
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import pytest
from amaranth import Cat, Signal, Value
from amaranth.hdl import Fragment
from amaranth.lib import data

from golden import Implementation, Operation
from golden.operations import FMA, TFDPA, FTZAddMul
from rtl.datapath.base import Datapath
from rtl.datapath.fused_records import Aligned, Code, Compared, Decoded, Operands, Products, Total
from rtl.datapath.rounded_adder import RoundedOperands
from rtl.datapath.step import Build, HandOffError, Step, Steps
from rtl.datapath.vector_steps import combine_specials, decode_operands, multiply_pairs
from rtl.operations.fma import FMADatapath
from rtl.operations.ftz_addmul import FTZAddMulDatapath
from rtl.operations.t_fdpa import TFDPADatapath
from rtl.steps.component import SharedModules
from rtl.steps.interfaces import Special
from rtl.steps.step_record import Record

pytestmark = pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")  # what is refused is never built


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Collect the objects of a test before its filter of warnings is gone. Older objects need not be looked at."""
    gc.freeze()
    yield
    gc.collect()


OPERATION = TFDPA(a="e2m1", b="e2m1", c="fp16", L=2, F=6, rho="RNE-FP16", e_zero=-21)  # type: ignore[arg-type]
STICKY = OPERATION.changed(sticky=True)
STICKY_DOWN = STICKY.changed(truncation="RD")
FUSED = FMA(a="fp32", b="fp32", c="fp32")  # type: ignore[arg-type]
ROUNDED = FTZAddMul(a="fp16", b="fp16", c="fp32", P=2)  # type: ignore[arg-type]


def before(change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A step whose input is changed."""
    return lambda sound, self, build, record: sound(self, build, change(record))


def after(change: Callable[[Any], Any]) -> Callable[..., Any]:
    """A step whose output is changed."""
    return lambda sound, self, build, record: change(sound(self, build, record))


def within(name: str, **changes: Any) -> Callable[[Any], Any]:
    """Changes a record in that field of another; a change is a value or a function of the old one."""

    def change(record: Any) -> Any:
        inner = getattr(record, name)
        new = {key: value(getattr(inner, key)) if callable(value) else value for key, value in changes.items()}
        return replace(record, **{name: replace(inner, **new)})

    return change


def narrow_terms(terms: Any) -> Any:
    return tuple(replace(term, aligned=term.aligned[:3]) for term in terms)


def without_one_term(compared: Compared) -> Compared:
    terms = compared.terms
    assert isinstance(terms, Products)
    return Compared(Products(terms.prod[:-1], terms.c, terms.special), compared.largest)


def narrow_exponents(products: Products) -> Products:
    return replace(products, prod=tuple(replace(term, exp=term.exp[:3].as_signed()) for term in products.prod))


def of_two_bits(exponent: Value) -> Value:
    return exponent[:2].as_signed()


def special_of_c_alone(sound: Any, self: TFDPADatapath, build: Build, decoded: Decoded) -> Products:
    x, y, implementation = decoded.x, decoded.y, self.implementation
    prod, _ = multiply_pairs(build, x, y, self.operation, OPERATION.e_zero, implementation=implementation)
    c, c_special = self.addend(build, decoded.z)
    return Products(prod, c, combine_specials(build, [c_special]))


def c_read_into_a_dead_wire(sound: Any, self: TFDPADatapath, build: Build, aligned: Aligned) -> Total:
    *terms, c = aligned.aligned.terms
    build.assign(Signal(len(c.aligned) + 1).eq(Cat(c.aligned, c.sign)))
    total: Total = sound(self, build, replace(aligned, aligned=replace(aligned.aligned, terms=tuple(terms))))
    return total


def decoder_of_c_that_nothing_reads(sound: Any, self: Datapath, build: Build, operands: Operands) -> RoundedOperands:
    decoded = decode_operands(build, operands, self.operation, "+0")
    return RoundedOperands(decoded.x, decoded.y, operands.c)


def broken(name: str, step: str, change: Callable[..., Any], operation: Operation) -> type[Datapath]:
    """The operation's datapath, under that name, with a step that does it otherwise."""
    datapath = {TFDPA: TFDPADatapath, FMA: FMADatapath, FTZAddMul: FTZAddMulDatapath}[type(operation)]
    method = getattr(datapath, step)

    @wraps(method)
    def changed(self: Datapath, build: Build, record: Any) -> Any:
        return change(method, self, build, record)

    return type(name, (datapath,), {step: changed})


UNDRIVEN_SPECIAL = after(lambda total: replace(total, special=Special(Signal(), Signal(), Signal())))
SQUARE_OF_X = before(lambda decoded: Decoded(decoded.x, decoded.x, decoded.z, (), ()))
NO_SIGN_OF_ZERO = after(lambda aligned: replace(aligned, zero_negative=None))
NO_FILL = before(within("total", lost=lambda lost: replace(lost, fill=None)))
WITHOUT_TOP = after(within("total", total=lambda total: total[:-1]))
WITHOUT_LEADING_ONE = after(within("sum", norm=lambda norm: norm[:-1]))
NARROW_MAGNITUDES = after(within("aligned", terms=narrow_terms))
NARROW_MAXIMUM = after(within("largest", exp=of_two_bits))
NARROW_E_NORM = after(within("sum", e_norm=of_two_bits))

BROKEN: list[tuple[str, str, Callable[..., Any], Operation, str]] = [
    ("WithoutSpecial", "accumulate", UNDRIVEN_SPECIAL, OPERATION, " leaves special_nan of Total undriven"),
    ("TotalOfOtherWidth", "accumulate", WITHOUT_TOP, OPERATION, ": total of SignedTotal must have 10 bits, got 9"),
    ("WithoutOneTerm", "align", before(without_one_term), OPERATION, " leaves prod_1_sign of Compared unread; .*"),
    ("WithoutY", "multiply", SQUARE_OF_X, OPERATION, " leaves y_0_sign of Decoded unread; .*"),
    ("WithoutProductSpecials", "multiply", special_of_c_alone, OPERATION, " leaves special.nan of multiply unread; .*"),
    ("WithoutC", "accumulate", c_read_into_a_dead_wire, OPERATION, " leaves sum_sign_2 of Aligned unread; .*"),
    ("WithoutSignOfZero", "align", NO_SIGN_OF_ZERO, FUSED, " leaves zero_negative of Compared unread; .*"),
    ("WithoutLost", "align", after(within("aligned", lost=None)), STICKY, " leaves lost of align unread; .*"),
    ("WithoutSticky", "accumulate", after(within("total", lost=None)), STICKY, " leaves sum_lost of Aligned unread; .*"),
    ("WithoutFill", "normalise", NO_FILL, STICKY_DOWN, " leaves sum_lost_fill of Total unread; .*"),
    ("UnreadDecoder", "decode", decoder_of_c_that_nothing_reads, ROUNDED, " leaves x.sign of decode_fp32 unread; .*"),
    ("NarrowExponents", "multiply", after(narrow_exponents), OPERATION, ": exp of Term must have 6 bits, got 3"),
    ("NarrowOperand", "decode", after(within("z", exp=of_two_bits)), OPERATION, ": exp of Operand must have 5 bits, got 2"),
    ("NarrowMagnitudes", "align", NARROW_MAGNITUDES, OPERATION, ": aligned of AlignedTerm must have 8 bits, got 3"),
    ("NarrowMaximum", "max_exp", NARROW_MAXIMUM, OPERATION, ": exp of MaxExponent must have 6 bits, got 2"),
    ("NarrowNorm", "normalise", WITHOUT_LEADING_ONE, OPERATION, ": norm of NormalisedSum must have 12 bits, got 11"),
    ("NarrowNormExponent", "normalise", NARROW_E_NORM, OPERATION, ": e_norm of NormalisedSum must have 6 bits, got 2"),
]  # fmt: skip
"""A name, the step that is broken and how, an operation, and what its refusal says of the step."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("datapath", "operation", "message"),
    [
        pytest.param(broken(*row[:4]), row[3], f"step {row[1]}{row[4]}", id=f"{row[0]}-operation{k}-step {row[1]}{row[4]}")
        for k, row in enumerate(BROKEN)
    ],
)
@pytest.mark.parametrize("stages", [0, pytest.param(1, marks=pytest.mark.long), 2, pytest.param(8, marks=pytest.mark.long)])
@pytest.mark.attack("steps that are broken, in elaboration")
def test_datapath_with_a_broken_step_is_not_elaborated(
    datapath: type[Datapath], operation: Operation, message: str, stages: int
) -> None:
    component = datapath(operation, Implementation(stages=stages))
    for _ in range(2):  # what was refused once is refused again
        with pytest.raises(HandOffError, match=f"^{message}$"):
            component.elaborate(SharedModules("u"))


@dataclass(frozen=True, eq=False)
class Held(Record):
    held: Any


class Holding(Datapath):
    """The first step gives a record that holds what `of` makes of the operands."""

    def steps(self) -> Steps[Any, Code]:
        return Steps(Step("first", 1, self.first)).then(Step("second", 1, self.second))

    def first(self, build: Build, operands: Operands) -> Held:
        return Held(self.of(Cat(operands.a, operands.b, operands.c)))

    def of(self, value: Value) -> Any:
        raise NotImplementedError

    def second(self, build: Build, held: Held) -> Code:
        d = Signal(16)
        build.assign(d.eq(Value.cast(held.held[0])))
        return Code(d)


@pytest.mark.parametrize(
    ("held", "kind"),
    [
        (lambda value: [value], "list"),
        (lambda value: {0: value}, "dict"),
        (lambda value: data.View(data.ArrayLayout(len(value), 1), value), "View"),
    ],
)
@pytest.mark.parametrize("stages", [0, 2])
def test_record_whose_values_would_get_no_registers(held: Any, kind: str, stages: int) -> None:
    component = type("Held", (Holding,), {"of": lambda self, value: held(value)})(OPERATION, Implementation(stages=stages))
    with pytest.raises(TypeError, match=f"^held of a record must be a value, a record or a tuple of these, got {kind}$"):
        component.elaborate(SharedModules("u"))


def test_check_leaves_no_warning() -> None:
    gc.collect()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        unchecked = TFDPADatapath(replace(OPERATION, F=7), Implementation(stages=3))  # no other test has this operation
        # Amaranth warns only once something has been built
        Fragment.get(unchecked, SharedModules("u"))  # type: ignore[no-untyped-call]
        gc.collect()
    assert not warned
