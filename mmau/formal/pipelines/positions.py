"""The positions of a pipeline's registers: how many registers lie between the operands and a register."""

from collections.abc import Iterable

from bitwuzla import Term

from mmau.formal.netlist.flat_netlist import is_choice
from mmau.formal.obligations.unit_questions import NotProvable
from mmau.formal.pipelines.register_roles import Registers


class Positions:
    """The depths of registers and opaque modules, found on demand.

    Args:
        registers: the registers of the netlist.
    """

    def __init__(self, registers: Registers) -> None:
        self._registers, self._netlist = registers, registers.netlist
        self._steps = range(1, registers.shape.steps + 1)
        self._sources: dict[tuple[Term, int], frozenset[str]] = {}
        self._depths: dict[str, int] = {}
        self._opaque_depths: dict[str, int] = {}
        self._under_way: set[str] = set()

    def depth(self, name: str) -> int:
        """The position of a register in the pipeline, from 1; 0 for a register that holds a constant.

        Raises:
            NotProvable: it depends on itself.
        """
        if name not in self._depths:
            if name in self._under_way:
                raise NotProvable(f"{name} depends on itself")
            self._under_way.add(name)
            takes = ((step, self._registers.takes(name, step)) for step in self._steps)
            step, taken = next((each for each in takes if each[1] is not None), (1, None))
            self._depths[name] = self._behind([] if taken is None else [taken], step)
            self._under_way.discard(name)
        return self._depths[name]

    def is_of_step_before(self, name: str, depth: int) -> bool:
        """Whether a reader at some depth gets the register's value of the step before: the register is not in front of the
        reader, so it holds the result to which a tile adds. A constant belongs to every step."""
        return self.depth(name) >= max(1, depth)

    def opaque_depth(self, name: str) -> int:
        """The depth of a register directly behind an opaque module."""
        if name not in self._opaque_depths:
            inputs = [bits.term for bits in self._netlist.opaque[name].inputs.values()]
            self._opaque_depths[name] = self._behind(inputs, 1)
        return self._opaque_depths[name]

    def is_decided(self, term: Term) -> bool:
        """Whether the handshake alone decides a choice."""
        return is_choice(term) and self._registers.is_control(term.children()[0])

    def _behind(self, terms: Iterable[Term], step: int) -> int:
        """The depth of a register that takes these terms."""
        sources = frozenset[str]().union(*(self._sources_of(term, step) for term in terms))
        depths = [self.depth(name) if name else 0 for name in sources]
        return 1 + max((depth for name, depth in zip(sources, depths, strict=True) if not name or depth), default=-1)

    def _sources_of(self, term: Term, step: int) -> frozenset[str]:
        """The registers on which a term depends, and "" if it also depends on operands."""
        key = (term, step)
        if key not in self._sources:
            self._sources[key] = self._found_sources(term, step)
        return self._sources[key]

    def _found_sources(self, term: Term, step: int) -> frozenset[str]:
        if term.is_const():
            source = self._netlist.source[term]
            if source.kind == "register":
                return frozenset([source.name] if source.name in self._registers.data else [])
            if source.kind == "input":
                return frozenset([] if self._registers.is_control(term) else [""])
            children = [bits.term for bits in self._netlist.behind(term)]
        elif self.is_decided(term):
            condition, yes, no = term.children()
            children = [yes if self._registers.is_chosen(condition, step) else no]
        else:
            children = list(term.children())
        return frozenset[str]().union(*(self._sources_of(child, step) for child in children))
