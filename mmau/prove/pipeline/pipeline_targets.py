"""Designs with registers or of several formats: the combinational datapath and the intended structure of each; and tiles
whose operands are converted first (FP8 run as FP16): the proof of the converters and of the addition of c."""

from collections.abc import Sequence
from dataclasses import replace

from golden import Unit
from golden.arithmetic.conversion import conversion
from golden.chains.chain import Chain
from mmau.prove.datapath.cut_netlist import CutNetlist
from mmau.prove.datapath.kernel import Proof
from mmau.prove.datapath.max_exp import is_comparison
from mmau.prove.datapath.stepwise import proved_steps
from mmau.prove.datapath.trees import is_row
from mmau.prove.datapath.unit_questions import TOP, WHOLE, NotProvable, Question, questions_of
from mmau.prove.netlist.terms import Terms, deep_stack
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.prove.pipeline.register_roles import Shape
from mmau.prove.specification.fma import addition, to_fp16
from rtl.datapath.base import Datapath, in_parts
from rtl.datapath.rounded_adder import RoundedAddition
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.product_design import SumsDesign
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign, as_design
from rtl.steps.component import never_built
from rtl.verilog.emit import modules


def chain_of(design: Design) -> Chain | None:
    """The chain of a tile whose operands are converted; None for any other design."""
    chain = design.instruction.chain if isinstance(design, TileDesign) else None
    return chain if chain is not None and chain.fp16_order is not None else None


def addition_verilog(design: Design) -> str | None:
    """The Verilog of the combinational addition of c, its top module called `unit`; None if there is none."""
    chain = chain_of(design)
    if chain is None:
        return None
    rho = conversion(f"RNE-{chain.operation.d.name.upper()}")
    return modules(RoundedAddition(rho, design.implementation), TOP)


def converted_questions(design: Design, verilog: str) -> list[Question]:
    """The questions about what converts and what adds: that every converter of the tile gives its code as fp16, and that
    the addition gives the rounded sum.

    Args:
        verilog: the Verilog of the tile, its top module called `unit`.

    Raises:
        NotProvable: the steps do not lead from the ports to the result. NoTerm: a statement that has no term.
    """
    chain, added = chain_of(design), addition_verilog(design)
    if chain is None or added is None:
        return []
    of_tile = read_netlist(verilog)
    found: list[Question] = []
    for name, fmt in (("a", chain.a), ("b", chain.b)):
        used = {each.module for each in of_tile[TOP].instances if each.name.startswith(f"convert_{name}_")}
        if not used:
            raise NotProvable(f"nothing converts {name}")
        for module in sorted(used):
            with deep_stack() as manager:
                terms = Terms(manager)
                netlist = CutNetlist(terms, of_tile, module, (), lambda wire: False)
                proof, code = Proof(netlist), netlist.inputs["code"]
                equal = terms.equal(netlist.outputs["converted"], to_fp16(terms, fmt, code))
                proof.establish(f"convert_{name}", [equal])
                found += questions_of(proof)
                del netlist, proof, code, equal, terms
    with deep_stack() as manager:
        found += questions_of(addition_proof(Terms(manager), chain, design, added))
    return found


def addition_proof(terms: Terms, chain: Chain, design: Design, verilog: str) -> Proof:
    """The proof of the addition, its obligations open.

    Raises:
        IncompleteProof, NoTerm: where `converted_questions` raises.
    """
    modules_of, whole = read_netlist(verilog), tuple(name for name in WHOLE if name != "_encode")
    cut: Sequence[str] = [each.name for each in modules_of[TOP].instances if not each.name.endswith(whole)]
    netlist = CutNetlist(terms, modules_of, TOP, cut, lambda wire: is_row(wire) or is_comparison(wire))
    d = chain.operation.d
    return proved_steps(lambda observer: addition(terms, d, netlist.inputs, observer), netlist, design.implementation)


def datapath_of(design: Design) -> Unit:
    """The unit whose combinational datapath a design of one format consists of.

    Raises:
        NotProvable: a design of several formats.
    """
    built = design.implementation.combinational
    match design:
        case UnitDesign() | SumsDesign():
            return replace(design.unit, implementation=built)
        case TileDesign():
            return Unit(name=design.instruction.step_name, operation=design.operation, implementation=built)
    raise NotProvable(f"{design.name} must consist of the datapath of one unit")


def combinational(design: Design) -> Design:
    """The combinational datapath that a design consists of."""
    if isinstance(design, MultiFormatDesign):
        built = design.implementation.combinational
        return MultiFormatDesign(tuple(replace(unit, implementation=built) for unit in design.units))
    if isinstance(design, ControlledDesign):
        return replace(design, unit=replace(design.unit, implementation=design.implementation.combinational))
    return as_design(datapath_of(design))


def parts_of(design: Design) -> str | None:
    """The Verilog of the combinational datapath, divided into the parts that the design's registers cut its steps into. Its
    top module is called `unit`. None where registers cut no step."""
    datapath = combinational(design).component()
    never_built(datapath)
    assert isinstance(datapath, Datapath)
    parts = in_parts(datapath, design.implementation.registers)
    return None if parts is None else modules(parts, TOP)


def shape_of(design: Design) -> Shape:
    """The intended numbers of registers and steps of a design: of transfers for one result."""
    steps = len(design.shape.transfers) if isinstance(design, TileDesign) else 1
    return Shape(design.implementation.stages, steps)
