"""Finds which parameter causes the difference between two arithmetics: each parameter of one is changed to the other's
value."""

from dataclasses import dataclass, replace

from golden.chains.chain import Chain
from golden.variants.keys import with_key
from mmau.probe.distinguish import Difference, Side


@dataclass(frozen=True)
class Parameter:
    """A parameter whose value differs between x and y.

    Attributes:
        key: the parameter's name. x, y: its values.
        alone: whether x with y's value of this key alone gives y's result; None where x's operation cannot have it.
    """

    key: str
    x: object
    y: object
    alone: bool | None

    def line(self) -> str:
        """The parameter as a line of text."""
        what = {
            True: "makes the difference: x with y's value gives y's result",
            False: "does not by itself: x with y's value does not give y's result",
            None: "cannot be changed alone",
        }
        return f"   {self.key} = {self.x} in x, {self.y} in y: {what[self.alone]}"


def parameters_apart(found: Difference) -> list[Parameter]:
    """The parameters that differ, those that make the difference first; none for chains of other kinds or operations."""
    x, y = found.x.chain, found.y.chain
    if not (x.is_plain and y.is_plain) or x.operation.name != y.operation.name:
        return []
    of_x, of_y = x.operation.parameters(), y.operation.parameters()
    keys = [key for key in {**of_x, **of_y} if _value(found.x, key) != _value(found.y, key)]
    parameters = [Parameter(key, _value(found.x, key), _value(found.y, key), _alone(found, key)) for key in keys]
    return sorted(parameters, key=lambda one: one.alone is not True)


def _value(side: Side, key: str) -> object:
    return getattr(side.chain.operation, key)


def _alone(found: Difference, key: str) -> bool | None:
    operation = with_key(found.x.chain.operation, key, _value(found.y, key))
    if operation is None or found.x.shape.K % operation.length:
        return None
    try:
        return int(replace(found.x, chain=Chain(operation)).run(found.row)[0]) == found.d[1]
    except (ValueError, TypeError):
        return None
