"""Values of terms where operands are symbols: numbers where no operand matters, and else the terms that they are.

A value is an integer: from 0 on it is that number, `ANY` may be any value at any time, and every other one is a place in the
table of `Symbols`, where equal terms of equal values have one place. So what only passes through multiplexers and registers
keeps its place, and two values of one place are equal, whatever the modules that are opaque compute.
"""

from collections.abc import Mapping, Sequence

from bitwuzla import Kind, Term

from mmau.prove.evaluation import Apply, function_of, width
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.pipeline.intended import alike

ANY = -1

Part = tuple[int, int]
"""A value and its width in bits."""


class Symbols:
    """The table of values that are not numbers."""

    def __init__(self) -> None:
        self._places: dict[tuple[object, ...], int] = {}
        self._parts: dict[int, tuple[int, int, int, int]] = {}  # a value, its width, and which bits of it
        self._joined: dict[int, tuple[Part, ...]] = {}
        self._modules: list[tuple[Mapping[str, Module], str]] = []

    def made(self, *key: object) -> int:
        """The value that a key stands for."""
        return self._places.setdefault(key, ANY - 1 - len(self._places))

    def function(self, modules: Mapping[str, Module], name: str) -> int:
        """The number of a module without registers: one number for modules with one text."""
        for number, (others, other) in enumerate(self._modules):
            if alike(modules, name, others, other):
                return number
        self._modules.append((modules, name))
        return len(self._modules) - 1

    def part(self, value: int, bits: int, high: int, low: int) -> int:
        """Some bits of a value, counted from 0."""
        if value >= 0:
            return value >> low & ((1 << high - low + 1) - 1)
        if value == ANY or high - low + 1 == bits:
            return value
        if value in self._parts:
            base, below, _, start = self._parts[value]
            return self._part(base, below, start + high, start + low)
        if value not in self._joined:
            return self._part(value, bits, high, low)
        found, end = list[Part](), bits
        for each, size in self._joined[value]:
            start = end - size
            last, first = min(high, end - 1), max(low, start)
            if first <= last:
                found.append((self.part(each, size, last - start, first - start), last - first + 1))
            end = start
        return self.joined(found)

    def joined(self, parts: Sequence[Part]) -> int:
        """Values side by side, the first in the highest bits."""
        found: list[Part] = []
        for part in parts:
            for each in self._joined.get(part[0], (part,)):
                found.append(each)
                while len(found) > 1 and (both := self._beside(*found[-2:])) is not None:
                    found[-2:] = [(both, found[-2][1] + found[-1][1])]
        if len(found) == 1:
            return found[0][0]
        value = self.made("joined", *found)
        self._joined[value] = tuple(found)
        return value

    def _part(self, base: int, bits: int, high: int, low: int) -> int:
        if high - low + 1 == bits:
            return base
        value = self.made("part", base, bits, high, low)
        self._parts[value] = (base, bits, high, low)
        return value

    def _beside(self, high: Part, low: Part) -> int | None:
        """The one value that two neighbours are, if they are one."""
        (upper, _), (lower, bits) = high, low
        if upper >= 0 and lower >= 0:
            return upper << bits | lower
        if upper == lower == ANY:
            return ANY
        if upper not in self._parts or lower not in self._parts:
            return None
        (base, size, top, end), (other, _, start, bottom) = self._parts[upper], self._parts[lower]
        return self._part(base, size, top, bottom) if base == other and end == start + 1 else None

    def output(self, number: int, port: str, values: Sequence[int]) -> int:
        """An output of a module without registers."""
        return ANY if any(map(self.may_be_any, values)) else self.made("output", number, port, *values)

    def operation(self, term: Term) -> Apply:
        """The function of a term that is not a variable on the values of its subterms."""
        kind, bits, indices, apply = term.kind(), width(term), tuple(term.indices()), function_of(term)
        one = (1 << max(1, bits)) - 1
        if not term.children():
            return lambda values: apply(values) & one
        widths = [width(child) for child in term.children()]
        decides = {Kind.BV_OR: one, Kind.OR: one, Kind.BV_AND: 0, Kind.AND: 0}.get(kind)

        def of(values: list[int]) -> int:
            if kind == Kind.ITE and values[0] >= 0:
                return values[1] if values[0] else values[2]
            if min(values) >= 0:
                return int(apply(values)) & one
            if kind == Kind.BV_CONCAT:
                return self.joined(list(zip(values, widths, strict=True)))
            if kind == Kind.BV_EXTRACT:
                return self.part(values[0], widths[0], *indices)
            if decides is not None:
                left = [value for value in values if value != one - decides]
                if decides in left or len(left) == 1:
                    return decides if decides in left else left[0]
            if any(map(self.may_be_any, values)):
                return ANY
            return 1 if kind == Kind.EQUAL and values[0] == values[1] else self.made(kind, indices, bits, *values)

        return of

    def may_be_any(self, value: int) -> bool:
        """Whether some of a value's bits may have any value."""
        if value >= ANY:
            return value == ANY
        return any(each == ANY for each, _ in self._joined.get(value, ()))


class Values:
    """The values of a netlist's terms.

    Args:
        symbols: the table. terms: makes terms. netlist, modules: the netlist, and the modules of its file.
    """

    def __init__(self, symbols: Symbols, terms: Terms, netlist: FlatNetlist, modules: Mapping[str, Module]) -> None:
        self._symbols, self._terms, self._netlist, self._modules = symbols, terms, netlist, modules
        self._constants: dict[str, Mapping[str, Bits]] = {}

    def function(self, root: Term, leaves: Sequence[Term]) -> Apply:
        """The value of a term as a function of the values of ports and registers, each of which is computed once."""
        places = {leaf: place for place, leaf in enumerate(leaves)}
        steps: list[tuple[list[int], Apply]] = []
        for term in self._in_order(root):
            if term not in places:
                children, apply = self._step(term)
                steps.append(([places[child] for child in children], apply))
                places[term] = len(places)
        last = places[root]

        def of(values: list[int]) -> int:
            found = list(values)
            for operands, apply in steps:
                found.append(apply([found[operand] for operand in operands]))
            return found[last]

        return of

    def _in_order(self, root: Term) -> list[Term]:
        """A term and all that it depends on, each after what it depends on."""
        done: dict[Term, None] = {}
        waiting = [(root, False)]
        while waiting:
            term, is_ready = waiting.pop()
            if term in done:
                continue
            if is_ready:
                done[term] = None
                continue
            waiting.append((term, True))
            waiting += [(child, False) for child in self._children(term) if child not in done]
        return list(done)

    def _children(self, term: Term) -> list[Term]:
        if not term.is_const():
            return list(term.children())
        source = self._netlist.source[term]
        if source.kind != "opaque":
            return []
        return [bits.term for _, bits in sorted(self._netlist.opaque[source.name].inputs.items())]

    def _step(self, term: Term) -> tuple[list[Term], Apply]:
        if not term.is_const():
            return self._children(term), self._symbols.operation(term)
        path = self._netlist.source[term].name
        module, port = self._netlist.opaque[path].module, str(term.symbol()).removeprefix(f"{path}.")
        constant = self._outputs(module)[port].value
        if constant is not None:
            return [], lambda values: constant
        number = self._symbols.function(self._modules, module)
        return self._children(term), lambda values: self._symbols.output(number, port, values)

    def _outputs(self, module: str) -> Mapping[str, Bits]:
        """The outputs of a module without registers; those that no input changes are constants."""
        if module not in self._constants:
            whole = FlatNetlist(self._terms, self._modules, module, opened=self._modules)
            self._constants[module] = whole.outputs
        return self._constants[module]
