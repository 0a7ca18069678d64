"""Datapaths with a step that breaks what it declares: refused wherever the registers stand."""

import gc
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from amaranth import Cat, Signal, Value
from amaranth.hdl import Fragment
from amaranth.lib import data

from golden import Implementation, Operation
from golden.operations import FMA, TFDPA, FTZAddMul
from rtl.datapath.base import Datapath
from rtl.datapath.fused_records import Aligned, Code, Compared, Decoded, Normalised, Operands, Products, Total
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


class WithoutSpecial(TFDPADatapath):
    """Accumulate forgets the special: a special of its own that nothing drives takes its place."""

    def accumulate(self, build: Build, aligned: Aligned) -> Total:
        total = super().accumulate(build, aligned)
        return Total(Special(Signal(), Signal(), Signal()), total.largest, total.total)


class TotalOfOtherWidth(TFDPADatapath):
    """Accumulate drops the top bit of the total."""

    def accumulate(self, build: Build, aligned: Aligned) -> Total:
        total = super().accumulate(build, aligned)
        return replace(total, total=replace(total.total, total=total.total.total[:-1]))


class WithoutOneTerm(TFDPADatapath):
    """Align forgets the last product."""

    def align(self, build: Build, compared: Compared) -> Aligned:
        terms = compared.terms
        assert isinstance(terms, Products)
        return super().align(build, Compared(Products(terms.prod[:-1], terms.c, terms.special), compared.largest))


class WithoutY(TFDPADatapath):
    """Multiply squares x."""

    def multiply(self, build: Build, decoded: Decoded) -> Products:
        return super().multiply(build, Decoded(decoded.x, decoded.x, decoded.z, (), ()))


class WithoutProductSpecials(TFDPADatapath):
    """Multiply hands on the special of c alone."""

    def multiply(self, build: Build, decoded: Decoded) -> Products:
        x, y, implementation = decoded.x, decoded.y, self.implementation
        prod, _ = multiply_pairs(build, x, y, self.operation, OPERATION.e_zero, implementation=implementation)
        c, c_special = self.addend(build, decoded.z)
        return Products(prod, c, combine_specials(build, [c_special]))


class WithoutC(TFDPADatapath):
    """Accumulate reads the last term, c, into a wire that nobody reads."""

    def accumulate(self, build: Build, aligned: Aligned) -> Total:
        *terms, c = aligned.aligned.terms
        build.assign(Signal(len(c.aligned) + 1).eq(Cat(c.aligned, c.sign)))
        return super().accumulate(build, replace(aligned, aligned=replace(aligned.aligned, terms=tuple(terms))))


class WithoutSignOfZero(FMADatapath):
    """Align forgets whether all terms are negative; without registers, that is an expression of signs that it reads."""

    def align(self, build: Build, compared: Compared) -> Aligned:
        return replace(super().align(build, compared), zero_negative=None)


class WithoutLost(TFDPADatapath):
    """Align forgets that terms lost bits."""

    def align(self, build: Build, compared: Compared) -> Aligned:
        aligned = super().align(build, compared)
        return replace(aligned, aligned=replace(aligned.aligned, lost=None))


class WithoutSticky(TFDPADatapath):
    """Accumulate forgets it."""

    def accumulate(self, build: Build, aligned: Aligned) -> Total:
        total = super().accumulate(build, aligned)
        return replace(total, total=replace(total.total, lost=None))


class WithoutFill(TFDPADatapath):
    """Normalise shifts zeros in below a total that is one too small."""

    def normalise(self, build: Build, total: Total) -> Normalised:
        lost = total.total.lost
        assert lost is not None
        return super().normalise(build, replace(total, total=replace(total.total, lost=replace(lost, fill=None))))


class NarrowExponents(TFDPADatapath):
    """Multiply drops the upper bits of the exponents."""

    def multiply(self, build: Build, decoded: Decoded) -> Products:
        products = super().multiply(build, decoded)
        return replace(products, prod=tuple(replace(term, exp=term.exp[:3].as_signed()) for term in products.prod))


class NarrowOperand(TFDPADatapath):
    """Decode drops the upper bits of c's exponent."""

    def decode(self, build: Build, operands: Operands) -> Decoded:
        decoded = super().decode(build, operands)
        return replace(decoded, z=replace(decoded.z, exp=decoded.z.exp[:2].as_signed()))


class NarrowMagnitudes(TFDPADatapath):
    """Align drops the upper bits of the aligned terms."""

    def align(self, build: Build, compared: Compared) -> Aligned:
        aligned = super().align(build, compared)
        terms = tuple(replace(term, aligned=term.aligned[:3]) for term in aligned.aligned.terms)
        return replace(aligned, aligned=replace(aligned.aligned, terms=terms))


class NarrowMaximum(TFDPADatapath):
    """Max_exp drops the upper bits of the largest exponent."""

    def max_exp(self, build: Build, terms: Products) -> Compared:  # type: ignore[override]
        compared = super().max_exp(build, terms)
        return replace(compared, largest=replace(compared.largest, exp=compared.largest.exp[:2].as_signed()))


class NarrowNorm(TFDPADatapath):
    """Normalise drops the leading one."""

    def normalise(self, build: Build, total: Total) -> Normalised:
        normalised = super().normalise(build, total)
        return replace(normalised, sum=replace(normalised.sum, norm=normalised.sum.norm[:-1]))


class NarrowNormExponent(TFDPADatapath):
    """Normalise drops the upper bits of the exponent."""

    def normalise(self, build: Build, total: Total) -> Normalised:
        normalised = super().normalise(build, total)
        return replace(normalised, sum=replace(normalised.sum, e_norm=normalised.sum.e_norm[:2].as_signed()))


class UnreadDecoder(FTZAddMulDatapath):
    """Decode decodes c and does not say that nothing reads it."""

    def decode(self, build: Build, operands: Operands) -> RoundedOperands:
        decoded = decode_operands(build, operands, self.operation, "+0")
        return RoundedOperands(decoded.x, decoded.y, operands.c)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("datapath", "operation", "message"),
    [
        (WithoutSpecial, OPERATION, "step accumulate leaves special_nan of Total undriven"),
        (TotalOfOtherWidth, OPERATION, "step accumulate: total of SignedTotal must have 10 bits, got 9"),
        (WithoutOneTerm, OPERATION, "step align leaves prod_1_sign of Compared unread; .*"),
        (WithoutY, OPERATION, "step multiply leaves y_0_sign of Decoded unread; .*"),
        (WithoutProductSpecials, OPERATION, "step multiply leaves special.nan of multiply unread; .*"),
        (WithoutC, OPERATION, "step accumulate leaves sum_sign_2 of Aligned unread; .*"),
        (WithoutSignOfZero, FUSED, "step align leaves zero_negative of Compared unread; .*"),
        (WithoutLost, STICKY, "step align leaves lost of align unread; .*"),
        (WithoutSticky, STICKY, "step accumulate leaves sum_lost of Aligned unread; .*"),
        (WithoutFill, STICKY_DOWN, "step normalise leaves sum_lost_fill of Total unread; .*"),
        (UnreadDecoder, ROUNDED, "step decode leaves x.sign of decode_fp32 unread; .*"),
        (NarrowExponents, OPERATION, "step multiply: exp of Term must have 6 bits, got 3"),
        (NarrowOperand, OPERATION, "step decode: exp of Operand must have 5 bits, got 2"),
        (NarrowMagnitudes, OPERATION, "step align: aligned of AlignedTerm must have 8 bits, got 3"),
        (NarrowMaximum, OPERATION, "step max_exp: exp of MaxExponent must have 6 bits, got 2"),
        (NarrowNorm, OPERATION, "step normalise: norm of NormalisedSum must have 12 bits, got 11"),
        (NarrowNormExponent, OPERATION, "step normalise: e_norm of NormalisedSum must have 6 bits, got 2"),
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
