"""Checks of arguments; every error message names the argument, the rule, the value received and the fix, if any."""

import difflib
from collections.abc import Collection, Iterable
from typing import Any


def unknown(what: str, value: Any, known: Collection[str], shown: int = 16) -> str:
    """`rho must be one of …, got 'RZ-FP23' (did you mean 'RZ-FP32'?)`; long lists are named by their near spellings only."""
    known = list(dict.fromkeys(known))
    hint = near(value, known)
    if len(known) <= shown:
        return f"{what} must be one of {', '.join(known)}; got {value!r}{hint}"
    return f"{what} {value!r} is not one of the {len(known)} known{hint}"


def near(value: Any, known: Collection[str]) -> str:
    """` (did you mean 'RZ-FP32'?)`, or nothing where no spelling is near."""
    found = difflib.get_close_matches(str(value), known, n=3, cutoff=0.5)
    return f" (did you mean {' or '.join(repr(n) for n in found)}?)" if found else ""


def check_int(key: str, value: Any, low: int, high: int) -> None:
    """Raise unless `value` is an integer (not a bool) with low ≤ value ≤ high."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{key} must be an integer from {low} to {high}, got {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{key} must be an integer from {low} to {high}, got {value}")


def check_least(key: str, value: Any, least: int) -> None:
    """Raise unless `value` is an integer (not a bool) of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{key} must be an integer, got {value!r}")
    if value < least:
        raise ValueError(f"{key} must be at least {least}, got {value}")


def check_type(key: str, value: Any, *types: type) -> None:
    """Raise unless `value` is an instance of one of the types."""
    if not isinstance(value, types):
        wanted = " or ".join(_with_article(cls.__name__) for cls in types)
        raise TypeError(f"{key} must be {wanted}, got {value!r}")


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def check_bool(key: str, value: Any) -> None:
    """Raise unless `value` is True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{key} must be True or False, got {value!r}")


def check_name(key: str, value: Any) -> None:
    """Raise unless `value` is a non-empty string of printable characters."""
    if not isinstance(value, str) or not value or not value.isprintable():
        raise ValueError(f"{key} must be a non-empty string of printable characters, got {value!r}")


def check_choice(key: str, value: Any, choices: Collection[str]) -> None:
    """Raise unless `value` is one of the strings in `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(unknown(key, value, choices))


def listed(names: Iterable[str]) -> str:
    """`a, b, c`, or `none`."""
    return ", ".join(names) or "none"


def check_number(key: str, value: Any, least: float, most: float) -> None:
    """Raise unless `value` is a number (not a bool) with least ≤ value ≤ most."""
    message = f"{key} must be a number from {least:g} to {most:g}, got {value!r}"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(message)
    if not least <= value <= most:
        raise ValueError(message)


def check_period(key: str, value: Any) -> None:
    """Raise unless `value` is a clock period in nanoseconds."""
    check_number(key, value, 0.001, 1e6)


def check_clock(clock_ns: Any, stages: int, registers: Any) -> None:
    """Raise unless a clock period is None, or a number of nanoseconds beside which no stages or registers are given."""
    if clock_ns is None:
        return
    check_period("clock_ns", clock_ns)
    if stages or registers:
        beside = f"stages = {stages}" if stages else f"registers = {registers!r}"
        raise ValueError(f"clock_ns finds the stages and goes without stages and registers, got {beside} beside it")


def named_registers(registers: Any, stages: int) -> tuple[str, ...]:
    """The names of pipeline registers; raise unless they are as many texts as there are stages, or none."""
    if not isinstance(registers, (list, tuple)) or not all(isinstance(name, str) for name in registers):
        raise TypeError(f"registers must be a list of names of steps, got {registers!r}")
    if registers and len(registers) != stages:
        raise ValueError(f"stages must be the number of named registers, {len(registers)}, got {stages}")
    return tuple(registers)
