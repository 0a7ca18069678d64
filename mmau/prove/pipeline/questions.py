"""The proof of a design with registers as questions for a solver: each transfer of operands gives one result, in order, for
any stalls, and that result equals the combinational datapath's.

The questions are about the Verilog that `mmau rtl` writes. If all of them are unsatisfiable, the claim holds from the first
reset on; docs/guides/formal.md, "Pipelines and handshake", argues that they suffice.
"""

from mmau.prove.datapath.kernel import IncompleteProof
from mmau.prove.datapath.unit_questions import NotProvable, Question, unit_questions
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.terms import Terms, deep_stack
from mmau.prove.pipeline.converted_tiles import converted_questions
from mmau.prove.pipeline.cut_steps import cut_questions
from mmau.prove.pipeline.multi_format import format_questions
from mmau.prove.pipeline.pipeline import TOP, Pipeline
from mmau.prove.pipeline.pipeline_targets import combinational, datapath_of, parts_of, shape_of
from mmau.prove.pipeline.shortest_trace import Trace, shortest_trace
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.verilog.emit import to_verilog


def pipeline_questions(design: Design, verilog: str | None = None) -> list[Question]:
    """The questions of a unit, a tile or a datapath of several formats: those about its registers, if it has any, and those
    about its combinational datapath.

    Args:
        verilog: the design, with a top module called `unit`; None for the generated Verilog.

    Raises:
        NotProvable: a handshake that is not understood, values that differ in structure from the combinational datapath's,
            or no specification of the operation.
    """
    text = to_verilog(design, TOP) if verilog is None else verilog
    if not design.implementation.stages:
        return datapath_questions(design, text)
    datapath = to_verilog(combinational(design), TOP)
    of_datapath = datapath_questions(combinational(design), datapath)
    return [*register_questions(design, text, datapath), *_beside_datapath(design, text), *of_datapath]


def _beside_datapath(design: Design, verilog: str) -> list[Question]:
    """The questions about converters and additions of a tile."""
    problem = ""
    try:
        return converted_questions(design, verilog)
    except (IncompleteProof, NoTerm) as error:
        problem = str(error)
    raise NotProvable(problem)


def datapath_questions(design: Design, verilog: str) -> list[Question]:
    """The questions of a combinational datapath.

    Raises:
        NotProvable: no specification of the operation, or the steps do not lead from the ports to d.
    """
    if isinstance(design, MultiFormatDesign):
        return format_questions(design, verilog)
    return unit_questions(datapath_of(design), verilog)


def assumed(design: Design) -> tuple[str, ...]:
    """The assumptions about the environment that drives a design."""
    if not design.implementation.stages:
        return ()
    lines = ["rst is high in the first cycle", "in a cycle in which rst is high no transfer happens"]
    if shape_of(design).steps > 1:
        lines.append("how soon the result comes counts on operands of the next step being there")
    return tuple(lines)


def register_questions(design: Design, verilog: str | None = None, datapath: str | None = None) -> list[Question]:
    """The questions about the registers of a design: about its handshake and its values; and where they cut steps inside,
    whether the parts compute what the whole steps do.

    Args:
        verilog: the Verilog of the design; see `pipeline_questions`. datapath: the Verilog of its combinational datapath,
            likewise.

    Raises:
        NotProvable: as `pipeline_questions`, but for the operation's specification.
    """
    if not design.implementation.stages:
        raise NotProvable(f"{design.name} has no registers")
    text = to_verilog(design, TOP) if verilog is None else verilog
    reference = to_verilog(combinational(design), TOP) if datapath is None else datapath
    parts, problem = parts_of(design), ""
    about_parts = [] if parts is None else cut_questions(reference, parts)
    with deep_stack() as manager:
        try:
            return [*Pipeline(Terms(manager), design, text).questions(parts or reference), *about_parts]
        except (IncompleteProof, NoTerm, NotProvable) as error:
            problem = str(error)
    raise NotProvable(problem)


def handshake_trace(design: Design, verilog: str, seconds: float) -> Trace | None:
    """Cycles from a reset on that break a rule of the handshake; None if there are none, or none is found in time.

    Args:
        verilog: the design, with a top module called `unit`. seconds: CPU time of this process.

    Raises:
        NotProvable: registers of unknown purpose.
    """
    problem = ""
    with deep_stack() as manager:
        try:
            return shortest_trace(Pipeline(Terms(manager), design, verilog).handshake, seconds)
        except (NoTerm, NotProvable) as error:
            problem = str(error)
    raise NotProvable(problem)
