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


def reads_and_drives_everything(build: Build, pair: Pair) -> Single:
    only = Signal(4)
    build.assign(only.eq(pair.left + 1))
    return Single(only ^ pair.right)


def ignores(build: Build, pair: Pair) -> Single:
    build.ignore(pair.right)
    return Single(pair.left)


def gives_a_constant(build: Build, pair: Pair) -> Single:
    build.ignore(pair.left, pair.right)
    return Single(Const(3, 4))


@pytest.mark.parametrize("step", [reads_and_drives_everything, ignores, gives_a_constant])
def test_step_that_accounts_for_everything(step: Callable[[Build, Pair], Single]) -> None:
    run(step)


def drops(build: Build, pair: Pair) -> Single:
    return Single(pair.left)


def looks_in_python(build: Build, pair: Pair) -> Single:
    assert len(pair.right) == 4
    return Single(pair.left)


def reads_into_a_dead_wire(build: Build, pair: Pair) -> Single:
    build.assign(Signal(4).eq(pair.right))
    return Single(pair.left)


def reads_into_a_dead_chain(build: Build, pair: Pair) -> Single:
    first, second = Signal(4), Signal(4)
    build.assign(first.eq(pair.right), second.eq(first + 1))
    return Single(pair.left)


def specials_of(build: Build, count: int, *flags: Value) -> Specials:
    """A component whose first port is driven."""
    specials = Specials(count)
    build.place("specials", specials)
    build.drive(specials.special[0], Special(*flags))
    return specials


def reads_no_output_of_a_component_fed_by_constants(build: Build, pair: Pair) -> Single:
    specials_of(build, 1, Const(0, 1), Const(0, 1), Const(0, 1))
    return Single(pair.left ^ pair.right)


def reads_no_output_of_a_component_fed_by_the_input(build: Build, pair: Pair) -> Single:
    specials_of(build, 1, pair.right[0], pair.right[1], pair.right[2])
    return Single(pair.left)


def drives_nothing(wrap: Callable[[Signal], Value]) -> Callable[[Build, Pair], Single]:
    def step(build: Build, pair: Pair) -> Single:
        read = Signal(4)
        build.assign(read.eq(pair.left ^ pair.right))
        return Single(wrap(Signal(4)))

    return step


def reads_an_undriven_wire(build: Build, pair: Pair) -> Single:
    wire, only = Signal(4, name="wire"), Signal(4)
    build.assign(only.eq(wire ^ pair.left ^ pair.right))
    return Single(only)


def feeds_a_component_with_an_undriven_wire(build: Build, pair: Pair) -> Single:
    specials = specials_of(build, 1, Signal(name="wire"), pair.left[0], pair.right[0])
    return Single(Cat(specials.result.nan, specials.result.pos_inf, specials.result.neg_inf))


def forgets_a_port_of_a_component(build: Build, pair: Pair) -> Single:
    return Single(specials_of(build, 2, pair.left[0], pair.left[1], pair.right[0]).result.nan)


def drives_twice(build: Build, pair: Pair) -> Single:
    only = Signal(4)
    build.assign(only.eq(pair.left), only.eq(pair.right))
    return Single(only)


def drives_its_input(build: Build, pair: Pair) -> Single:
    build.assign(pair.right.eq(pair.left))
    return Single(pair.right)


def drives_an_output_of_a_component(build: Build, pair: Pair) -> Single:
    specials = specials_of(build, 1, pair.left[0], pair.right[0], pair.right[1])
    build.assign(specials.result.nan.eq(0))
    return Single(specials.result.nan)


def drives_one_bit(build: Build, pair: Pair) -> Single:
    only = Signal(4)
    build.assign(only[0].eq(pair.left ^ pair.right))
    return Single(only)


def gives_another_record(build: Build, pair: Pair) -> Single:
    return pair  # type: ignore[return-value]


UNREAD = "step broken leaves {} unread; read it, pass it on, or call build.ignore and say why"
UNDRIVEN = "step broken leaves only of Single undriven"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (drops, UNREAD.format("right of Pair")),
        (looks_in_python, UNREAD.format("right of Pair")),
        (reads_into_a_dead_wire, UNREAD.format("right of Pair")),
        (reads_into_a_dead_chain, UNREAD.format("right of Pair")),
        (reads_no_output_of_a_component_fed_by_constants, UNREAD.format("result.nan of specials")),
        (reads_no_output_of_a_component_fed_by_the_input, UNREAD.format("right of Pair")),
        (drives_nothing(lambda signal: signal), UNDRIVEN),
        (drives_nothing(lambda signal: Mux(signal[0], 1, 2)), UNDRIVEN),
        (drives_nothing(lambda signal: signal[1:3]), UNDRIVEN),
        (reads_an_undriven_wire, f"{UNDRIVEN}, by way of wire"),
        (feeds_a_component_with_an_undriven_wire, f"{UNDRIVEN}, by way of wire"),
        (forgets_a_port_of_a_component, "step broken leaves the port special.1.nan of specials undriven"),
        (drives_twice, "step broken drives only twice; assign it once, as a whole"),
        (drives_its_input, "step broken drives right, which it is given"),
        (drives_an_output_of_a_component, "step broken drives the output result.nan of specials"),
        (drives_one_bit, "a statement of a step must drive one signal as a whole, got (slice (sig only) 0:1)"),
        (gives_another_record, "step broken gives Single, got Pair"),
    ],
)
def test_step_that_breaks_what_it_declares_is_refused(step: Callable[[Build, Pair], Single], message: str) -> None:
    with refused(message):
        run(step)


def test_record_of_another_class_is_refused() -> None:
    with refused("step broken takes Pair, got Single"):
        run(drops, Single(Signal()))


def passes_on(build: Build, pair: Pair) -> Pair:
    unused = Signal(4)
    build.assign(unused.eq(pair.left + pair.right))
    return pair


def test_value_that_an_earlier_step_read_and_this_one_does_not() -> None:
    build = Build(Module(), None)
    pair = Step("first", 1, passes_on).run(build, Pair(Signal(4), Signal(4)))
    with refused(UNREAD.format("right of Pair").replace("broken", "second")):
        Step("second", 1, drops).run(build, pair)


def test_steps_that_do_not_fit() -> None:
    with refused("step again takes Pair, but first gives Single"):
        Steps(Step("first", 1, drops)).then(Step("again", 1, drops))  # type: ignore[arg-type]
    with refused("steps must have names of their own, got same twice"):
        Steps(Step("same", 1, passes_on)).then(Step("same", 1, passes_on))
    with pytest.raises(HandOffError, match=r"^step bare must annotate the record that it takes and the one that it gives, "):
        Step("bare", 1, lambda build, record: record)
