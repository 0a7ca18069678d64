"""The catalogue as data of the page: formats, parameters of the C interface, and every instruction. Tables hold each value
once; an instruction refers to them by index."""

from collections.abc import Hashable, Iterable
from typing import Any, Generic, TypeVar

import golden
from golden.arithmetic.formats import FORMATS, INTEGERS, Format
from golden.catalogue import ARCHITECTURES, marketing_names
from golden.chains.chain import PAIRED, Chain
from golden.native.parameters import KEYS, OPERATION_CODES, is_one_call, parameters
from golden.units.instruction import EVIDENCE, Instruction

T = TypeVar("T", bound=Hashable)

ENTRY = (
    "arch",
    "name",
    "m",
    "n",
    "k",
    "a",
    "b",
    "c",
    "d",
    "scale",
    "block_size",
    "program",
    "operation",
    "evidence",
    "note",
)
"""The columns of an instruction. Formats are names; scale is "" and block_size 0 where it has none. The description that
`operation` numbers says too whether the encoding of a NaN result is known."""


class Numbered(Generic[T]):
    """Values, each once, numbered in the order in which they came."""

    def __init__(self) -> None:
        self._numbers: dict[T, int] = {}

    def __call__(self, value: T) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def values(self) -> list[T]:
        return list(self._numbers)


def data(instructions: Iterable[Instruction] | None = None) -> dict[str, Any]:
    """All data of the catalogue that the page needs, as plain JSON.

    Args:
        instructions: the instructions of the page; None for the whole catalogue.
    """
    programs, operations, notes = Numbered[tuple[Any, ...]](), Numbered[tuple[str, bool]](), Numbered[str]()
    entries = []
    for i in golden.instructions() if instructions is None else instructions:
        formats = (i.a.name, i.b.name, i.c.name, i.d.name, i.scale.name if i.scale else "")
        operation = operations((describe(i), i.operation.nan_is_fixed()))
        numbers = (programs(program(i)), operation, list(EVIDENCE).index(i.evidence), notes(i.note))
        entries.append([ARCHITECTURES.index(i.arch), i.name, i.m, i.n, i.k, *formats, i.block_size or 0, *numbers])
    return {
        "architectures": [[arch, ", ".join(marketing_names(arch))] for arch in ARCHITECTURES],
        "formats": {name: fields(each) for name, each in FORMATS.items()},
        "operations": list(OPERATION_CODES),
        "keys": list(KEYS),
        "columns": list(ENTRY),
        "entries": entries,
        "programs": programs.values(),
        "descriptions": operations.values(),
        "evidence": list(EVIDENCE.items()),
        "notes": notes.values(),
    }


def fields(each: Format) -> dict[str, Any]:
    """The fields of a format, as `golden.arithmetic.format.FormatFields` has them; an integer's are its width and sign."""
    if each.name in INTEGERS:
        return {"name": each.name, "integer": True, "width": each.width, "storage": each.storage_bits, "signed": each.signed}
    return {
        "name": each.name,
        "integer": False,
        "exp_bits": each.exp_bits,
        "man_bits": each.man_bits,
        "bias": each.bias,
        "specials": each.specials,
        "storage": each.storage_bits,
        "width": each.width,
        "pad_bits": each.pad_bits,
        "signed": each.signed,
        "subnormals": each.subnormals,
    }


def program(i: Instruction) -> tuple[Any, ...]:
    """How the page computes an instruction with the engine: a list [kind, subtract, start, call …]. Each call is the format
    of d and the members of struct mmau_parameters.

    `call`: one call. `added`: a call that starts from a zero, whose sum a second call adds to c (golden/chains/chain.py).
    `paired`: products, their sum and its sum with d by single multiply-adds (golden.chains.chain.PAIRED). The second call of
    both is x·1 + y in the format of d. `subtract` says whether the sign of every element of a is inverted first, `start`
    which zero products are added to where that is not c: "0" or "-0".

    Raises:
        ValueError: neither the engine nor the page has a chain of this kind.
    """
    chain = i.chain
    if chain.order == PAIRED:
        return ("paired", chain.subtract, "-0", _call(Chain(i.operation), 1), _call(Chain(chain.adder), 1))
    if is_one_call(chain):
        return ("call", False, "", _call(chain, i.k))
    if chain.sums is not None or chain.convert is not None or chain.order != "in-order":
        raise ValueError(f"the page computes chains of steps in the order of k, with c first or last, got {chain}")
    steps = _call(Chain(i.operation), i.k)
    if not chain.table.adds:
        return ("call", chain.subtract, "", steps)
    return ("added", chain.subtract, "-0" if chain.zero else "0", steps, _call(Chain(chain.adder), 1))


def _call(chain: Chain, K: int) -> tuple[str, tuple[int, ...]]:
    struct = parameters(chain, K)
    return chain.operation.d.name, tuple(getattr(struct, key) for key in KEYS)


def describe(i: Instruction) -> str:
    """The operation and those of its parameters that the instruction's name does not show: `T-FDPA: L = 16, F = 25 …`."""
    shown = {key: value for key, value in i.operation.parameters().items() if key not in ("a", "b", "c", "scale")}
    return f"{i.operation.name}: " + ", ".join(f"{key} = {value}" for key, value in shown.items())
