"""Steps: functions from one record to the next, each of which declares both, and their chain."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from inspect import signature
from typing import Any, Generic, TypeVar, get_type_hints

from amaranth import Module, Signal, Value
from amaranth.lib.wiring import Out

from rtl.steps.component import SharedComponent, SharedModules, members, never_built
from rtl.steps.interfaces import Operand, Special, Term
from rtl.steps.step_record import Beside, Modes, Record, WidthError

Input = TypeVar("Input", bound=Record)
Output = TypeVar("Output", bound=Record)
Next = TypeVar("Next", bound=Record)
Interface = TypeVar("Interface", Operand, Term, Special)

Signals = dict[int, Signal]
"""Signals by identity; Amaranth's have no hash."""


class HandOffError(TypeError):
    """A step does not take what it is given, leaves a value unread, or gives less than it declares."""


class Build:
    """The Amaranth module and platform into which a step puts its components and statements.

    Attributes:
        m: the module. Steps add statements by `assign` alone, so that what they leave out can be found.
        statements: what was assigned.
        components: what was placed, by name.
        unused: values that the step does without.
        modes: the chosen rounding mode, where an input chooses one; every step may read it.
        beside_steps: the operand of the last step alone, if there is one.
        before: what the names of components begin with, where datapaths stand side by side.
        decoded: what was decoded in front of the datapath, by the names of the decoders that the first step does without.
    """

    def __init__(self, m: Module, platform: object, modes: Modes | None = None) -> None:
        self.m = m
        self._platform = platform
        self.modes = modes
        self.beside_steps: Beside | None = None
        self.decoded: Mapping[str, Operand] = {}
        self.before = ""
        self.statements: list[Any] = []
        self.components: dict[str, SharedComponent] = {}
        self.unused: list[Value] = []

    def next_step(self) -> "Build":
        """A `Build` with the same module and platform, for another step."""
        build = Build(self.m, self._platform, self.modes)
        build.decoded, build.before, build.beside_steps = self.decoded, self.before, self.beside_steps
        return build

    def beside(self, before: str) -> "Build":
        """A `Build` for another datapath in the same module."""
        build = Build(self.m, self._platform)
        build.before = before
        return build

    def place(self, name: str, component: SharedComponent) -> None:
        """Put a component in: as a submodule, or as an instance of a shared module."""
        placed = (
            self._platform.instance(f"{self.before}{name}", component)
            if isinstance(self._platform, SharedModules)
            else component
        )
        self.m.submodules[f"{self.before}{name}"] = placed
        self.components[name] = component

    def assign(self, *statements: Any) -> None:
        """Add combinational statements, each of which drives a signal as a whole.

        Raises:
            HandOffError: a statement that drives a part of a signal, or several.
        """
        for statement in statements:
            if not isinstance(statement.lhs, Signal):
                raise HandOffError(f"a statement of a step must drive one signal as a whole, got {statement.lhs!r}")
        self.statements += statements
        self.m.d.comb += list(statements)

    def drive(self, port: Interface, record: Interface) -> None:
        """Drive a component's port, member by member, from a record of the same class."""
        self.assign(*(getattr(port, member).eq(getattr(record, member)) for member in port.signature.members))

    def ignore(self, *values: Value) -> None:
        """Leave values unread on purpose; a comment beside the call gives the reason."""
        self.unused += values


class Step(Generic[Input, Output]):
    """A step of a datapath and the boundary after it.

    Args:
        point: name of the boundary.
        depth: about its logic depth (rtl.datapath.depths).
        run: builds the step: a function of `Build` and the input record that gives the output record, which its annotations
            declare.
        parts: the same step with boundaries inside, if it has a natural cut; the last part is named as the step.

    Attributes:
        takes, gives: classes of the input and the output record.

    Raises:
        HandOffError: annotations that are missing, or parts that are not the step's.
    """

    def __init__(
        self,
        point: str,
        depth: int,
        run: Callable[[Build, Input], Output],
        parts: "Steps[Input, Output] | None" = None,
    ) -> None:
        self.point, self.depth, self._run = point, depth, run
        names = list(signature(run).parameters)
        hints = get_type_hints(run)
        if len(names) != 2 or names[1] not in hints or "return" not in hints:
            raise HandOffError(f"step {point} must annotate the record that it takes and the one that it gives, got {hints}")
        self.takes, self.gives = hints[names[1]], hints["return"]
        self.parts = list(parts or ())
        if self.parts and (self.parts[-1].point, self.parts[0].takes, self.parts[-1].gives) != (
            point,
            self.takes,
            self.gives,
        ):
            raise HandOffError(f"the parts of step {point} must take and give what it does, and the last have its name")

    def run(self, build: Build, record: Input) -> Output:
        """Build the step.

        Raises:
            HandOffError: a record of another class than declared, or with values of other widths; a value of the input, or
                an output of a component, that the output does not depend on and the step does not ignore; an input port of
                a component, or a signal that the output depends on, that nothing drives; a signal driven twice.
        """
        if not isinstance(record, self.takes):
            raise HandOffError(f"step {self.point} takes {self.takes.__name__}, got {type(record).__name__}")
        built = build.next_step()
        try:
            result = self._run(built, record)
        except WidthError as error:
            raise HandOffError(f"step {self.point}: {error}") from error
        if not isinstance(result, self.gives):
            raise HandOffError(f"step {self.point} gives {self.gives.__name__}, got {type(result).__name__}")
        self._check(built, record, result)
        return result

    def decoders(self, record: Input) -> tuple[dict[str, SharedComponent], set[str]]:
        """What the step places, by name; and the fields of its input that it reads beside them.

        Args:
            record: the input.
        """
        m = Module()
        never_built(m)
        built = Build(m, SharedModules("check"))
        result = self._run(built, record)
        given = signals_in([value for _, value in record.values()])
        sources, outputs = self._sources(built, given)
        beside = {key: found for key, found in sources.items() if key not in signals_in([port for _, port in outputs])}
        read = reached([value for _, value in result.values()], beside)
        return built.components, {name for name, value in record.values() if signals_in([value]).keys() & read.keys()}

    def _check(self, built: Build, record: Record, result: Record) -> None:
        """Check that the output depends on every value of the input and on every output of a component, except those that
        are ignored; and that all it depends on is driven once, by a statement or a component, or is part of the input."""
        beside = [] if built.modes is None else [built.modes.code]
        beside += [] if built.beside_steps is None else [built.beside_steps.random]
        given = signals_in([*(value for _, value in record.values()), *beside])
        sources, outputs = self._sources(built, given)
        for name, value in result.values():
            for key, signal in reached([value], sources).items():
                if key not in given and key not in sources:
                    whole = f"{name} of {type(result).__name__}"
                    part = "" if key in signals_in([value]) else f", by way of {signal.name}"
                    raise HandOffError(f"step {self.point} leaves {whole} undriven{part}")
        read = reached([*(value for _, value in result.values()), *built.unused], sources)
        inputs = [(f"{name} of {type(record).__name__}", value) for name, value in record.values()]
        for name, value in [*inputs, *outputs]:
            if not signals_in([value]).keys() <= read.keys():
                raise HandOffError(
                    f"step {self.point} leaves {name} unread; read it, pass it on, or call build.ignore and say why"
                )

    def _sources(self, built: Build, given: Signals) -> tuple[dict[int, Signals], list[tuple[str, Value]]]:
        """The sources of every signal that the step drives, through a statement or through a component (whose outputs depend
        on all its inputs), and the outputs of the components by name."""
        sources: dict[int, Signals] = {}
        outputs: list[tuple[str, Value]] = []
        for statement in built.statements:
            for signal in statement._lhs_signals():
                if id(signal) in given:
                    raise HandOffError(f"step {self.point} drives {signal.name}, which it is given")
                if id(signal) in sources:
                    raise HandOffError(f"step {self.point} drives {signal.name} twice; assign it once, as a whole")
                sources[id(signal)] = signals_in([statement])
        for component in built.components.values():
            ports = [(".".join(map(str, path)), port, member.flow) for path, port, member in members(component)]
            inputs = signals_in([port for _, port, flow in ports if flow != Out])
            for name, port, flow in ports:
                if flow != Out:
                    if id(port) not in sources:
                        raise HandOffError(f"step {self.point} leaves the port {name} of {component.module} undriven")
                elif id(port) in sources:
                    raise HandOffError(f"step {self.point} drives the output {name} of {component.module}")
                else:
                    sources[id(port)] = inputs
                    outputs.append((f"{name} of {component.module}", port))
        return sources, outputs


def signals_in(nodes: list[Any]) -> Signals:
    """The signals that values, or the right sides of statements, depend on directly; constants depend on none."""
    return {id(signal): signal for node in nodes for signal in node._rhs_signals()}  # private: no public way to ask


def reached(values: list[Value], sources: Mapping[int, Signals]) -> Signals:
    """The signals that values depend on, directly or through other signals."""
    found: Signals = {}
    waiting = list(signals_in(values).items())
    while waiting:
        key, signal = waiting.pop()
        if key not in found:
            found[key] = signal
            waiting += sources.get(key, {}).items()
    return found


class Steps(Generic[Input, Output]):
    """Steps in a chain, each of which takes what the one before gives.

    Args:
        first: the first step.
    """

    def __init__(self, first: Step[Input, Output]) -> None:
        self._steps: list[Step[Any, Any]] = [first]

    def then(self, step: Step[Output, Next]) -> "Steps[Input, Next]":
        """The chain with one more step.

        Raises:
            HandOffError: a step that takes something else, or has the name of an earlier one.
        """
        last = self._steps[-1]
        if step.point in [earlier.point for earlier in self._steps]:
            raise HandOffError(f"steps must have names of their own, got {step.point} twice")
        if not issubclass(last.gives, step.takes):
            raise HandOffError(
                f"step {step.point} takes {step.takes.__name__}, but {last.point} gives {last.gives.__name__}"
            )
        longer: Steps[Input, Next] = Steps.__new__(Steps)
        longer._steps = [*self._steps, step]
        return longer

    def __iter__(self) -> Iterator[Step[Any, Any]]:
        return iter(self._steps)


def part(point: str, run: Callable[[Build, Input], Output]) -> Step[Input, Output]:
    """A part of a step; no formula places registers by its depth."""
    return Step(point, 0, run)


def cut_inside(steps: Iterable[Step[Any, Any]], points: Collection[str] | None = None) -> list[Step[Any, Any]]:
    """The steps, some replaced by their parts: those with a named boundary inside; by default all that have one."""
    found: list[Step[Any, Any]] = []
    for step in steps:
        inside = [each.point for each in step.parts[:-1]]
        found += step.parts if inside and (points is None or set(inside) & set(points)) else [step]
    return found
