"""Findings in Verilator's tree of a design: registers that two blocks write, races, initial values, inputs beside ports."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cosim.dut.elaborate import nodes_of, read_tree
from golden.processes import run_tool
from golden.text import BYTES

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
    tasks = tasks_of(tree)
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
    return [side for part in (block, *called_by(block, tasks)) for side in _sides(part, kind)]


def _sides(part: Any, kind: str) -> list[Any]:
    return [side for node in nodes_of(part) if node.get("type") == kind for side in node["lhsp"]]


def tasks_of(tree: Any) -> dict[str, Any]:
    """The tasks and functions of a design by their addresses in the tree."""
    return {node["addr"]: node for node in nodes_of(tree) if node.get("type") in ("TASK", "FUNC")}


def called_by(part: Any, tasks: Mapping[str, Any]) -> list[Any]:
    """The tasks and functions that a part of a design calls, directly or not."""
    waiting, called = [part], dict[str, Any]()
    while waiting:
        for node in nodes_of(waiting.pop()):
            if node.get("taskp") in tasks and node["taskp"] not in called:
                called[node["taskp"]] = tasks[node["taskp"]]
                waiting.append(tasks[node["taskp"]])
    return list(called.values())


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


# races


def races(tree: Any) -> list[str]:
    """The variables that a clocked block writes at once, itself or by a task, and that another block reads, or through an
    output what is around the module: which of the two comes first at an edge is not defined."""
    names = {node["addr"]: str(node["origName"]) for node in nodes_of(tree) if node.get("type") == "VAR"}
    tasks = tasks_of(tree)
    outputs = {node["addr"] for node in nodes_of(tree) if node.get("direction") in ("OUTPUT", "INOUT")}
    inside = {node["addr"] for node in nodes_of(tree) if node.get("type") == "VAR" and node.get("isFuncLocal")}
    at_once, writers, readers = set[tuple[str, str]](), dict[str, set[str]](), dict[str, set[str]]()
    for block in (node for node in nodes_of(tree) if node.get("type") == "ALWAYS"):
        parts = [block, *called_by(block, tasks)]
        later = {id(each) for part in parts for side in _sides(part, "ASSIGNDLY") for each in nodes_of(side)}
        is_clocked = any(node.get("edgeType") in ("POS", "NEG", "BOTH") for node in nodes_of(block.get("sentreep", [])))
        for node in (each for part in parts for each in nodes_of(part) if "varp" in each):
            if node.get("access") in ("WR", "RW"):
                writers.setdefault(node["varp"], set()).add(block["addr"])
                if is_clocked and id(node) not in later:
                    at_once.add((node["varp"], block["addr"]))
            else:
                readers.setdefault(node["varp"], set()).add(block["addr"])
    found = {variable for variable, _ in at_once if variable in outputs or readers.get(variable, set()) - writers[variable]}
    return sorted({names[variable] for variable in found - inside if variable in names})


# initial values


def constants_by_initial_value(tree: Any) -> list[str]:
    """The variables that hold a value because a declaration or an initial block gives it, and nothing else writes them."""
    constant = {node["addr"] for node in nodes_of(tree) if node.get("type") == "VAR" and node.get("isConst")}
    at_start, later = _written_at_start_and_later(tree)
    return _named(tree, [variable for variable in at_start if variable not in {*later, *constant}])


def initial_values(tree: Any) -> list[str]:
    """The variables that begin with a value which a declaration or an initial block gives, and that change later."""
    at_start, later = _written_at_start_and_later(tree)
    return sorted(_named(tree, [variable for variable in at_start if variable in later - _without_value(tree)]))


def _without_value(tree: Any) -> set[str]:
    """The static variables of blocks that are declared without a value, and begin with 0 or undefined."""
    declared = {node["addr"] for node in nodes_of(tree) if node.get("type") == "VAR" and not node.get("hasUserInit")}
    begins = (node for node in nodes_of(tree) if node.get("type") == "INITIALSTATICSTMT")
    given = {variable for node in nodes_of(tree) if node.get("type") == "INITIAL" for variable in _written(node)}
    return {variable for node in begins for variable in _written(node) if variable in declared} - given


def _written_at_start_and_later(tree: Any) -> tuple[dict[str, None], set[str]]:
    """The variables that declarations and initial blocks write, and those that anything else writes, themselves or by a
    task."""
    tasks = tasks_of(tree)
    blocks = [node for node in nodes_of(tree) if node.get("type") in ("INITIAL", "INITIALSTATIC", "INITIALSTATICSTMT")]
    apart = {id(each) for part in (*blocks, *tasks.values()) for each in nodes_of(part)}
    others = [node for node in nodes_of(tree) if id(node) not in apart and ("access" in node or "taskp" in node)]
    at_start, later = (
        [variable for part in (*parts, *called_by(parts, tasks)) for variable in _written(part)]
        for parts in (blocks, others)
    )
    return dict.fromkeys(at_start), set(later)


def _named(tree: Any, variables: Sequence[str]) -> list[str]:
    """The names of variables, without those that live in a call."""
    declared = (node for node in nodes_of(tree) if node.get("type") == "VAR" and not node.get("isFuncLocal"))
    names = {node["addr"]: str(node["origName"]) for node in declared}
    return list(dict.fromkeys(names[variable] for variable in variables if variable in names))


# values that functions keep


def kept_by_functions(tree: Any) -> list[str]:
    """The static variables of functions and tasks that begin with a value, and may be read before the call has written them:
    they hold what the call before left. One without a value is undefined to Yosys, which says so."""
    found = set[str]()
    for function in (node for node in nodes_of(tree) if node.get("type") in ("FUNC", "TASK")):
        begins = [node for node in nodes_of(function) if node.get("type") == "INITIALSTATICSTMT"]
        valued = [node for node in begins if not any(each.get("type") == "CRESET" for each in nodes_of(node))]
        kept = {variable for variable in _written(valued) if _is_read_first(function["stmtsp"], variable)[0]}
        found |= {str(node["origName"]) for node in nodes_of(function) if node.get("type") == "VAR" and node["addr"] in kept}
    return sorted(found)


def _is_read_first(nodes: Any, variable: str, written: bool = False) -> tuple[bool, bool]:
    """Whether statements may read a variable before they write all of it, and whether it is written after them."""
    for node in nodes if isinstance(nodes, list) else [nodes]:
        kind, parts = node.get("type"), [value for value in node.values() if isinstance(value, list)]
        match kind:
            case "INITIALSTATICSTMT":
                continue
            case "VARREF" if node["varp"] == variable:
                if node["access"] != "WR" and not written:
                    return True, written
                written = written or node["access"] == "WR"
                continue
            case "SEL" | "ARRAYSEL" | "STRUCTSEL" | "MEMBERSEL":
                results = [_is_read_first(part, variable, written) for part in parts]
                if any(read for read, _ in results):
                    return True, written
                continue  # a part is not all of it
            case "IF" | "COND" | "CASE":
                first, items = node["exprp" if kind == "CASE" else "condp"], node.get("itemsp", [])
                conditions = [first, *(item.get("condsp", []) for item in items)]
                either = [node.get("thenp" if kind == "COND" else "thensp", [])]
                either += [node.get("elsep" if kind == "COND" else "elsesp", [])]
                branches = [item.get("stmtsp", []) for item in items] if kind == "CASE" else either
                if any(_is_read_first(each, variable, written)[0] for each in (*conditions, *branches)):
                    return True, written
                is_complete = kind != "CASE" or any(not item.get("condsp") for item in items)
                written = written or (is_complete and all(_is_read_first(each, variable)[1] for each in branches))
                continue
            case "BEGIN" | "ASSIGN" | "ASSIGNDLY":
                ordered = [node["rhsp"], node["lhsp"]] if kind != "BEGIN" else parts
            case _:
                ordered = parts
        after = written
        for part in ordered:
            read, after = _is_read_first(part, variable, after)
            if read:
                return True, written
        written = after if kind in ("BEGIN", "ASSIGN", "ASSIGNDLY", "STMTEXPR") else written
    return False, written


# what is read beside the ports

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


def tree_of(top: str, verilog: str, folder: Path, libraries: Sequence[str] = (), assertions: str = "--no-assert") -> Any:
    """Verilator's tree of a preprocessed text.

    Args:
        libraries: arguments that name folders, in which Verilator finds further modules.
        assertions: "--assert" for a tree with its assertions.
    """
    source = folder / "tree.sv"
    source.write_text(verilog, encoding="utf-8", errors=BYTES)
    flags = [
        "--json-only",
        "--no-json-edit-nums",
        "-Wno-fatal",
        "-Wno-lint",
        "-Wno-style",
        "--no-timing",
        assertions,
        *libraries,
    ]
    run_tool(["verilator", *flags, "--top-module", top, "--Mdir", str(folder), str(source)], cwd=folder)
    return read_tree(folder / f"V{top}.tree.json")


def _written(tree: Any) -> list[str]:
    """The variables that statements write, once for each statement."""
    return [
        str(node["varp"])
        for node in nodes_of(tree)
        if node.get("type") in ("VARREF", "VARXREF") and node.get("access") in ("WR", "RW")
    ]
