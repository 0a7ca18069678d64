"""The Verilog of a design as a circuit of words and registers: Verilator preprocesses it, Yosys reads it.

What is read must mean the same to every tool. Each complaint about it ends the reading, before any pass of Yosys changes
the circuit; initial values are removed.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosim.build.errors import SimulationError
from cosim.build.sources import sources_of
from cosim.dut.description import Dut
from cosim.dut.elaborate import WRAPPER
from cosim.dut.tool_log import ElaborationError
from cosim.lint.complaints import complaints_of_yosys, quoted
from cosim.lint.flat_circuit import irregular_storage
from cosim.lint.lint import Finding, lint, lint_files
from cosim.lint.source_texts import Source, Text
from cosim.lint.yosys_findings import AS_WRITTEN
from cosim.runner.vhdl_circuit import circuit_of
from golden.files import temporary_folder
from mmau.prove.netlist.syntax import Module
from mmau.prove.netlist.yosys_json import UnreadableCircuit, read_circuit
from mmau.prove.user_design.asking import NotCompared
from rtl.designs.design import Design
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


@dataclass(frozen=True)
class Reading:
    """A design as it was read.

    Attributes:
        name: the macros that it is read with, if other macros give another text. arguments: Verilator's arguments for
            these macros.
        module: the wrapped design, flat, its registers all written at the rising edge of `clk`.
        assumed: what the circuit rests on beside its text: macros of the description, initial values that nothing changes.
        sources: the SHA-256 of each of its files, by path.
    """

    name: str
    arguments: tuple[str, ...]
    module: Module
    assumed: tuple[str, ...]
    sources: Mapping[str, str]


def read_design(design: Design, dut: Dut, seconds: float) -> list[Reading]:
    """Every reading of a design, the simulated one first.

    Raises:
        NotCompared: a tool complains about the design, Yosys cannot read it in time, or it has a storage element that is no
            register of the clock.
        ElaborationError: Verilator cannot read it. PortMismatch: its ports do not fit its description.
    """
    with temporary_folder("mmau-user-") as name:
        folder = Path(name)
        sources = sources_of(design, _circuit(design, dut, folder), folder, is_simulated=False)
        source = Source(sources, folder)
        try:
            sources.check_unchanged()
        except SimulationError as error:
            raise NotCompared(str(error)) from None
        macros = [f"{macro}={value}" if value else macro for macro, value in source.given.items()]
        assumed = [f"the macros are those of the description: {', '.join(macros)}"] if macros else []
        assumed += _assumed(lint_files(source))
        return [_reading(source, text, dut, assumed, seconds) for text in source.texts]


def _circuit(design: Design, dut: Dut, folder: Path) -> Dut:
    """A design in Verilog.

    Raises:
        NotCompared: GHDL makes no circuit of it that is its source. A simulation of the source may yet refute it.
    """
    try:
        return circuit_of(design, dut, folder, is_simulated=False)
    except ElaborationError as error:
        raise NotCompared(str(error), no_circuit=True) from None


def _assumed(findings: Iterable[Finding]) -> list[str]:
    """What a proof rests on.

    Raises:
        NotCompared: with the first finding that it does not cover; no further one is looked for.
    """
    assumed = list[str]()
    for finding in findings:
        if finding.ends_proof:
            raise NotCompared(finding.ends_proof, finding.waivable)
        assumed += [finding.assumed] if finding.assumed else []
    return assumed


def _reading(source: Source, text: Text, dut: Dut, assumed: list[str], seconds: float) -> Reading:
    try:
        assumed = [*assumed, *_assumed(lint(source, text, dut.verilator_args))]
        found = _circuits(text.verilog, seconds)
        for name, what in irregular_storage(found["registers.json"], dut.timing.protocol == "combinational"):
            raise NotCompared(f"{name} {what}")
        module = read_circuit(WRAPPER, found["circuit.json"])
        return Reading(text.name, text.arguments, module, tuple(assumed), source.sources.digests)
    except (NotCompared, UnreadableCircuit) as error:
        waivable = error.waivable if isinstance(error, NotCompared) else ()
        raise NotCompared(f"{text.name}: {error}" if text.name else str(error), waivable) from None


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
