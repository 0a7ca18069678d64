"""The explorer's page: the catalogue as its data, and the page as one file that contains style, data, engine and scripts, so
that it opens from a disk.

The data are formats, parameters of the C interface, and every instruction. Tables hold each value once; an instruction
refers to them by index.
"""

import base64
import json
import sys
import tempfile
from collections.abc import Hashable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import golden
from golden import html
from golden.arithmetic.formats import FORMATS, INTEGERS, Format
from golden.catalogue import ARCHITECTURES, marketing_names
from golden.catalogue.parts import find_part, names_of, part_names
from golden.chains.chain import PAIRED, Chain
from golden.html import Markup, element
from golden.native.parameters import KEYS, OPERATION_CODES, format_number, is_one_call, parameters
from golden.processes import run_tool
from golden.units.instruction import EVIDENCE, Instruction
from studies.explorer import catalogue

SOURCE = Path(__file__).with_name("engine.cpp")
NATIVE = Path(__file__).parents[2] / "golden" / "native"

EXPORTS = ("mmau_memory", "mmau_memory_size", "mmau_dot", "mmau_count_records", "mmau_observe")
"""Functions that the page calls."""

FLAGS = (
    "-target", "wasm32-wasi", "-mexec-model=reactor", "-Os", "-std=c++17", "-fno-exceptions", "-fno-rtti",
    "-ffp-contract=off",  # no multiplication may be fused with an addition unasked
    "-Wl,--strip-all",
)  # fmt: skip


@cache
def compiled() -> bytes:
    """The module's bytes.

    Raises:
        RuntimeError: ziglang is not installed, or the compiler failed; with the compiler's text.
    """
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "engine.wasm"
        folders = [f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'src'}"]
        exports = [f"-Wl,--export={name}" for name in EXPORTS]
        command = [sys.executable, "-m", "ziglang", "c++", *FLAGS, *folders, str(SOURCE), *exports, "-o", str(module)]
        result = run_tool(command)
        if result.returncode:
            raise RuntimeError(
                f"the engine was not compiled to WebAssembly (extra `site` has the compiler):\n{result.stderr}"
            )
        return module.read_bytes()


FOLDER = Path(__file__).parent

SCRIPTS = ("numbers.js", "engine.js", "trace.js", "whole.js", "presets.js", "page.js")
"""The scripts, each after those that it needs."""


def page() -> str:
    """The whole page.

    Raises:
        RuntimeError: the engine could not be compiled.
    """
    body = [
        element("style", Markup(_text("page.css"))),
        Markup(_text("page.html")),
        element("script", Markup(_data()), id="data", type="application/json"),
        element("script", Markup(base64.b64encode(compiled()).decode()), id="engine", type="text/plain"),
        element("script", Markup(scripts())),
    ]
    return html.page("MMAU instruction explorer", *body)


def scripts() -> str:
    """The page's scripts as one."""
    return '"use strict";\n' + "\n".join(_text(name) for name in SCRIPTS)


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _data() -> str:
    """JSON inside a script element: `<` would end it early."""
    return json.dumps(catalogue.data(), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


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
        "architectures": [[arch, ", ".join([*marketing_names(arch), *names_of(arch)])] for arch in ARCHITECTURES],
        "parts": [
            [part.name, part.target, ARCHITECTURES.index(part.arch), part.note]
            for part in map(find_part, part_names())
            if part
        ],
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
    """The fields of a format, as `golden.arithmetic.format.FormatFields` has them; an integer's are its width and sign.
    `number` is that of the C interface."""
    if each.name in INTEGERS:
        shape = {"width": each.width, "storage": each.storage_bits, "signed": each.signed}
        return {"name": each.name, "number": format_number(each), "integer": True, **shape}
    return {
        "name": each.name,
        "number": format_number(each),
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
