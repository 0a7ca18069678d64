"""The circuit that GHDL's synthesis makes of a design in VHDL, for volume mode and proofs, which read Verilog alone.

GHDL 2.0.0 writes another circuit for some texts. So the circuit is first compared with the source on sample vectors: the
source runs in GHDL, the circuit in Verilator.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cosim.bench.mismatch import ComparedRow
from cosim.bench.scoreboard import Outcome
from cosim.build.power_up import GHDL_ARGUMENTS, PowerUp
from cosim.dut.tool_log import ElaborationError
from cosim.runner.needed_tools import check_tools
from cosim.runner.request import Request
from cosim.runner.simulate import simulated_once
from rtl.designs.design import Design

if TYPE_CHECKING:
    from cosim.dut.description import Dut

VECTORS = 1000
"""Number of sample vectors."""

CIRCUIT = "mmau_circuit"
"""Name of the module that GHDL writes, in the file `mmau_circuit.v`."""


def circuit_of(design: Design, dut: "Dut", folder: Path, is_simulated: bool = True) -> "Dut":
    """The design for a tool that reads Verilog alone: of VHDL the circuit that GHDL makes of it, with the ports of the unit,
    held to its source; a design in Verilog unchanged. The adapter of a protocol is in the circuit.

    Args:
        folder: where the circuit is written. is_simulated: whether it is simulated, and not proved.

    Raises:
        ValueError: a protocol that an adapter turns into another one, in a proof.
        ElaborationError: the circuit is not that of the source, or GHDL cannot synthesise it. MissingTool, PortMismatch,
            SimulationError: as for a simulation.
    """
    if not dut.is_vhdl:
        return dut
    if dut.is_adapted and not is_simulated:
        raise ValueError(
            "proofs take [beats], [matrix] by parts and protocols 'start-done' and 'operand-handshakes' of designs in "
            "Verilog alone; mmau cosim takes them in VHDL too, in both modes"
        )
    from cosim.dut.vhdl import files_of, lower_case, run_ghdl, wrapped  # Verilog does without

    check_tools("verilator", user_design=True)
    read = files_of(dut)
    text, _, _ = wrapped(CIRCUIT, design, dut)
    around = folder / f"{CIRCUIT}.vhd"
    around.write_text(text, encoding="utf-8")
    run_ghdl(dut, "-i", folder, (*dut.sources, around))
    run_ghdl(dut, "-m", folder, further=[CIRCUIT])
    written = folder / f"{CIRCUIT}.v"
    written.write_text(run_ghdl(dut, "--synth", folder, further=["--out=verilog", CIRCUIT]), encoding="utf-8")
    reset = None if dut.reset is None else replace(dut.reset, name="rst", active="high")
    above = {echo.name: (f"d[{echo.low + echo.width - 1}:{echo.low}]",) for echo in design.echoes}
    ports = {"d": (f"d[{design.echoes[0].low - 1}:0]",), **above} if above else {}
    circuit = replace(
        lower_case(dut), top=CIRCUIT, sources=(written,), parameters={}, ghdl_args=(), ports=ports, order="ascending",
        tie={}, reset=reset, clock=dut.clock and "clk", enable=dut.enable and "en", ignore_outputs=(), translated=read,
        protocol=dut.timing.protocol, latency=dut.timing.latency, products=None, matrix=None, beats=None,
        hold_operands=False,
    )  # fmt: skip
    _hold(design, dut, circuit, folder)
    return circuit


def _hold(design: Design, dut: "Dut", circuit: "Dut", folder: Path) -> None:
    """Raise ElaborationError where a sample vector has another result in the circuit than in its source."""
    request = Request(vectors=VECTORS, dut=dut)
    source = simulated_once(design, request, folder / "source", PowerUp(0, VECTORS, 0, GHDL_ARGUMENTS))
    made = simulated_once(design, replace(request, dut=circuit), folder / "circuit", PowerUp(0, VECTORS, 0, ()))
    difference = _difference(source.outcome, made.outcome)
    if difference is None:
        return
    raise ElaborationError(
        f"the circuit that GHDL writes of {dut.top}, on which volume mode and proofs rest, is not its source: {difference}. "
        "mmau cosim without --mode volume compares the source itself; a newer GHDL may write the circuit rightly"
    )


def _difference(source: Outcome, circuit: Outcome) -> str | None:
    """The first vector with another result, or what else differs; None where nothing does."""
    rows = [{(row.vector, row.place): row for row in outcome.differing} for outcome in (source, circuit)]
    for key in sorted(rows[0].keys() | rows[1].keys()):
        one, other = (of.get(key) for of in rows)
        row = one or other
        if row is not None and (one is None or other is None or one.got != other.got):
            gives, makes = (_code(row.expected if each is None else each.got) for each in (one, other))
            return f"vector {row.vector} ({_operands(row)}) gives {gives} in GHDL, and {makes} in the circuit"
    ends = [(outcome.stopped, outcome.sent, outcome.received, outcome.surplus) for outcome in (source, circuit)]
    if ends[0] == ends[1]:
        return None
    return "; ".join(
        f"{what} takes {sent:,} vectors and gives {received + surplus:,} results{f', then {stopped}' if stopped else ''}"
        for what, (stopped, sent, received, surplus) in zip(("in GHDL it", "the circuit"), ends, strict=True)
    )


def _operands(row: ComparedRow) -> str:
    named = {"a": row.a, "b": row.b, "c": (row.c,), "scale_a": row.scale_a or (), "scale_b": row.scale_b or ()} | row.ports
    return ", ".join(f"{port} {' '.join(map(hex, codes))}" for port, codes in named.items() if codes)


def _code(got: int | str) -> str:
    return got if isinstance(got, str) else f"{got:#x}"
