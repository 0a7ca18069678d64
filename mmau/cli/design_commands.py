"""The commands of circuits, spaces and programs, with their options."""

from pathlib import Path

from mmau.cli import options
from mmau.cli.command_parser import Commands, command, seconds
from mmau.cli.options import add_program


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
