"""Findings in Verilator's tree of a design about expressions: effects without an order, functions with hidden inputs, items
of a `unique case` that overlap, and indices that may lie beyond what they write.

The standard does not say in which order the operands of an operator are evaluated, and a function in a continuous assignment
or an `always @*` is called again only when an operand there changes. Tools decide both in their own ways.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cosim.dut.elaborate import nodes_of, resolved_type, width_of_type
from cosim.lint.tree import Node, Tree, written

_ASSIGNS = ("ASSIGN", "ASSIGNW", "ASSIGNDLY")

_MAY_SKIP = ("LOGAND", "LOGOR", "LOGIF", "COND")
"""Operators that need not evaluate all of their operands."""

_SKIPPED = ("rhsp", "thenp", "elsep")
"""Keys of the operands that the operators in `_MAY_SKIP` need not evaluate."""

_INCREMENT = "__Vincrement"
"""Beginning of the name of Verilator's variable for the value of `i++` in an expression."""

_NUMBER = re.compile(r"(\d+)'(s?)h([0-9a-f]+)")
"""A constant without undefined bits, as Verilator's tree has it."""


def effects_without_order(tree: Tree) -> list[str]:
    """The variables that an expression writes (`i++`, `(i = 5)`, a function with an effect) and also reads or writes
    elsewhere, or writes in an operand that need not be evaluated: tools evaluate operands in orders of their own."""
    outside, counted, found = _written_outside(tree), _counted(tree), set[str]()
    for statement in tree.within(tree.root):
        parts = _expressions(statement)
        if not parts:
            continue
        effects = _effects(tree, parts, outside, counted)
        for number, (variables, inside) in enumerate(effects):
            found |= variables & _mentioned(tree, parts, inside)
            found |= variables & {each for other, _ in effects[number + 1 :] for each in other}
        for variables, _ in _effects(tree, _skipped(tree, statement, parts), outside, counted):
            found |= variables
    return tree.named(found)


def hidden_inputs(tree: Tree) -> list[str]:
    """The variables that a function or a task reads beside its arguments, where a continuous assignment, the connection of a
    port or an `always @*` that does not name them calls it: by the standard it is not called again when they change."""
    found = set[str]()
    for block in tree.of_type("ALWAYS", "PIN"):
        if block.get("keyword") == "always_comb" or not _is_implicit(tree, block):
            continue
        own = {node["varp"] for node in tree.within(block) if "varp" in node}
        called = tree.within(tree.called_by(block))
        found |= {str(node["varp"]) for node in called if "varp" in node and node.get("access") == "RD"} - own
    return tree.named(each for each in found if _is_signal(tree.variables.get(each, {})))


def effects_left_out(tree: Tree, checked: Tree, changes: Sequence[str]) -> list[str]:
    """The variables and effects that synthesis leaves out: those of assertions and messages, in their arguments or in
    statements after an assertion. Also the increments and assignments in these arguments.

    Args:
        tree, checked: without and with assertions. changes: the increments and assignments.
    """
    counts = [Counter(_writes(each)) for each in (tree, checked)]
    found = {name for name, count in counts[1].items() if name in counts[0] and counts[0][name] != count}
    found |= {*tree.named(_written_by_calls(tree, tree.within(tree.of_type("DISPLAY"))))}
    return [*sorted(found), *changes]


def _writes(tree: Tree) -> list[str]:
    """The names of all variables, and of each once more for each statement or call that writes it."""
    nodes = tree.within(tree.root)
    places = [*written(nodes), *_written_by_calls(tree, nodes)]
    return [*tree.names.values(), *(tree.names[each] for each in places if each in tree.names)]


def _written_by_calls(tree: Tree, nodes: Iterable[Node]) -> list[str]:
    """The variables that functions and tasks write outside, once for each call of them."""
    outside = _written_outside(tree)
    return [each for node in nodes if node.get("taskp") in tree.tasks for each in outside[node["taskp"]]]


def _written_outside(tree: Tree) -> dict[str, set[str]]:
    """The variables that each function or task writes, itself or by others, and that are not its own."""
    found = dict[str, set[str]]()
    for address, task in tree.tasks.items():
        nodes = tree.with_calls(task)
        found[address] = {*written(nodes)} - {str(node["addr"]) for node in nodes if node.get("type") == "VAR"}
    return found


def _is_implicit(tree: Tree, block: Node) -> bool:
    """Whether the operands of a block decide when it is evaluated."""
    items = (node for node in tree.within(block.get("sentreep", [])) if node.get("type") == "SENITEM")
    return all(item.get("edgeType") in ("COMBO", "STAR") for item in items)


def _is_signal(variable: Node) -> bool:
    return not variable.get("isFuncLocal") and not variable.get("isConst") and not variable.get("isParam")


def _counted(tree: Tree) -> dict[str, str]:
    """The variable of which each of Verilator's variables for `i++` holds the value."""
    found = dict[str, str]()
    for node in tree.of_type("ASSIGN"):
        holder = str(node["lhsp"][0].get("varp", ""))
        if tree.names.get(holder, "").startswith(_INCREMENT):
            found.update((holder, str(each["varp"])) for each in tree.within(node["rhsp"]) if "varp" in each)
    return found


def _expressions(statement: Node) -> list[Any]:
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


def _skipped(tree: Tree, statement: Node, parts: Sequence[Any]) -> list[Any]:
    """The operands that need not be evaluated, items of a case among them."""
    items = [each for item in statement.get("itemsp", []) for each in item.get("condsp", [])]
    nodes = (node for node in tree.within(parts) if node.get("type") in _MAY_SKIP)
    return [*items, *(each for node in nodes for key in _SKIPPED for each in node.get(key, []))]


def _effects(
    tree: Tree, parts: Sequence[Any], outside: Mapping[str, set[str]], counted: Mapping[str, str]
) -> list[tuple[set[str], set[int]]]:
    """The assignments and increments within expressions, and the calls that write variables outside, or arguments: of each
    the variables that it writes, and the identities of its nodes."""
    found = list[tuple[set[str], set[int]]]()
    for node in tree.within(parts):
        variables = set[str]()
        if node.get("type") == "EXPRSTMT":
            variables = {*written(tree.within(node["stmtsp"]))}
        elif node.get("varp") in counted and node.get("access") == "RD":
            variables = {counted[node["varp"]]}
        elif node.get("type") == "FUNCREF" and node.get("taskp") in tree.tasks:
            variables = outside[node["taskp"]] | {*written(tree.within(node.get("argsp", [])))}
        if variables:
            found.append((variables, {id(each) for each in tree.within(node)}))
    return found


def _mentioned(tree: Tree, parts: Sequence[Any], inside: set[int]) -> set[str]:
    """The variables that expressions read or write, also by functions, outside of some nodes."""
    nodes = [node for node in tree.within(parts) if id(node) not in inside]
    called = [tree.tasks[node["taskp"]] for node in nodes if node.get("taskp") in tree.tasks]
    every = [*nodes, *(node for task in called for node in tree.with_calls(task))]
    return {str(node["varp"]) for node in every if "varp" in node}


# promises


def cases_of_signals(tree: Tree) -> list[str]:
    """The `unique case` whose items are signals or ranges, of which two may match: a simulation takes the first, synthesis
    may take both. Verilator warns of constants that overlap, and `Words.cases_of_one` has those of a constant."""
    found = list[str]()
    for node in tree.of_type("CASE"):
        word = next((each for each in ("unique", "unique0") if node.get(each)), "")
        if word and node["exprp"][0].get("type") != "CONST":
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


def _number(node: Node) -> int | None:
    """The value of a constant that is not negative and has no undefined bits."""
    found = _NUMBER.fullmatch(str(node.get("name"))) if node.get("type") == "CONST" else None
    if found is None:
        return None
    value = int(found[3], 16)
    return None if found[2] and value >> int(found[1]) - 1 else value


def written_beyond(tree: Tree) -> list[str]:
    """The vectors, arrays and structures of which an index writes a part that may lie beyond the vector, the array or the
    member. By the standard nothing is written then; Verilator, which cuts the index, writes another part."""
    types = {node["addr"]: node for node in tree.within(tree.root) if str(node.get("type")).endswith("DTYPE")}
    found = set[str]()
    for choice in (node for node in tree.of_type("SEL", "ARRAYSEL") if _is_written(node)):
        if (_is_beyond_part if choice["type"] == "SEL" else _is_beyond_array)(choice, types, tree.variables):
            found |= {name for name in tree.named(written(tree.within(choice))) if not name.startswith("__V")}
    return sorted(found)


def _is_written(choice: Mapping[str, Any]) -> bool:
    """Whether a choice is a part that is written, not a part of an index."""
    part = choice
    while "fromp" in part:
        part = part["fromp"][0]
    return part.get("access") in ("WR", "RW")


def _is_beyond_array(choice: Mapping[str, Any], types: dict[str, Any], variables: Mapping[str, Any]) -> bool:
    """Whether a choice from an unpacked array may lie beyond it."""
    array = types.get(str(choice["fromp"][0].get("dtypep")), {})
    while array.get("type") == "REFDTYPE":
        array = types.get(array.get("refDTypep"), {})
    bounds = re.fullmatch(r"\[(-?\d+):(-?\d+)\]", str(array.get("declRange")))
    return bounds is not None and _values(choice["bitp"][0], types, variables) > abs(int(bounds[1]) - int(bounds[2])) + 1


def _values(index: Mapping[str, Any], types: dict[str, Any], variables: Mapping[str, Any]) -> int:
    """The number of values that an index may have, before Verilator cuts it; of loops and constants 1."""
    kind = index.get("type")
    if kind == "SEL" and "declRange" not in index and index["lsbp"][0].get("type") == "CONST":
        return _values(index["fromp"][0], types, variables)  # the cut
    if kind in ("ADD", "SUB", "EXTEND", "EXTENDS") or (kind in ("SHIFTL", "MUL") and _is_scaled(index)):
        return max(_values(part, types, variables) for key in ("lhsp", "rhsp") for part in index.get(key, []))
    if kind == "CONST":
        return 1
    read = {str(node["varp"]) for node in nodes_of(index) if "varp" in node}
    if all(variables.get(each, {}).get("isUsedLoopIdx") or variables.get(each, {}).get("isParam") for each in read):
        return 1
    return 1 << _width(index, types)


@dataclass(frozen=True)
class _Index:
    """An addend of an index: its least and its greatest value, and the width of what it chooses (bits)."""

    low: int
    high: int
    width: int = 1

    def times(self, factor: int) -> "_Index":
        """The addend times the width of an element."""
        return _Index(self.low, self.high, self.width * factor)


def _is_beyond_part(choice: Mapping[str, Any], types: dict[str, Any], variables: Mapping[str, Any]) -> bool:
    """Whether a choice from a packed type may lie beyond the array or the member that its indices choose from."""
    base = types.get(str(choice["fromp"][0].get("dtypep")))
    if base is None:
        return False
    kind = resolved_type(base, types)
    offset, indices = _addends(choice["lsbp"][0], types, variables)
    wide, chosen = width_of_type(kind, types, ""), int(choice["widthConst"])
    if offset >= wide:  # an index from 1, or of another direction, begins below 0
        offset -= 1 << max(wide.bit_length(), _width(choice["lsbp"][0], types))
    while indices and offset >= 0:
        match kind["type"]:
            case "PACKARRAYDTYPE":
                element = resolved_type(types[kind["refDTypep"]], types)
                each = width_of_type(element, types, "")
                count = wide // each
            case "STRUCTDTYPE":
                place = wide
                for member in kind["membersp"]:
                    wide = width_of_type(types[member["dtypep"]], types, "")
                    place -= wide
                    if place <= offset:
                        kind, offset = resolved_type(types[member["dtypep"]], types), offset - place
                        break
                continue
            case _:
                element, each, count = kind, 1, wide
        own = [index for index in indices if index.width % each == 0]
        low = offset // each + sum(index.low * (index.width // each) for index in own)
        high = offset // each + sum(index.high * (index.width // each) for index in own)
        if low < 0 or high + -(-chosen // each) > count:
            return True
        indices = [index for index in indices if index.width % each]
        kind, wide, offset = element, each, offset % each
    return offset < 0


def _addends(index: Mapping[str, Any], types: dict[str, Any], variables: Mapping[str, Any]) -> tuple[int, Sequence[_Index]]:
    """The constant in an index, and its other addends."""
    parts = [_addends(index[key][0], types, variables) for key in ("lhsp", "rhsp") if key in index]
    match index.get("type"):
        case "CONST" if (number := _NUMBER.fullmatch(str(index["name"]))) is not None:
            return int(number[3], 16), ()
        case "SEL" if "declRange" not in index and index["lsbp"][0].get("type") == "CONST":
            return _addends(index["fromp"][0], types, variables)  # the cut
        case "EXTEND" | "EXTENDS":
            return parts[0]
        case "ADD":
            return parts[0][0] + parts[1][0], (*parts[0][1], *parts[1][1])
        case "SUB":
            taken = tuple(_Index(-each.high, -each.low, each.width) for each in parts[1][1])
            return parts[0][0] - parts[1][0], (*parts[0][1], *taken)
        case "MUL" | "SHIFTL" if _is_scaled(index):
            first = 0 if index["lhsp"][0].get("type") == "CONST" and index["type"] == "MUL" else 1
            factor = parts[first][0] if index["type"] == "MUL" else 1 << parts[first][0]
            constant, others = parts[1 - first]
            return constant * factor, tuple(each.times(factor) for each in others)
    return 0, (_Index(0, _values(index, types, variables) - 1),)


def _width(node: Mapping[str, Any], types: dict[str, Any]) -> int:
    """The width of an expression (bits)."""
    kind = types.get(str(node.get("dtypep")))
    return 1 if kind is None else width_of_type(kind, types, "")


def _is_scaled(index: Mapping[str, Any]) -> bool:
    """Whether an index is one in elements times their width."""
    return any(index[key][0].get("type") == "CONST" for key in ("lhsp", "rhsp"))
