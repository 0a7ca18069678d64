"""Other circuits that other tools may read from the text of a user design than the one that is simulated."""

from collections.abc import Sequence
from pathlib import Path

from cosim.build.sources import ASSERTIONS, Sources
from cosim.lint.complaints import (
    CONFIGURED,
    OF_ONE_TOOL,
    WIDTHS,
    cases_of_one,
    complaints_of_verilator,
    configurations,
    directives_of_one_tool,
    promises,
    strengths,
    switches_of_assertions,
    used_before_declared,
)
from cosim.lint.expression_findings import (
    cases_of_signals,
    effects_left_out,
    effects_without_order,
    hidden_inputs,
)
from cosim.lint.index_findings import written_beyond
from cosim.lint.preprocessing import (
    CONTINUED,
    macros_behind_comments,
    macros_not_defined,
    macros_of_other_files,
    texts_of,
)
from cosim.lint.verilator_findings import (
    constants_by_initial_value,
    initial_values,
    kept_by_functions,
    races,
    read_from_the_simulator,
    tree_of,
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


def other_readings(sources: Sources, folder: Path, simulator: str = "verilator") -> tuple[str, ...]:
    """Why the simulated circuit may not be that of other tools, a line each: other macros, warnings, initial values,
    functions of the simulator; and assertions that the text itself switches off.

    Args:
        folder: for temporary files. simulator: in which the design ran.

    Raises:
        ElaborationError: Verilator cannot preprocess the sources.
    """
    first, *others = texts_of(sources, folder)
    options = [word for word in sources.verilator_args if not word.startswith(PLAIN)]
    found = [BEGINS_AS_X] if simulator == "icarus" and sources.timing.protocol != "combinational" else []
    found += [f"Verilator reads it with options of its description: {' '.join(options)}"] if options else []
    found += [f"its text differs {text.name}; that text was not simulated" for text in others]
    absent = macros_not_defined(sources, folder)
    found += [f"it is read without macros that its text asks for: {_listed(absent)}"] if absent else []
    others_have = macros_of_other_files(sources, folder)
    found += (
        [f"lines depend on macros that an earlier source file sets, which not every tool sees: {_listed(others_have)}"]
        if others_have
        else []
    )
    behind = macros_behind_comments(sources)
    found += [f"{CONTINUED}: {_listed(behind)}"] if behind else []
    widths = [f"-Wno-{code}" for code in WIDTHS]  # the standard says how words are extended and cut
    libraries = [argument for argument in sources.arguments if argument.startswith("-I")]
    warnings = complaints_of_verilator(sources.top, first.verilog, widths, folder, libraries)
    found += (
        [f"Verilator warns of constructs that other tools may interpret differently: {_listed(warnings, '; ')}"]
        if warnings
        else []
    )
    promised = [*promises(first.verilog), *first.promised, *cases_of_one(first.verilog)]
    found += (
        [f"it promises synthesis tools properties that a simulation does not check: {_listed(promised)}"] if promised else []
    )
    several = strengths(first.verilog)
    found += [f"it rests on how drivers of one net win or let go: {_listed(several)}"] if several else []
    configured = configurations(first.verilog)
    found += [f"{CONFIGURED}: {_listed(configured)}"] if configured else []
    directives = directives_of_one_tool(first.verilog)
    found += [f"{OF_ONE_TOOL}: {_listed(directives)}"] if directives else []
    switched = switches_of_assertions(first.verilog)
    found += (
        [f"it switches assertions on or off, and one that fails may not be seen: {_listed(switched)}"] if switched else []
    )
    early = used_before_declared(first.verilog)
    found += [f"names are used above their declarations, and others have them too: {_listed(early)}"] if early else []
    if any(complaint.startswith("%Error") for complaint in warnings):  # modules elsewhere, which only the simulation found
        return (*map(_one_line, found), f"it is not one text: {UNSEEN}")
    tree = tree_of(sources.top, first.verilog, folder, libraries)
    if not several and not any("-MULTIDRIVEN: " in warning for warning in warnings):
        driven = written_by_two_blocks(tree, "ASSIGNW")
        found += [f"two assignments drive the same bits: {_listed(driven)}"] if driven else []
    for what, names in (
        ("two clocked blocks write the same bits, and none says whose stay", written_by_two_blocks(tree)),
        ("a clocked block writes at once what another block reads", races(tree)),
        (
            "it promises synthesis tools that one item of a case alone matches, which a simulation does not check",
            cases_of_signals(tree),
        ),
        ("functions keep values between calls, which not every tool does", kept_by_functions(tree)),
        (
            "assertions or messages write what the design reads, and synthesis leaves them out",
            effects_left_out(tree, sources.top, first.verilog, folder, libraries),
        ),
        ("an expression writes what it also reads, in an order that no rule gives", effects_without_order(tree)),
        ("functions read more than their arguments, where only a change of these counts", hidden_inputs(tree)),
        ("an index may lie beyond what it writes, where Verilator writes another element", written_beyond(tree)),
        ("its text gives initial values, which an ASIC does not have", initial_values(tree)),
        ("nothing but an initial value drives them, which an ASIC does not have", constants_by_initial_value(tree)),
        ("it reads more than its ports", read_from_the_simulator(tree)),
    ):
        found += [f"{what}: {_listed(names)}"] if names else []
    for kind, places in findings_of_yosys(first.verilog, sources.timing, folder):
        found.append(f"{kind}: {_listed(places, '; ')}" if places else kind)
    return tuple(map(_one_line, found))


def _one_line(text: str) -> str:
    """A line of a report, whatever names and texts of the design it quotes."""
    return printable(" ".join(text.split()))


def _listed(texts: Sequence[str], separator: str = ", ") -> str:
    distinct = list(dict.fromkeys(shortened(text.strip()) for text in texts))
    rest = [f"and {len(distinct) - SHOWN} more"] if len(distinct) > SHOWN else []
    return separator.join([*distinct[:SHOWN], *rest])
