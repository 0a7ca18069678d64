"""Complaints of Verilator and Yosys about a design: a text that one complains about may mean another circuit to another."""

import re
from collections.abc import Sequence
from pathlib import Path

from golden.processes import run_tool
from golden.text import BYTES

SOUND = (
    "MULTIDRIVEN", "UNDRIVEN", "PINMISSING", "IMPLICIT", "MODDUP",  # drivers, and what they are
    "LATCH", "NOLATCH", "ALWCOMBORDER", "CASEOVERLAP", "CASEWITHX", "CASEX",  # state and choices
    "BLKSEQ", "COMBDLY", "BLKANDNBLK", "INITIALDLY",  # the order of events
    "ASSIGNDLY", "STMTDLY", "ZERODLY", "RISEFALLDLY", "MINTYPMAXDLY",  # time
    "USERERROR", "USERFATAL",  # the design's own checks of its parameters
    "SHORTREAL",  # read with the precision of a real number
)  # fmt: skip
"""Verilator's warnings that end a proof and that a co-simulation reports. They cannot be waived."""

WIDTHS = ("WIDTHTRUNC", "WIDTHEXPAND", "WIDTHXZEXPAND", "WIDTHCONCAT", "WIDTH", "SELRANGE")
"""Verilator's warnings about widths. They can be waived, in the source or by `verilator_args`, because the standard says how
words are extended and cut."""

_WAIVER = re.compile(r"/\*verilator\s+lint_\w+\s*(.*?)\*/", re.DOTALL)

_CONFIGURED, _LINT_OFF = (
    re.compile(r"`verilator_config\b.*?(?=`verilog\b|\Z)", re.DOTALL),
    re.compile(r"^\s*lint_off\b.*$", re.M),
)
"""A section of the text with options of Verilator, also from a file `.vlt`, and a line there that waives warnings."""

_WARNING = re.compile(
    r"^%(?:Error(?:-\w+)?: (?!Exiting due to)|Warning-(?:{}): ).*".format("|".join((*SOUND, *WIDTHS))), re.MULTILINE
)

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')

_SWITCH = re.compile(r"\$assert(?:on|off|kill|control|pass\w+|fail\w+|nonvacuous\w+|vacuous\w+)\b")

_CASE_OF_ONE = re.compile(r"\bunique0?\s+case[zx]?\s*\(\s*1?'[bB]?[01]\s*\)")

_STRENGTH = re.compile(
    r"\b(?:wand|wor|triand|trior|tri[01]|trireg|pull(?:up|down)|(?:supply|strong|pull|weak|highz)[01]|"
    r"(?:buf|not)if[01]|r?[np]mos|r?cmos|r?tran(?:if[01])?)\b"
)

_CONFIGURATION = re.compile(r"\bconfig\s+(\w+|\\\S+)\s*;")

_OF_ONE_TOOL = re.compile(r"^\s*(`(?:systemc_\w+|uselib|protected|pragma\s+protect)\b)", re.MULTILINE)

_SAID = re.compile(r"^.*\b(?:Warning|ERROR): .*", re.MULTILINE)

_SUMMARY = re.compile(r"see full log for details|Found \d+ problems in 'check")

_PRAGMA = re.compile(
    r"/[/*]\s*(?:\w+\s+)?(?:\w*synthesis|synopsys|pragma|cadence|exemplar|verific|xilinx|altera|mentor)\s+"
    r"(?:(?:\w+\s+)*(?:full|parallel)_case\b|one_(?:hot|cold)\s*\")"
)

_PROMISE = re.compile(r"\b(?:unique0?|priority)\s+if\b|\b(?:full|parallel)_case\b")

_PROMISE_OF_COMMENT = re.compile(r"\b(?:full_case|parallel_case|one_hot|one_cold)\b")


def complaints_of_verilator(
    top: str, verilog: str, verilator_args: Sequence[str], folder: Path, libraries: Sequence[str] = ()
) -> list[str]:
    """Verilator's warnings about drivers, latches, the order of events, time and widths of a preprocessed text.

    Args:
        verilator_args: of the description; warnings about widths that they waive are not complaints.
        libraries: arguments that name folders, in which Verilator finds further modules.
    """
    source = folder / "lint.sv"
    text = _CONFIGURED.sub(lambda section: _LINT_OFF.sub(_lint_off_of_widths, section[0]), verilog)
    source.write_text(_WAIVER.sub(_waiver_of_widths, text), encoding="utf-8", errors=BYTES)
    waived = [word for word in verilator_args if word.removeprefix("-Wno-") in WIDTHS]
    flags = ["--lint-only", "-Wall", "-Wno-fatal", *waived, *libraries, "--no-timing", "--top-module", top]
    messages = run_tool(["verilator", *flags, str(source)], cwd=folder).stderr
    return _WARNING.findall(messages.replace(f"{folder}/", ""))


def _waiver_of_widths(waiver: re.Match[str]) -> str:
    codes = re.split(r"[\s,]+", waiver[1].strip())
    return waiver[0] if set(codes) <= set(WIDTHS) else ""


def _lint_off_of_widths(line: re.Match[str]) -> str:
    rule = re.search(r"-rule\s+(\w+)", line[0])
    return line[0] if rule is not None and rule[1] in WIDTHS else ""


def promises(verilog: str) -> list[str]:
    """Promises of a text to synthesis that no circuit shows: `unique if`, `priority if`, full_case, parallel_case."""
    return _PROMISE.findall(_STRING.sub('""', verilog))


def promises_of_comments(commented: str) -> list[str]:
    """Likewise, the promises that comments make to any tool: `// synthesis parallel_case`."""
    comments = re.findall(r"//[^\n]*|/\*.*?\*/", _STRING.sub('""', commented), re.DOTALL)
    return [word for comment in comments if _PRAGMA.match(comment) for word in _PROMISE_OF_COMMENT.findall(comment)]


def cases_of_one(verilog: str) -> list[str]:
    """The promises of a text that one of several signals alone is 1: `unique case (1'b1)`, which a proof checks."""
    return _CASE_OF_ONE.findall(_STRING.sub('""', verilog))


def strengths(verilog: str) -> list[str]:
    """The words of a text by which drivers of one net win, lose or let go, which not every synthesis reads."""
    return list(dict.fromkeys(_STRENGTH.findall(_STRING.sub('""', verilog))))


CONFIGURED = "the text has a config, which tools but Verilator apply only if it is the top"


def configurations(verilog: str) -> list[str]:
    """The configurations of a text. Verilator lets each of them choose modules, other tools only the one that is the top."""
    return _CONFIGURATION.findall(_STRING.sub('""', verilog))


OF_ONE_TOOL = (
    "directives that not every tool follows, such as C++ for Verilator or text that others decrypt, change what it is"
)


def directives_of_one_tool(verilog: str) -> list[str]:
    """The directives of a text with C++ that Verilator puts into the simulation (`systemc_header`), with a library that
    others search (`uselib`), or around text that others decrypt and Verilator skips."""
    return list(dict.fromkeys(" ".join(found.split()) for found in _OF_ONE_TOOL.findall(_STRING.sub('""', verilog))))


def misread_by_yosys(verilog: str) -> list[str]:
    """The functions of a text that Yosys' reader of SystemVerilog evaluates wrongly, without a complaint: `$rtoi` of a
    negative number gives 0."""
    return list(dict.fromkeys(re.findall(r"\$rtoi\b", _STRING.sub('""', verilog))))


def switches_of_assertions(verilog: str) -> list[str]:
    """The statements of a text that switch its assertions on or off, so that one that fails may not be seen."""
    return list(dict.fromkeys(_SWITCH.findall(_STRING.sub('""', verilog))))


def complaints_of_yosys(log: str) -> list[str]:
    """The warnings and errors in a log of Yosys and its reader of SystemVerilog, without their summaries."""
    return list(dict.fromkeys(line for line in _SAID.findall(log) if not _SUMMARY.search(line)))


_LEFT_OUT = re.compile(
    r"(?:\$(?:f?(?:display|write|strobe|monitor)[bho]?|info|warning|error|fatal)|"
    r"\b(?:assert|assume|cover)(?:\s*#\s*0|\s+final)?)\s*\(([^;]*);"
)

_CHANGES = re.compile(r"\+\+|--|\(\s*\w+\s*[-+*/%&|^]?=(?!=)")


def changes_left_out(verilog: str) -> list[str]:
    """The increments and assignments in the arguments of assertions and of `$display` and its like, which synthesis leaves
    out."""
    found = _LEFT_OUT.findall(_STRING.sub('""', verilog))
    return [change for arguments in found for change in _CHANGES.findall(f"({arguments}")]


def has_assertions(verilog: str) -> bool:
    """Whether a text may have assertions."""
    return re.search(r"\b(?:assert|assume|cover|restrict|expect)\b", _STRING.sub('""', verilog)) is not None


# names

_DECLARES = re.compile(
    r"\b(?:localparam|parameter|const|typedef|enum|logic|wire|reg|bit|int|integer|byte|shortint|longint)\b"
)


def used_before_declared(verilog: str) -> list[str]:
    """The names that a module uses above its own declaration of them, and that a package or the text around modules declares
    too: by the standard these are the others', which not every tool follows."""
    text = re.sub(r"/\*.*?\*/", " ", re.sub(r"//[^\n]*|^\s*`line .*$", " ", _STRING.sub('""', verilog), flags=re.MULTILINE))
    parts = re.split(r"\b(?:end)?(?:module|macromodule|interface)\b", text)  # outside and inside, in turn
    outer = {name for outside in parts[::2] for name, _ in _declared(outside)}
    found = list[str]()
    for inside in parts[1::2]:
        for name, place in _declared(inside):
            used = re.search(rf"(?<![\w.:$]){re.escape(name)}\b", inside)
            found += [name] if name in outer and used is not None and used.start() < place else []
    return list(dict.fromkeys(found))


def _declared(text: str) -> list[tuple[str, int]]:
    """The constants, types, variables and functions that a text declares, with their places."""
    found = list[tuple[str, int]]()
    for statement in re.finditer(r"[^;]+", text):
        declares = _DECLARES.search(statement[0])
        if declares is not None:
            names = re.finditer(r"([A-Za-z_]\w*)\s*(?:\[[^]]*\]\s*)*(?==[^=]|,|\}|$)", statement[0])
            found += [(name[1], statement.start() + name.start()) for name in names if name.start() > declares.start()]
    return found
