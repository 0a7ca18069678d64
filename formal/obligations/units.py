"""The obligations of a unit's datapath, as questions for a solver."""

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from bitwuzla import BitwuzlaException, TermManager

from formal.obligations.maximum import is_comparison
from formal.obligations.netlist import CutNetlist
from formal.obligations.proof import IncompleteProof, Proof
from formal.obligations.steps import proved_steps
from formal.obligations.trees import is_row
from formal.smtlib import question
from formal.specification.flushed_fma import ftz_eo_fma, ftz_fma
from formal.specification.fma import fma
from formal.specification.ftz_addmul import ftz_addmul
from formal.specification.fused import e_fdpa, gst_fdpa, st_fdpa, t_fdpa
from formal.specification.integers import idpa
from formal.specification.keep import Keep
from formal.specification.rounded import gtr_fdpa, tr_fdpa
from golden import Operation, Unit
from golden.operations import EFDPA, FMA, FTZEOFMA, FTZFMA, GSTFDPA, GTRFDPA, IDPA, STFDPA, TFDPA, TRFDPA, FTZAddMul
from rtl.designs.ports import step_operands
from rtl.steps.truncate import TRUNCATED
from rtl.verilog.emit import to_verilog
from rtl.verilog.expressions import NoTerm
from rtl.verilog.netlist import UnreadableVerilog, read_netlist
from rtl.verilog.syntax import Module
from rtl.verilog.terms import Bits, Terms

TOP = "unit"
"""What the top module is called: part of no question."""

DEPTH = 100_000
"""Python's stack while terms are made: a wire is worked out from those before it."""

Specify = Callable[[Terms, Any, Mapping[str, Bits], Keep], Bits]

SPECIFICATIONS: Mapping[type[Operation], Specify] = {
    TFDPA: t_fdpa, STFDPA: st_fdpa, GSTFDPA: gst_fdpa, EFDPA: e_fdpa, TRFDPA: tr_fdpa, GTRFDPA: gtr_fdpa,
    IDPA: idpa, FMA: fma, FTZAddMul: ftz_addmul, FTZFMA: ftz_fma, FTZEOFMA: ftz_eo_fma,
}  # fmt: skip
"""Of d, by operation."""

WHOLE = ("_normalise", "_round", "_encode", TRUNCATED)
"""Components whose outputs are not cut: normalise, round and encode are one step of golden, and truncate with them."""

ROUNDED_SUMS: tuple[type[Operation], ...] = (FMA, FTZAddMul, FTZFMA, FTZEOFMA)
"""Operations whose specification keeps what encode gives."""


class NotProvable(Exception):
    """A unit of which the obligations cannot be put together."""


@dataclass(frozen=True)
class Question:
    """An obligation as a solver sees it.

    Attributes:
        name: of the step. text: the script, which must never be satisfied. wires: what the variables v0, v1 … stand for.
    """

    name: str
    text: str
    wires: tuple[str, ...]


def unit_questions(unit: Unit, verilog: str | None = None) -> list[Question]:
    """The questions of a unit's combinational datapath; where all of them are answered with never, d is golden's d for every
    input. That they suffice has been checked.

    Args:
        verilog: of the datapath, its top module called `unit`; None for the one that is generated.

    Raises:
        NotProvable: no specification of the operation, Verilog that is not this unit's, or steps that do not lead from the
            ports to d.
    """
    combinational = replace(unit, implementation=replace(unit.implementation, stages=0))
    if verilog is None:
        verilog = to_verilog(combinational, TOP)
    problem = ""
    with deep_stack() as manager:
        try:
            return _questions(unit_proof(Terms(manager), combinational, verilog))
        except (IncompleteProof, NoTerm, UnreadableVerilog) as error:
            problem = str(error)
        except BitwuzlaException:  # its message names terms
            problem = f"the Verilog has wires of other widths than the steps of {unit.name} give"
    raise NotProvable(problem)


@contextmanager
def deep_stack() -> Iterator[TermManager]:
    """Room on Python's stack for terms, and their manager; at the end circuits, which refer to themselves, go before it."""
    manager, limit = TermManager(), sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEPTH))
    try:
        yield manager
    finally:
        sys.setrecursionlimit(limit)
        gc.collect()


def unit_proof(terms: Terms, unit: Unit, verilog: str) -> Proof:
    """The proof of a combinational datapath, its obligations open.

    Raises:
        NotProvable, IncompleteProof, NoTerm, UnreadableVerilog, BitwuzlaException: where `unit_questions` raises
            NotProvable.
    """
    operation = unit.operation
    problem = unspecified(operation)
    if problem is not None:
        raise NotProvable(problem)
    specify = SPECIFICATIONS[type(operation)]
    modules = read_netlist(verilog)
    _check_ports(modules, operation)
    whole = tuple(name for name in WHOLE if name != "_encode") if isinstance(operation, ROUNDED_SUMS) else WHOLE
    cut = {instance.name for instance in modules[TOP].instances if not instance.name.endswith(whole)}
    netlist = CutNetlist(terms, modules, TOP, cut, lambda wire: is_row(wire) or is_comparison(wire))
    return proved_steps(lambda keep: specify(terms, operation, netlist.inputs, keep), netlist, unit.implementation)


def _check_ports(modules: Mapping[str, Module], operation: Operation) -> None:
    """Raise NotProvable unless the top module has the ports of an operation's datapath."""
    if TOP not in modules:
        raise NotProvable(f"the Verilog must have a module {TOP}, got {', '.join(modules) or 'none'}")
    module = modules[TOP]
    for name, elements in step_operands(operation).items():
        direction = "output" if name == "d" else "input"
        if module.directions.get(name) != direction:
            raise NotProvable(f"the Verilog must have an {direction} {name}, got {', '.join(module.directions)}")
        if module.width(name) != elements.width:
            raise NotProvable(f"port {name} must have the {elements.width} bits of {elements}, got {module.width(name)}")


def unspecified(operation: Operation) -> str | None:
    """What of an operation has no specification; None where all of it has one."""
    if type(operation) not in SPECIFICATIONS:
        return f"there is no specification of {operation.name} yet"
    return None


def _questions(proof: Proof) -> list[Question]:
    found: dict[str, Question] = {}
    for obligation in proof.obligations:
        text, variables = question(obligation.violated)
        wires = tuple(str(variable.symbol()) for variable in variables)
        found.setdefault(text, Question(obligation.name, text, wires))
    return list(found.values())
