"""What is to be proved of a design with registers, as questions for a solver: that every result is that of its own operands,
each once and in order, whatever the stalls are, and that it is what the combinational datapath gives.

All of it is about the Verilog that `mmau rtl` writes. Where every question is answered with never, it holds from the first
reset on; that these questions suffice is formal/pipelines' argument (docs/formal.md, "Pipelines and handshake").
"""

from formal.obligations.units import NotProvable, Question, deep_stack, unit_questions
from formal.pipelines.formats import format_questions
from formal.pipelines.pipeline import TOP, Pipeline
from formal.pipelines.subjects import combinational, datapath_of, shape_of
from formal.pipelines.trace import Trace, shortest_trace
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.verilog.emit import to_verilog
from rtl.verilog.expressions import NoTerm
from rtl.verilog.terms import Terms


def pipeline_questions(design: Design, verilog: str | None = None) -> list[Question]:
    """The questions of a unit, a tile or a datapath of several formats: those that its registers raise, where there are any,
    and those of its combinational datapath.

    Args:
        verilog: of the design, its top module called `unit`; None for the one that is generated.

    Raises:
        NotProvable: a handshake that is not understood, values that are made of other than what the combinational datapath
            makes them of, or no specification of the operation.
    """
    text = to_verilog(design, TOP) if verilog is None else verilog
    if not design.implementation.stages:
        return datapath_questions(design, text)
    datapath = to_verilog(combinational(design), TOP)
    return [*register_questions(design, text, datapath), *datapath_questions(combinational(design), datapath)]


def datapath_questions(design: Design, verilog: str) -> list[Question]:
    """The questions of a combinational datapath.

    Raises:
        NotProvable: no specification of the operation, or the steps do not lead from the ports to d.
    """
    if isinstance(design, MultiFormatDesign):
        return format_questions(design, verilog)
    return unit_questions(datapath_of(design), verilog)


def assumed(design: Design) -> tuple[str, ...]:
    """What is assumed of whoever drives a design."""
    if not design.implementation.stages:
        return ()
    lines = ["rst is high in the first cycle", "in a cycle in which rst is high no transfer happens"]
    if shape_of(design).steps > 1:
        lines.append("how soon the result comes counts on operands of the next step being there")
    return tuple(lines)


def register_questions(design: Design, verilog: str | None = None, datapath: str | None = None) -> list[Question]:
    """The questions that the registers of a design raise: its handshake, and what values are made of.

    Args:
        verilog: as `pipeline_questions`. datapath: the Verilog of the combinational datapath that it consists of, likewise.

    Raises:
        NotProvable: as `pipeline_questions`, but for the operation's specification.
    """
    if not design.implementation.stages:
        raise NotProvable(f"{design.name} has no registers")
    text = to_verilog(design, TOP) if verilog is None else verilog
    reference = to_verilog(combinational(design), TOP) if datapath is None else datapath
    problem = ""
    with deep_stack() as manager:
        try:
            return Pipeline(Terms(manager), design, text).questions(reference)
        except (NoTerm, NotProvable) as error:
            problem = str(error)
    raise NotProvable(problem)


def handshake_trace(design: Design, verilog: str, seconds: float) -> Trace | None:
    """Cycles from a reset on that break a rule of the handshake; None where there are none, or none is found in time.

    Args:
        verilog: of the design, its top module called `unit`. seconds: of this process.

    Raises:
        NotProvable: registers of which it is not known what they are for.
    """
    problem = ""
    with deep_stack() as manager:
        try:
            return shortest_trace(Pipeline(Terms(manager), design, verilog).handshake, seconds)
        except (NoTerm, NotProvable) as error:
            problem = str(error)
    raise NotProvable(problem)
