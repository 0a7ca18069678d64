"""The distinct arithmetics of the catalogue."""

from functools import cache

from golden.catalogue import representatives
from golden.units.instruction import Instruction


@cache
def distinct_arithmetic() -> tuple[Instruction, ...]:
    """One instruction, the first, for each distinct arithmetic of the whole catalogue, of those with a unit of their own."""
    seen: dict[object, Instruction] = {}
    for instruction in representatives():
        seen.setdefault((instruction.chain, instruction.k), instruction)
    return tuple(seen.values())


def arithmetics() -> list[Instruction]:
    """Those that round; integer instructions are exact and excluded."""
    return [i for i in distinct_arithmetic() if i.operation.name != "IDPA"]
