"""All commands and their options."""

import argparse
from pathlib import Path

from mmau.options import add_design_options, add_dut_options, add_run_options


def parser() -> argparse.ArgumentParser:
    """The command line's parser, as in the README.

    What it parses names the command's `module` and `function`: a module is imported when its command runs, for no command
    needs the others' packages.
    """
    top = argparse.ArgumentParser(prog="mmau", description="The arithmetic of matrix multiply-accumulate units, bit by bit.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    listing = commands.add_parser("list", help="the catalogue: operations, evidence, what is simulated and proved")
    listing.add_argument("--arch", help="one architecture, by name (sm_90) or marketing name (Hopper)")
    listing.set_defaults(module="mmau.listing", function="run_list")

    evaluate = commands.add_parser(
        "eval", help="run an instruction or a unit on arrays a, b, c [, scale_a, scale_b] of a .npz"
    )
    evaluate.add_argument("--unit", type=Path, metavar="UNIT.toml")
    evaluate.add_argument("--arch")
    evaluate.add_argument("--instr", metavar="NAME")
    evaluate.add_argument("--input", required=True, type=Path, metavar="V.npz")
    evaluate.add_argument("--output", type=Path, metavar="D.npz", help="array d; - for stdout")
    evaluate.add_argument("--engine", help="which engine computes; default: the fastest there is")
    evaluate.add_argument("--explain", action="store_true", help="show the steps of one dot product instead")
    evaluate.add_argument("--row", type=int, metavar="N", help="which dot product is explained, from 0")
    evaluate.add_argument("--html", type=Path, metavar="FILE", help="write the explanation as a page of its own")
    evaluate.set_defaults(module="mmau.evaluate", function="run_eval")

    vectors = commands.add_parser("vectors", help="test vectors with results, for testbenches without Python")
    vectors.add_argument("--unit", type=Path, metavar="UNIT.toml")
    vectors.add_argument("--arch")
    vectors.add_argument("--instr", metavar="NAME")
    number = vectors.add_mutually_exclusive_group()
    number.add_argument("--level", type=int, choices=[1, 2], help="1: the directed cases that every run should have; 2: all")
    number.add_argument("--vectors", type=int, metavar="N", help="so many, the same ones that cosim sends")
    vectors.add_argument("--seed", type=int, default=0, metavar="S", help="of the random inputs (0)")
    vectors.add_argument("--format", choices=["text", "npz"], help="default: npz where FILE ends in .npz, else text")
    vectors.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help="- for stdout")
    vectors.set_defaults(module="mmau.vectors", function="run_vectors")

    rtl_command = commands.add_parser("rtl", help="Verilog of a unit or a tile, and what it costs")
    add_design_options(rtl_command)
    rtl_command.add_argument("-o", "--output", type=Path, metavar="UNIT.v", help="the Verilog; - for stdout")
    rtl_command.add_argument("--report", action="store_true", help="cells, transistors, depth, by component")
    rtl_command.set_defaults(module="mmau.rtl", function="run_rtl")

    cosim_command = commands.add_parser("cosim", help="co-simulate datapaths against the golden model; alone: the main job")
    add_design_options(cosim_command)
    cosim_command.add_argument("--all", action="store_true", help="every datapath of the catalogue")
    cosim_command.add_argument("--coverage", action="store_true", help="every parameter set and every way to build a unit")
    cosim_command.add_argument("--vectors", type=int, default=20000, metavar="N", help="vectors of each unit (20000)")
    cosim_command.add_argument("--seed", type=int, default=0, metavar="S", help="of the random inputs (0)")
    cosim_command.add_argument("--sim", default="verilator", metavar="SIMULATOR", help="verilator or icarus")
    cosim_command.add_argument(
        "--mode", default="cocotb", metavar="MODE", help="cocotb, or volume: in native code, for 10^6 vectors and more"
    )
    cosim_command.add_argument("--waves", action="store_true", help="leave a waveform in this folder; one unit only")
    add_run_options(cosim_command)
    add_dut_options(cosim_command)
    cosim_command.set_defaults(module="mmau.cosim", function="run_cosim")

    conform = commands.add_parser("conform", help="hold the model against this GPU or processor; run again to resume")
    conform.add_argument("--arch", help="the architecture that the GPU must have, or x86-amx, x86-avx512")
    conform.add_argument("--instr", default="*", metavar="PATTERN", help="instructions, as a shell pattern (all)")
    conform.add_argument("--vectors", type=int, default=1_000_000, metavar="N", help="results of each to compare (1000000)")
    conform.add_argument("--seed", type=int, default=0, metavar="S", help="of the random inputs (0)")
    conform.add_argument("--record", type=Path, metavar="DIR", help="also write a recording of each into this folder")
    conform.add_argument("--retry", action="store_true", help="try again what hung, crashed or failed in an earlier run")
    conform.add_argument("--seconds", type=float, metavar="S", help="stop after so long; what is done is kept")
    conform.add_argument(
        "--report", type=Path, default=Path("conform.json"), metavar="FILE", help="report and state (conform.json)"
    )
    conform.set_defaults(module="mmau.conform", function="run_conform")

    probe = commands.add_parser("probe", help="find out what a black box computes, from its answers alone")
    probe.add_argument("--unit", type=Path, metavar="UNIT.toml", help="the box is this unit")
    probe.add_argument("-K", type=int, metavar="K", help="products of a dot product of the unit (two steps)")
    probe.add_argument("--arch")
    probe.add_argument("--instr", metavar="NAME", help="the box is this instruction")
    probe.add_argument("--rtl", action="store_true", help="the box is the unit's or the instruction's Verilog, simulated")
    probe.add_argument("--dut", type=Path, metavar="DUT.toml", help="the box is this design, simulated; see [formats]")
    probe.add_argument("--device", metavar="ARCH:NAME", help="the box is this machine's own instruction")
    probe.add_argument("--recording", type=Path, metavar="FILE.npz", help="no box: what these recorded rows say")
    probe.add_argument(
        "--settle", type=Path, metavar="V.npz", help="the rows that would settle what a recording leaves open"
    )
    probe.add_argument("--vectors", type=int, default=1_000_000, metavar="N", help="random vectors to reproduce (1000000)")
    probe.add_argument("--seed", type=int, default=0, metavar="S", help="of all questions (0)")
    probe.add_argument("--seconds", type=float, metavar="S", help="stop when the box has computed so long")
    probe.add_argument("--state", type=Path, metavar="FILE.npz", help="keep all answers here, and go on from there")
    probe.add_argument("--tree", action="store_true", help="also the summation tree, with no operation in mind")
    probe.add_argument("-o", "--output", type=Path, metavar="UNIT.toml", help="the unit that was found; - for stdout")
    probe.add_argument(
        "--features", nargs="*", metavar="BOX", help="the papers' tests instead, of ARCH:NAME or UNIT.toml side by side"
    )
    probe.add_argument("--html", type=Path, metavar="FILE", help="write what --features found as a page of its own")
    probe.set_defaults(module="mmau.probe", function="run_probe")

    distinguish = commands.add_parser("distinguish", help="an input on which two units or instructions differ, explained")
    for side in ("x", "y"):
        distinguish.add_argument(side, metavar=side.upper(), help="ARCH:NAME or UNIT.toml")
    distinguish.add_argument("--vectors", type=int, default=1_000_000, metavar="N", help="random vectors at most (1000000)")
    distinguish.add_argument("--seed", type=int, default=0, metavar="S", help="of the vectors (0)")
    distinguish.add_argument(
        "--prove", type=float, default=20.0, metavar="S", help="seconds for solvers, where no vector shows a difference (20)"
    )
    distinguish.set_defaults(module="mmau.distinguish", function="run_distinguish")

    prove = commands.add_parser("prove", help="a unit's Verilog equal to its operation for every input, step by step")
    add_design_options(prove)
    prove.add_argument("--dut", type=Path, metavar="DUT.toml", help="a design of one's own equal to the generated datapath")
    prove.add_argument("--seconds", type=float, default=60.0, metavar="N", help="for all questions together (60)")
    prove.set_defaults(module="mmau.prove", function="run_prove")

    compare = commands.add_parser("compare", help="one input on every unit of the catalogue, side by side")
    for name, what in (("a", "numbers, as -2^13,0.5,0x1p-3"), ("b", "as many"), ("c", "the accumulator")):
        compare.add_argument(f"--{name}", metavar="X,…" if name != "c" else "X", help=what)
    for name in ("scale-a", "scale-b"):
        compare.add_argument(f"--{name}", metavar="X,…", help="scales of the blocks, where a unit has some (1)")
    compare.add_argument("--input", type=Path, metavar="V.npz", help="instead of numbers: codes of this instruction")
    compare.add_argument("--arch")
    compare.add_argument("--instr", metavar="NAME")
    compare.add_argument("--row", type=int, metavar="N", help="which dot product of the input, from 0")
    compare.add_argument("--on", action="append", default=[], metavar="ARCH", help="compare these architectures alone")
    compare.add_argument("--traces", action="store_true", help="print every step of each result too")
    compare.add_argument("--html", type=Path, metavar="FILE", help="write a page with every step of each result")
    compare.set_defaults(module="mmau.compare", function="run_compare", unit=None)

    exploration = commands.add_parser("explore", help="accuracy, cost and proof of every unit of a design space")
    exploration.add_argument("space", type=Path, metavar="SPACE.toml")
    exploration.add_argument("--out", required=True, type=Path, metavar="DIR", help="results; run again to go on")
    exploration.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, like tcp://host:8786")
    exploration.add_argument("--jobs", type=int, metavar="N", help="workers on this machine; default: one a core")
    exploration.add_argument(
        "--seconds", type=float, default=1800.0, metavar="S", help="limit for each part of a point (1800)"
    )
    exploration.add_argument("--retry", action="store_true", help="try again what failed or was out of time")
    exploration.set_defaults(module="mmau.explore", function="run_explore")

    for command in (
        listing,
        evaluate,
        vectors,
        rtl_command,
        cosim_command,
        conform,
        probe,
        distinguish,
        prove,
        compare,
        exploration,
    ):
        command.add_argument("--json", action="store_true", help="print one machine-readable object instead")
    return top
