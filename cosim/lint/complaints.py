"""Lint warnings of Verilator and Yosys which mean that another tool may read a different circuit."""

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

_CODE = re.compile(r"%Warning-(\w+): ")

_HIDDEN = re.compile(r"^%Warning-VARHIDDEN: .*: '?([^\s']+)'?$", re.MULTILINE)

_SAID = re.compile(r"^.*\b(?:Warning|ERROR): .*", re.MULTILINE)

_SUMMARY = re.compile(r"see full log for details|Found \d+ problems in 'check")


def complaints_of_verilator(
    top: str, verilog: str, verilator_args: Sequence[str], folder: Path, libraries: Sequence[str] = ()
) -> tuple[list[str], list[str]]:
    """Verilator's warnings about drivers, latches, the order of events, time and widths of a preprocessed text, and the
    names that it declares within others of the same name.

    Args:
        verilator_args: arguments of the description; warnings about widths that they waive are not complaints.
        libraries: arguments that name folders, in which Verilator finds further modules.
    """
    source = folder / "lint.sv"
    text = _CONFIGURED.sub(lambda section: _LINT_OFF.sub(_lint_off_of_widths, section[0]), verilog)
    source.write_text(_WAIVER.sub(_waiver_of_widths, text), encoding="utf-8", errors=BYTES)
    waived = [word for word in verilator_args if word.removeprefix("-Wno-") in WIDTHS]
    flags = ["--lint-only", "-Wall", "-Wno-fatal", *waived, *libraries, "--no-timing", "--top-module", top]
    messages = run_tool(["verilator", *flags, str(source)], cwd=folder).stderr
    return _WARNING.findall(messages.replace(f"{folder}/", "")), _HIDDEN.findall(messages)


def only_of_widths(complaints: Sequence[str]) -> tuple[str, ...]:
    """The warnings about widths, if all complaints are such."""
    found = [_CODE.match(complaint) for complaint in complaints]
    codes = dict.fromkeys(code[1] for code in found if code is not None and code[1] in WIDTHS)
    return tuple(codes) if all(code is not None and code[1] in codes for code in found) else ()


def _waiver_of_widths(waiver: re.Match[str]) -> str:
    codes = re.split(r"[\s,]+", waiver[1].strip())
    return waiver[0] if set(codes) <= set(WIDTHS) else ""


def _lint_off_of_widths(line: re.Match[str]) -> str:
    rule = re.search(r"-rule\s+(\w+)", line[0])
    return line[0] if rule is not None and rule[1] in WIDTHS else ""


def complaints_of_yosys(log: str) -> list[str]:
    """The warnings and errors in a log of Yosys and its reader of SystemVerilog, without their summaries."""
    return list(dict.fromkeys(line for line in _SAID.findall(log) if not _SUMMARY.search(line)))


QUOTED = 5
"""Complaints that a message quotes."""


def quoted(tool: str, complaints: Sequence[str]) -> str:
    """Complaints as a reason why nothing is decided."""
    shown = [complaint.strip() for complaint in complaints[:QUOTED]]
    rest = [f"and {len(complaints) - QUOTED} more"] if len(complaints) > QUOTED else []
    return "\n    ".join([f"{tool} complains about the design:", *shown, *rest])
