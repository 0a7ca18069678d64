"""A pipeline without its data: for each register only whether it holds its intended value for one transfer, a token.

Which transfer is followed is left open, so a claim about it holds for all. There is one bit for a register and a step: the
register holds the intended value for that step of the token. The bit is set when the register takes a value all of whose
sources have their intended values, and keeps its state while the register keeps its value; otherwise it is cleared. So a bit
that is set can be relied on, and one that is not set means nothing.

Registers whose bits always agree share one: those of one stage, in a pipeline that is in order.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bitwuzla import Term

from mmau.prove.datapath.unit_questions import NotProvable
from mmau.prove.netlist.flat_netlist import is_choice
from mmau.prove.netlist.terms import Bits
from mmau.prove.pipeline.logic import Logic
from mmau.prove.pipeline.register_roles import Registers


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


Atom = tuple[str, str, int]
"""A condition under which a value is the intended one: ("operand", "", step): the operands are the step's;
("register", name, step): the register holds its intended value; ("condition", number, 1 or 0): a choice is the one made if
nothing stalls; ("never", "", 0)."""

NEVER: Atom = ("never", "", 0)


@dataclass(frozen=True)
class Group:
    """Registers whose bits always agree.

    Attributes:
        names: the names of the registers. bits: for each step, whether they hold their intended values.
        live: for each step, the first and the last stage of the step in which the bit must be set.
    """

    names: tuple[str, ...]
    bits: Mapping[int, Bits]
    live: Mapping[int, range]


class Tokens:
    """The bits of a pipeline, and their next states.

    Args:
        registers: the registers of the netlist. logic: makes terms.

    Attributes:
        groups: the groups of registers that are read. arrives: for each step, that its operands are at the ports and are
            taken.
        positions: depths of registers. result: the conditions under which the result is that of the token.
        output_registers: on which d depends. reads_registers_alone: whether d depends on nothing else.

    Raises:
        NotProvable: a value that depends on itself.
    """

    def __init__(self, registers: Registers, logic: Logic) -> None:
        self._registers, self._logic, self._netlist = registers, logic, registers.netlist
        self.positions = Positions(registers)
        self.shape = registers.shape
        self._steps = range(1, self.shape.steps + 1)
        self._conditions: list[Term] = []
        self._numbers: dict[Term, int] = {}
        self._known: dict[tuple[Term, int, int], frozenset[Atom]] = {}
        self._reads: dict[str, dict[int, list[int]]] = {}
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
        """Whether the registers of a group hold their intended values after the next clock edge."""
        return self._after(group.names[0], step, self._logic.bit(group.bits[step]), self._group_of)

    def kept(self, name: str) -> Term:
        """The formula that a register keeps its value at the next clock edge."""
        state = self._netlist.registers[name].term

        def walk(term: Term) -> Term:
            if term == state:
                return self._logic.true
            if self.positions.is_decided(term):
                condition, yes, no = term.children()
                return self._logic.choice(condition, walk(yes), walk(no))
            return self._logic.false

        return walk(self._netlist.after[name].term)

    def meant(self, name: str, step: int) -> frozenset[Atom]:
        """The conditions under which a register takes its intended value at a step; NEVER if it takes none."""
        taken = self._registers.takes(name, step)
        return frozenset([NEVER]) if taken is None else self._atoms(taken, step, self.positions.depth(name))

    # 1. the sources of values

    def _atoms(self, term: Term, step: int, depth: int) -> frozenset[Atom]:
        """The condition on a term that a register of that depth reads, or an opaque module in front of one."""
        key = (term, step, depth)
        if key not in self._known:
            self._known[key] = self._worked_out(term, step, depth)
        return self._known[key]

    def _worked_out(self, term: Term, step: int, depth: int) -> frozenset[Atom]:
        if term.is_value():
            return frozenset()
        if term.is_const():
            source = self._netlist.source[term]
            if source.kind == "opaque":
                behind = (bits.term for bits in self._netlist.behind(term))
                return self._of_all(behind, step, self.positions.opaque_depth(source.name))
            if source.kind == "register":
                return frozenset([self._of_register(source.name, step, depth)])
            return frozenset([NEVER if self._registers.is_control(term) else ("operand", "", step)])
        if self.positions.is_decided(term):
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
        if not self.positions.is_of_step_before(name, depth):
            return ("register", name, step)
        return ("register", name, step - 1) if step > 1 else NEVER

    def _number(self, condition: Term) -> int:
        if condition not in self._numbers:
            self._numbers[condition] = len(self._conditions)
            self._conditions.append(condition)
        return self._numbers[condition]

    # 2. the stages in which registers are read

    def _follow(self) -> None:
        """The registers from the result back to the operands; those that hold constants, which have no position, follow
        their readers."""
        self._read_by(self._result, self.shape.stages + 1, self.shape.steps)
        waiting, constants = [name for kind, name, _ in self._result if kind == "register"], list[str]()
        done = set[str]()
        while waiting or constants:
            reader = waiting.pop() if waiting else constants.pop(0)
            depth = self.positions.depth(reader)
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
                waiting += [name for name in names if self.positions.depth(name)]
                constants += [name for name in names if not self.positions.depth(name)]

    def _read_by(self, atoms: Iterable[Atom], depth: int, step: int) -> None:
        """Record the stage of a step in which registers must hold the values that a register of that depth takes from
        them."""
        for kind, name, of_step in atoms:
            if kind == "register":
                stage = depth - 1 if of_step == step else self.shape.stages
                self._reads.setdefault(name, {}).setdefault(of_step, []).append(stage)

    def _live(self, name: str) -> dict[int, range]:
        """By step: the stages of the step during which the register must hold its intended value. A register with a constant
        must hold it only from its first reading on."""
        depth = self.positions.depth(name)
        return {step: range(depth or min(stages), max(stages) + 1) for step, stages in sorted(self._reads[name].items())}

    # 3. bits

    def _grouped(self) -> list[Group]:
        """The coarsest groups of registers whose bits always agree."""
        names = sorted(self._reads, key=lambda name: (self.positions.depth(name), name))
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
        state = self._netlist.registers[name].term
        if taken is None:
            return logic.false

        def walk(term: Term) -> Term:
            if term == state:
                return kept
            if term == taken:
                atoms = sorted(self.meant(name, step), key=lambda atom: (atom[0], self._place(atom, group_of), atom))
                return logic.all(self._holds(atom, group_of) for atom in atoms)
            if self.positions.is_decided(term):
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
