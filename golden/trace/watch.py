"""Recording of an operation's steps: every step that it calls, with its arguments and its result.

The recording operation is an instance of a class derived from the model's, whose steps call the model's steps and append an
event. The arithmetic is the model's, and a model that is not recorded has no overhead.
"""

from collections.abc import Callable
from inspect import getattr_static
from typing import Any, NamedTuple

from golden.operations import Operation

STEPS = (
    "decoded", "multiply", "combined", "raised", "scaled", "group_term", "addend", "max_exp", "align", "in_frame",
    "accumulate", "exact_sum", "group_sum", "truncate", "converted", "narrowed", "rounded_sum", "flushed_sum",
    "flushed_product", "flushed_add", "encode_special", "fma", "add", "step",
)  # fmt: skip
"""The recorded methods of operations; no operation has all of them. A step comes after the steps that it calls."""


class Event(NamedTuple):
    """An executed step.

    Attributes:
        step: its name, one of `STEPS`.
        arguments: its arguments, without `self`.
        result: its return value.
    """

    step: str
    arguments: tuple[Any, ...]
    result: Any


def watched(operation: Operation, events: list[Event]) -> Operation:
    """A copy of the operation that appends every step it executes to `events`."""
    cls = type(operation)
    steps = {name: _noting(name, getattr_static(cls, name), events) for name in STEPS if hasattr(cls, name)}
    return operation.with_steps(**steps)


def _noting(name: str, step: Any, events: list[Event]) -> Any:
    """The step, wrapped so that it appends an event for every call."""
    if isinstance(step, staticmethod):
        function: Callable[..., Any] = step.__func__

        def of_the_class(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            events.append(Event(name, (*arguments, *named.values()), result))
            return result

        return staticmethod(of_the_class)

    def of_an_operation(self: Operation, *arguments: Any, **named: Any) -> Any:
        result = step(self, *arguments, **named)
        events.append(Event(name, (*arguments, *named.values()), result))
        return result

    return of_an_operation
