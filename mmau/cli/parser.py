"""The command line's parser; `docs/reference/commands.md` is written from it."""

import argparse
from importlib import import_module
from pathlib import Path
from typing import Any

from mmau.cli import options
from mmau.cli.command_parser import CommandParser, Commands, command, seconds
from mmau.cli.options import add_program


def add_list(commands: Commands) -> None:
    """Add the command `mmau list` and its options."""
    listing = command(
        commands,
        "list",
        "list_catalogue:run_list",
        "list the instructions of the catalogue: operation, parameters, evidence, rows recorded, vectors simulated, proofs",
        "mmau list --arch Hopper",
    )
    which = listing.add_argument_group("which instructions")
    which.add_argument(
        "--arch",
        metavar="A",
        help="list the instructions of one architecture: sm_90, or a part or a marketing name, such as H100 or Hopper "
        "(default: all)",
    )
    which.add_argument("--format", metavar="F", help="list those that multiply this format, such as e4m3 (default: all)")
    options.add_json(listing.add_argument_group(options.REPORTS))


def add_evidence(commands: Commands) -> None:
    """Add the command `mmau evidence` and its options."""
    evidence = command(
        commands,
        "evidence",
        "evidence:run_evidence",
        "replay the recorded rows of instructions, and say who recorded them and which keys of the model no row pins",
        "mmau evidence --arch sm_90 --instr mma.m16n8k16.f32.f16.f16.f32",
    )
    which = evidence.add_argument_group("which instructions")
    which.add_argument(
        "--arch",
        metavar="A",
        help="replay the rows of one architecture, by name (sm_90) or marketing name (Hopper) (default: all)",
    )
    which.add_argument(
        "--instr",
        metavar="NAME",
        help="replay the rows of this instruction, and list each recording and each key (default: all)",
    )
    reports = evidence.add_argument_group(options.REPORTS)
    reports.add_argument("--html", type=Path, metavar="FILE", help="write the tables to FILE as one HTML page")
    options.add_json(reports)


def add_eval(commands: Commands) -> None:
    """Add the command `mmau eval` and its options."""
    evaluate = command(
        commands,
        "eval",
        "evaluate:run_eval",
        "compute d = a·b + c with an instruction or a unit, for every row of the arrays in a .npz file",
        "mmau eval --arch sm_90 --instr mma.m16n8k16.f32.f16.f16.f32 --input v.npz --output d.npz",
    )
    options.add_unit_or_instruction(evaluate)
    data = evaluate.add_argument_group("operands and result")
    data.add_argument(
        "--input",
        required=True,
        type=Path,
        metavar="V.npz",
        help="read the arrays a, b, c, and where the model takes them scale_a, scale_b and random, from this file; required",
    )
    data.add_argument("--output", type=Path, metavar="D.npz", help="write the array d to this file; - for stdout")
    data.add_argument(
        "--engine", metavar="E", help="compute with the engine reference or native (default: native where it is built)"
    )
    explained = evaluate.add_argument_group("the explanation of one dot product")
    explained.add_argument("--explain", action="store_true", help="show the steps of one dot product instead of writing d")
    explained.add_argument("--row", type=int, metavar="N", help="explain row N of the input, from 0 (default: the only row)")
    reports = evaluate.add_argument_group(options.REPORTS)
    reports.add_argument("--html", type=Path, metavar="FILE", help="write the explanation to FILE as one HTML page")
    options.add_json(reports)


def add_vectors(commands: Commands) -> None:
    """Add the command `mmau vectors` and its options."""
    vectors = command(
        commands,
        "vectors",
        "vectors:run_vectors",
        "write test vectors with the results that they must give, for testbenches without Python",
        "mmau vectors --unit unit.toml --level 1 -o vectors.txt",
    )
    options.add_unit_or_instruction(vectors)
    stimulus = vectors.add_argument_group(options.STIMULUS)
    number = stimulus.add_mutually_exclusive_group()
    number.add_argument(
        "--level",
        type=int,
        choices=[1, 2],
        help="write the directed cases that every run needs (1) or all directed cases (2), and random vectors (default: 1)",
    )
    number.add_argument(
        "--vectors", type=int, metavar="N", help="write N vectors instead, those that `mmau cosim` sends first"
    )
    options.add_seed(stimulus)
    reports = vectors.add_argument_group(options.REPORTS)
    reports.add_argument(
        "--format",
        choices=["text", "npz", "riscv-arch-test", "corners"],
        help="write lines of text, NumPy arrays, of an instruction of riscv-zvbdota a test in assembler for "
        "riscv-arch-test, or the table of directed cases that a SystemVerilog testbench varies (default: npz if FILE ends "
        "in .npz, else text)",
    )
    reports.add_argument(
        "-o", "--output", required=True, type=Path, metavar="FILE", help="write the vectors to FILE; - for stdout; required"
    )
    options.add_json(reports)


def add_compare(commands: Commands) -> None:
    """Add the command `mmau compare` and its options."""
    compare = command(
        commands,
        "compare",
        "compare:run_compare",
        "compute one dot product on every unit of the catalogue, side by side, and show what each unit lost on the way",
        "mmau compare --a=-2^13,-.5,-.25,-.125 --b=2^10,1,1,1 --c=2^23 --on Volta --on Hopper",
        unit=None,
    )
    numbers = compare.add_argument_group("the dot product, as numbers")
    numbers.add_argument("--a", metavar="X,…", help="take these elements of a, as -2^13,0.5,0x1p-3")
    numbers.add_argument("--b", metavar="X,…", help="take these elements of b, as many as of a")
    numbers.add_argument("--c", metavar="X", help="take this number as the accumulator c")
    for side in ("a", "b"):
        numbers.add_argument(
            f"--scale-{side}",
            metavar="X,…",
            help=f"take these scales of the blocks of {side}, where a unit has scales (default: 1)",
        )
    program = compare.add_argument_group("a program beside the units")
    add_program(program)
    codes = compare.add_argument_group("the dot product, as codes in a file")
    codes.add_argument("--input", type=Path, metavar="V.npz", help="read the operands of an instruction from this file")
    codes.add_argument("--arch", metavar="A", help="take the codes as operands of an instruction of this architecture")
    codes.add_argument("--instr", metavar="NAME", help="take the codes as operands of this instruction")
    codes.add_argument("--row", type=int, metavar="N", help="take row N of the file, from 0 (default: the only row)")
    which = compare.add_argument_group("which units")
    which.add_argument(
        "--on",
        action="append",
        default=[],
        metavar="A",
        help="compare the units of this architecture; may be repeated (default: all architectures)",
    )
    reports = compare.add_argument_group(options.REPORTS)
    reports.add_argument(
        "--traces", action="store_true", help="print every step of each result too (default: results alone)"
    )
    reports.add_argument(
        "--html", type=Path, metavar="FILE", help="write every step of each result to FILE as one HTML page"
    )
    options.add_json(reports)


def add_distinguish(commands: Commands) -> None:
    """Add the command `mmau distinguish` and its options."""
    distinguish = command(
        commands,
        "distinguish",
        "distinguish:run_distinguish",
        "find an input on which two units or instructions differ, small and explained, or prove that there is none",
        "mmau distinguish sm_80:mma.m16n8k16.f32.f16.f16.f32 sm_90:mma.m16n8k16.f32.f16.f16.f32",
    )
    which = distinguish.add_argument_group("the two models")
    for side, name in (("x", "first"), ("y", "second")):
        which.add_argument(
            side,
            metavar=side.upper(),
            nargs=None if side == "x" else "?",
            help=f"take as the {name} this instruction (ARCH:NAME) or unit's file" + ("; required" if side == "x" else ""),
        )
    add_program(which, formats=False)
    stimulus = distinguish.add_argument_group(options.STIMULUS)
    stimulus.add_argument(
        "--vectors", type=int, default=1_000_000, metavar="N", help="try at most N random vectors (default: %(default)s)"
    )
    options.add_seed(stimulus)
    run = distinguish.add_argument_group(options.RUN)
    run.add_argument(
        "--prove",
        type=float,
        default=20.0,
        metavar="S",
        help="give the proof S seconds where no vector shows a difference (default: %(default)g)",
    )
    options.add_json(distinguish.add_argument_group(options.REPORTS))


def add_disclose(commands: Commands) -> None:
    """Add the command `mmau disclose` and its options."""
    disclose = command(
        commands,
        "disclose",
        "disclose:run_disclose",
        "write what an implementer of RISC-V's integrated matrix extension publishes: G, psm and rnd of each geometry",
        "mmau disclose riscv-fp16.toml --lambda 4 --lambda 8 -o disclosure",
    )
    which = disclose.add_argument_group("which arithmetic")
    which.add_argument(
        "units", nargs="+", type=Path, metavar="UNIT", help="take the units that these files describe; required"
    )
    which.add_argument(
        "--lambda",
        dest="lambdas",
        action="append",
        type=int,
        metavar="N",
        help="write rows for this lambda; may be repeated (default: every one that holds the groups of a unit)",
    )
    stimulus = disclose.add_argument_group(options.STIMULUS)
    stimulus.add_argument(
        "--vectors",
        type=int,
        default=1000,
        metavar="N",
        help="write N vectors of each unit in each of the five rounding modes (default: %(default)s)",
    )
    stimulus.add_argument(
        "--block",
        dest="blocks",
        action="append",
        type=int,
        choices=[16, 32],
        default=[],
        help="write as many vectors under E8M0 scales of blocks of this many elements too; may be repeated (default: none)",
    )
    stimulus.add_argument(
        "--riscv-arch-test",
        action="store_true",
        help="write as many rows of one group as tests in assembler for riscv-arch-test, in each mode (default: none)",
    )
    options.add_seed(stimulus)
    reports = disclose.add_argument_group(options.REPORTS)
    reports.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        help="write disclosure.toml, the units and their vectors into FOLDER (default: print the table alone)",
    )


def add_conform(commands: Commands) -> None:
    """Add the command `mmau conform` and its options."""
    conform = command(
        commands,
        "conform",
        "conform:run_conform",
        "compare the models with this machine's GPU or processor; run it again to resume",
        "mmau conform --arch x86-avx512 --vectors 100000",
    )
    which = conform.add_argument_group("which instructions")
    which.add_argument(
        "--arch",
        metavar="A",
        help="require a GPU of this architecture, or take the processor's x86-amx or x86-avx512 (default: that of the GPU)",
    )
    which.add_argument(
        "--instr",
        default="*",
        metavar="PATTERN",
        help="compare the instructions that match this shell pattern (default: all)",
    )
    add_program(which, formats=False)
    stimulus = conform.add_argument_group(options.STIMULUS)
    stimulus.add_argument(
        "--vectors",
        type=int,
        default=1_000_000,
        metavar="N",
        help="compare at least N results of each instruction (default: %(default)s)",
    )
    options.add_seed(stimulus)
    run = conform.add_argument_group(options.RUN)
    run.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="stop after S seconds, and record the finished vectors (default: no limit)",
    )
    run.add_argument(
        "--retry",
        action="store_true",
        help="run again the instructions that hung, crashed or failed in an earlier run (default: skip them)",
    )
    reports = conform.add_argument_group(options.REPORTS)
    reports.add_argument(
        "--report",
        type=Path,
        default=Path("conform.json"),
        metavar="FILE",
        help="write the report to FILE, which is also the state that a later run resumes from (default: %(default)s)",
    )
    reports.add_argument(
        "--record", type=Path, metavar="DIR", help="write a recording of each instruction into this folder too"
    )
    options.add_json(reports)


MODEL_COMMANDS = (add_list, add_evidence, add_eval, add_vectors, add_compare, add_distinguish, add_disclose, add_conform)


def add_rtl(commands: Commands) -> None:
    """Add the command `mmau rtl` and its options."""
    rtl = command(
        commands,
        "rtl",
        "rtl:run_rtl",
        "write the Verilog of a unit or a tile, or report what it costs",
        "mmau rtl --unit unit.toml -o unit.v --report",
    )
    options.add_design_options(rtl)
    reports = rtl.add_argument_group(options.REPORTS)
    reports.add_argument("-o", "--output", type=Path, metavar="UNIT.v", help="write the Verilog to this file; - for stdout")
    reports.add_argument(
        "--report", action="store_true", help="synthesise the design and print its cells, transistors and depth by component"
    )
    reports.add_argument(
        "--library",
        metavar="CELLS",
        help="with --report or clock_ns: measure area and delays in these cells: osu018, osu035, asap7, nangate45, sky130, "
        "ihp130 or a Liberty file, NAME.lib (default: what the unit's file names, or osu018)",
    )
    options.add_json(reports)


def add_cosim(commands: Commands) -> None:
    """Add the command `mmau cosim` and its options."""
    cosim = command(
        commands,
        "cosim",
        "cosim:run_cosim",
        "co-simulate a design with the golden model, bit for bit; without a design, units of every operation",
        "mmau cosim --unit unit.toml --vectors 20000 --html report.html",
    )
    options.add_design_options(cosim)
    many = cosim.add_argument_group("many designs instead of one")
    many.add_argument("--all", action="store_true", help="co-simulate every distinct datapath of the catalogue")
    many.add_argument(
        "--coverage", action="store_true", help="co-simulate every parameter set and every option of the implementation"
    )
    many.add_argument(
        "--slice",
        metavar="K/N",
        help="with --all or --coverage: run only part K of N of the designs; parts count from 0 (default: all designs)",
    )
    options.add_dut_options(cosim)
    stimulus = cosim.add_argument_group(options.STIMULUS)
    stimulus.add_argument(
        "--vectors", type=int, default=20000, metavar="N", help="send N vectors to each design (default: %(default)s)"
    )
    options.add_seed(stimulus)
    options.add_selection_options(stimulus)
    run = cosim.add_argument_group(options.RUN)
    run.add_argument(
        "--sim", default="verilator", metavar="SIMULATOR", help="simulate with verilator or icarus (default: %(default)s)"
    )
    run.add_argument(
        "--mode",
        default="cocotb",
        metavar="MODE",
        help="drive the design by cocotb, or by native code (volume) for 10^6 vectors and more (default: %(default)s)",
    )
    run.add_argument(
        "--strict",
        action="store_true",
        help="fail if an output of --dut is not compared, unless its [compare] ignore_outputs names it",
    )
    run.add_argument(
        "--mutants",
        action="store_true",
        help="after a run that passes, inject faults of state and protocol, and list those that the vectors do not detect; "
        "one design only (default: no faults)",
    )
    reports = cosim.add_argument_group(options.REPORTS)
    options.add_report_options(reports)
    reports.add_argument(
        "--waves", action="store_true", help="write a waveform into the current folder; one design only (default: none)"
    )
    options.add_json(reports)


def add_prove(commands: Commands) -> None:
    """Add the command `mmau prove` and its options."""
    prove = command(
        commands,
        "prove",
        "prove:run_prove",
        "prove the Verilog of a design equal to its operation for every input, or find operands that show the difference",
        "mmau prove --arch sm_70 --instr mma.m8n8k4.f32.f16.f16.f32",
    )
    options.add_design_options(prove)
    user_design = prove.add_argument_group(options.USER_DESIGN)
    user_design.add_argument(
        "--dut", type=Path, metavar="DUT.toml", help="prove the design that this file describes equal to the unit"
    )
    user_design.add_argument(
        "--waive",
        action="append",
        default=[],
        metavar="WARNING",
        help="take Verilator's warning about widths, such as WIDTHEXPAND, for meant; may be repeated (default: none)",
    )
    run = prove.add_argument_group(options.RUN)
    run.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        metavar="S",
        help="end after S seconds, with the verdicts found until then; with --dut sample vectors are simulated afterwards "
        "(default: %(default)g)",
    )
    run.add_argument(
        "--store",
        type=Path,
        metavar="FOLDER",
        help="with --dut keep answers about cases there; the same command goes on where it was ended (default: none)",
    )
    run.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="with --dut ask about N cases at a time, each in a process (default: one by one)",
    )
    run.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="with --dut ask about cases on the Dask cluster at this address, like tcp://host:8786 (default: here)",
    )
    reports = prove.add_argument_group(options.REPORTS)
    reports.add_argument(
        "--html", type=Path, metavar="FILE", help="write the verdict and its cases to FILE as one HTML page"
    )
    options.add_json(reports)


def add_explore(commands: Commands) -> None:
    """Add the command `mmau explore` and its options."""
    explore = command(
        commands,
        "explore",
        "explore:run_explore",
        "measure accuracy and cost of every unit of a design space, co-simulate and prove it, and write tables and plots",
        "mmau explore examples/spaces/round-down.toml --out build/round-down",
    )
    which = explore.add_argument_group("which design space")
    which.add_argument("space", type=Path, metavar="SPACE.toml", help="read the design space from this file; required")
    run = explore.add_argument_group(options.RUN)
    run.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="run on the Dask cluster at this address, like tcp://host:8786 (default: here)",
    )
    run.add_argument("--jobs", type=int, metavar="N", help="run N workers on this machine (default: one for each core)")
    run.add_argument(
        "--seconds",
        type=float,
        default=1800.0,
        metavar="S",
        help="stop each part of a point after S seconds (default: %(default)g)",
    )
    run.add_argument(
        "--retry",
        action="store_true",
        help="run again the tasks that failed or timed out in an earlier run (default: skip them)",
    )
    reports = explore.add_argument_group(options.REPORTS)
    reports.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="DIR",
        help="write all results to this folder; a run with the same folder resumes; required",
    )
    options.add_json(reports)


def add_order(commands: Commands) -> None:
    """Add the command `mmau order` and its options."""
    order = command(
        commands,
        "order",
        "order:run_order",
        "find the order of additions that gives every element of a matrix product that a kernel computed",
        "mmau order --a A.npy --b B.npy --d D.npy --part H100 -o gemm.toml",
    )
    product = order.add_argument_group("the product")
    for name, what in (("a", "A [M, K]"), ("b", "B [K, N]"), ("d", "D [M, N], which the kernel computed")):
        product.add_argument(f"--{name}", type=Path, required=True, metavar=f"{name.upper()}.npy", help=f"{what}; required")
    product.add_argument(
        "--c", type=Path, metavar="C.npy", help="C [M, N], which the kernel adds at its start or at its end (default: zeros)"
    )
    for side, what in (("a", "[M, blocks of K]"), ("b", "[blocks of K, N]")):
        product.add_argument(
            f"--scale-{side}",
            type=Path,
            metavar="S.npy",
            help=f"scales {what}, of the instruction's blocks or, in fp32, of the sums that are promoted (default: none)",
        )
    product.add_argument("--scale-format", metavar="F", help="format of scales, such as ue8m0 (default: by their dtype)")
    product.add_argument("--bias", type=Path, metavar="B.npy", help="bias [N] in fp32 (default: none)")
    for name, of in (("alpha", "A·B"), ("beta", "C")):
        product.add_argument(
            f"--{name}", type=float, default=1.0, metavar="X", help=f"factor of {of} (default: %(default)s)"
        )
    product.add_argument(
        "--format",
        metavar="F",
        help="format of A and B, such as bf16, where their files hold codes (default: by their dtype)",
    )
    product.add_argument(
        "--output-format", metavar="F", help="format of D, where its file holds codes (default: by its dtype)"
    )
    search = order.add_argument_group("the search")
    by = search.add_mutually_exclusive_group(required=True)
    by.add_argument("--part", metavar="P", help="the part that computed it, such as H100; this or --unit is required")
    by.add_argument(
        "--unit", type=Path, metavar="UNIT.toml", help="a unit that computed it, such as the FMA of a kernel on CUDA cores"
    )
    search.add_argument(
        "--instr", metavar="NAME", help="try this instruction alone (default: each arithmetic of the part for the formats)"
    )
    search.add_argument(
        "--seconds",
        type=seconds,
        default=60.0,
        metavar="S",
        help="seconds of processor time to search (default: %(default)s)",
    )
    reports = order.add_argument_group(options.REPORTS)
    reports.add_argument(
        "-o", "--output", type=Path, metavar="GEMM.toml", help="write the order that was found to this file"
    )
    options.add_json(reports)


def add_probe(commands: Commands) -> None:
    """Add the command `mmau probe` and its options."""
    probe = command(
        commands,
        "probe",
        "probe:run_probe",
        "find out from a device's answers alone what arithmetic it computes, and write the unit",
        "mmau probe --unit unit.toml -o found.toml",
    )
    which = options.add_unit_or_instruction(probe, "which device under test")
    which.add_argument("-K", type=int, metavar="K", help="probe dot products of K elements (default: those of two steps)")
    which.add_argument(
        "--rtl", action="store_true", help="simulate the Verilog of the unit or the instruction, not its model"
    )
    which.add_argument(
        "--dut",
        type=Path,
        metavar="DUT.toml",
        help="simulate the design that this file describes; the file needs a table [formats]",
    )
    which.add_argument("--device", metavar="ARCH:NAME", help="probe this instruction of this machine")
    add_program(which)
    which.add_argument(
        "--recording", type=Path, metavar="FILE.npz", help="infer models from these recorded rows, without a device"
    )
    which.add_argument(
        "--features",
        nargs="*",
        metavar="DEVICE",
        help="run the feature tests of three papers instead, on each ARCH:NAME or UNIT.toml side by side",
    )
    stimulus = probe.add_argument_group(options.STIMULUS)
    stimulus.add_argument(
        "--vectors",
        type=int,
        default=1_000_000,
        metavar="N",
        help="compare the unit that was found with the device on N random vectors (default: %(default)s)",
    )
    options.add_seed(stimulus)
    run = probe.add_argument_group(options.RUN)
    run.add_argument(
        "--seconds", type=float, metavar="S", help="stop when the device has computed for S seconds (default: no limit)"
    )
    run.add_argument(
        "--state",
        type=Path,
        metavar="FILE.npz",
        help="record all answers in this file, and resume from them (default: none)",
    )
    reports = probe.add_argument_group(options.REPORTS)
    reports.add_argument(
        "-o", "--output", type=Path, metavar="UNIT.toml", help="write the unit that was found; - for stdout"
    )
    reports.add_argument(
        "--tree", action="store_true", help="report the summation tree too, found without assuming an operation"
    )
    reports.add_argument(
        "--settle",
        type=Path,
        metavar="V.npz",
        help="write the rows that would decide between the models that a recording does not distinguish",
    )
    reports.add_argument(
        "--html", type=Path, metavar="FILE", help="write the results of --features to FILE as one HTML page"
    )
    options.add_json(reports)


DESIGN_COMMANDS = (add_rtl, add_cosim, add_prove, add_explore, add_probe, add_order)


def parser() -> CommandParser:
    """The command line's parser.

    The parsed arguments name the command's `module` and `function`. The module is imported when its command runs, because
    the commands need different packages.
    """
    top = CommandParser(
        prog="mmau",
        description="The arithmetic of matrix multiply-accumulate units, bit for bit.",
        epilog="`mmau COMMAND --help` explains the options of a command and shows an example.",
    )
    top.add_argument("--version", nargs=0, action=PrintVersion, help="print the version and the commit, and exit")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    for add in (*MODEL_COMMANDS, *DESIGN_COMMANDS):
        add(commands)
    top.commands = dict(commands.choices)
    return top


class PrintVersion(argparse.Action):
    """Prints the version and the commit of what runs. Both are looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:
        version = import_module("golden.text").mmau_version()
        print(f"mmau {version} (commit {import_module('golden.commit').commit()})")
        parser.exit()
