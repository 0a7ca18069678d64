"""Findings in Verilator's tree of a design about expressions: effects without an order, functions with hidden inputs, items
of a `unique case` that overlap.

The standard does not say in which order the operands of an operator are evaluated, and a function in a continuous assignment
or an `always @*` is called again only when an operand there changes. Tools decide both in their own ways.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from cosim.dut.elaborate import nodes_of
from cosim.lint.complaints import changes_left_out, has_assertions
from cosim.lint.verilator_findings import called_by, tasks_of, tree_of

_ASSIGNS = ("ASSIGN", "ASSIGNW", "ASSIGNDLY")

_MAY_SKIP = ("LOGAND", "LOGOR", "LOGIF", "COND")
"""Operators that need not evaluate all of their operands."""

_SKIPPED = ("rhsp", "thenp", "elsep")
"""Those operands."""

_INCREMENT = "__Vincrement"
"""Beginning of the name of Verilator's variable for the value of `i++` in an expression."""

_NUMBER = re.compile(r"(\d+)'(s?)h([0-9a-f]+)")
"""A constant without undefined bits, as Verilator's tree has it."""

Effect = tuple[set[str], set[int]]
"""The variables that a part of an expression writes, and the identities of its nodes."""


def effects_without_order(tree: Any) -> list[str]:
    """The variables that an expression writes (`i++`, `(i = 5)`, a function with an effect) and also reads or writes
    elsewhere, or writes in an operand that need not be evaluated: tools evaluate operands in orders of their own."""
    names = {node["addr"]: str(node["origName"]) for node in nodes_of(tree) if node.get("type") == "VAR"}
    tasks = tasks_of(tree)
    outside = {address: _written_outside(address, tasks) for address in tasks}
    counted = _counted(tree, names)
    found = set[str]()
    for statement in nodes_of(tree):
        parts = _expressions(statement)
        if not parts:
            continue
        effects = _effects(parts, tasks, outside, counted)
        for number, (written, inside) in enumerate(effects):
            found |= written & {variable for part in parts for variable in _mentioned(part, tasks, inside)}
            found |= written & {each for other in effects[number + 1 :] for each in other[0]}
        for written, _ in _effects(_skipped(statement, parts), tasks, outside, counted):
            found |= written
    return sorted({names[variable] for variable in found if variable in names})


def hidden_inputs(tree: Any) -> list[str]:
    """The variables that a function or a task reads beside its arguments, where a continuous assignment, the connection of a
    port or an `always @*` that does not name them calls it: by the standard it is not called again when they change."""
    variables = {node["addr"]: node for node in nodes_of(tree) if node.get("type") == "VAR"}
    tasks, found = tasks_of(tree), set[str]()
    for block in (node for node in nodes_of(tree) if node.get("type") in ("ALWAYS", "PIN")):
        if block.get("keyword") == "always_comb" or not _is_implicit(block):
            continue
        own = {node["varp"] for node in nodes_of(block) if "varp" in node}
        called = (part for task in called_by(block, tasks) for part in nodes_of(task))
        read = {node["varp"] for node in called if "varp" in node and node.get("access") == "RD"}
        found |= {each for each in read - own if each in variables and _is_signal(variables[each])}
    return sorted(str(variables[each]["origName"]) for each in found)


def effects_left_out(tree: Any, top: str, verilog: str, folder: Path, libraries: Sequence[str] = ()) -> list[str]:
    """The variables that assertions and messages write, in their arguments or by the statements after an assertion, and the
    increments and assignments in these arguments: synthesis leaves all of it out.

    Args:
        tree: without assertions; the others as for `tree_of`.
    """
    checked = tree_of(top, verilog, folder, libraries, "--assert") if has_assertions(verilog) else tree
    counts = [Counter(_writes(each)) for each in (tree, checked)]
    found = {name for name, count in counts[1].items() if name in counts[0] and counts[0][name] != count}
    names = {node["addr"]: str(node["origName"]) for node in nodes_of(tree) if node.get("type") == "VAR"}
    messages = [node for node in nodes_of(tree) if node.get("type") == "DISPLAY"]
    found |= {names[each] for each in _written_by_calls(messages, tasks_of(tree)) if each in names}
    return [*sorted(found), *changes_left_out(verilog)]


def _writes(tree: Any) -> list[str]:
    """The names of all variables, and of each once more for each statement or call that writes it."""
    names = {node["addr"]: str(node["origName"]) for node in nodes_of(tree) if node.get("type") == "VAR"}
    written = [node["varp"] for node in nodes_of(tree) if node.get("access") in ("WR", "RW") and "varp" in node]
    written += _written_by_calls(tree, tasks_of(tree))
    return [*names.values(), *(names[each] for each in written if each in names)]


def _written_by_calls(part: Any, tasks: Mapping[str, Any]) -> list[str]:
    """The variables that functions and tasks write outside, once for each call of them in a part of a design."""
    outside = {address: _written_outside(address, tasks) for address in tasks}
    return [each for node in nodes_of(part) if node.get("taskp") in tasks for each in outside[node["taskp"]]]


def _is_implicit(block: Mapping[str, Any]) -> bool:
    """Whether the operands of a block decide when it is evaluated."""
    items = [node for node in nodes_of(block.get("sentreep", [])) if node.get("type") == "SENITEM"]
    return all(item.get("edgeType") in ("COMBO", "STAR") for item in items)


def _is_signal(variable: Mapping[str, Any]) -> bool:
    return not variable.get("isFuncLocal") and not variable.get("isConst") and not variable.get("isParam")


def _counted(tree: Any, names: Mapping[str, str]) -> dict[str, str]:
    """The variable of which each of Verilator's variables for `i++` holds the value."""
    found = dict[str, str]()
    for node in (node for node in nodes_of(tree) if node.get("type") == "ASSIGN"):
        holder = str(node["lhsp"][0].get("varp", ""))
        if names.get(holder, "").startswith(_INCREMENT):
            found.update((holder, str(each["varp"])) for each in nodes_of(node["rhsp"]) if "varp" in each)
    return found


def _expressions(statement: Mapping[str, Any]) -> list[Any]:
    """The expressions that a statement evaluates at once."""
    match statement.get("type"):
        case kind if kind in _ASSIGNS:
            return [*statement["rhsp"], *statement["lhsp"]]
        case "STMTEXPR":
            return list(statement["exprp"])
        case "IF" | "LOOPTEST":
            return list(statement["condp"])
        case "CASE":
            return [*statement["exprp"], *(each for item in statement["itemsp"] for each in item.get("condsp", []))]
    return []


def _skipped(statement: Mapping[str, Any], parts: list[Any]) -> list[Any]:
    """The operands that need not be evaluated, items of a case among them."""
    items = [each for item in statement.get("itemsp", []) for each in item.get("condsp", [])]
    nodes = (node for part in parts for node in nodes_of(part) if node.get("type") in _MAY_SKIP)
    return [*items, *(each for node in nodes for key in _SKIPPED for each in node.get(key, []))]


def _effects(
    parts: list[Any], tasks: Mapping[str, Any], outside: Mapping[str, set[str]], counted: Mapping[str, str]
) -> list[Effect]:
    """The assignments and increments within expressions, and the calls that write variables outside, or arguments."""
    found = list[Effect]()
    for node in (node for part in parts for node in nodes_of(part)):
        written = set[str]()
        if node.get("type") == "EXPRSTMT":
            written = _written(node["stmtsp"])
        elif node.get("varp") in counted and node.get("access") == "RD":
            written = {counted[node["varp"]]}
        elif node.get("type") == "FUNCREF" and node.get("taskp") in tasks:
            written = outside[node["taskp"]] | _written(node.get("argsp", []))
        if written:
            found.append((written, {id(each) for each in nodes_of(node)}))
    return found


def _written_outside(address: str, tasks: Mapping[str, Any]) -> set[str]:
    """The variables that a function or task writes, itself or by others, and that are not its own."""
    bodies = [tasks[address], *called_by(tasks[address], tasks)]
    return _written(bodies) - {node["addr"] for node in nodes_of(bodies) if node.get("type") == "VAR"}


def _mentioned(part: Any, tasks: Mapping[str, Any], inside: set[int]) -> Iterator[str]:
    """The variables that an expression reads or writes, also by functions, outside of some nodes."""
    for node in nodes_of(part):
        if id(node) in inside:
            continue
        if "varp" in node:
            yield str(node["varp"])
        if node.get("taskp") in tasks:
            for task in (tasks[node["taskp"]], *called_by(tasks[node["taskp"]], tasks)):
                yield from (str(each["varp"]) for each in nodes_of(task) if "varp" in each)


def _written(part: Any) -> set[str]:
    """The variables that a part of a design writes, members of a class among them."""
    return {str(node["varp"]) for node in nodes_of(part) if "varp" in node and node.get("access") in ("WR", "RW")}


# promises


def cases_of_signals(tree: Any) -> list[str]:
    """The `unique case` whose items are signals or ranges, of which two may match: a simulation takes the first, synthesis
    may take both. Verilator warns of constants that overlap, and `cases_of_one` finds those of a constant."""
    found = list[str]()
    for node in nodes_of(tree):
        word = next((each for each in ("unique", "unique0") if node.get(each)), "")
        if node.get("type") == "CASE" and word and node["exprp"][0].get("type") != "CONST":
            conditions = [each for item in node["itemsp"] for each in item["condsp"]]
            are_constant = all(each.get("type") == "CONST" for each in conditions) or _are_apart(conditions)
            found += [] if are_constant else [f"{word} {node['kwd']}"]
    return found


def _are_apart(conditions: Sequence[Any]) -> bool:
    """Whether conditions are constants and ranges of constants, no two of which overlap."""
    bounds = list[tuple[int, int]]()
    for condition in conditions:
        is_range = condition.get("type") == "INSIDERANGE"
        ends = (condition["lhsp"][0], condition["rhsp"][0]) if is_range else (condition, condition)
        low, high = map(_number, ends)
        if low is None or high is None or low > high:  # a range from a negative number, in bits
            return False
        bounds.append((low, high))
    bounds.sort()
    return all(before[1] < after[0] for before, after in pairwise(bounds))


def _number(node: Mapping[str, Any]) -> int | None:
    """The value of a constant that is not negative and has no undefined bits."""
    found = _NUMBER.fullmatch(str(node.get("name"))) if node.get("type") == "CONST" else None
    if found is None:
        return None
    value = int(found[3], 16)
    return None if found[2] and value >> int(found[1]) - 1 else value
