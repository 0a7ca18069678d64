"""The command line: `mmau list`, `eval`, `rtl`, `cosim`, `conform`.

Exit status: 0, all agreed; 1, something differed; 2, the request was wrong or a tool is missing.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

import golden
from golden.arrays import bits_dtype
from golden.files import read_npz, write_atomically, write_npz

OK, DIFFERED, WRONG_REQUEST = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    arguments = parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
    except BrokenPipeError:  # the reader has seen enough: `mmau list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"mmau {arguments.command}: {message(error)}", file=sys.stderr)
        return WRONG_REQUEST
    except KeyboardInterrupt:
        print(f"mmau {arguments.command}: interrupted", file=sys.stderr)
        return WRONG_REQUEST
    return status


def message(error: Exception) -> str:
    """One line for the user."""
    if isinstance(error, ModuleNotFoundError):
        return f"needs the package {error.name}, which is not installed; install it with: pip install 'mmau[cosim]'"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def parser() -> argparse.ArgumentParser:
    """All commands and their options (interfaces as in the README)."""
    top = argparse.ArgumentParser(prog="mmau", description="The arithmetic of matrix multiply-accumulate units, bit by bit.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    listing = commands.add_parser("list", help="the catalogue: instruction, operation, parameters, evidence")
    listing.add_argument("--arch", help="one architecture, by name (sm_90) or marketing name (Hopper)")
    listing.set_defaults(run=run_list)

    evaluate = commands.add_parser("eval", help="run an instruction on arrays a, b, c [, scale_a, scale_b] of a .npz")
    evaluate.add_argument("--arch", required=True)
    evaluate.add_argument("--instr", required=True, metavar="NAME")
    evaluate.add_argument("--input", required=True, type=Path, metavar="V.npz")
    evaluate.add_argument("--output", required=True, type=Path, metavar="D.npz")
    evaluate.add_argument("--engine", help="which engine computes; default: the fastest there is")
    evaluate.set_defaults(run=run_eval)

    rtl_command = commands.add_parser("rtl", help="Verilog of a unit, and what it costs")
    add_unit_options(rtl_command)
    rtl_command.add_argument(
        "--also", type=Path, action="append", metavar="UNIT.toml", help="a T-FDPA unit on the same datapath; may be repeated"
    )
    rtl_command.add_argument("-o", "--output", type=Path, metavar="UNIT.v")
    rtl_command.add_argument("--report", action="store_true", help="cells, transistors, depth, by component")
    rtl_command.set_defaults(run=run_rtl)

    cosim_command = commands.add_parser("cosim", help="co-simulate datapaths against the golden model; alone: the main job")
    add_unit_options(cosim_command)
    cosim_command.add_argument("--all", action="store_true", help="every datapath of the catalogue")
    cosim_command.add_argument("--coverage", action="store_true", help="every parameter set and every way to build a unit")
    cosim_command.add_argument("--vectors", type=int, default=20000, metavar="N", help="vectors of each unit (20000)")
    cosim_command.add_argument("--seed", type=int, default=0, metavar="S", help="of the random inputs (0)")
    cosim_command.add_argument("--sim", default="verilator", metavar="SIMULATOR", help="verilator or icarus")
    cosim_command.add_argument("--mode", default="cocotb", choices=["cocotb"], help="how the simulator is driven")
    cosim_command.add_argument("--waves", action="store_true", help="leave a waveform in this folder; one unit only")
    cosim_command.add_argument(
        "--dut", type=Path, action="append", metavar="FILE.v", help="your own Verilog; may be repeated"
    )
    cosim_command.add_argument("--top", metavar="NAME", help="its top module")
    cosim_command.add_argument("--ports", type=Path, metavar="PORTS.toml", help="[ports]: our port names to yours")
    cosim_command.set_defaults(run=run_cosim)

    conform = commands.add_parser("conform", help="hold the model against this machine's GPU; run again to resume")
    conform.add_argument("--arch", help="the architecture that the GPU must have")
    conform.add_argument("--instr", default="*", metavar="PATTERN", help="instructions, as a shell pattern (all)")
    conform.add_argument("--vectors", type=int, default=1_000_000, metavar="N", help="results of each to compare (1000000)")
    conform.add_argument("--seed", type=int, default=0, metavar="S", help="of the random inputs (0)")
    conform.add_argument("--record", type=Path, metavar="DIR", help="also write a recording of each into this folder")
    conform.add_argument("--seconds", type=float, metavar="S", help="stop after so long; what is done is kept")
    conform.add_argument(
        "--report", type=Path, default=Path("conform.json"), metavar="FILE", help="report and state (conform.json)"
    )
    conform.set_defaults(run=run_conform)

    for command in (listing, evaluate, rtl_command, cosim_command, conform):
        command.add_argument("--json", action="store_true", help="print one machine-readable object instead")
    return top


def add_unit_options(command: argparse.ArgumentParser) -> None:
    """The two ways to name a unit: a file, or an instruction of the catalogue."""
    command.add_argument("--unit", type=Path, metavar="UNIT.toml")
    command.add_argument("--arch")
    command.add_argument("--instr", metavar="NAME")


def chosen_unit(arguments: argparse.Namespace) -> golden.Unit | None:
    """The unit that the options name, None where they name none.

    Raises:
        ValueError: half an instruction, or both a file and an instruction.
    """
    by_name = (arguments.arch, arguments.instr)
    if arguments.unit is not None:
        if by_name != (None, None):
            raise ValueError("give either --unit or --arch with --instr, not both")
        return golden.load_unit(arguments.unit)
    if by_name == (None, None):
        return None
    if None in by_name:
        raise ValueError("--arch and --instr go together")
    instruction = golden.instruction(arguments.arch, arguments.instr)
    name = f"{instruction.arch} {instruction.name}"
    if instruction.fp16_order is not None:  # no FP8 datapath stands behind it
        name = f"fp16 step of {name}"
    return golden.Unit(name=name, operation=instruction.operation)


def run_list(arguments: argparse.Namespace) -> int:
    """`mmau list`."""
    entries = golden.instructions(arguments.arch)
    if arguments.json:
        print(json.dumps({"instructions": [entry_as_dict(entry) for entry in entries]}))
        return OK
    rows = [("arch", "instruction", "operation", "parameters", "evidence")]
    rows += [(e.arch, e.name, e.operation.name, parameter_text(e), e.evidence) for e in entries]
    print(table(rows))
    return OK


def entry_as_dict(entry: golden.Instruction) -> dict[str, Any]:
    """A catalogue entry for `--json`."""
    return {
        "arch": entry.arch,
        "name": entry.name,
        "m": entry.m,
        "n": entry.n,
        "k": entry.k,
        "a": entry.a.name,
        "b": entry.b.name,
        "c": entry.c.name,
        "d": entry.d.name,
        "scale": None if entry.scale is None else entry.scale.name,
        "block_size": entry.block_size,
        "operation": entry.operation.name,
        "parameters": entry.operation.parameters(),
        "fp16_order": entry.fp16_order,
        "evidence": entry.evidence,
        "note": entry.note,
    }


def parameter_text(entry: golden.Instruction) -> str:
    """The parameters that the name of an instruction does not show: `L=16 F=25 rho=RZ-FP32 …`."""
    shown = {key: value for key, value in entry.operation.parameters().items() if key not in ("a", "b", "c", "scale")}
    if entry.fp16_order is not None:
        shown["fp16_order"] = entry.fp16_order
    return " ".join(f"{key}={value}" for key, value in shown.items())


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns, two spaces apart."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def run_eval(arguments: argparse.Namespace) -> int:
    """`mmau eval`."""
    instruction = golden.instruction(arguments.arch, arguments.instr)
    arrays = read_npz(arguments.input, ("a", "b", "c"), ("scale_a", "scale_b"))
    formats = {"a": instruction.a, "b": instruction.b, "c": instruction.c}
    if instruction.scale is not None:
        formats |= {"scale_a": instruction.scale, "scale_b": instruction.scale}
    operands = {name: saved_bits(array, formats.get(name)) for name, array in arrays.items()}
    d = instruction.dot(**operands, engine=arguments.engine)
    write_npz(arguments.output, {"d": d})
    if arguments.json:
        print(
            json.dumps(
                {"arch": instruction.arch, "name": instruction.name, "results": d.size, "output": str(arguments.output)}
            )
        )
    else:
        print(f"{instruction.arch} {instruction.name}: {d.size} results in {arguments.output}")
    return OK


def saved_bits(array: npt.NDArray[Any], operand: golden.Format | None) -> npt.NDArray[Any]:
    """An array as it was before it was saved: .npz keeps an ml_dtypes array as raw bytes (dtype void) of its width."""
    if operand is not None and array.dtype.kind == "V" and array.dtype.itemsize == operand.storage_bits // 8:
        return array.view(bits_dtype(operand))
    return array


def run_rtl(arguments: argparse.Namespace) -> int:
    """`mmau rtl`."""
    from rtl import MissingTool, YosysError, cost
    from rtl.verilog import multi_format_port_layout, port_layout

    unit = chosen_unit(arguments)
    if unit is None:
        raise ValueError("name a unit: --unit UNIT.toml, or --arch and --instr")
    if arguments.output is None and not arguments.report:
        raise ValueError("say what is wanted: -o UNIT.v for the Verilog, --report for the cost, or both")
    if arguments.also and arguments.report:
        raise ValueError("--report goes with one unit, without --also")
    units = [unit, *(golden.load_unit(path) for path in arguments.also or [])]
    try:
        report = cost(unit) if arguments.report else None
        top = None if arguments.output is None else write_verilog(units, arguments.output)
    except (YosysError, MissingTool) as error:
        raise ValueError(error) from error
    names = ", ".join(each.name for each in units)
    if arguments.json:
        found: dict[str, Any] = {"unit": names, "latency": unit.implementation.stages}
        found |= {} if top is None else {"output": str(arguments.output), "top": top}
        found |= {} if report is None else {"report": report.as_dict()}
        print(json.dumps(found))
        return OK
    if top is not None:
        print(f"{names}: module {top} in {arguments.output}")
        ports = multi_format_port_layout(units) if arguments.also else port_layout(unit)
        print("\n".join(f"  {port}" for port in ports))
    if report is not None:
        print(cost_text(unit, report))
    return OK


def write_verilog(units: Sequence[golden.Unit], path: Path) -> str:
    """Write the Verilog of a unit, or of several on one datapath; the top module, whose name is returned, is named after the
    file."""
    from rtl import multi_format_verilog, verilog

    top = re.sub(r"\W", "_", path.stem)
    top = top if re.match(r"[A-Za-z_]", top) else f"unit_{top}"
    text = verilog(units[0], top) if len(units) == 1 else multi_format_verilog(units, top)
    write_atomically(path, text.encode())
    return top


def cost_text(unit: golden.Unit, report: Any) -> str:
    """A unit's `rtl.CostReport`: its components in a table, then the whole."""
    whole = report.whole
    rows = [("component", "count", "cells each", "transistors each", "depth")]
    for part in report.parts:
        each = part.cost
        rows.append((part.module, str(part.count), str(each.cells), str(each.transistors), str(each.depth or "-")))
    lines = [
        f"{unit.name}: {whole.cells} cells ({whole.registers} flip-flops), about {whole.transistors} transistors, "
        f"logic depth {whole.depth}, latency {report.latency} cycles",
        "area in osu018 cells: "
        + ("not measured (no qflow-tech-osu018)" if report.area is None else f"{report.area:.0f} µm²"),
        "components, each synthesised by itself (the whole shares gates across them):",
    ]
    return "\n".join([*lines, table(rows)])


def run_cosim(arguments: argparse.Namespace) -> int:
    """`mmau cosim`."""
    import cosim

    def progress(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    unit = chosen_unit(arguments)
    if arguments.all + arguments.coverage + (unit is not None) > 1:
        raise ValueError("give one of --all, --coverage and a unit, not several")
    if unit is None and (arguments.waves or arguments.dut or arguments.top or arguments.ports):
        raise ValueError("--waves, --dut, --top and --ports go with one unit: --unit UNIT.toml, or --arch and --instr")
    common: dict[str, Any] = {"vectors": arguments.vectors, "seed": arguments.seed, "simulator": arguments.sim}
    waves = None
    try:
        if unit is None:
            reports = cosim.run_many(chosen_job(arguments), jobs=os.cpu_count() or 1, progress=progress, **common)
        else:
            waves = wave_file(unit, arguments.sim) if arguments.waves else None
            reports = [cosim.run(unit, design=chosen_design(arguments), waves=waves, progress=progress, **common)]
    except (cosim.MissingTool, cosim.SimulationError) as error:
        raise ValueError(error) from error
    passed = all(report.passed for report in reports)
    if arguments.json:
        print(json.dumps({"passed": passed, "seed": arguments.seed, "reports": [report.as_dict() for report in reports]}))
    else:
        print(cosim.summary(reports, arguments.seed))
        if waves is not None:
            print(f"waveform: {waves}")
    return OK if passed else DIFFERED


def chosen_job(arguments: argparse.Namespace) -> list[golden.Unit]:
    """The units that the options name where they do not name one."""
    import cosim

    if arguments.all:
        return golden.catalogue_units()
    return cosim.coverage_units() if arguments.coverage else cosim.main_job()


def chosen_design(arguments: argparse.Namespace) -> Any:
    """The user's own Verilog (a `cosim.Design`), None where the unit's own datapath is meant."""
    import cosim

    if not arguments.dut:
        if arguments.top or arguments.ports:
            raise ValueError("--top and --ports go with --dut FILE.v")
        return None
    if not arguments.top:
        raise ValueError("--dut FILE.v needs --top NAME, the name of its top module")
    ports = cosim.load_ports(arguments.ports) if arguments.ports else {}
    return cosim.Design(tuple(arguments.dut), arguments.top, ports)


def wave_file(unit: golden.Unit, simulator: str) -> Path:
    """Where `--waves` leaves the waveform of a unit."""
    return Path(re.sub(r"[^\w.-]+", "_", unit.name) + (".vcd" if simulator == "verilator" else ".fst"))


def run_conform(arguments: argparse.Namespace) -> int:
    """`mmau conform`."""
    from hwtests import conform

    if arguments.vectors < 1 or arguments.seed < 0:
        raise ValueError(f"--vectors must be at least 1 and --seed at least 0, got {arguments.vectors} and {arguments.seed}")
    if arguments.record is not None and not arguments.record.is_dir():
        raise ValueError(f"--record must name a folder, and {arguments.record} is none")
    job = conform.Job(
        arch=None if arguments.arch is None else golden.architecture(arguments.arch), pattern=arguments.instr,
        vectors=arguments.vectors, seed=arguments.seed, seconds=arguments.seconds,
        record=None if arguments.record is None else str(arguments.record),
    )  # fmt: skip
    report = conform.run_campaign(job, arguments.report, lambda line: print(line, file=sys.stderr, flush=True))
    print(json.dumps(report.to_json()) if arguments.json else conform.summary(report))
    return OK if report.agreed() else DIFFERED


if __name__ == "__main__":
    sys.exit(main())
