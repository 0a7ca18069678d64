"""Complaints of Verilator about a design: a text that it complains about may mean another circuit to another tool."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cosim.dut.elaborate import nodes_of
from golden.processes import run_tool

SOUND = (
    "MULTIDRIVEN", "UNDRIVEN", "PINMISSING", "IMPLICIT", "MODDUP",  # drivers, and what they are
    "LATCH", "NOLATCH", "ALWCOMBORDER", "CASEOVERLAP", "CASEWITHX", "CASEX",  # state and choices
    "BLKSEQ", "BLKANDNBLK", "INITIALDLY",  # the order of events
    "ASSIGNDLY", "STMTDLY", "ZERODLY", "RISEFALLDLY", "MINTYPMAXDLY",  # time
)  # fmt: skip
"""Verilator's warnings that end a proof and that a co-simulation reports. They cannot be waived."""

WIDTHS = ("WIDTHTRUNC", "WIDTHEXPAND", "WIDTHXZEXPAND", "WIDTHCONCAT", "WIDTH", "SELRANGE")
"""Verilator's warnings about widths. They can be waived, in the source or by `verilator_args`, because the standard says how
words are extended and cut."""

_WAIVER = re.compile(r"/\*verilator\s+lint_\w+\s*(.*?)\*/", re.DOTALL)

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

_PROMISE = re.compile(r"\bunique0?\s+if\b|\b(?:full|parallel)_case\b")


def complaints_of_verilator(
    top: str, verilog: str, verilator_args: Sequence[str], folder: Path, libraries: Sequence[str] = ()
) -> list[str]:
    """Verilator's warnings about drivers, latches, the order of events, time and widths of a preprocessed text.

    Args:
        verilator_args: of the description; warnings about widths that they waive are not complaints.
        libraries: arguments that name folders, in which Verilator finds further modules.
    """
    source = folder / "lint.sv"
    source.write_text(_WAIVER.sub(_waiver_of_widths, verilog), encoding="utf-8")
    waived = [word for word in verilator_args if word.removeprefix("-Wno-") in WIDTHS]
    flags = ["--lint-only", "-Wall", "-Wno-fatal", *waived, *libraries, "--no-timing", "--top-module", top]
    messages = run_tool(["verilator", *flags, str(source)], cwd=folder).stderr
    return _WARNING.findall(messages.replace(f"{folder}/", ""))


def _waiver_of_widths(waiver: re.Match[str]) -> str:
    codes = re.split(r"[\s,]+", waiver[1].strip())
    return waiver[0] if set(codes) <= set(WIDTHS) else ""


def promises(verilog: str) -> list[str]:
    """Promises of a text to synthesis that no circuit shows: `unique if`, full_case, parallel_case."""
    return _PROMISE.findall(_STRING.sub('""', verilog))


def cases_of_one(verilog: str) -> list[str]:
    """The promises of a text that one of several signals alone is 1: `unique case (1'b1)`, which a proof checks."""
    return _CASE_OF_ONE.findall(_STRING.sub('""', verilog))


def strengths(verilog: str) -> list[str]:
    """The words of a text by which drivers of one net win, lose or let go, which not every synthesis reads."""
    return list(dict.fromkeys(_STRENGTH.findall(_STRING.sub('""', verilog))))


def switches_of_assertions(verilog: str) -> list[str]:
    """The statements of a text that switch its assertions on or off, so that one that fails may not be seen."""
    return list(dict.fromkeys(_SWITCH.findall(_STRING.sub('""', verilog))))


# registers that two blocks write

Place = tuple[tuple[int, int] | str, ...]
"""The bits of a variable that are written: of each choice from the outermost, its first and last bit, or its name."""


def written_by_two_blocks(tree: Any, kind: str = "ASSIGNDLY") -> list[str]:
    """The variables of which two clocked blocks write the same bits, so that it depends on a tool whose value stays.

    A module of several instances that writes a memory outside itself writes it as often.

    Args:
        kind: of the assignments, as Verilator's tree has it: "ASSIGNW" for wires with two continuous ones.
    """
    names = {node["addr"]: str(node["origName"]) for node in nodes_of(tree) if node.get("type") == "VAR"}
    tasks = {node["addr"]: node for node in nodes_of(tree) if node.get("type") in ("TASK", "FUNC")}
    instances = Counter(node["modp"] for node in nodes_of(tree) if node.get("type") == "CELL")
    seen, found = dict[str, list[Place]](), set[str]()
    for module in tree["modulesp"]:
        for block in (node for node in nodes_of(module) if node.get("type") == "ALWAYS"):
            own = list[tuple[str, Place]]()
            for side in _assigned(block, tasks, kind):
                own += _places(side)
                if instances[module["addr"]] > 1 and {"VARXREF", "ARRAYSEL"} <= {
                    node.get("type") for node in nodes_of(side)
                }:
                    found |= {variable for variable, _ in _places(side)}
            found |= {variable for variable, place in own if any(_overlap(place, other) for other in seen.get(variable, ()))}
            for variable, place in own:
                seen.setdefault(variable, []).append(place)
    return sorted({names[variable] for variable in found if variable in names})


def _assigned(block: Any, tasks: Mapping[str, Any], kind: str) -> list[Any]:
    """The left sides of the assignments of a block and of the tasks that it calls."""
    waiting, called, sides = [block], set[str](), list[Any]()
    while waiting:
        for node in nodes_of(waiting.pop()):
            sides += node["lhsp"] if node.get("type") == kind else []
            if node.get("taskp") in tasks and node["taskp"] not in called:
                called.add(node["taskp"])
                waiting.append(tasks[node["taskp"]])
    return sides


def _places(node: Any) -> list[tuple[str, Place]]:
    """The variables on the left of an assignment, each with its place."""
    if isinstance(node, list):
        return [written for each in node for written in _places(each)]
    if not isinstance(node, dict):
        return []
    if node.get("type") in ("VARREF", "VARXREF"):
        return [(str(node["varp"]), ())] if node.get("access") in ("WR", "RW") else []
    inner = _places(node.get("fromp", [value for value in node.values() if isinstance(value, list)]))
    match node.get("type"):
        case "SEL" | "ARRAYSEL":
            chosen: Place = _chosen(node["lsbp" if "lsbp" in node else "bitp"][0], int(node.get("widthConst", 1)))
        case "STRUCTSEL":
            chosen = (str(node["name"]),)
        case _:
            chosen = ()
    return [(variable, (*place, *chosen)) for variable, place in inner]


def _chosen(index: Mapping[str, Any], width: int) -> Place:
    """The first and last bit of a choice; without a constant index it may be any."""
    if index.get("type") != "CONST":
        return ((0, 1 << 31),)
    first = int(str(index["name"]).rpartition("h")[2], 16)
    return ((first, first + width - 1),)


def _overlap(one: Place, other: Place) -> bool:
    pairs = zip(one, other, strict=False)  # where one ends, it is all that the other chooses from
    return all(a == b if isinstance(a, str) or isinstance(b, str) else a[0] <= b[1] and b[0] <= a[1] for a, b in pairs)


# initial values


def constants_by_initial_value(tree: Any) -> list[str]:
    """The variables that hold a value because a declaration or an initial block gives it, and nothing else writes them."""
    names = {node["addr"]: str(node["origName"]) for node in nodes_of(tree) if node.get("type") == "VAR"}
    constant = {node["addr"] for node in nodes_of(tree) if node.get("type") == "VAR" and node.get("isConst")}
    blocks = (node for node in nodes_of(tree) if node.get("type") in ("INITIAL", "INITIALSTATIC"))
    at_start, ever = Counter(variable for block in blocks for variable in _written(block)), Counter(_written(tree))
    only = [variable for variable, count in at_start.items() if count == ever[variable] and variable not in constant]
    return list(dict.fromkeys(names[variable] for variable in only if variable in names))


def initial_values(tree: Any) -> list[str]:
    """The variables that begin with a value which a declaration or an initial block gives, and that change later."""
    names = {node["addr"]: str(node["origName"]) for node in nodes_of(tree) if node.get("type") == "VAR"}
    blocks = (node for node in nodes_of(tree) if node.get("type") in ("INITIAL", "INITIALSTATIC"))
    at_start, ever = Counter(variable for block in blocks for variable in _written(block)), Counter(_written(tree))
    return sorted({names[v] for v, count in at_start.items() if count < ever[v] and v in names})


SIMULATOR = {
    "TESTPLUSARGS": "$test$plusargs", "VALUEPLUSARGS": "$value$plusargs", "RAND": "$random",
    "URANDOMRANGE": "$urandom_range", "RANDRNG": "randomize", "basicStdRandomization": "randomize",
    "SYSTEMF": "$system", "SYSTEMT": "$system", "SCOPENAME": "%m",
    "FGETC": "$fgetc", "FGETS": "$fgets", "FREAD": "$fread", "FSCANF": "$fscanf",
    "TIME": "$time", "TIMED": "$realtime", "CEXPRUSER": "$c", "CSTMTUSER": "$c",
    "FOPEN": "$fopen", "FOPENMCD": "$fopen", "WRITEMEM": "$writemem", "shuffle": "shuffle",
    "DISTCHISQUARE": "$dist_chi_square", "DISTERLANG": "$dist_erlang", "DISTEXPONENTIAL": "$dist_exponential",
    "DISTNORMAL": "$dist_normal", "DISTPOISSON": "$dist_poisson", "DISTT": "$dist_t", "DISTUNIFORM": "$dist_uniform",
}  # fmt: skip
"""Names of what a text can read beside its ports, or write for a later run, by the kind of the node in Verilator's tree. The
time and place that a message prints do not count."""


def read_from_the_simulator(tree: Any) -> list[str]:
    """The system functions, and functions of other languages, by which a text reads more than its ports."""
    printed = {
        node["addr"] for each in nodes_of(tree) if each.get("type") == "DISPLAY" for node in nodes_of(each) if "addr" in node
    }
    found = [
        SIMULATOR[kind]
        for node in nodes_of(tree)
        if (kind := _kind(node)) in SIMULATOR and not (kind in ("TIME", "SCOPENAME") and node["addr"] in printed)
    ]
    found += [f"DPI function {node['name']}" for node in nodes_of(tree) if node.get("dpiImport")]
    return sorted(set(found))


def _kind(node: Mapping[str, Any]) -> str:
    """The type of a node; of a method of Verilator's library, its name."""
    return str(node.get("name" if node.get("type") == "CMETHODHARD" else "type"))


def tree_of(top: str, verilog: str, folder: Path, libraries: Sequence[str] = ()) -> Any:
    """Verilator's tree of a preprocessed text; libraries as for `complaints_of_verilator`."""
    source = folder / "tree.sv"
    source.write_text(verilog, encoding="utf-8")
    flags = [
        "--json-only",
        "--no-json-edit-nums",
        "-Wno-fatal",
        "-Wno-lint",
        "-Wno-style",
        "--no-timing",
        "--no-assert",
        *libraries,
    ]
    run_tool(["verilator", *flags, "--top-module", top, "--Mdir", str(folder), str(source)], cwd=folder)
    return json.loads((folder / f"V{top}.tree.json").read_text(encoding="utf-8"))


def _written(tree: Any) -> list[str]:
    """The variables that statements write, once for each statement."""
    return [
        str(node["varp"])
        for node in nodes_of(tree)
        if node.get("type") in ("VARREF", "VARXREF") and node.get("access") in ("WR", "RW")
    ]
