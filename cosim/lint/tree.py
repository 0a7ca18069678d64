"""Verilator's tree of a design's text, walked once, and its findings about state: registers that two blocks write, races,
initial values, functions."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cosim.dut.elaborate import read_tree
from golden.processes import run_tool
from golden.text import BYTES

Node = Mapping[str, Any]


class Tree:
    """A tree of `verilator --json-only`.

    Attributes:
        variables, tasks: the variables, and the functions and tasks, by their addresses. names: the names of the variables.
    """

    def __init__(self, root: Node) -> None:
        self.root = root
        self._nodes, self._parts = list[Node](), dict[int, slice]()
        waiting: list[Any] = [root]
        while waiting:
            part = waiting.pop()
            if isinstance(part, dict):
                waiting.append((part, len(self._nodes)))  # when it comes up again, all within it has been seen
                self._nodes.append(part)
                waiting += part.values()
            elif isinstance(part, list):
                waiting += part
            elif isinstance(part, tuple):
                self._parts[id(part[0])] = slice(part[1], len(self._nodes))
        self._by_type = defaultdict[str, list[Node]](list)
        for node in self._nodes:
            self._by_type[str(node.get("type"))].append(node)
        self.variables = {str(node["addr"]): node for node in self.of_type("VAR")}
        self.names = {address: str(node["origName"]) for address, node in self.variables.items()}
        self.tasks = {str(node["addr"]): node for node in self.of_type("TASK", "FUNC")}
        self._called = dict[int, list[Node]]()

    def of_type(self, *types: str) -> list[Node]:
        """All nodes of some types."""
        return [node for each in types for node in self._by_type[each]]

    def within(self, part: Any) -> list[Node]:
        """The nodes of a part of the tree, or of several."""
        if isinstance(part, dict):
            return self._nodes[self._parts[id(part)]]
        return [node for each in part for node in self.within(each)]

    def called_by(self, part: Any) -> list[Node]:
        """The functions and tasks that a part of a design calls, directly or not."""
        if id(part) not in self._called:
            waiting, called = [part], dict[str, Node]()
            while waiting:
                for node in self.within(waiting.pop()):
                    task = node.get("taskp")
                    if task in self.tasks and task not in called:
                        called[task] = self.tasks[task]
                        waiting.append(called[task])
            if not isinstance(part, dict):
                return list(called.values())
            self._called[id(part)] = list(called.values())
        return self._called[id(part)]

    def with_calls(self, part: Any) -> list[Node]:
        """The nodes of a part of a design, and of the functions and tasks that it calls."""
        return [node for each in (part, *self.called_by(part)) for node in self.within(each)]

    def named(self, variables: Iterable[str]) -> list[str]:
        """The names of variables, sorted."""
        return sorted({self.names[each] for each in variables if each in self.names})


def read_text(top: str, verilog: str, folder: Path, libraries: Sequence[str] = (), assertions: str = "--no-assert") -> Tree:
    """Verilator's tree of a preprocessed text.

    Args:
        libraries: arguments that name folders, in which Verilator finds further modules.
        assertions: "--assert" for a tree with its assertions.
    """
    source = folder / "tree.sv"
    source.write_text(verilog, encoding="utf-8", errors=BYTES)
    flags = ["--json-only", "--no-json-edit-nums", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--no-timing", assertions]
    run_tool(["verilator", *flags, *libraries, "--top-module", top, "--Mdir", str(folder), str(source)], cwd=folder)
    return Tree(read_tree(folder / f"V{top}.tree.json"))


def is_written(node: Node) -> bool:
    """Whether a node is a reference by which a variable is written."""
    return "varp" in node and node.get("access") in ("WR", "RW")


def written(nodes: Iterable[Node]) -> list[str]:
    """The variables that nodes write, once for each place."""
    return [str(node["varp"]) for node in nodes if is_written(node)]


# registers that two blocks write

Place = tuple[tuple[int, int] | str, ...]
"""The bits of a variable that are written: of each choice from the outermost, its first and last bit, or its name."""


def written_by_two_blocks(tree: Tree) -> list[str]:
    """The variables of which two clocked blocks write the same bits, so that the order of a tool decides which value
    remains.

    A module of several instances that writes a memory outside itself writes it as often.
    """
    instances = Counter(node["modp"] for node in tree.of_type("CELL"))
    seen, found = defaultdict[str, list[Place]](list), set[str]()
    for module in tree.root["modulesp"]:
        for block in (node for node in tree.within(module) if node.get("type") == "ALWAYS"):
            own = list[tuple[str, Place]]()
            for side in _later_sides(tree, block):
                own += _places(side)
                kinds = {node.get("type") for node in tree.within(side)}
                if instances[module["addr"]] > 1 and {"VARXREF", "ARRAYSEL"} <= kinds:
                    found |= {variable for variable, _ in _places(side)}
            found |= {variable for variable, place in own if any(_overlap(place, other) for other in seen[variable])}
            for variable, place in own:
                seen[variable].append(place)
    return tree.named(found)


def _later_sides(tree: Tree, block: Node) -> list[Any]:
    """The left sides of the assignments `<=` of a block and of the tasks that it calls."""
    return [side for node in tree.with_calls(block) if node.get("type") == "ASSIGNDLY" for side in node["lhsp"]]


def _places(node: Any) -> list[tuple[str, Place]]:
    """The variables on the left of an assignment, each with its place."""
    if isinstance(node, list):
        return [written for each in node for written in _places(each)]
    if not isinstance(node, dict):
        return []
    if node.get("type") in ("VARREF", "VARXREF"):
        return [(str(node["varp"]), ())] if is_written(node) else []
    inner = _places(node.get("fromp", [value for value in node.values() if isinstance(value, list)]))
    match node.get("type"):
        case "SEL" | "ARRAYSEL":
            chosen: Place = _chosen(node["lsbp" if "lsbp" in node else "bitp"][0], int(node.get("widthConst", 1)))
        case "STRUCTSEL":
            chosen = (str(node["name"]),)
        case _:
            chosen = ()
    return [(variable, (*place, *chosen)) for variable, place in inner]


def _chosen(index: Node, width: int) -> Place:
    """The first and last bit of a choice; without a constant index it may be any."""
    if index.get("type") != "CONST":
        return ((0, 1 << 31),)
    first = int(str(index["name"]).rpartition("h")[2], 16)
    return ((first, first + width - 1),)


def _overlap(one: Place, other: Place) -> bool:
    pairs = zip(one, other, strict=False)  # where one ends, it is all that the other chooses from
    return all(a == b if isinstance(a, str) or isinstance(b, str) else a[0] <= b[1] and b[0] <= a[1] for a, b in pairs)


# races


def races(tree: Tree) -> list[str]:
    """The variables that a clocked block writes at once, itself or in a task, and that another block reads, or, through an
    output, what surrounds the module. Which of the two happens first at an edge is not defined."""
    at_once, writers, readers = set[str](), defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for block in tree.of_type("ALWAYS"):
        later = {id(node) for side in _later_sides(tree, block) for node in tree.within(side)}
        is_clocked = any(node.get("edgeType") in ("POS", "NEG", "BOTH") for node in tree.within(block.get("sentreep", [])))
        for node in (each for each in tree.with_calls(block) if "varp" in each):
            (writers if is_written(node) else readers)[node["varp"]].add(block["addr"])
            if is_written(node) and is_clocked and id(node) not in later:
                at_once.add(node["varp"])
    seen = (each for each in at_once if _is_output(tree.variables.get(each)) or readers[each] - writers[each])
    return tree.named(each for each in seen if not tree.variables.get(each, {}).get("isFuncLocal"))


def _is_output(variable: Node | None) -> bool:
    return variable is not None and variable.get("direction") in ("OUTPUT", "INOUT")


# initial values


def constants_by_initial_value(tree: Tree) -> list[str]:
    """The variables that hold a value because a declaration or an initial block gives it, and nothing else writes them."""
    at_start, later = _written_at_start_and_later(tree)
    constant = {each for each, node in tree.variables.items() if node.get("isConst")}
    return _of_the_design(tree, [each for each in at_start if each not in later | constant])


def initial_values(tree: Tree) -> list[str]:
    """The variables that begin with a value which a declaration or an initial block gives, and that change later."""
    at_start, later = _written_at_start_and_later(tree)
    return sorted(_of_the_design(tree, [each for each in at_start if each in later - _without_value(tree)]))


def _without_value(tree: Tree) -> set[str]:
    """The static variables of blocks that are declared without a value, and begin with 0 or undefined."""
    given = set(written(tree.within(tree.of_type("INITIAL"))))
    begin = set(written(tree.within(tree.of_type("INITIALSTATICSTMT")))) - given
    return {each for each in begin if not tree.variables.get(each, {"hasUserInit": True}).get("hasUserInit")}


def _written_at_start_and_later(tree: Tree) -> tuple[dict[str, None], set[str]]:
    """The variables that declarations and initial blocks write, and those that anything else writes, themselves or by a
    task."""
    blocks = tree.of_type("INITIAL", "INITIALSTATIC", "INITIALSTATICSTMT")
    apart = {id(node) for node in tree.within([*blocks, *tree.tasks.values()])}
    others = [node for node in tree.within(tree.root) if id(node) not in apart and ("access" in node or "taskp" in node)]
    return dict.fromkeys(written(tree.with_calls(blocks))), set(written(tree.with_calls(others)))


def _of_the_design(tree: Tree, variables: Sequence[str]) -> list[str]:
    """The names of variables, without those that live in a call."""
    declared = (tree.variables[each] for each in variables if each in tree.variables)
    return list(dict.fromkeys(str(node["origName"]) for node in declared if not node.get("isFuncLocal")))


# functions


_ON_FILES = {"FOPEN": "$fopen", "FOPENMCD": "$fopen", "WRITEMEM": "$writemem", "SYSTEMF": "$system", "SYSTEMT": "$system"}


def beside_the_ports(tree: Tree) -> list[str]:
    """The functions of other languages that a text calls, and of the simulator those by which it writes files, at its end
    too. All others of the simulator, such as `$random`, Yosys does not read, and says so."""
    foreign = {f"DPI function {task['name']}" for task in tree.tasks.values() if task.get("dpiImport")}
    return sorted(foreign | {_ON_FILES[str(node["type"])] for node in tree.of_type(*_ON_FILES)})


def kept_by_functions(tree: Tree) -> list[str]:
    """The static variables of functions and tasks that begin with a value, and may be read before the call has written them:
    they hold what the call before left. One without a value is undefined to Yosys, which says so."""
    found = set[str]()
    for function in tree.tasks.values():
        begins = (node for node in tree.within(function) if node.get("type") == "INITIALSTATICSTMT")
        valued = [node for node in begins if not any(each.get("type") == "CRESET" for each in tree.within(node))]
        own = {str(node["addr"]) for node in tree.within(function) if node.get("type") == "VAR"}
        found |= {each for each in own & {*written(tree.within(valued))} if _is_read_first(function["stmtsp"], each)[0]}
    return tree.named(found)


def _is_read_first(nodes: Any, variable: str, is_written: bool = False) -> tuple[bool, bool]:
    """Whether statements may read a variable before they write all of it, and whether it is written after them."""
    for node in nodes if isinstance(nodes, list) else [nodes]:
        kind, parts = node.get("type"), [value for value in node.values() if isinstance(value, list)]
        match kind:
            case "INITIALSTATICSTMT":
                continue
            case "VARREF" if node["varp"] == variable:
                if node["access"] != "WR" and not is_written:
                    return True, is_written
                is_written = is_written or node["access"] == "WR"
                continue
            case "SEL" | "ARRAYSEL" | "STRUCTSEL" | "MEMBERSEL":
                if any(_is_read_first(part, variable, is_written)[0] for part in parts):
                    return True, is_written
                continue  # a part is not all of it
            case "IF" | "COND" | "CASE":
                conditions, branches = _branches(node)
                if any(_is_read_first(each, variable, is_written)[0] for each in (*conditions, *branches)):
                    return True, is_written
                is_complete = kind != "CASE" or any(not item.get("condsp") for item in node["itemsp"])
                is_written = is_written or (is_complete and all(_is_read_first(each, variable)[1] for each in branches))
                continue
            case "ASSIGN" | "ASSIGNDLY":
                parts = [node["rhsp"], node["lhsp"]]
        after = is_written
        for part in parts:
            is_read, after = _is_read_first(part, variable, after)
            if is_read:
                return True, is_written
        is_written = after if kind in ("BEGIN", "ASSIGN", "ASSIGNDLY", "STMTEXPR") else is_written
    return False, is_written


def _branches(choice: Node) -> tuple[list[Any], list[Any]]:
    """The conditions of a choice, and its branches."""
    if choice["type"] == "CASE":
        items = choice.get("itemsp", [])
        return [choice["exprp"], *(item.get("condsp", []) for item in items)], [item.get("stmtsp", []) for item in items]
    ends = ("thenp", "elsep") if choice["type"] == "COND" else ("thensp", "elsesp")
    return [choice["condp"]], [choice.get(end, []) for end in ends]
