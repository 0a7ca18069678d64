"""Steps that break what they declare: every value of the input is accounted for, every value of the output driven."""

import gc
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from amaranth import Cat, Const, Module, Mux, Signal, Value

from rtl.datapath.step import Build, HandOffError, Step, Steps
from rtl.steps.component import SharedModules
from rtl.steps.interfaces import Special
from rtl.steps.specials import Specials
from rtl.steps.step_record import Record

pytestmark = pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")  # what is refused is never built


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Collect the objects of a test before its filter of warnings is gone."""
    yield
    gc.collect()


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


UNREAD = "step broken leaves {} unread; read it, pass it on, or call build.ignore and say why"


def test_value_that_only_a_dead_wire_reads() -> None:
    def dead(build: Build, pair: Pair) -> Single:
        build.assign(Signal(4).eq(pair.right))
        return Single(pair.left)

    def dead_chain(build: Build, pair: Pair) -> Single:
        first, second = Signal(4), Signal(4)
        build.assign(first.eq(pair.right), second.eq(first + 1))
        return Single(pair.left)

    for step in (dead, dead_chain):
        with refused(UNREAD.format("right of Pair")):
            run(step)


def test_component_whose_outputs_nobody_reads() -> None:
    def fed_by_constants(build: Build, pair: Pair) -> Single:
        specials = Specials(1)
        build.place("specials", specials)
        build.drive(specials.special[0], Special(Const(0, 1), Const(0, 1), Const(0, 1)))
        return Single(pair.left ^ pair.right)

    def fed_by_the_input(build: Build, pair: Pair) -> Single:
        specials = Specials(1)
        build.place("specials", specials)
        build.drive(specials.special[0], Special(pair.right[0], pair.right[1], pair.right[2]))
        return Single(pair.left)

    with refused(UNREAD.format("result.nan of specials")):
        run(fed_by_constants)
    with refused(UNREAD.format("right of Pair")):
        run(fed_by_the_input)


def test_undriven_wire_behind_a_driven_output() -> None:
    def wired(build: Build, pair: Pair) -> Single:
        wire, only = Signal(4, name="wire"), Signal(4)
        build.assign(only.eq(wire ^ pair.left ^ pair.right))
        return Single(only)

    def wired_into_a_component(build: Build, pair: Pair) -> Single:
        specials, wire = Specials(1), Signal(name="wire")
        build.place("specials", specials)
        build.drive(specials.special[0], Special(wire, pair.left[0], pair.right[0]))
        return Single(Cat(specials.result.nan, specials.result.pos_inf, specials.result.neg_inf))

    for step in (wired, wired_into_a_component):
        with refused("step broken leaves only of Single undriven, by way of wire"):
            run(step)


def test_signal_driven_twice() -> None:
    def twice(build: Build, pair: Pair) -> Single:
        only = Signal(4)
        build.assign(only.eq(pair.left), only.eq(pair.right))
        return Single(only)

    def into_its_input(build: Build, pair: Pair) -> Single:
        build.assign(pair.right.eq(pair.left))
        return Single(pair.right)

    def into_an_output(build: Build, pair: Pair) -> Single:
        specials = Specials(1)
        build.place("specials", specials)
        build.drive(specials.special[0], Special(pair.left[0], pair.right[0], pair.right[1]))
        build.assign(specials.result.nan.eq(0))
        return Single(specials.result.nan)

    with refused("step broken drives only twice; assign it once, as a whole"):
        run(twice)
    with refused("step broken drives right, which it is given"):
        run(into_its_input)
    with refused("step broken drives the output result.nan of specials"):
        run(into_an_output)


def test_signal_driven_in_part() -> None:
    def one_bit(build: Build, pair: Pair) -> Single:
        only = Signal(4)
        build.assign(only[0].eq(pair.left ^ pair.right))
        return Single(only)

    with refused("a statement of a step must drive one signal as a whole, got (slice (sig only) 0:1)"):
        run(one_bit)


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


def test_steps_of_one_name() -> None:
    def first(build: Build, pair: Pair) -> Pair:
        return pair

    with refused("steps must have names of their own, got same twice"):
        Steps(Step("same", 1, first)).then(Step("same", 1, first))


def test_step_without_annotations() -> None:
    with pytest.raises(HandOffError, match=r"^step bare must annotate the record that it takes and the one that it gives, "):
        Step("bare", 1, lambda build, record: record)
