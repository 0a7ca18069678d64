"""Dot products that are rounded by random bits: of a wide operation, whose results take the bits and drop their places."""

from dataclasses import replace
from typing import Any, Protocol, TypeVar

import numpy as np

from golden.arithmetic.random_bits import RandomStep
from golden.arrays import bits_dtype, check_shape, from_bits, to_bits
from golden.operations import Operation
from golden.operations.fused import FusedOperation
from golden.units.controls import Control


class Rounded(Protocol):
    """What is read of a unit."""

    @property
    def name(self) -> str: ...
    @property
    def operation(self) -> Operation: ...
    @property
    def random(self) -> Control | None: ...


U = TypeVar("U", bound=Rounded)


def with_random_step(unit: U) -> tuple[U, RandomStep]:
    """The unit of the wide results of a unit with random bits, and the step that adds these.

    Raises:
        ValueError: an operation whose sums cannot be rounded so; the message names the key, the rule and the value.
    """
    o, control = unit.operation, unit.random
    assert control is not None
    assert control.random is not None
    what = f"[controls] {control.port} of {unit.name}"
    if not isinstance(o, FusedOperation) or o.structure.rho is None:
        raise ValueError(f"{what}: random bits need an operation with a rho, got {o.name}")
    if o.overflow == "by-mode" or o.flush_results or getattr(o, "flags", False):
        raise ValueError(
            f"{what}: random bits go with overflow = infinity or saturate, and without flush_results and flags; "
            f"got overflow = {o.overflow}, flush_results = {o.flush_results}, flags = {getattr(o, 'flags', False)}"
        )
    try:
        step = RandomStep(control.random, o.conversion, o.overflow == "saturate", o.structure.zero != "positive")
        return replace(unit, operation=o.changed(rho=step.wide), controls=()), step  # type: ignore[type-var]  # a dataclass
    except ValueError as error:
        raise ValueError(f"{what}: {error}. A multiply-add with random bits is E-FDPA with L = 1 and zero = ieee") from error


def random_dot(unit: Any, operands: tuple[Any, Any, Any, Any, Any], random: Any, engine: str | None) -> Any:
    """d of one step for each row; the arguments: `Unit.dot`.

    Raises:
        TypeError, ValueError: as `Unit.dot`.
    """
    wide, step = with_random_step(unit)
    a, b, c, scale_a, scale_b = operands
    K = unit.products_of(a, "[..., K]")
    if unit.operation.length < K:
        raise ValueError(
            f"K must be at most L={unit.operation.length} with random bits, got {K}: each step has bits of its own, "
            "and d of one step is c of the next"
        )
    lead = to_bits("a", a, unit.a).shape[:-1]
    if random is None:
        raise ValueError(f"random is missing: {unit.name} takes {step.random.bits} random bits for each row")
    bits = np.asarray(random)
    if bits.dtype.kind != "u":
        raise TypeError(f"random must be an array of unsigned integers, got {bits.dtype}")
    check_shape("random", bits, lead, "that of c")
    if bits.size and int(bits.max()) >> step.random.bits:
        raise ValueError(f"random must be at most {(1 << step.random.bits) - 1:#x}, got {int(bits.max()):#x}")
    of_c = np.zeros(lead, bits_dtype(unit.c)) if c is None else to_bits("c", c, unit.c)
    d = step.results(wide.dot(a, b, of_c, scale_a, scale_b, engine), bits).astype(bits_dtype(unit.d))
    return from_bits(d, unit.d, a if c is None else c)
