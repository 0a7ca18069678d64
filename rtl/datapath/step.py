"""Steps: functions from one record to the next, each of which declares both, and their chain."""

from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any, Generic, TypeVar, get_type_hints

from amaranth import Module, Value
from amaranth.lib.wiring import Out

from rtl.steps.component import SharedComponent, SharedModules, members
from rtl.steps.interfaces import Operand, Special, Term
from rtl.steps.record import Record, WidthError

Input = TypeVar("Input", bound=Record)
Output = TypeVar("Output", bound=Record)
Next = TypeVar("Next", bound=Record)
Interface = TypeVar("Interface", Operand, Term, Special)


class HandOffError(TypeError):
    """A step does not take what it is given, leaves a value unread, or gives less than it declares."""


class Build:
    """Where a step puts its components and statements: an Amaranth module, under a platform.

    Attributes:
        m: the module. Steps add statements by `assign` alone, so that what they leave out can be found.
        statements: what was assigned.
        components: what was placed.
        unused: values that the step does without.
    """

    def __init__(self, m: Module, platform: object) -> None:
        self.m = m
        self._platform = platform
        self.statements: list[Any] = []
        self.components: list[SharedComponent] = []
        self.unused: list[Value] = []

    def next_step(self) -> "Build":
        """The same module and platform for another step."""
        return Build(self.m, self._platform)

    def place(self, name: str, component: SharedComponent) -> None:
        """Put a component in: as a submodule, or as an instance of a shared module."""
        placed = self._platform.instance(name, component) if isinstance(self._platform, SharedModules) else component
        self.m.submodules[name] = placed
        self.components.append(component)

    def assign(self, *statements: Any) -> None:
        """Add combinational statements."""
        self.statements += statements
        self.m.d.comb += list(statements)

    def drive(self, port: Interface, record: Interface) -> None:
        """Drive a component's port, member by member, from a record of the same class."""
        self.assign(*(getattr(port, member).eq(getattr(record, member)) for member in port.signature.members))

    def ignore(self, *values: Value) -> None:
        """Leave values unread on purpose; say why beside it."""
        self.unused += values


class Step(Generic[Input, Output]):
    """A step of a datapath and the boundary after it.

    Args:
        point: name of the boundary.
        depth: about its logic depth (rtl.datapath.depths).
        run: builds the step: a function of `Build` and the input record that gives the output record, which its annotations
            declare.

    Attributes:
        takes, gives: classes of the input and the output record.
    """

    def __init__(self, point: str, depth: int, run: Callable[[Build, Input], Output]) -> None:
        self.point, self.depth, self._run = point, depth, run
        names = list(signature(run).parameters)
        hints = get_type_hints(run)
        if len(names) != 2 or names[1] not in hints or "return" not in hints:
            raise HandOffError(f"step {point} must annotate the record that it takes and the one that it gives, got {hints}")
        self.takes, self.gives = hints[names[1]], hints["return"]

    def run(self, build: Build, record: Input) -> Output:
        """Build the step.

        Raises:
            HandOffError: a record of another class than declared, or with values of other widths; a value of the input that
                the step neither reads nor passes on nor ignores; a value of the output, or an input port of one of its
                components, that nothing drives.
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
        self._check_read(built, record, result)
        self._check_driven(built, record, result)
        return result

    def _check_read(self, built: Build, record: Record, result: Record) -> None:
        """Every value of the input is on the right side of a statement, or in a value of the output, or ignored."""
        passed_on = [value for _, value in result.values()]
        read = signals_in([*built.statements, *passed_on, *built.unused])
        for name, value in record.values():
            if not signals_in([value]) <= read:
                raise HandOffError(
                    f"step {self.point} leaves {name} of {type(record).__name__} unread; "
                    "read it, pass it on, or call build.ignore and say why"
                )

    def _check_driven(self, built: Build, record: Record, result: Record) -> None:
        """Every input port of a component is on the left side of a statement; so is every value of the output, unless it
        comes from a component or from the input."""
        driven = {id(signal) for statement in built.statements for signal in statement._lhs_signals()}
        for component in built.components:
            for path, port, member in members(component):
                if member.flow == Out:
                    driven.add(id(port))
                elif id(port) not in driven:
                    name = ".".join(map(str, path))
                    raise HandOffError(f"step {self.point} leaves the port {name} of {component.module} undriven")
        driven |= signals_in([value for _, value in record.values()])
        for name, value in result.values():
            if not signals_in([value]) <= driven:
                raise HandOffError(f"step {self.point} leaves {name} of {type(result).__name__} undriven")


def signals_in(nodes: list[Any]) -> set[int]:
    """The signals that values, or the right sides of statements, depend on, by identity; constants depend on none."""
    return {id(signal) for node in nodes for signal in node._rhs_signals()}  # private: Amaranth has no public way to ask


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
            HandOffError: a step that takes something else.
        """
        last = self._steps[-1]
        if not issubclass(last.gives, step.takes):
            raise HandOffError(
                f"step {step.point} takes {step.takes.__name__}, but {last.point} gives {last.gives.__name__}"
            )
        longer: Steps[Input, Next] = Steps.__new__(Steps)
        longer._steps = [*self._steps, step]
        return longer

    def __iter__(self) -> Iterator[Step[Any, Any]]:
        return iter(self._steps)
