"""The texts that tools read of a design: with Verilator's macros, without them, and what synthesis tools read.

A design is simulated with the first text. Macros of a tool, and comments that hide lines from synthesis, may choose another
text for another tool, so each text that differs is proved by itself.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cosim.compile.complaints import promises_of_comments
from cosim.compile.sources import Sources
from cosim.dut.elaborate import ElaborationError
from cosim.dut.tool_log import first_error
from golden.processes import run_tool
from golden.text import BYTES

SYNTHESIS = "SYNTHESIS"
"""The macro that synthesis tools define."""

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Strings and comments."""

_HIDES, _SHOWS = re.compile(r"\btranslate_off\b|\bsynthesis_off\b"), re.compile(r"\btranslate_on\b|\bsynthesis_on\b")

_DEFINE = re.compile(r"^`define (\w+)(?: (.*))?$", re.MULTILINE)

_DEFINED, _ASKED = re.compile(r"`define\s+(\w+)"), re.compile(r"`(?:ifn?def|elsif)\s*(\([^)]*\)|\w+)")

_WITHOUT_EFFECT = re.compile(r"^`line .*$|/\*verilator.*?\*/|\s+", re.MULTILINE)
"""Text that may differ between two texts of the same design."""


@dataclass(frozen=True)
class Text:
    """The design and its wrapper as one text without conditions on macros.

    Attributes:
        name: the macros that it is read with, if other macros give another text. arguments: of Verilator, for these macros.
        promised: what comments promise to synthesis tools.
    """

    name: str
    arguments: tuple[str, ...]
    verilog: str
    promised: tuple[str, ...] = ()


def texts_of(sources: Sources, folder: Path) -> list[Text]:
    """Every different text of a design, the simulated one first.

    Args:
        folder: for temporary files; files are read from there as a simulation reads them.

    Raises:
        ElaborationError: Verilator cannot preprocess the sources.
    """
    given, own = given_macros(sources, folder), _macros((), folder)
    hidden = tuple(f"-U{name}" for name in own if name not in given)
    ways = [("with Verilator's macros", ()), ("without Verilator's macros", hidden)]
    if SYNTHESIS not in given:
        ways.append((f"with {SYNTHESIS} and without Verilator's macros", (*hidden, f"-D{SYNTHESIS}")))
    made = [Text(name, arguments, _preprocessed(sources, folder, arguments)) for name, arguments in ways]
    commented = _preprocessed(sources, folder, ("--pp-comments",))
    if _HIDES.search(commented):
        made.append(Text("without what translate_off hides", (), _shown_to_synthesis(commented)))
    found = dict[str, Text]()
    for text in made:
        found.setdefault(_WITHOUT_EFFECT.sub(" ", text.verilog), text)
    promised = tuple(promises_of_comments(commented))
    texts = [replace(text, promised=promised) for text in found.values()]
    return texts if len(texts) > 1 else [Text("", (), texts[0].verilog, promised)]


def macros_not_defined(sources: Sources, folder: Path) -> list[str]:
    """The macros on which lines of a design depend, and that nothing defines: not its text, the description, Verilator or
    `texts_of`."""
    texts = [Path(name).read_text(encoding="utf-8", errors="replace") for name in sources.digests]
    plain = [_TOKEN.sub(" ", text) for text in texts]
    defined = {SYNTHESIS, *given_macros(sources, folder), *_macros((), folder)}
    defined.update(name for text in plain for name in _DEFINED.findall(text))
    asked = (name for text in plain for words in _ASKED.findall(text) for name in re.findall(r"\w+", words))
    return list(dict.fromkeys(name for name in asked if name not in defined))


def given_macros(sources: Sources, folder: Path) -> dict[str, str]:
    """The macros that the description of the design defines, with their values."""
    own = _macros((), folder)
    named = {word[2:].partition("=")[0] for word in _arguments(sources) if word.startswith("-D")}
    found = _macros(_arguments(sources), folder)
    return {name: value for name, value in found.items() if name in named or own.get(name) != value}


def _shown_to_synthesis(verilog: str) -> str:
    """A text without comments and without the lines between `translate_off` and `translate_on`."""
    kept, place, is_hidden = list[str](), 0, False
    for token in _TOKEN.finditer(verilog):
        kept += [] if is_hidden else [verilog[place : token.start()]]
        place = token.end()
        if not token[0].startswith('"'):
            is_hidden = bool(_HIDES.search(token[0])) or (is_hidden and not _SHOWS.search(token[0]))
        elif not is_hidden:
            kept.append(token[0])
    return "".join([*kept, "" if is_hidden else verilog[place:]])


def _arguments(sources: Sources) -> list[str]:
    return [*sources.arguments, *sources.verilator_args]


def _macros(arguments: Sequence[str], folder: Path) -> dict[str, str]:
    """The macros that are defined before the first line of a source."""
    empty = folder / "empty.v"
    empty.touch()
    printed = _verilator(["-E", "--dump-defines", *arguments, str(empty)], folder)
    return {name: value or "" for name, value in _DEFINE.findall(printed)}


def _preprocessed(sources: Sources, folder: Path, arguments: Sequence[str]) -> str:
    files = [str(file.resolve()) for file in sources.files]
    return _verilator(["-E", *_arguments(sources), *arguments, *files], folder)


def _verilator(arguments: Sequence[str], folder: Path) -> str:
    result = run_tool(["verilator", *arguments], cwd=folder, errors=BYTES)
    if result.returncode:
        raise ElaborationError(f"verilator cannot preprocess the sources: {first_error(result.stderr)}")
    return str(result.stdout)
