"""The text of a mismatch: its heading, a line for each operand, the result and the expected result."""

from collections.abc import Sequence

from cosim.bench.specified_rows import Bits
from golden import Format


def heading(vector: int, place: str, made_by: str) -> str:
    """The first line: the number of the vector, the place of the element in the result, the class of the stimulus."""
    where = f"vector {vector}, {place}" if place else f"vector {vector}"
    return f"{where} ({made_by})"


def operand_lines(name: str, codes: Sequence[int], kind: Format | Bits, is_vector: bool) -> list[str]:
    """One line for each element of an operand: bits, sign, exponent and significand."""
    names = [f"{name}[{k}]" for k in range(len(codes))] if is_vector else [name]
    return [f"  {each:<8} {kind.describe(code)}" for each, code in zip(names, codes, strict=True)]


def result_lines(result: int | str, expected: int, kind: Format | Bits) -> list[str]:
    """The result and the expected result."""
    return [f"  got      {described_result(result, kind)}", f"  expected {kind.describe(expected)}"]


def described_result(result: int | str, kind: Format | Bits) -> str:
    """Describe a result in one line; undefined bits are shown as they are."""
    return f"{kind} {result}: bits that are neither 0 nor 1" if isinstance(result, str) else kind.describe(result)
