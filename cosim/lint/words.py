"""Finds words of a design's text, outside of its strings, that tools read differently."""

import re

STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')

_PROMISE = re.compile(r"\b(?:unique0?|priority)\s+if\b|\b(?:full|parallel)_case\b")

_CASE_OF_ONE = re.compile(r"\bunique0?\s+case[zx]?\s*\(\s*1?'[bB]?[01]\s*\)")

_STRENGTH = re.compile(
    r"\b(?:wand|wor|triand|trior|tri[01]|trireg|pull(?:up|down)|(?:supply|strong|pull|weak|highz)[01]|"
    r"(?:buf|not)if[01]|r?[np]mos|r?cmos|r?tran(?:if[01])?)\b"
)

_CONFIGURATION = re.compile(r"\bconfig\s+(\w+|\\\S+)\s*;")

_OF_ONE_TOOL = re.compile(r"^\s*(`(?:systemc_\w+|uselib|protected|pragma\s+protect)\b)", re.MULTILINE)

_ASSERTION = re.compile(r"\b(?:assert|assume|cover|restrict|expect)\b")

_MODULE = re.compile(r"\b(?:end)?(?:module|macromodule|interface)\b")

_LEFT_OUT = re.compile(
    r"(?:\$(?:f?(?:display|write|strobe|monitor)[bho]?|info|warning|error|fatal)|"
    r"\b(?:assert|assume|cover)(?:\s*#\s*0|\s+final)?)\s*\(([^;]*);"
)

_CHANGES = re.compile(r"\+\+|--|\(\s*\w+\s*[-+*/%&|^]?=(?!=)")

_PRAGMA = re.compile(
    r"/[/*]\s*(?:\w+\s+)?(?:\w*synthesis|synopsys|pragma|cadence|exemplar|verific|xilinx|altera|mentor)\s+"
    r"(?:(?:\w+\s+)*(?:full|parallel)_case\b|one_(?:hot|cold)\s*\")"
)

_PROMISE_OF_COMMENT = re.compile(r"\b(?:full_case|parallel_case|one_hot|one_cold)\b")


class Words:
    """The words of a preprocessed text that may be read differently, by reason.

    Attributes:
        promises: promises to synthesis that no circuit shows: `unique if`, `priority if`, full_case, parallel_case.
        cases_of_one: promises that one of several signals alone is 1: `unique case (1'b1)`, which a proof checks.
        strengths: words by which drivers of one net win, lose or let go, which not every synthesis reads.
        configurations: Verilator lets each choose modules, other tools only the one that is the top.
        of_one_tool: directives with C++ that Verilator puts into the simulation (`systemc_header`), with a library that
            others search (`uselib`), or around text that others decrypt and Verilator skips.
        loaded: functions that load memories from files, which are no part of the text.
        misread_by_yosys: functions that Yosys' reader evaluates wrongly without a complaint: `$rtoi` of a negative number.
        changes_left_out: increments and assignments in the arguments of assertions and of `$display` and its like, which
            synthesis leaves out.
        may_assert: whether the text may have assertions. outside: every word outside of modules, also of packages.
    """

    def __init__(self, verilog: str) -> None:
        plain = STRING.sub('""', verilog)
        self.promises = _PROMISE.findall(plain)
        self.cases_of_one = _CASE_OF_ONE.findall(plain)
        self.strengths = _STRENGTH.findall(plain)
        self.configurations = _CONFIGURATION.findall(plain)
        self.of_one_tool = list(dict.fromkeys(" ".join(found.split()) for found in _OF_ONE_TOOL.findall(plain)))
        self.loaded = list(dict.fromkeys(re.findall(r"\$s?readmem[hb]\b", plain)))
        self.misread_by_yosys = list(dict.fromkeys(re.findall(r"\$rtoi\b", plain)))
        left_out = (change for found in _LEFT_OUT.findall(plain) for change in _CHANGES.findall(f"({found}"))
        self.changes_left_out = list(left_out)
        self.may_assert = _ASSERTION.search(plain) is not None
        self.outside = set(re.findall(r"\w+", " ".join(_MODULE.split(plain)[::2])))


def promises_of_comments(commented: str) -> list[str]:
    """The promises that comments of a text make to any synthesis tool: `// synthesis parallel_case`."""
    comments = re.findall(r"//[^\n]*|/\*.*?\*/", STRING.sub('""', commented), re.DOTALL)
    return [word for comment in comments if _PRAGMA.match(comment) for word in _PROMISE_OF_COMMENT.findall(comment)]
