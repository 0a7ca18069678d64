"""Why another tool could read the text of a user design as a different circuit than the one simulated.

`lint` looks at one text of a design: at its words, Verilator's warnings, and Verilator's tree. A co-simulation reports every
finding, beside those of Yosys; a proof ends with the first one that it does not cover. The findings are made in the modules
beside this one; their sentences are here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosim.build.sources import ASSERTIONS, NOT_SIMULATED, Sources
from cosim.lint.complaints import WIDTHS, complaints_of_verilator, only_of_widths, quoted
from cosim.lint.expressions import cases_of_signals, effects_left_out, effects_without_order, hidden_inputs, written_beyond
from cosim.lint.source_texts import Source, Text, Words
from cosim.lint.tree import (
    beside_the_ports,
    constants_by_initial_value,
    initial_values,
    kept_by_functions,
    races,
    read_text,
    written_by_two_blocks,
)
from cosim.lint.yosys_findings import UNSEEN, findings_of_yosys
from golden.text import printable, shortened

PLAIN = ("-W", "-D", "-G", "-O", "+define+", *ASSERTIONS)
"""Beginnings of Verilator's options that change nothing which these lines, or the report, do not name."""

SHOWN = 3
"""Complaints, or names, that a report quotes."""

BEGINS_AS_X = (
    "registers and memories begin as X in Icarus, which takes a condition of X for one that does not hold: what they may "
    "hold instead was not tried, and is in Verilator"
)

_HIDES = re.compile(r"--.*\btranslate_off\b", re.IGNORECASE)
"""A comment of VHDL behind which synthesis does not read, but a simulation does."""

UNREAD_VHDL = (
    "what other tools may read as another circuit was not looked for, as in Verilog: latches, initial values, incomplete "
    "sensitivity lists, undefined values, conditions that vectors hardly meet"
)

BEGINS_AS_U = (
    "registers and memories without an initial value begin as U in GHDL, for which a condition does not hold: what they may "
    "hold instead was not tried"
)

CONTINUED = (
    "a comment // in a macro ends with a backslash, behind which the macro goes on to some tools and has ended to others"
)

OF_ONE_TOOL = (
    "directives that not every tool follows, such as C++ for Verilator or text that others decrypt, change what it is"
)


@dataclass(frozen=True)
class Finding:
    """Why other tools may read another circuit.

    Attributes:
        line: the line of a report; empty where it concerns proofs alone.
        ends_proof: why a proof decides nothing; empty where it covers the finding. assumed: what it then rests on.
        waivable: the warnings that a user may waive, if the finding is of these alone.
    """

    line: str
    ends_proof: str = ""
    assumed: str = ""
    waivable: tuple[str, ...] = ()


def other_readings(sources: Sources, folder: Path, simulator: str = "verilator") -> tuple[str, ...]:
    """Why the simulated circuit may not be that of other tools, a line each.

    Args:
        folder: for temporary files. simulator: in which the design ran.

    Raises:
        ElaborationError: Verilator cannot preprocess the sources.
    """
    if sources.is_vhdl:
        begins = sources.timing.protocol != "combinational" and simulator == "ghdl"
        hides = any(_HIDES.search(file.read_text(encoding="utf-8", errors="replace")) for file in sources.files)
        hidden = f"its text differs without what translate_off hides; {NOT_SIMULATED}"
        return (*([hidden] if hides else []), UNREAD_VHDL, *([BEGINS_AS_U] if begins else []))
    options = [word for word in sources.verilator_args if not word.startswith(PLAIN)]
    lines = [BEGINS_AS_X] if simulator == "icarus" and sources.timing.protocol != "combinational" else []
    lines += [f"Verilator reads it with options of its description: {' '.join(options)}"] if options else []
    source = Source(sources, folder)
    first, *others = source.texts
    lines += [f"its text differs {text.name}; {NOT_SIMULATED}" for text in others]
    widths = [f"-Wno-{code}" for code in WIDTHS]  # the standard says how words are extended and cut
    libraries = [argument for argument in sources.arguments if argument.startswith("-I")]
    findings = [*lint_files(source), *lint(source, first, widths, libraries)]
    lines += [finding.line for finding in findings if finding.line]
    if findings[-1:] != [UNREADABLE]:
        for kind, places in findings_of_yosys(first.verilog, sources.timing, folder):
            lines.append(f"{kind}: {_listed(places, '; ')}" if places else kind)
    return tuple(printable(" ".join(line.split())) for line in lines)  # a line each, whatever of the design it quotes


def lint_files(source: Source) -> Iterator[Finding]:
    """Findings about the macros of a design's files."""
    yield from _found(
        "it is read without macros that its text asks for",
        source.macros_not_defined(),
        assumed="macros for which its text asks are not defined",
    )
    yield from _found(
        "lines depend on macros that an earlier source file sets, which not every tool sees",
        source.macros_of_other_files(),
        assumed="source files are read with macros of those before",
    )
    yield from _found(CONTINUED, source.macros_behind_comments(), CONTINUED)


UNREADABLE = Finding(f"it is not one text: {UNSEEN}", "it is not one text")
"""The last finding on a text with modules elsewhere, which the simulation alone found."""


def lint(source: Source, text: Text, waived: Sequence[str], libraries: Sequence[str] = ()) -> Iterator[Finding]:
    """What other tools may read differently in a text of a design. Only the findings that the caller takes are computed.

    Args:
        waived: arguments of Verilator that waive its warnings about widths.
        libraries: arguments that name folders, in which Verilator finds further modules.
    """
    top, folder, words = source.sources.top, source.folder, Words(text.verilog)
    warnings, hidden = complaints_of_verilator(top, text.verilog, waived, folder, libraries)
    if warnings:
        what = "Verilator warns of constructs that other tools may interpret differently"
        waivable = only_of_widths(warnings)
        waivers = " ".join(f"--waive {code}" for code in waivable)
        offer = f"\n    words are extended and cut as the standard says; if that is meant, add {waivers}" if waivable else ""
        yield Finding(f"{what}: {_listed(warnings, '; ')}", quoted("Verilator", warnings) + offer, waivable=waivable)
    promised, what = [*words.promises, *text.promised], "it promises synthesis tools properties that"
    yield from _found(f"{what} a simulation does not check", [*promised, *words.cases_of_one])
    yield from _found("", promised, f"{what} the proof does not check")
    yield from _found("it rests on how drivers of one net win or let go", words.strengths)
    what = "the text has a config, which tools but Verilator apply only if it is the top"
    yield from _found(what, words.configurations, what)
    yield from _found(OF_ONE_TOOL, words.of_one_tool, OF_ONE_TOOL)
    yield from _found("", words.loaded, "its memories are loaded from files, which are no part of its text")
    yield from _found("", words.misread_by_yosys, "Yosys evaluates functions of real numbers in its text wrongly")
    what = "names are declared in a module and outside of it, and tools differ in which one they take"
    yield from _found(what, [name for name in hidden if name in words.outside])
    if any(warning.startswith("%Error") for warning in warnings):
        yield UNREADABLE
        return
    tree = read_text(top, text.verilog, folder, libraries)
    what = "two clocked blocks write the same bits, and none says whose stay"
    yield from _found(what, written_by_two_blocks(tree), what)
    what = "a clocked block writes at once what another block reads"
    yield from _found(what, races(tree), what)
    what = "it promises synthesis tools that one item of a case alone matches, which a simulation does not check"
    yield from _found(what, cases_of_signals(tree))
    what = "functions keep values between calls"
    yield from _found(f"{what}, which not every tool does", kept_by_functions(tree), what)
    what = "assertions or messages write what the design reads, and synthesis leaves them out"
    checked = read_text(top, text.verilog, folder, libraries, "--assert") if words.may_assert else tree
    yield from _found(what, effects_left_out(tree, checked, words.changes_left_out), what)
    what = "an expression writes what it also reads, in an order that no rule gives"
    yield from _found(what, effects_without_order(tree), what)
    what = "functions read more than their arguments, where only a change of these counts"
    yield from _found(what, hidden_inputs(tree), what)
    what = "an index may lie beyond what it writes, where Verilator writes another element"
    yield from _found(what, written_beyond(tree))
    yield from _found("its text gives initial values, which an ASIC does not have", initial_values(tree))
    yield from _found(
        "nothing but an initial value drives them, which an ASIC does not have",
        constants_by_initial_value(tree),
        assumed="registers and memories that nothing writes hold their initial values",
    )
    yield from _found("it reads more than its ports", beside_the_ports(tree))


def _found(line: str, names: Sequence[str], ends_proof: str = "", assumed: str = "") -> list[Finding]:
    """The finding on some names, if there are any: the sentences go before them."""
    ends, rests = (f"{sentence}: {', '.join(names)}" if sentence else "" for sentence in (ends_proof, assumed))
    return [Finding(f"{line}: {_listed(names)}" if line else "", ends, rests)] if names else []


def _listed(texts: Sequence[str], separator: str = ", ") -> str:
    distinct = list(dict.fromkeys(shortened(text.strip()) for text in texts))
    rest = [f"and {len(distinct) - SHOWN} more"] if len(distinct) > SHOWN else []
    return separator.join([*distinct[:SHOWN], *rest])
