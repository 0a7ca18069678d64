"""The distinct arithmetics of the catalogue, and rows of theirs as numbers."""

from collections.abc import Sequence
from functools import cache

from golden.catalogue import representatives
from golden.formats import Format
from golden.instruction import Instruction
from golden.stimulus import Row
from mmau.analysis.exact_value import Arithmetic
from mmau.analysis.input_row import ONE, value_of
from mmau.analysis.side_by_side import shown


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


def numbers(arithmetic: Arithmetic, row: Row) -> str:
    """A row's operands that are not 0, scales that are not 1, as numbers."""
    parts = [f"{name}[{k}]·{other}[{k}] = {x}·{y}" for name, other, k, x, y in _products(arithmetic, row)]
    parts.append(f"c = {shown(value_of(row.c, arithmetic.c))}")
    scale = arithmetic.chain.operation.scale_format
    if scale is not None:
        for name, codes in (("scale_a", row.scale_a), ("scale_b", row.scale_b)):
            parts += [f"{name}[{n}] = {shown(value)}" for n, value in enumerate(_values(codes, scale)) if value != ONE]
    return ", ".join(parts)


def _products(arithmetic: Arithmetic, row: Row) -> list[tuple[str, str, int, str, str]]:
    pairs = zip(_values(row.a, arithmetic.a), _values(row.b, arithmetic.b), strict=True)
    return [("a", "b", k, shown(x), shown(y)) for k, (x, y) in enumerate(pairs) if x or y]


def _values(codes: Sequence[int], operand: Format) -> list[float]:
    return [value_of(code, operand) for code in codes]
