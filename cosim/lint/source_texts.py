"""The texts that tools read of a design: with Verilator's macros, without them, and what synthesis tools read.

A design is simulated with the first text. Macros of a tool, and comments that hide lines from synthesis, may choose another
text for another tool, so each text that differs is proved by itself.

Words of a text that tools read differently are found here as well: they are looked for outside of its strings.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from cosim.build.sources import Sources
from cosim.dut.tool_log import ElaborationError, first_error
from golden.processes import run_tool
from golden.text import BYTES

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


SYNTHESIS = "SYNTHESIS"
"""The macro that synthesis tools define."""

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Matches strings and comments."""

_HIDING = re.compile(r"\b(translate)_(off|on)\b|^/[/*]\s*(?:\w+\s+)?(rtl_synthesis|synthesis)[_\s]+(off|on)\b")
"""Comments between which synthesis tools read nothing: from `off` to `on` with the same word."""

_READ, _UNREAD = (re.compile(rf"\bread_comments_as_HDL\s+{word}\b") for word in ("on", "off"))
"""Comments between which synthesis tools read other comments."""

_DEFINE = re.compile(r"^`define (\w+)(?: (.*))?$", re.MULTILINE)

_DEFINED, _ASKED = re.compile(r"`define\s+(\w+)"), re.compile(r"`(?:ifn?def|elsif)\s*(\([^)]*\)|\w+)")

_CHANGED, _INCLUDED = re.compile(r"`(?:define|undef)\s+(\w+)"), re.compile(r'`include\s+[<"](?:[^">\n]*/)?([^">/\n]+)[>"]')

_INCLUDED_BY_MACRO = re.compile(r"`include\s+`")

_LINES_OF_A_MACRO = re.compile(r"`define\s+(\w+)((?:[^\n]*\\\r?\n)+)")

_APART = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/')
"""Strings and comments within a line, in which // begins no comment."""

_PLACE = re.compile(r'^`line \d+ "([^"]*)" \d$')
"""The place of the lines that follow in a preprocessed text."""

_WITHOUT_EFFECT = re.compile(r"^`line .*$|/\*verilator.*?\*/", re.MULTILINE)
"""Text that may differ between two texts of the same design."""


@dataclass(frozen=True)
class Text:
    """The design and its wrapper as one text without conditions on macros.

    Attributes:
        name: the macros that it is read with, if other macros give another text. arguments: Verilator's arguments for
            these macros.
        promised: what comments promise to synthesis tools.
    """

    name: str
    arguments: tuple[str, ...]
    verilog: str
    promised: tuple[str, ...] = ()


class Source:
    """The files of a design as tools read them.

    Attributes:
        sources: as a simulation takes them. folder: for temporary files; files are read from there as a simulation does.
        given: the macros that the description of the design defines, with their values.
        texts: every different text of the design, the simulated one first.

    Raises:
        ElaborationError: Verilator cannot preprocess the sources.
    """

    def __init__(self, sources: Sources, folder: Path) -> None:
        self.sources, self.folder = sources, folder
        self._arguments = [*sources.arguments, *sources.verilator_args]
        self._own = self._macros(())
        self.given = self._given_macros()
        self.texts = self._texts()

    def _given_macros(self) -> dict[str, str]:
        if not self._arguments:
            return {}
        named = {word[2:].partition("=")[0] for word in self._arguments if word.startswith("-D")}
        found = self._macros(self._arguments)
        return {name: value for name, value in found.items() if name in named or self._own.get(name) != value}

    def _texts(self) -> list[Text]:
        given = self.given
        hidden = tuple(f"-U{name}" for name in self._own if name not in given)
        ways = [("with Verilator's macros", ()), ("without Verilator's macros", hidden)]
        if SYNTHESIS not in given:
            ways.append((f"with {SYNTHESIS} and without Verilator's macros", (*hidden, f"-D{SYNTHESIS}")))
        files = self.sources.files
        made = [Text(name, arguments, self._preprocessed(files, arguments)) for name, arguments in ways]
        if given:  # Verilator's options win over a source's own definition; elsewhere the source does
            before = self.folder / "given.v"
            before.write_text("".join(f"`define {name} {value}\n" for name, value in given.items()), encoding="utf-8")
            removed = tuple(f"-U{name}" for name in given)
            for name, arguments in ways:
                own_first = self._preprocessed((before, *files), (*arguments, *removed))
                made.append(Text(f"where a source defines macros of the description anew, {name}", (), own_first))
        commented = self._preprocessed(files, ("--pp-comments",))
        hides = any(_hiding(token[0])[1] == "off" for token in _TOKEN.finditer(commented))
        if hides or _READ.search(commented):
            what = "without what translate_off hides" if hides else "with the comments that synthesis reads"
            made.append(Text(what, (), shown_to_synthesis(commented)))
        found = dict[str, Text]()
        for text in made:
            found.setdefault(" ".join(_WITHOUT_EFFECT.sub(" ", text.verilog).split()), text)
        promised = tuple(promises_of_comments(commented))
        texts = [replace(text, promised=promised) for text in found.values()]
        return texts if len(texts) > 1 else [Text("", (), texts[0].verilog, promised)]

    @cached_property
    def _files(self) -> dict[str, str]:
        """The text of each file that was read, by path."""
        return {name: _text_of(name) for name in self.sources.digests}

    def macros_not_defined(self) -> list[str]:
        """The macros on which lines of a design depend, and that nothing defines: not its text, the description, Verilator
        or `texts`."""
        plain = [_TOKEN.sub(" ", text) for text in self._files.values()]
        defined = {SYNTHESIS, *self.given, *self._own}
        defined.update(name for text in plain for name in _DEFINED.findall(text))
        return list(dict.fromkeys(name for text in plain for name in _asked(text) if name not in defined))

    def macros_of_other_files(self) -> list[str]:
        """The macros on which lines of a source file depend, and that a source file before it defines or removes: a tool
        that reads each source file by itself reads other lines. A macro that the file, or one that it includes, defines too
        counts only where its text is another one by itself."""
        by_name = dict[str, str]()
        for path, text in self._files.items():  # of some files of one name, all
            by_name[Path(path).name] = by_name.get(Path(path).name, "") + text
        found, before = list[str](), set[str]()
        for place, file in enumerate(self.sources.files):
            texts = {"": _text_of(str(file.resolve()))}  # itself, and what it includes, which a macro may name
            waiting = [*by_name] if _INCLUDED_BY_MACRO.search(texts[""]) else _INCLUDED.findall(texts[""])
            while waiting:
                name = waiting.pop()
                if name in by_name and name not in texts:
                    texts[name] = by_name[name]
                    waiting += _INCLUDED.findall(texts[name])
            plain = [_TOKEN.sub(" ", text) for text in texts.values()]
            own = {macro for text in plain for macro in _DEFINED.findall(text)}
            asked = [macro for text in plain for macro in _asked(text) if macro in before]
            is_other = any(macro in own for macro in asked) and self._is_another_by_itself(place, {*texts})
            found += [macro for macro in asked if is_other or macro not in own]
            before.update(macro for text in plain for macro in _CHANGED.findall(text))
        return list(dict.fromkeys(found))

    def macros_behind_comments(self) -> list[str]:
        """The macros of which a line ends with a comment `//` and a backslash in it."""
        found = [match.groups() for text in self._files.values() for match in _LINES_OF_A_MACRO.finditer(text)]
        return [name for name, lines in found if "//" in _APART.sub("", lines)]

    def _is_another_by_itself(self, place: int, included: Collection[str]) -> bool:
        """Whether the text of a source file, or of a file that it includes, is another one without the source files before
        it. A file that these included, and that is therefore left out, does not count.

        Args:
            included: the names of the files that it includes.
        """
        files = [file.resolve() for file in self.sources.files[: place + 1]]
        before, both = (self._preprocessed(part) for part in (files[:-1], files))
        try:
            alone = _by_file(self._preprocessed(files[-1:]))
        except ElaborationError:
            return True
        beside = _by_file(both.removeprefix(before))
        return any(
            alone.get(name, []) != beside.get(name, [])
            for name in {*alone, *beside}
            if beside.get(name) or Path(name).name not in included
        )

    def _macros(self, arguments: Sequence[str]) -> dict[str, str]:
        """The macros that are defined before the first line of a source."""
        empty = self.folder / "empty.v"
        empty.touch()
        printed = self._verilator(["--dump-defines", *arguments, str(empty)])
        return {name: value or "" for name, value in _DEFINE.findall(printed)}

    def _preprocessed(self, files: Sequence[Path], arguments: Sequence[str] = ()) -> str:
        """The text of some files as Verilator preprocesses them."""
        return self._verilator(["-Wno-fatal", *self._arguments, *arguments, *(str(file.resolve()) for file in files)])

    def _verilator(self, arguments: Sequence[str]) -> str:
        result = run_tool(["verilator", "-E", *arguments], cwd=self.folder, errors=BYTES)
        if result.returncode:
            raise ElaborationError(f"verilator cannot preprocess the sources: {first_error(result.stderr)}")
        return str(result.stdout)


def _by_file(verilog: str) -> dict[str, list[str]]:
    """The words of a preprocessed text, by the file that contains them."""
    found, name = dict[str, list[str]](), ""
    for line in verilog.splitlines():
        begins = _PLACE.match(line)
        name = name if begins is None else begins[1]
        found.setdefault(name, []).extend(line.split() if begins is None else ())
    return found


def _text_of(name: str) -> str:
    return Path(name).read_text(encoding="utf-8", errors="replace")


def _asked(plain: str) -> list[str]:
    """The macros on which lines of a text without strings and comments depend."""
    return [name for words in _ASKED.findall(plain) for name in re.findall(r"\w+", words)]


def shown_to_synthesis(verilog: str) -> str:
    """The text that synthesis reads: without lines between `translate_off` and `translate_on`, and without comments, except
    lines between `read_comments_as_HDL on` and `off`, which are read."""
    kept, place, is_hidden, is_read = list[str](), 0, "", False
    for token in _TOKEN.finditer(verilog):
        kept += [] if is_hidden else [verilog[place : token.start()]]
        place = token.end()
        if not token[0].startswith('"'):
            word, state = _hiding(token[0])
            is_hidden = word if state == "off" and not is_hidden else "" if (word, state) == (is_hidden, "on") else is_hidden
            is_read = is_read and not _UNREAD.search(token[0])
            kept += [token[0].removesuffix("*/")[2:]] if is_read and not is_hidden else []
            is_read = is_read or bool(_READ.search(token[0]))
        elif not is_hidden:
            kept.append(token[0])
    return "".join([*kept, "" if is_hidden else verilog[place:]])


def _hiding(token: str) -> tuple[str, str]:
    """The word by which a comment hides or shows text to synthesis, and "off" or "on"; both empty for anything else."""
    found = None if token.startswith('"') else _HIDING.search(token)
    return ("", "") if found is None else (found[1] or found[3], found[2] or found[4])
