"""Verilog of one's own equal to the generated combinational datapath of a unit, for every input.

Verilator preprocesses the sources and reads the ports, as it does for co-simulation; Yosys makes one circuit of the design
and the datapath side by side, with one output that tells whether they differ; solvers are asked whether it ever does. The
datapath's results wait in registers for as many cycles as the design takes. All registers begin with any contents, and
operands of other cycles may be anything: so what holds of one vector holds of any number of them, one after another.
"""

import json
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from cosim.bench.comparison import Compare, is_hexadecimal
from cosim.compile.sources import Sources, sources_of
from cosim.dut.connection import Operand, operands_of
from cosim.dut.description import Dut
from cosim.dut.elaborate import ElaborationError
from cosim.dut.log import first_error
from cosim.dut.wrapper import WRAPPER
from formal.replay import replayed
from formal.solvers.answer import PACKAGES, Answer, MissingSolver, solver
from golden import Operation, Unit
from rtl.cost.flow import YosysFailure, check_tool, run_yosys
from rtl.designs.unit_design import UnitDesign
from rtl.tools import run_tool, use_packaged_verilator
from rtl.verilog.emit import to_verilog

PAIR = "mmau_pair"
"""The module that holds both, with an output `differs`."""

REFERENCE = "mmau_reference"
"""Top module of the generated datapath."""

READ = (
    f"read_slang --threads 1 --top {WRAPPER} dut.sv; read_verilog -sv pair.v; hierarchy -check -top {PAIR}; proc -noopt; "
    "chformal -remove; setundef -undriven -anyseq; flatten; setundef -undriven -anyseq; memory; write_json circuit.json; "
    "async2sync; opt -full; dffunmap; opt_clean; write_smt2 -stbv words.smt2"
)
"""What is undefined may be anything at any time: it is never chosen so that two results agree. Assertions and assumptions of
the design count for nothing."""

SWEEP = (
    'techmap; opt; abc -script "+strash;ifraig;scorr;dc2;ifraig;scorr;fraig"; opt_clean; setundef -undriven -anyseq; '
    "write_smt2 -stbv swept.smt2"
)
"""The same as gates, those that are always equal made one: where two circuits share much, nothing is left to solve."""

REGISTERS = {
    "$dff", "$dffe", "$adff", "$adffe", "$sdff", "$sdffe", "$sdffce", "$aldff", "$aldffe", "$dffsr", "$dffsre",
}  # fmt: skip

STATEFUL = re.compile(r"^\$(.*dff.*|ff|sr|.*latch.*|mem.*|fsm|.*_?DFF.*)$")

LEAST = 1.0
"""Seconds that a question gets, however little time is left."""

Verdict = Literal["equal", "different", "not decided"]


@dataclass(frozen=True)
class OwnDesign:
    """What came of a comparison.

    Attributes:
        reason: why it is not decided. assumed: of the design's control inputs, where it has any.
        decided_by: the solver that said so.
        inputs: where they differ, codes of the operand ports for which they do. got, expected: of d, from a simulation.
        explanation: the mismatch explained, lines for a terminal.
    """

    verdict: Verdict
    reason: str = ""
    assumed: tuple[str, ...] = ()
    decided_by: str = ""
    inputs: Mapping[str, int] = field(default_factory=dict)
    got: int | str | None = None
    expected: int | None = None
    explanation: tuple[str, ...] = ()


class _NotCompared(Exception):
    """A design that cannot be compared; the message says why."""


def compare_own(unit: Unit, dut: Dut, seconds: float) -> OwnDesign:
    """Compare a design with the generated datapath of a unit.

    Args:
        seconds: for all of it; what is begun last may take a second longer.

    Raises:
        MissingTool: a program is not installed. ElaborationError: Verilator cannot read the design.
        PortMismatch: its ports do not fit its description. SimulationError: a counter-example cannot be replayed.
    """
    end = time.monotonic() + seconds
    unit = replace(unit, implementation=replace(unit.implementation, stages=0))
    use_packaged_verilator()
    check_tool()
    try:
        rule = differs_rule(unit.operation, dut.compare)
        if dut.protocol not in ("combinational", "fixed-latency"):
            raise _NotCompared(f"designs with protocol {dut.protocol!r} are not compared yet")
        questions = _questions(unit, dut, rule, end)
    except _NotCompared as error:
        return OwnDesign("not decided", str(error))
    assumed = tuple(_assumed(dut))
    for number, question in enumerate(questions):
        rest = end - time.monotonic()
        # Of two texts of one question the first gets half of the time, that the other one has its chance.
        name, answer = _asked(question, rest / (len(questions) - number))
        if answer.verdict == "never":
            return OwnDesign("equal", assumed=assumed, decided_by=name)
        if answer.verdict == "sometimes":
            ports = [operand.name for operand in operands_of(UnitDesign(unit)) if operand.direction == "input"]
            return _refuted(unit, dut, {port: answer.values[f"in_{port}"] for port in ports}, name)
    return OwnDesign("not decided", f"no solver finished in {seconds:g} s", assumed)


def differs_rule(operation: Operation, compare: Compare) -> str:
    """When d of the design, `got`, is not as good as `expected`: an expression of Verilog.

    Raises:
        _NotCompared: NaNs that propagate.
    """
    compare.check(operation.d)
    d = operation.d
    if compare.nan == "propagate":
        raise _NotCompared('nan = "propagate" of [compare] is not compared yet')
    equal = "got == expected"
    if d.infinity is not None:
        magnitude = (d.codes >> 1) - 1
        nan_of = {each: f"({each} & {d.width}'d{magnitude}) > {d.width}'d{d.infinity}" for each in ("got", "expected")}
        if is_hexadecimal(compare.nan):
            equal = f"({nan_of['expected']}) ? (got == {d.width}'d{int(compare.nan, 16)}) : ({equal})"
        elif compare.nan == "any" or not operation.nan_is_fixed():
            equal = f"({nan_of['expected']}) ? ({nan_of['got']}) : ({equal})"
        if compare.zero_sign == "ignore":
            zeros = f"((got & {d.width}'d{magnitude}) == 0) && ((expected & {d.width}'d{magnitude}) == 0)"
            equal = f"({equal}) || ({zeros})"
    return f"!({equal})"


def _assumed(dut: Dut) -> list[str]:
    found = []
    if dut.reset is not None:
        found.append(f"{dut.reset.name} is not active")
    if dut.enable is not None:
        found.append(f"{dut.enable} is 1")
    return found


# 1. questions


def _questions(unit: Unit, dut: Dut, rule: str, end: float) -> list[str]:
    """Scripts that must never be satisfied, either of which decides; the one that is likely to be quicker first."""
    operands = operands_of(UnitDesign(unit))
    with tempfile.TemporaryDirectory(prefix="mmau-own-") as name:
        sources = sources_of(UnitDesign(unit), dut, Path(name))
        files = {"dut.sv": _preprocessed(sources), "pair.v": _pair(operands, dut, sources.ports, rule)}
    controls = [port for port in sources.ports if port in ("clk", "rst", "en")]
    found = _yosys(unit, READ, ("circuit.json", "words.smt2"), files, end)
    _check_registers(json.loads(found["circuit.json"]), dut)
    words = _script(found["words.smt2"], operands, dut, controls)
    if dut.protocol != "combinational":
        return [words]
    try:
        swept = _yosys(unit, f"{READ}; {SWEEP}", ("swept.smt2",), files, time.monotonic() + (end - time.monotonic()) / 2)
    except _NotCompared:
        return [words]
    return [_script(swept["swept.smt2"], operands, dut, controls), words]


def _yosys(unit: Unit, script: str, results: tuple[str, ...], files: Mapping[str, str], end: float) -> dict[str, str]:
    try:
        reference = to_verilog(unit, REFERENCE)
        return run_yosys(reference, script, results, files, limit=max(LEAST, end - time.monotonic()))
    except YosysFailure as error:
        raise _NotCompared(str(error)) from None


def _preprocessed(sources: Sources) -> str:
    """The design and its wrapper as one text without directives."""
    command = ["verilator", "-E", "-P", *sources.arguments, *sources.verilator_args, *map(str, sources.files)]
    result = run_tool(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode:
        raise ElaborationError(f"verilator cannot preprocess the sources: {first_error(result.stderr)}")
    return str(result.stdout)


def _pair(operands: list[Operand], dut: Dut, ports: tuple[str, ...], rule: str) -> str:
    """Both side by side, the datapath's results as late as the design's."""
    widths = {operand.name: operand.count * operand.width for operand in operands}
    d, n, inputs = widths.pop("d"), dut.results, [operand.name for operand in operands if operand.direction == "input"]
    controls = [port for port in ports if port not in (*widths, "d")]
    header = ", ".join([*(f"input [{widths[name] * n - 1}:0] {name}" for name in inputs), *(f"input {c}" for c in controls)])
    of_dut = ", ".join(f".{port}({port})" for port in [*inputs, *controls])
    lines = [
        f"module {PAIR}({header}, output differs);",
        f"  wire [{d * n - 1}:0] d, now, late;",
        f"  {WRAPPER} design ({of_dut}, .d(d));",
    ]
    for k in range(n):
        of_unit = ", ".join(f".{name}({name}[{(k + 1) * widths[name] - 1}:{k * widths[name]}])" for name in inputs)
        lines.append(f"  {REFERENCE} reference_{k} ({of_unit}, .d(now[{(k + 1) * d - 1}:{k * d}]));")
        lines.append(
            f"  wire [{d - 1}:0] got_{k} = d[{(k + 1) * d - 1}:{k * d}], expected_{k} = late[{(k + 1) * d - 1}:{k * d}];"
        )
    if dut.latency:
        lines.append(f"  reg [{d * n * dut.latency - 1}:0] waiting;")
        shifted = f"{{waiting[{d * n * (dut.latency - 1) - 1}:0], now}}" if dut.latency > 1 else "now"
        lines.append(f"  always @(posedge clk) waiting <= {shifted};")
        lines.append(f"  assign late = waiting[{d * n * dut.latency - 1}:{d * n * (dut.latency - 1)}];")
    else:
        lines.append("  assign late = now;")
    each = [re.sub(r"\b(got|expected)\b", rf"\1_{k}", rule) for k in range(n)]
    lines += [f"  assign differs = {' || '.join(f'({one})' for one in each)};", "endmodule", ""]
    return "\n".join(lines)


def _check_registers(circuit: Mapping[str, Any], dut: Dut) -> None:
    """Raise _NotCompared where anything keeps a value but registers that take it at the rising edge of the clock itself."""
    module = circuit["modules"][PAIR]
    clock = module["ports"].get("clk", {}).get("bits")
    for name, cell in module["cells"].items():
        kind = cell["type"]
        if not kind.startswith("$"):
            raise _NotCompared(f"{name} is a {kind}, of which nothing is known")
        if kind not in REGISTERS:
            if STATEFUL.match(kind):
                raise _NotCompared(f"{name} keeps a value and is no register of one clock")
            continue
        if dut.protocol == "combinational":
            raise _NotCompared(f"{name} is a register, in a design that is called combinational")
        rises = int(str(cell["parameters"]["CLK_POLARITY"]), 2) == 1
        if cell["connections"]["CLK"] != clock or not rises:
            raise _NotCompared(f"{name} takes its value at another moment than the rising edge of {dut.clock}")


def _script(smt2: str, operands: list[Operand], dut: Dut, controls: list[str]) -> str:
    """The question whether, from any state, the results for the operands of the first cycle ever differ."""
    lines = ["(set-logic QF_BV)", re.sub(r"(?m);.*$", "", smt2)]
    states = [f"state_{k}" for k in range(dut.latency + 1)]
    lines += [f"(declare-const {state} |{PAIR}_s|)" for state in states]
    lines += [f"(assert (|{PAIR}_t| {now} {after}))" for now, after in pairwise(states)]
    for state in states:
        for control, value in (("rst", "false"), ("en", "true")):
            if control in controls:
                lines.append(f"(assert (= (|{PAIR}_n {control}| {state}) {value}))")
    for operand in operands:
        if operand.direction == "input":
            width = operand.count * operand.width * dut.results
            lines.append(f"(declare-const in_{operand.name} (_ BitVec {width}))")
            lines.append(f"(assert (= in_{operand.name} (|{PAIR}_n {operand.name}| state_0)))")
    lines.append(f"(assert (|{PAIR}_n differs| {states[-1]}))")
    return "\n".join(lines) + "\n"


# 2. answers


def _asked(question: str, seconds: float) -> tuple[str, Answer]:
    """What the first solver that knows says, each after the other in equal parts of the time."""
    end = time.monotonic() + seconds
    for number, name in enumerate(PACKAGES):
        try:
            answer = solver(name)(question, max(LEAST, (end - time.monotonic()) / (len(PACKAGES) - number)))
        except MissingSolver:
            continue
        if answer.verdict != "unknown":
            return name, answer
    return "", Answer("unknown")


def _refuted(unit: Unit, dut: Dut, inputs: Mapping[str, int], name: str) -> OwnDesign:
    """The counter-example, if a simulation shows it: a state from which results differ may be one that is never reached."""
    report = replayed(unit, inputs, dut)
    if not report.differing:
        told = "is not wrong when it is sent alone after a reset: it rests on a state or on other operands"
        return OwnDesign("not decided", f"the operands that {name} found: a simulation of them {told}", tuple(_assumed(dut)))
    row = report.differing[0]
    lines = () if report.explanation is None else tuple(report.explanation.lines())
    return OwnDesign(
        "different", decided_by=name, inputs=inputs, got=row.got, expected=row.expected, explanation=lines
    )  # fmt: skip
