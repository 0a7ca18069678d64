"""Findings, in Verilator's tree of a design, about indices that may lie beyond what they write.

Verilator makes one index of those of a structure's member and of an array in an array: a sum of offsets, and of indices
times the widths of what they choose from. It is taken apart by the type again.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cosim.dut.elaborate import nodes_of, resolved_type, width_of_type
from cosim.lint.tree import Tree, written

_NUMBER = re.compile(r"(\d+)'s?h([0-9a-f]+)")


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
            return int(number[2], 16), ()
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
