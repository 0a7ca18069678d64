"""Watching an operation compute: every step that it calls, with what went in and what came out.

The operation that is watched is a class derived from the model's own, whose steps call the model's and take note. Nothing is
computed in another way, and a model that nobody watches takes no notice of it.
"""

from collections.abc import Callable
from inspect import getattr_static
from typing import Any, NamedTuple

from golden.operations import Operation

STEPS = (
    "decoded", "multiply", "scaled", "group_term", "addend", "max_exp", "align", "accumulate", "exact_sum", "truncate",
    "converted", "narrowed", "rounded_sum", "flushed_sum", "flushed_product", "flushed_add", "encode_special", "fma", "add",
    "step",
)  # fmt: skip
"""The methods of operations that are watched; none has all of them. A step comes after those that it calls."""


class Event(NamedTuple):
    """A step that has been computed.

    Attributes:
        step: its name, one of `STEPS`.
        arguments: what went in, without `self`.
        result: what came out.
    """

    step: str
    arguments: tuple[Any, ...]
    result: Any


def watched(operation: Operation, events: list[Event]) -> Operation:
    """The same operation, which appends to `events` whatever it computes."""
    cls = type(operation)
    steps = {name: _noting(name, getattr_static(cls, name), events) for name in STEPS if hasattr(cls, name)}
    return operation.with_steps(**steps)


def _noting(name: str, step: Any, events: list[Event]) -> Any:
    """The step, which takes note of every call."""
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
