"""The operands that a design need not take, `[assume]`: others are moved to those that it must take, none is left out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from golden import Cls, Format, Operation
from golden.arithmetic.formats import IntegerFormat
from golden.arithmetic.rounding import overflows_to_largest
from golden.arrays import BitArray
from golden.checks import check_choice, unknown
from golden.operations.fused import FusedOperation
from golden.stimulus import Operands
from golden.units.controls import Source

CLASSES = tuple(cls.name.lower() for cls in Cls)
"""The names of classes of operands."""

SCATTER = 0x9E3779B1
"""Odd factor that spreads codes over the exponents of a range: zeros, infinities and NaNs have none of their own."""


def _code(operand: Format, sign: int, field: int, fraction: int) -> int:
    """The code of a sign, a stored exponent and a fraction."""
    return sign * (operand.codes >> 1) | field << operand.man_bits + operand.pad_bits | fraction


@dataclass(frozen=True)
class Taken:
    """The codes of an operand that a design must take.

    Attributes:
        operand: "a", "b" or "c". classes: their classes. exponents: the least and the greatest exponent of normal ones, or
            nothing.
    """

    operand: str
    classes: tuple[str, ...] = CLASSES
    exponents: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        name = f"[assume] {self.operand}"
        for each in self.classes:
            check_choice(f"{name} classes", each, CLASSES)
        if not {"zero", "subnormal", "normal"} & set(self.classes):
            raise ValueError(f"{name} classes must have one of zero, subnormal and normal, got {list(self.classes)!r}")
        if self.exponents and (len(self.exponents) != 2 or self.exponents[0] > self.exponents[1]):
            raise ValueError(
                f"{name} exponents must be the least and the greatest, like [-14, 15], got {list(self.exponents)!r}"
            )
        if self.exponents and "normal" not in self.classes:
            raise ValueError(f"{name} exponents go with the class normal, got classes = {list(self.classes)!r}")

    def check(self, operand: Format) -> None:
        """Raise ValueError for an operand that has no such numbers."""
        if isinstance(operand, IntegerFormat):
            raise ValueError(f"[assume] {self.operand} is for floating-point operands, got {operand}")
        if self.exponents and not operand.e_min <= self.exponents[0] <= self.exponents[1] <= operand.e_max:
            limits = f"from {operand.e_min} to {operand.e_max}"
            raise ValueError(
                f"[assume] {self.operand} exponents must be {limits} in {operand}, got {list(self.exponents)!r}"
            )
        if not any(self.takes(code, operand) for code in self._numbers(0, 0, 0, operand)):
            raise ValueError(f"[assume] {self.operand} leaves no number of {operand}, got {list(self.classes)!r}")

    def within(self, codes: BitArray, operand: Format) -> BitArray:
        """The codes, with one that the design must take in the place of each other one."""
        distinct, places = np.unique(codes, return_inverse=True)
        moved = [self._moved(code, operand) for code in distinct.tolist()]
        return np.array(moved, codes.dtype)[places].reshape(codes.shape)

    def _moved(self, code: int, operand: Format) -> int:
        """The code itself, or one with its sign and fraction: a normal number within the exponents, else a subnormal one,
        else zero."""
        if self.takes(code, operand):
            return code
        sign, exp, _, cls = operand.decode(code)
        fraction = code & (1 << operand.man_bits + operand.pad_bits) - 1
        low, high = self.exponents or (operand.e_min, operand.e_max)
        offset = exp - low if cls in (Cls.NORMAL, Cls.SUBNORMAL) else code * SCATTER >> 7
        numbers = self._numbers(sign, offset % (high - low + 1), fraction, operand)
        return next(each for each in numbers if self.takes(each, operand))

    def _numbers(self, sign: int, offset: int, fraction: int, operand: Format) -> Iterator[int]:
        """A normal number so far above the least one, a subnormal one, and zeros: first those with the fraction."""
        normal = (self.exponents[0] if self.exponents else operand.e_min) + offset + operand.bias
        yield from (_code(operand, sign, normal, fraction), _code(operand, sign, normal, 0))
        yield from (_code(operand, sign, 0, fraction), _code(operand, sign, 0, 1 << operand.pad_bits))
        yield from (_code(operand, sign, 0, 0), 0)

    def magnitudes(self, operand: Format) -> list[tuple[int, int]]:
        """The codes without their sign, as ranges, of a format with infinities."""
        first, infinity = 1 << operand.man_bits, operand.infinity
        assert infinity is not None
        low, high = self.exponents or (operand.e_min, operand.e_max)
        ranges = {
            "zero": (0, 0),
            "subnormal": (1, first - 1),
            "normal": (low + operand.bias << operand.man_bits, (high + operand.bias + 1 << operand.man_bits) - 1),
            "infinity": (infinity, infinity),
            "nan": (infinity + 1, (operand.codes >> 1) - 1),
        }
        return [ranges[name] for name in self.classes]

    def takes(self, code: int, operand: Format) -> bool:
        """Whether the design must take a code."""
        _, exp, _, cls = operand.decode(code)
        if CLASSES[cls] not in self.classes:
            return False
        return cls is not Cls.NORMAL or not self.exponents or self.exponents[0] <= exp <= self.exponents[1]

    def __str__(self) -> str:
        exponents = f", exponents {self.exponents[0]} to {self.exponents[1]}" if self.exponents else ""
        return f"{self.operand}: {', '.join(self.classes)}{exponents}"


@dataclass(frozen=True)
class Assumed:
    """The table `[assume]`.

    Attributes:
        operands: what is assumed of each. no_overflow: whether no result of finite operands is beyond the largest number.
    """

    operands: tuple[Taken, ...] = ()
    no_overflow: bool = False

    def of(self, operation: Operation, places: Mapping[str, Source]) -> "Assumed":
        """What is assumed of the operands of an operation, which may come from other ports than their own."""
        ports = {name: places.get(name, Source(name)).port for name in operation.operands}
        operands = [
            replace(each, operand=name) for name, port in ports.items() for each in self.operands if each.operand == port
        ]
        return replace(self, operands=tuple(operands))

    def __bool__(self) -> bool:
        return bool(self.operands) or self.no_overflow

    def check(self, operations: Sequence[Operation], kinds: Sequence[Mapping[str, Format]]) -> None:
        """Raise ValueError for operands that no operation has, or without such numbers. `kinds`: its formats by port."""
        ports = list(dict.fromkeys(port for each in kinds for port in each))
        for each in self.operands:
            if each.operand not in ports:
                raise ValueError(unknown("[assume] operand", each.operand, ports))
            for given in kinds:
                if each.operand in given:
                    each.check(given[each.operand])
        for operation in operations if self.no_overflow else ():
            if operation.d.infinity is None or _saturates(operation):
                raise ValueError(f"[assume] no_overflow is for results that overflow to infinity, not those of {operation}")

    def within(self, operands: Operands, kinds: Mapping[str, Format]) -> Operands:
        """Operands that the design must take, in the place of all others. `kinds`: formats by operand."""
        moved = {e.operand: e.within(getattr(operands, e.operand), kinds[e.operand]) for e in self.operands}
        return operands._replace(**moved)

    def takes(self, operands: Operands, d: Sequence[int], kinds: Mapping[str, Format]) -> npt.NDArray[np.bool_]:
        """Whether the design must take each row, with its result. `kinds`: the formats, that of d among them."""
        found = np.ones(len(d), bool)
        for each in self.operands:
            codes, kind = getattr(operands, each.operand), kinds[each.operand]
            found &= _every(codes, [each.takes(code, kind) for code in _distinct(codes)])
        if self.no_overflow:
            finite = {name: _is_finite(getattr(operands, name), kind) for name, kind in kinds.items() if name != "d"}
            found &= _is_finite(np.array(d, np.uint64), kinds["d"]) | ~np.logical_and.reduce([*finite.values()])
        return found

    def lines(self) -> tuple[str, ...]:
        """The table as text for a report."""
        return (*map(str, self.operands), *(["results do not overflow"] if self.no_overflow else []))


def _saturates(operation: Operation) -> bool:
    """Whether a sum beyond the range may become the largest finite number."""
    if not isinstance(operation, FusedOperation):
        return False
    return any(overflows_to_largest(operation.overflow, operation.conversion.mode, negative) for negative in (False, True))


def _distinct(codes: BitArray) -> list[int]:
    found: list[int] = np.unique(codes).tolist()
    return found


def _every(codes: BitArray, holds: Sequence[bool]) -> npt.NDArray[np.bool_]:
    """Whether something holds for all codes of each row. `holds`: for each distinct code, in order."""
    places = np.unique(codes, return_inverse=True)[1]
    found: npt.NDArray[np.bool_] = np.logical_and.reduce(np.array(holds, bool)[places].reshape(len(codes), -1), axis=1)
    return found


def _is_finite(codes: BitArray, kind: Format) -> npt.NDArray[np.bool_]:
    return _every(codes, [kind.decode(code).cls < Cls.INFINITY for code in _distinct(codes)])


ALL = Assumed()
"""Every operand."""


def assumed_of(table: Mapping[str, Any]) -> Assumed:
    """The table `[assume]`.

    Raises:
        ValueError: a key that is unknown or out of range; the message names key, rule and value.
    """
    operands = []
    for name, given in table.items():
        known = ("no_overflow",) if name == "result" else ("classes", "exponents")
        if name not in ("a", "b", "c", "result"):
            raise ValueError(unknown("[assume] key", name, ("a", "b", "c", "result")))
        if not isinstance(given, dict):
            raise ValueError(f"[assume] {name} must be a table with {' and '.join(known)}, got {given!r}")
        for key, value in given.items():
            if key not in known:
                raise ValueError(unknown(f"[assume] {name} key", key, known))
            if key == "no_overflow" and value is not True:
                raise ValueError(f"[assume] result no_overflow must be true, or left out, got {value!r}")
            kind = int if key == "exponents" else str
            if key != "no_overflow" and not (isinstance(value, list) and all(type(each) is kind for each in value)):
                raise ValueError(f"[assume] {name} {key} must be a list, got {value!r}")
        if name != "result":
            operands.append(Taken(name, **{key: tuple(value) for key, value in given.items()}))
    return Assumed(tuple(operands), "result" in table and bool(table["result"]))
