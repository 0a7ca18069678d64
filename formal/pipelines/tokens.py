"""A pipeline without its data: of each register only whether it holds what it is meant to hold of one transfer, a token.

Which transfer is followed is left open, so that what holds of it holds of all. Of a register and a step there is one bit:
that it holds what that step of the token gives. The bit is set with what the register takes, where all that this is made of
is what it is meant to be, and kept where the register keeps its value; in every other case it falls. So a bit that is set
can be relied on, and one that is not says nothing.

Registers whose bits always agree share one: those of one stage, in a pipeline that is in order.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bitwuzla import Term

from formal.obligations.units import NotProvable
from formal.pipelines.logic import Logic
from formal.pipelines.netlist import is_choice
from formal.pipelines.registers import Registers
from rtl.verilog.terms import Bits

Atom = tuple[str, str, int]
"""Something that must hold, that a value is what it is meant to be: ("operand", "", step): the operands are the step's;
("register", name, step): the register holds what it is meant to; ("condition", number, 1 or 0): a choice is what it is where
nothing stalls; ("never", "", 0)."""

NEVER: Atom = ("never", "", 0)


@dataclass(frozen=True)
class Group:
    """Registers whose bits always agree.

    Attributes:
        names: of the registers. bits: for each step, whether they hold what they are meant to.
        live: for each step, from which stage to which it has to hold, while the step is there.
    """

    names: tuple[str, ...]
    bits: Mapping[int, Bits]
    live: Mapping[int, range]


class Tokens:
    """The bits of a pipeline, and what becomes of them at a clock edge.

    Args:
        registers: of the netlist. logic: where terms are made.

    Attributes:
        groups: of registers that are read. arrives: for each step, that its operands are at the ports and are taken.
        result: what has to hold, that the result is that of the token.
        output_registers: of which d is made. reads_registers_alone: whether it is made of nothing else.

    Raises:
        NotProvable: a value that depends on itself.
    """

    def __init__(self, registers: Registers, logic: Logic) -> None:
        self._registers, self._logic, self._netlist = registers, logic, registers.netlist
        self.shape = registers.shape
        self._steps = range(1, self.shape.steps + 1)
        self._conditions: list[Term] = []
        self._numbers: dict[Term, int] = {}
        self._known: dict[tuple[Term, int, int], frozenset[Atom]] = {}
        self._sources: dict[tuple[Term, int], frozenset[str]] = {}
        self._depths: dict[str, int] = {}
        self._reads: dict[str, dict[int, list[int]]] = {}
        self._under_way: set[str] = set()
        self.arrives = {step: logic.terms.free(f"step {step} arrives", 1) for step in self._steps}
        output = self._netlist.outputs["d"].term
        self._result = self._atoms(output, self.shape.steps, self.shape.stages + 1)
        self._follow()
        self.groups = self._grouped()
        self._group_of = {name: group for group in self.groups for name in group.names}
        self.result = logic.all(self._holds(atom, self._group_of) for atom in sorted(self._result))
        self.output_registers = sorted({name for kind, name, _ in self._result if kind == "register"})
        self.reads_registers_alone = all(kind == "register" for kind, _, _ in self._result)

    def after(self, group: Group, step: int) -> Term:
        """Whether the registers of a group hold what they are meant to, after the next clock edge."""
        return self._after(group.names[0], step, self._logic.bit(group.bits[step]), self._group_of)

    def kept(self, name: str) -> Term:
        """That a register keeps its value at the next clock edge."""
        own = self._netlist.registers[name].term

        def walk(term: Term) -> Term:
            if term == own:
                return self._logic.true
            if self._is_decided(term):
                condition, yes, no = term.children()
                return self._logic.choice(condition, walk(yes), walk(no))
            return self._logic.false

        return walk(self._netlist.after[name].term)

    def meant(self, name: str, step: int) -> frozenset[Atom]:
        """What has to hold, that a register takes what it is meant to with a step; NEVER where it takes nothing."""
        taken = self._registers.takes(name, step)
        return frozenset([NEVER]) if taken is None else self._atoms(taken, step, self.depth(name))

    def depth(self, name: str) -> int:
        """Behind how many others a register stands, itself counted; 0 of one that holds a constant.

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
        """Whether what is read of a register at some depth is of the step before: it does not stand in front of that, so it
        is the result to which a tile adds. A constant is of every step."""
        return self.depth(name) >= max(1, depth)

    def box_depth(self, name: str) -> int:
        """The same of a register that would stand behind a box and nothing else."""
        key = f"box {name}"
        if key not in self._depths:
            self._depths[key] = self._behind([bits.term for bits in self._netlist.boxes[name].inputs.values()], 1)
        return self._depths[key]

    # 1. what values are made of

    def _atoms(self, term: Term, step: int, depth: int) -> frozenset[Atom]:
        """What has to hold of a term where it is read by a register, or by a box in front of one, of that depth."""
        key = (term, step, depth)
        if key not in self._known:
            self._known[key] = self._worked_out(term, step, depth)
        return self._known[key]

    def _worked_out(self, term: Term, step: int, depth: int) -> frozenset[Atom]:
        if term.is_value():
            return frozenset()
        if term.is_const():
            source = self._netlist.source[term]
            if source.kind == "box":
                behind = (bits.term for bits in self._netlist.behind(term))
                return self._of_all(behind, step, self.box_depth(source.name))
            if source.kind == "register":
                return frozenset([self._of_register(source.name, step, depth)])
            return frozenset([NEVER if self._registers.is_control(term) else ("operand", "", step)])
        if self._is_decided(term):
            condition, yes, no = term.children()
            is_chosen = self._registers.is_chosen(condition, step)
            decided: Atom = ("condition", str(self._number(condition)), int(is_chosen))
            return self._atoms(yes if is_chosen else no, step, depth) | {decided}
        return self._of_all(term.children(), step, depth)

    def _of_all(self, terms: Iterable[Term], step: int, depth: int) -> frozenset[Atom]:
        found = frozenset[Atom]()
        for term in terms:
            found |= self._atoms(term, step, depth)
        return found

    def _of_register(self, name: str, step: int, depth: int) -> Atom:
        if name not in self._registers.data:
            return NEVER
        if not self.is_of_step_before(name, depth):
            return ("register", name, step)
        return ("register", name, step - 1) if step > 1 else NEVER

    def _is_decided(self, term: Term) -> bool:
        """Whether the handshake alone says which of two a term is."""
        return is_choice(term) and self._registers.is_control(term.children()[0])

    def _number(self, condition: Term) -> int:
        if condition not in self._numbers:
            self._numbers[condition] = len(self._conditions)
            self._conditions.append(condition)
        return self._numbers[condition]

    # 2. where registers stand

    def _behind(self, terms: Iterable[Term], step: int) -> int:
        """The depth of a register that takes these terms."""
        sources = frozenset[str]().union(*(self._sources_of(term, step) for term in terms))
        depths = [self.depth(name) if name else 0 for name in sources]
        return 1 + max((depth for name, depth in zip(sources, depths, strict=True) if not name or depth), default=-1)

    def _sources_of(self, term: Term, step: int) -> frozenset[str]:
        """The registers of which a term is made, and "" where it is made of operands too."""
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
        elif self._is_decided(term):
            condition, yes, no = term.children()
            children = [yes if self._registers.is_chosen(condition, step) else no]
        else:
            children = list(term.children())
        return frozenset[str]().union(*(self._sources_of(child, step) for child in children))

    def _follow(self) -> None:
        """From the registers that the result reads back to the operands; those that hold constants, which have no place of
        their own, after their readers."""
        self._read_by(self._result, self.shape.stages + 1, self.shape.steps)
        waiting, constants = [name for kind, name, _ in self._result if kind == "register"], list[str]()
        done = set[str]()
        while waiting or constants:
            reader = waiting.pop() if waiting else constants.pop(0)
            depth = self.depth(reader)
            if reader in done:
                continue
            if not depth and waiting:
                constants.append(reader)
                continue
            done.add(reader)
            for step in self._steps:
                atoms = self.meant(reader, step)
                self._read_by(atoms, depth or min(self._reads[reader].get(step, [0])), step)
                names = [name for kind, name, _ in atoms if kind == "register"]
                waiting += [name for name in names if self.depth(name)]
                constants += [name for name in names if not self.depth(name)]

    def _read_by(self, atoms: Iterable[Atom], depth: int, step: int) -> None:
        """Note in which stage a step is when registers have to hold what a register of that depth takes of them."""
        for kind, name, of_step in atoms:
            if kind == "register":
                stage = depth - 1 if of_step == step else self.shape.stages
                self._reads.setdefault(name, {}).setdefault(of_step, []).append(stage)

    def _live(self, name: str) -> dict[int, range]:
        """By step: the stages in which the step is while the register has to hold what it is meant to. What holds a constant
        has to hold it no sooner than it is read."""
        depth = self.depth(name)
        return {step: range(depth or min(stages), max(stages) + 1) for step, stages in sorted(self._reads[name].items())}

    # 3. bits

    def _grouped(self) -> list[Group]:
        """The coarsest groups of registers whose bits agree whatever happens."""
        names = sorted(self._reads, key=lambda name: (self.depth(name), name))
        lives = {name: self._live(name) for name in names}
        parts = _parted(names, {name: str(lives[name]) for name in names})
        kept = self._logic.terms.free("kept", 1)
        while True:
            groups = [Group(part, self._bits(number), lives[part[0]]) for number, part in enumerate(parts)]
            group_of = {name: group for group in groups for name in group.names}
            after = {
                name: tuple(self._after(name, step, self._logic.bit(kept), group_of) for step in self._steps)
                for name in names
            }
            finer = [each for part in parts for each in _parted(part, after)]
            if len(finer) == len(parts):
                return groups
            parts = finer

    def _bits(self, number: int) -> dict[int, Bits]:
        return {step: self._logic.terms.free(f"registers {number} hold step {step}", 1) for step in self._steps}

    def _after(self, name: str, step: int, kept: Term, group_of: Mapping[str, Group]) -> Term:
        logic, taken = self._logic, self._registers.takes(name, step)
        own = self._netlist.registers[name].term
        if taken is None:
            return logic.false

        def walk(term: Term) -> Term:
            if term == own:
                return kept
            if term == taken:
                atoms = sorted(self.meant(name, step), key=lambda atom: (atom[0], self._place(atom, group_of), atom))
                return logic.all(self._holds(atom, group_of) for atom in atoms)
            if self._is_decided(term):
                condition, yes, no = term.children()
                return logic.choice(condition, walk(yes), walk(no))
            return logic.false

        return walk(self._netlist.after[name].term)

    def _place(self, atom: Atom, group_of: Mapping[str, Group]) -> str:
        return group_of[atom[1]].names[0] if atom[0] == "register" and atom[1] in group_of else ""

    def _holds(self, atom: Atom, group_of: Mapping[str, Group]) -> Term:
        kind, name, step = atom
        if kind == "operand":
            return self._logic.bit(self.arrives[step])
        if kind == "condition":
            condition = self._conditions[int(name)]
            return condition if step else self._logic.no(condition)
        if kind == "register" and name in group_of:
            return self._logic.bit(group_of[name].bits[step])
        return self._logic.false


def _parted(names: Iterable[str], by: Mapping[str, object]) -> list[tuple[str, ...]]:
    """Names in parts that agree in something."""
    found: dict[object, list[str]] = {}
    for name in names:
        found.setdefault(by[name], []).append(name)
    return [tuple(part) for part in found.values()]
