"""The commands of models and recordings, with their options."""

from pathlib import Path

from mmau.cli import options
from mmau.cli.command_parser import Commands, command
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
        "mmau disclose examples/units/riscv-fp16.toml --lambda 4 --lambda 8 -o disclosure",
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
        help="write as many dot products of one instruction of each unit as a test in assembler for riscv-arch-test, "
        "in each mode (default: none)",
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
