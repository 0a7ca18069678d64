"""The Verilog of a design as a circuit of words and registers: Verilator preprocesses it, Yosys reads it.

What is read must mean the same to every tool. Each complaint about it ends the reading, before any pass of Yosys changes
the circuit; initial values are removed.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosim.build.errors import SimulationError
from cosim.build.sources import sources_of
from cosim.dut.description import Dut
from cosim.dut.elaborate import WRAPPER
from cosim.lint.complaints import (
    CONFIGURED,
    OF_ONE_TOOL,
    complaints_of_verilator,
    complaints_of_yosys,
    configurations,
    directives_of_one_tool,
    misread_by_yosys,
    promises,
)
from cosim.lint.expression_findings import effects_left_out, effects_without_order, hidden_inputs
from cosim.lint.preprocessing import (
    CONTINUED,
    Text,
    given_macros,
    macros_behind_comments,
    macros_not_defined,
    macros_of_other_files,
    texts_of,
)
from cosim.lint.storage_elements import irregular_storage
from cosim.lint.verilator_findings import (
    constants_by_initial_value,
    kept_by_functions,
    races,
    tree_of,
    written_by_two_blocks,
)
from cosim.lint.yosys_findings import AS_WRITTEN
from golden import Unit
from golden.files import temporary_folder
from mmau.formal.netlist.syntax import Module
from mmau.formal.netlist.yosys_json import UnreadableCircuit, read_circuit
from mmau.formal.user_design.complaints import quoted
from mmau.formal.user_design.not_compared import NotCompared
from rtl.designs.unit_design import UnitDesign
from rtl.yosys import LOG, YosysError, run_yosys

SIMPLIFIED = "setattr -set keep 1 t:$*dff*; opt -mux_bool -fine -noff; setattr -unset keep t:$*dff*; opt_dff -keepdc; "
"""Passes that simplify without a choice of an undefined value. Registers that may start alike are not merged (`keep`), none
becomes a constant because it may start as one (`-noff`, `-keepdc`), and no undefined input of a choice is left out
(`-mux_undef`)."""

READ = (
    f"{AS_WRITTEN} setattr -unset init w:*; chformal -remove; "
    "techmap -map overlap.v t:$pmux a:parallel_case %i; setundef -undriven -anyseq; memory_collect; "
    "setparam -set INIT 1'x t:$mem_v2 r:WR_PORTS>0 %i; memory_map; "
    "opt_clean; setundef -undriven -anyseq; write_json registers.json; "
    f"async2sync; {SIMPLIFIED} {SIMPLIFIED} opt_clean; dffunmap; "
    "pmuxtree; bmuxmap; demuxmap; opt_clean; write_json circuit.json"
)
"""The Yosys passes. Registers and written memories lose their initial values. An undefined value may be anything at any time
and is never chosen so that two results agree; the pass `memory`, which reads unwritten words as 0, is therefore not used.
Assertions and assumptions of the design are ignored."""

OVERLAP = """(* techmap_celltype = "$pmux" *)
module overlap(A, B, S, Y);
  parameter WIDTH = 1;
  parameter S_WIDTH = 1;
  input [WIDTH-1:0] A;
  input [WIDTH*S_WIDTH-1:0] B;
  input [S_WIDTH-1:0] S;
  output [WIDTH-1:0] Y;
  wire [WIDTH*(S_WIDTH+1)-1:0] chosen;
  assign chosen[WIDTH-1:0] = A;
  genvar k;
  generate
    for (k = 0; k < S_WIDTH; k = k + 1) begin : item
      assign chosen[(k+1)*WIDTH +: WIDTH] = S[k] ? B[k*WIDTH +: WIDTH] : chosen[k*WIDTH +: WIDTH];
    end
  endgenerate
  assign Y = |(S & (S - 1'b1)) ? {WIDTH{1'bx}} : chosen[S_WIDTH*WIDTH +: WIDTH];
endmodule
"""
"""A `unique case`: undefined where two of its items match, because synthesis may then choose neither."""

_LOADS = re.compile(r"\$s?readmem[hb]\b")


@dataclass(frozen=True)
class Reading:
    """A design as it was read.

    Attributes:
        name: the macros that it is read with, if other macros give another text. arguments: of Verilator, for these macros.
        module: the wrapped design, flat, its registers all written at the rising edge of `clk`.
        assumed: what the circuit rests on beside its text: macros of the description, initial values that nothing changes.
        sources: the SHA-256 of each of its files, by path.
    """

    name: str
    arguments: tuple[str, ...]
    module: Module
    assumed: tuple[str, ...]
    sources: Mapping[str, str]


def read_design(unit: Unit, dut: Dut, seconds: float) -> list[Reading]:
    """Every reading of a design, the simulated one first.

    Raises:
        NotCompared: a tool complains about the design, Yosys cannot read it in time, or it has a storage element that is no
            register of the clock.
        ElaborationError: Verilator cannot read it. PortMismatch: its ports do not fit its description.
    """
    with temporary_folder("mmau-user-") as name:
        folder = Path(name)
        sources = sources_of(UnitDesign(unit), dut, folder)
        texts = texts_of(sources, folder)
        try:
            sources.check_unchanged()
        except SimulationError as error:
            raise NotCompared(str(error)) from None
        behind = macros_behind_comments(sources)
        if behind:
            raise NotCompared(f"{CONTINUED}: {', '.join(behind)}")
        macros = [f"{macro}={value}" if value else macro for macro, value in given_macros(sources, folder).items()]
        assumed = [f"the macros are those of the description: {', '.join(macros)}"] if macros else []
        absent = macros_not_defined(sources, folder)
        assumed += [f"macros for which its text asks are not defined: {', '.join(absent)}"] if absent else []
        others_have = macros_of_other_files(sources, folder)
        assumed += [f"source files are read with macros of those before: {', '.join(others_have)}"] if others_have else []
        return [_reading(text, dut, assumed, sources.digests, seconds, folder) for text in texts]


def _reading(text: Text, dut: Dut, assumed: list[str], sources: Mapping[str, str], seconds: float, folder: Path) -> Reading:
    complaints = complaints_of_verilator(WRAPPER, text.verilog, dut.verilator_args, folder)
    if complaints:
        raise NotCompared(_in(text, quoted("Verilator", complaints)))
    promised = [*promises(text.verilog), *text.promised]
    if promised:
        raise NotCompared(
            _in(text, f"it promises synthesis tools properties that the proof does not check: {', '.join(promised)}")
        )
    configured = configurations(text.verilog)
    if configured:
        raise NotCompared(_in(text, f"{CONFIGURED}: {', '.join(configured)}"))
    directives = directives_of_one_tool(text.verilog)
    if directives:
        raise NotCompared(_in(text, f"{OF_ONE_TOOL}: {', '.join(directives)}"))
    loaded = list(dict.fromkeys(_LOADS.findall(text.verilog)))
    if loaded:
        raise NotCompared(
            _in(text, f"its memories are loaded from files, which are no part of its text: {', '.join(loaded)}")
        )
    misread = misread_by_yosys(text.verilog)
    if misread:
        raise NotCompared(_in(text, f"Yosys evaluates functions of real numbers in its text wrongly: {', '.join(misread)}"))
    tree = tree_of(WRAPPER, text.verilog, folder)
    for what, names in (
        ("two clocked blocks write the same bits, and none says whose stay", written_by_two_blocks(tree)),
        ("a clocked block writes at once what another block reads", races(tree)),
        ("functions keep values between calls", kept_by_functions(tree)),
        (
            "assertions or messages write what the design reads, and synthesis leaves them out",
            effects_left_out(tree, WRAPPER, text.verilog, folder),
        ),
        ("an expression writes what it also reads, in an order that no rule gives", effects_without_order(tree)),
        ("functions read more than their arguments, where only a change of these counts", hidden_inputs(tree)),
    ):
        if names:
            raise NotCompared(_in(text, f"{what}: {', '.join(names)}"))
    fixed = constants_by_initial_value(tree)
    if fixed:
        assumed = [*assumed, f"registers and memories that nothing writes hold their initial values: {', '.join(fixed)}"]
    try:
        found = _circuits(text.verilog, seconds)
        for name, what in irregular_storage(found["registers.json"], dut.protocol == "combinational"):
            raise NotCompared(f"{name} {what}")
        return Reading(text.name, text.arguments, read_circuit(WRAPPER, found["circuit.json"]), tuple(assumed), sources)
    except (NotCompared, UnreadableCircuit) as error:
        raise NotCompared(_in(text, str(error))) from None


def _circuits(verilog: str, seconds: float) -> dict[str, Mapping[str, Any]]:
    """The wrapped design before and after optimisation."""
    results = ("registers.json", "circuit.json")
    try:
        found = run_yosys(READ, (*results, LOG), {"dut.sv": verilog, "overlap.v": OVERLAP}, seconds)
    except YosysError as error:
        complaints = complaints_of_yosys(error.log)
        raise NotCompared(quoted("Yosys", complaints) if complaints else str(error)) from None
    complaints = complaints_of_yosys(found[LOG])
    if complaints:
        raise NotCompared(quoted("Yosys", complaints))
    return {name: json.loads(found[name])["modules"][WRAPPER] for name in results}


def _in(text: Text, reason: str) -> str:
    return f"{text.name}: {reason}" if text.name else reason
