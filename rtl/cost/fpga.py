"""A unit placed and routed on an FPGA: its lookup tables, and the clock that it reaches.

A unit has more ports than a part has pins. It is put into a harness with four pins: its inputs come from a shift register,
its outputs go into registers, whose exclusive or leaves through a pin. So nothing is optimised away, and all paths are from
register to register: those of the unit, and that of the exclusive or, which is shorter than any unit's. It adds a lookup
table for about three outputs.
"""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from golden.cache import tool_environment
from golden.files import temporary_folder
from golden.processes import run_tool, supervised
from golden.text import last_line
from rtl.cost.flow import run_mapper
from rtl.designs.ports import Port
from rtl.tools import MissingTool, python_program

HARNESS = "harness"


@dataclass(frozen=True)
class Part:
    """An FPGA, and how the tools name it.

    Attributes:
        name: name for people.
        family: name of the family in Yosys and nextpnr.
        arguments: nextpnr's arguments: the part, and that pins may lie anywhere.
        luts, multipliers: names of these in nextpnr's report; multipliers is None if the part has none.
    """

    name: str
    family: str
    arguments: tuple[str, ...]
    luts: str
    multipliers: str | None

    @property
    def package(self) -> str:
        """The Python distribution that provides nextpnr for this part."""
        return f"yowasp-nextpnr-{self.family}"

    @property
    def module(self) -> str:
        """The name under which Python imports it."""
        return self.package.replace("-", "_")


_ECP5 = ("--85k", "--package", "CABGA756", "--speed", "6", "--lpf-allow-unconstrained")

PARTS = {
    "ecp5": Part("Lattice ECP5 LFE5U-85F, speed grade 6", "ecp5", _ECP5, "TRELLIS_COMB", "MULT18X18D"),
    "ice40": Part("Lattice iCE40 HX8K", "ice40", ("--hx8k", "--package", "ct256"), "ICESTORM_LC", None),
}
"""Key of a request to FPGA part."""

FREQUENCY = 50
"""The target clock of nextpnr (MHz); its report states the clock that it reached."""

_CLOCKED = ("clk", "rst")


class FPGAError(Exception):
    """Place and route failed, did not end in time, or wrote a report that cannot be read.

    Attributes:
        log: what nextpnr wrote.
    """

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log


def check_part(key: str) -> None:
    """Raise MissingTool if nextpnr for a part is not installed."""
    package = PARTS[key].package
    if find_spec(PARTS[key].module) is None:
        raise MissingTool(
            f"{key} needs the package {package}, which is not installed; install it with: pip install 'mmau[fpga]'"
        )


def place_and_route(text: str, top: str, ports: Sequence[Port], key: str, limit: float | None = None) -> dict[str, Any]:
    """Put a design into the harness, map it to a part, place and route it.

    Args:
        text: Verilog of the design.
        top: name of its top module.
        ports: all ports of the design.
        key: key of the part in `PARTS`.
        limit: time after which each of the two tools is ended (seconds).

    Returns:
        part, luts (lookup tables or logic cells, the harness's included), multipliers (of the part's own), fmax_mhz.

    Raises:
        MissingTool: nextpnr is not installed.
        YosysError, FPGAError: a tool failed; FPGAError also if the design is too large.
    """
    check_part(key)
    part = PARTS[key]
    script = f"synth_{part.family} -top {HARNESS} -json mapped.json"
    mapped = run_mapper(text + harness(top, ports), script, ["mapped.json"], limit=limit)["mapped.json"]
    return read_report(_report(part, mapped, limit), part)


def harness(top: str, ports: Sequence[Port]) -> str:
    """Verilog of the module `HARNESS`, with pins clk, rst, serial_in and serial_out, around a design."""
    inputs = [port for port in ports if port.direction == "input" and port.name not in _CLOCKED]
    outputs = [port for port in ports if port.direction == "output"]
    width_in, width_out = sum(port.width for port in inputs), sum(port.width for port in outputs)
    connected = [f".{port.name}({port.name})" for port in ports if port.name in _CLOCKED]
    for name, group in (("in_bits", inputs), ("results", outputs)):
        low = 0
        for port in group:
            connected.append(f".{port.name}({name}[{low + port.width - 1}:{low}])")
            low += port.width
    return f"""
module {HARNESS}(input clk, input rst, input serial_in, output reg serial_out);
  reg [{width_in - 1}:0] in_bits;
  reg [{width_out - 1}:0] out_bits;
  wire [{width_out - 1}:0] results;
  always @(posedge clk) begin
    in_bits <= {{in_bits, serial_in}};
    out_bits <= results;
    serial_out <= ^out_bits;
  end
  {top} design_under_test({", ".join(connected)});
endmodule
"""


def _report(part: Part, mapped: str, limit: float | None) -> str:
    """The report of nextpnr for a mapped design."""
    code = f"import sys, {part.module}; sys.exit({part.module}.run_nextpnr_{part.family}(sys.argv[1:]))"
    options = (
        "--freq",
        str(FREQUENCY),
        "--timing-allow-fail",
        "--seed",
        "1",
        "--json",
        "mapped.json",
        "--report",
        "report.json",
    )
    command = python_program(code, *part.arguments, *options)

    def run() -> str:
        with temporary_folder("mmau-fpga-") as name:
            folder = Path(name)
            (folder / "mapped.json").write_text(mapped, encoding="utf-8")
            environment = tool_environment() | {"TMPDIR": name}
            try:
                result = run_tool(command, cwd=folder, env=environment, stderr=subprocess.STDOUT, timeout=limit)
            except subprocess.TimeoutExpired as error:
                raise FPGAError(f"nextpnr for {part.name} did not end within {limit:g} s", error.output) from error
            report = folder / "report.json"
            if result.returncode or not report.is_file():
                errors = [line for line in result.stdout.splitlines() if line.startswith("ERROR: ")]
                reason = errors[-1] if errors else last_line(result.stdout)
                raise FPGAError(f"nextpnr for {part.name} exited with status {result.returncode}: {reason}", result.stdout)
            return report.read_text(encoding="utf-8")

    return supervised(run)


def read_report(text: str, part: Part) -> dict[str, Any]:
    """The figures of nextpnr's report.

    Raises:
        FPGAError: it does not state one clock, or no lookup tables.
    """
    try:
        report = json.loads(text)
        clocks = [float(clock["achieved"]) for clock in report["fmax"].values()]
        luts = int(report["utilization"][part.luts]["used"])
        multipliers = 0 if part.multipliers is None else int(report["utilization"][part.multipliers]["used"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FPGAError(f"nextpnr's report must state clock and use of {part.name}: {error!r}", text) from None
    if len(clocks) != 1 or not luts > 0 or not clocks[0] > 0:
        raise FPGAError(f"nextpnr's report must state one clock and lookup tables, got {clocks} MHz and {luts}", text)
    return {"part": part.name, "luts": luts, "multipliers": multipliers, "fmax_mhz": round(clocks[0], 3)}


def tool_version(key: str) -> str:
    """Name and version of the nextpnr that computes a part's figures."""
    check_part(key)
    return f"{PARTS[key].package} {version(PARTS[key].package)}"
