"""The obligations of a unit's datapath, as questions for a solver."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any

from bitwuzla import BitwuzlaException

from golden import Operation, Unit
from golden.operations import CVT, EFDPA, FMA, FTZEOFMA, FTZFMA, OPERATIONS, FTZAddMul
from golden.units.random_dot import with_random_step
from golden.units.unit import MULTIPLIERS
from mmau.prove import specification
from mmau.prove.datapath.cut_netlist import CutNetlist
from mmau.prove.datapath.kernel import Facts, IncompleteProof, Proof
from mmau.prove.datapath.max_exp import is_comparison
from mmau.prove.datapath.stepwise import proved_steps
from mmau.prove.datapath.trees import is_partial_row, is_row
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.netlist.verilog_text import UnreadableVerilog, read_netlist
from mmau.prove.smtlib import question
from mmau.prove.specification.fused import e_fdpa
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.random_bits import with_random
from mmau.prove.specification.sums import program_of_sums
from rtl.designs.product_design import unit_operands
from rtl.steps.truncate import TRUNCATE
from rtl.verilog.emit import to_verilog

TOP = "unit"
"""The name of the top module; no question contains it."""

Operands = Callable[[Terms, Mapping[str, Bits]], Mapping[str, Bits]]
"""Makes the operands of a unit of the input ports."""

Specify = Callable[[Terms, Any, Mapping[str, Bits], Observer], Bits]


def _specifications() -> Iterator[tuple[type[Operation], Specify]]:
    """Each operation with the function of its file's name, which a module of the specification defines."""
    modules = [import_module(f"{specification.__name__}.{each.name}") for each in iter_modules(specification.__path__)]
    for operation in OPERATIONS.values():
        name = operation.__module__.rpartition(".")[2]
        for function in (getattr(module, name, None) for module in modules):
            if callable(function):
                yield operation, function


SPECIFICATIONS: Mapping[type[Operation], Specify] = dict(_specifications())
"""The specification of d, by operation."""

WHOLE = ("_normalise", "_round", "_encode", TRUNCATE, "add_random")
"""Components whose outputs are not cut: normalise, round and encode are one step of golden, together with truncate."""

ENCODED = "sum_encode"
"""The component whose result is the code of a fused operation's sum."""

ROUNDED_SUMS: tuple[type[Operation], ...] = (FMA, FTZAddMul, FTZFMA, FTZEOFMA, CVT)
"""Operations whose specification has the result of encode as a value."""


class NotProvable(Exception):
    """A unit whose obligations cannot be built."""


@dataclass(frozen=True)
class Question:
    """An obligation as a script for a solver.

    Attributes:
        name: the name of the step. text: the script, which must be unsatisfiable.
        wires: the wires of the variables v0, v1 ….
    """

    name: str
    text: str
    wires: tuple[str, ...]


def unit_questions(
    unit: Unit,
    verilog: str | None = None,
    fixed: Mapping[str, int] = MappingProxyType({}),
    operands: Operands | None = None,
    before: str = "",
) -> list[Question]:
    """The questions of a unit's combinational datapath. If all of them are unsatisfiable, d is golden's d for every input;
    `Proof.concluded` checks that they suffice.

    Args:
        verilog: the datapath, with a top module called `unit`; None for the generated Verilog.
        fixed: the codes of inputs that choose the unit.
        operands: makes its operands of the ports; None if they are the ports.
        before: what the names of its components begin with, if it is one of several datapaths.

    Raises:
        NotProvable: no specification of the operation, Verilog that is not this unit's, or steps that do not lead from the
            ports to d.
    """
    combinational = replace(unit, implementation=unit.implementation.combinational)
    if verilog is None:
        verilog = to_verilog(combinational, TOP)
    problem = ""
    with deep_stack() as manager:
        try:
            return questions_of(unit_proof(Terms(manager), combinational, verilog, fixed, operands, before))
        except (IncompleteProof, NoTerm, UnreadableVerilog) as error:
            problem = str(error)
        except BitwuzlaException:  # its message names terms
            problem = f"the Verilog has wires of other widths than the steps of {unit.name} give"
    raise NotProvable(problem)


def unit_proof(
    terms: Terms,
    unit: Unit,
    verilog: str,
    fixed: Mapping[str, int] = MappingProxyType({}),
    operands: Operands | None = None,
    before: str = "",
) -> Proof:
    """The proof of a combinational datapath, its obligations open; arguments as for `unit_questions`.

    Raises:
        NotProvable, IncompleteProof, NoTerm, UnreadableVerilog, BitwuzlaException: where `unit_questions` raises
            NotProvable.
    """
    specify = specification_of(unit)
    modules = read_netlist(verilog)
    # the ports of operands that inputs choose are those of the design, which may have no c where its multiply-add has one
    _check_ports(modules, unit, ("d",) if operands is not None else tuple(unit_operands(unit)))
    rounds = unit.sums is not None or unit.random is not None or isinstance(unit.operation, ROUNDED_SUMS)
    whole = tuple(name for name in WHOLE if name != "_encode") if rounds else WHOLE
    cut = {instance.name for instance in modules[TOP].instances if not instance.name.endswith(whole)}
    in_rows = unit.implementation.multiplier != MULTIPLIERS[0]
    netlist = CutNetlist(
        terms,
        modules,
        TOP,
        cut,
        lambda wire: is_row(wire) or is_comparison(wire) or (in_rows and is_partial_row(wire)),
        fixed,
        before,
    )
    ports = netlist.inputs if operands is None else operands(terms, netlist.inputs)
    return proved_steps(lambda observer: specify(terms, ports, observer), netlist, unit.implementation)


def specification_of(unit: Unit) -> Callable[[Terms, Mapping[str, Bits], Observer], Bits]:
    """The specification of a unit's d, from its operand ports.

    Raises:
        NotProvable: its operation has none.
    """
    if unit.sums is not None:
        return lambda terms, ports, observer: program_of_sums(terms, unit, ports, observer)
    if unit.random is not None:
        (wide, step), port = with_random_step(unit), unit.random.port
        of_wide = specification_of(wide)
        return lambda terms, ports, observer: with_random(
            terms, step, observer.code(ENCODED, of_wide(terms, ports, observer)), ports[port]
        )
    operation, problem = unit.operation, unspecified(unit.operation)
    if problem is not None:
        raise NotProvable(problem)
    specify = SPECIFICATIONS[type(operation)]
    if isinstance(operation, EFDPA) and unit.implementation.accumulator == "long":
        specify = partial(e_fdpa, own_places=True)
    return lambda terms, ports, observer: specify(terms, operation, ports, observer)


def _check_ports(modules: Mapping[str, Module], unit: Unit, names: Sequence[str]) -> None:
    """Raise NotProvable unless the top module has these ports of a unit's datapath."""
    if TOP not in modules:
        raise NotProvable(f"the Verilog must have a module {TOP}, got {', '.join(modules) or 'none'}")
    module = modules[TOP]
    for name in names:
        elements = unit_operands(unit)[name]
        direction = "output" if name == "d" else "input"
        if module.directions.get(name) != direction:
            raise NotProvable(f"the Verilog must have an {direction} {name}, got {', '.join(module.directions)}")
        if module.width(name) != elements.width:
            raise NotProvable(f"port {name} must have the {elements.width} bits of {elements}, got {module.width(name)}")


def unspecified(operation: Operation) -> str | None:
    """The feature of an operation that has no specification; None if every feature has one."""
    if type(operation) not in SPECIFICATIONS:
        return f"there is no specification of {operation.name} yet"
    return None


def questions_of(proof: Facts) -> list[Question]:
    """The obligations of a proof as questions, each once."""
    found: dict[str, Question] = {}
    for obligation in proof.obligations:
        text, variables = question(obligation.violated)
        wires = tuple(str(variable.symbol()) for variable in variables)
        found.setdefault(text, Question(obligation.name, text, wires))
    return list(found.values())
