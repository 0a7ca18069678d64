"""Steps that break what they declare: every value of the input is accounted for, every value of the output driven."""

import gc
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from amaranth import Const, Module, Mux, Signal, Value

from golden import Implementation
from golden.operations import TFDPA
from rtl.datapath.records import Aligned, Compared, Decoded, Products, Total
from rtl.datapath.step import Build, HandOffError, Step, Steps
from rtl.operations.t_fdpa import TFDPADatapath
from rtl.steps.component import SharedModules
from rtl.steps.interfaces import Special
from rtl.steps.record import Record
from rtl.steps.specials import Specials

pytestmark = pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")  # what is refused is never built


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """What a test made is gone before its filter of warnings is."""
    yield
    gc.collect()


OPERATION = TFDPA(a="e2m1", b="e2m1", c="fp16", L=2, F=6, rho="RNE-FP16", e_zero=-21)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Pair(Record):
    left: Value
    right: Value


@dataclass(frozen=True, eq=False)
class Single(Record):
    only: Value


def run(step: Callable[[Build, Pair], Single], record: Record | None = None) -> Single:
    """The step, after `Pair`s of plain signals."""
    given: Any = record or Pair(Signal(4, name="left"), Signal(4, name="right"))
    return Step("broken", 1, step).run(Build(Module(), SharedModules("u")), given)


def refused(message: str) -> Any:
    return pytest.raises(HandOffError, match=f"^{re.escape(message)}$")


def test_step_that_reads_and_drives_everything() -> None:
    def sound(build: Build, pair: Pair) -> Single:
        only = Signal(4)
        build.assign(only.eq(pair.left + 1))
        return Single(only ^ pair.right)

    run(sound)


def test_unread_value() -> None:
    def drops(build: Build, pair: Pair) -> Single:
        return Single(pair.left)

    with refused("step broken leaves right of Pair unread; read it, pass it on, or call build.ignore and say why"):
        run(drops)


def test_value_that_python_looks_at_and_no_hardware_reads() -> None:
    def looks(build: Build, pair: Pair) -> Single:
        assert len(pair.right) == 4
        return Single(pair.left)

    with refused("step broken leaves right of Pair unread; read it, pass it on, or call build.ignore and say why"):
        run(looks)


def test_value_that_an_earlier_step_read_and_this_one_does_not() -> None:
    build, left, right = Build(Module(), None), Signal(4), Signal(4)

    def first(build: Build, pair: Pair) -> Pair:
        unused = Signal(4)
        build.assign(unused.eq(pair.left + pair.right))
        return pair

    def second(build: Build, pair: Pair) -> Single:
        return Single(pair.left)

    pair = Step("first", 1, first).run(build, Pair(left, right))
    with refused("step second leaves right of Pair unread; read it, pass it on, or call build.ignore and say why"):
        Step("second", 1, second).run(build, pair)


def test_ignored_value_is_no_error() -> None:
    def ignores(build: Build, pair: Pair) -> Single:
        build.ignore(pair.right)
        return Single(pair.left)

    run(ignores)


@pytest.mark.parametrize("wrap", [lambda signal: signal, lambda signal: Mux(signal[0], 1, 2), lambda signal: signal[1:3]])
def test_undriven_value(wrap: Callable[[Signal], Value]) -> None:
    def forgets(build: Build, pair: Pair) -> Single:
        read = Signal(4)
        build.assign(read.eq(pair.left ^ pair.right))
        return Single(wrap(Signal(4)))

    with refused("step broken leaves only of Single undriven"):
        run(forgets)


def test_constant_needs_no_driver() -> None:
    def constant(build: Build, pair: Pair) -> Single:
        build.ignore(pair.left, pair.right)
        return Single(Const(3, 4))

    run(constant)


def test_undriven_port_of_a_component() -> None:
    def forgets(build: Build, pair: Pair) -> Single:
        specials = Specials(2)
        build.place("specials", specials)
        build.drive(specials.special[0], Special(pair.left[0], pair.left[1], pair.right[0]))
        return Single(specials.result.nan)

    with refused("step broken leaves the port special.1.nan of specials undriven"):
        run(forgets)


def test_record_of_another_class() -> None:
    def sound(build: Build, pair: Pair) -> Single:
        return Single(pair.left ^ pair.right)

    def lies(build: Build, pair: Pair) -> Single:
        return pair  # type: ignore[return-value]

    with refused("step broken takes Pair, got Single"):
        run(sound, Single(Signal()))
    with refused("step broken gives Single, got Pair"):
        run(lies)


def test_steps_that_do_not_fit() -> None:
    def first(build: Build, pair: Pair) -> Single:
        return Single(pair.left ^ pair.right)

    chain = Steps(Step("first", 1, first))
    with refused("step again takes Pair, but first gives Single"):
        chain.then(Step("again", 1, first))  # type: ignore[arg-type]


def test_step_without_annotations() -> None:
    with pytest.raises(HandOffError, match=r"^step bare must annotate the record that it takes and the one that it gives, "):
        Step("bare", 1, lambda build, record: record)


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


@pytest.mark.parametrize(
    ("datapath", "message"),
    [
        (WithoutSpecial, "step accumulate leaves special_nan of Aligned unread; .*"),
        (TotalOfOtherWidth, "step accumulate: total of SignedTotal must have 10 bits, got 9"),
        (WithoutOneTerm, "step align leaves prod_1_sign of Compared unread; .*"),
        (WithoutY, "step multiply leaves y_0_sign of Decoded unread; .*"),
    ],
)
@pytest.mark.parametrize("stages", [0, 2, 8])
def test_datapath_with_a_broken_step_is_not_elaborated(datapath: type[TFDPADatapath], message: str, stages: int) -> None:
    component = datapath(OPERATION, Implementation(stages=stages))
    with pytest.raises(HandOffError, match=f"^{message}$"):
        component.elaborate(SharedModules("u"))
