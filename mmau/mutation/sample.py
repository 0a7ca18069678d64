"""The choice of mutants of a file: seeded, and balanced over all kinds in all steps of the datapath."""

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mmau.mutation.connections import connection_changes
from mmau.mutation.mutations import KINDS, VALUE, Change, changes
from mmau.prove.netlist.syntax import Module, Operand


@dataclass(frozen=True)
class Mutant:
    """One fault in a file.

    Attributes:
        number: the number that selects the mutant, from 1. kind: one of `KINDS`.
        step: the step of the datapath, from the name of the module: decode, multiply, align … module: the module's name
            in the file.
        place: the wire that is assigned, or instance and port. line: the line of the file, from 1.
        before, after: Verilog text; in `after`, `$value` is what `before` gives.
    """

    number: int
    kind: str
    step: str
    module: str
    place: str
    line: int
    before: str
    after: str

    @property
    def name(self) -> str:
        """The fault in one line."""
        after = self.after.replace(VALUE, f"({self.before.strip()})").strip()
        return f"{self.kind} in {self.module}, {self.place} (line {self.line}): {self.before.strip()} becomes {after}"


def step_of(module: str, top: str) -> str:
    """The datapath's step that a module is: `unit_align_2` is `align`, `unit_decode_fp16` is `decode`; `top` is the top."""
    if module == top:
        return "top"
    name = module.removeprefix(f"{top}_")
    return re.split(r"_\d+$|(?<=decode)_", name)[0]


def mutants_of(modules: Mapping[str, Module], top: str, count: int, seed: int) -> list[Mutant]:
    """`count` mutants, or all if there are fewer: in turn one of each kind in each step.

    Raises:
        ValueError: no mutant at all.
    """
    groups: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in _all_mutants(modules, top, seed):
        groups.setdefault((mutant.kind, mutant.step), []).append(mutant)
    if not groups:
        raise ValueError(f"{top} has nothing to mutate: no assignment with an operator or a number")
    order = sorted(groups, key=lambda group: (KINDS.index(group[0]), group[1]))
    random.Random(f"groups {seed}").shuffle(order)
    for group in order:
        random.Random(f"{seed} {group}").shuffle(groups[group])
    chosen: dict[tuple[int, str], Mutant] = {}  # by line and text: a mutation that two kinds share occurs once
    while len(chosen) < count and any(groups.values()):
        for group in order:
            if groups[group] and len(chosen) < count:
                mutant = groups[group].pop()
                chosen.setdefault((mutant.line, " ".join(mutant.after.split())), mutant)
    in_order = sorted(chosen.values(), key=lambda mutant: (mutant.line, KINDS.index(mutant.kind), mutant.after))
    return [_numbered(mutant, number) for number, mutant in enumerate(in_order, 1)]


def _numbered(mutant: Mutant, number: int) -> Mutant:
    return Mutant(
        number, *(getattr(mutant, name) for name in ("kind", "step", "module", "place", "line", "before", "after"))
    )


def _all_mutants(modules: Mapping[str, Module], top: str, seed: int) -> Iterator[Mutant]:
    rng = random.Random(f"bits {seed}")
    for module in modules.values():
        step = step_of(module.name, top)
        for assignment in module.assignments:
            before, place = assignment.expression.text, assignment.target.text.strip()
            for change in _different(changes(module, step, assignment, rng.randrange), before):
                yield Mutant(0, change.kind, step, module.name, place, assignment.line, before, change.after)
        for instance in module.instances:
            for connection, change in connection_changes(module, modules, instance, rng.randrange):
                operand: Operand | None = connection.operand
                before, place = operand.text if operand else "", f"{instance.name}.{connection.port}"
                yield Mutant(0, change.kind, step, module.name, place, connection.line, before, change.after)


def _different(found: Iterator[Change], before: str) -> Iterator[Change]:
    """Each text once, under its first kind, and none that changes nothing."""
    seen = {" ".join(before.split())}
    for change in found:
        text = " ".join(change.after.split())
        if text not in seen:
            seen.add(text)
            yield change
