"""Models held to emulators at volume: `python -m studies.emulated PAGE FOLDER ARCH=COMMAND…`.

COMMAND asks a program for one instruction of the architecture (`--program` of mmau); `{name}` in it is the instruction's
name. Every instruction is a campaign of `hwtests.conform` with a report in FOLDER, from which another run goes on. The page
is written from all reports of the folder.
"""

import argparse
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import golden
from golden.files import write_atomically
from golden.processes import run_tool
from golden.program import PATIENCE
from hwtests import conform
from mmau.report.markdown import document, table
from studies.pages import made_by

VECTORS = 10**7
"""Results of each instruction."""

FORM = "binary"


PROGRAMS = """\
([probing.md](../guides/probing.md#a-program-is-a-device)), for the results of the stimulus of `mmau conform`:
all classes and corners. The programs are in `examples/program`: `sme.c` runs the instruction under QEMU,
`rvbna.cpp` calls Spike's own header at the commit of `tests/peers.py`. No silicon had a part in it."""

NANS = """\
Any NaN counts as any NaN;
that it is the default NaN of the architecture is tested, with fewer rows, in
`tests/golden/catalogue/test_sme_peer.py` and `tests/golden/catalogue/test_rvbna_peer.py`, which hold every
instruction of both architectures to their executables."""


class Row(NamedTuple):
    """The report of an instruction."""

    instruction: golden.Instruction
    report: dict[str, Any]

    @property
    def progress(self) -> dict[str, Any]:
        found: dict[str, Any] = self.report["instructions"][self.instruction.name]
        return found

    @property
    def compared(self) -> int:
        return sum(self.progress["vectors"].values())

    @property
    def differing(self) -> int:
        return sum(self.progress["mismatches"].values())


def asked(arch: str) -> list[golden.Instruction]:
    """The instructions that an executable is asked for: of the draft of RISC-V those on floating point."""
    return [i for i in golden.instructions(arch) if not (arch == "riscv-zvbdota" and i.d.name == "int32")]


def run(arch: str, command: str, folder: Path, vectors: int) -> None:
    """Run or resume the campaigns of an architecture.

    Raises:
        DeviceError, ValueError, OSError: as `hwtests.conform.run_campaign`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for i in asked(arch):
        program = command.replace("{name}", i.name)
        job = conform.Job(arch=arch, pattern=i.name, vectors=vectors, seed=0, seconds=None, retry=False, record=None)
        path = folder / f"{arch}.{i.name}.json"
        worker = (*conform.PROGRAM_WORKER, arch, program, FORM, str(PATIENCE))
        hang = conform.HANG_SECONDS + 2 * PATIENCE
        report = conform.run_campaign(job, path, lambda line: print(line, flush=True), worker=worker, hang_seconds=hang)
        about = report.to_json() | {"emulator": version_of(program)}
        write_atomically(path.with_suffix(".outcome"), json.dumps(about, indent=1).encode())


def version_of(program: str) -> str:
    """The first line of what an emulator says of its version; empty where the command is none."""
    word = shlex.split(program)[0]
    if not Path(word).name.startswith("qemu-"):
        return ""
    done = run_tool([word, "--version"], timeout=60)
    done.check_returncode()
    return done.stdout.splitlines()[0]


def rows(folder: Path) -> list[Row]:
    """The reports of a folder, in the order of the catalogue."""
    found = []
    for arch in golden.ARCHITECTURES:
        for i in golden.instructions(arch):
            path = folder / f"{arch}.{i.name}.outcome"
            if path.exists():
                found.append(Row(i, json.loads(path.read_text(encoding="utf-8"))))
    return found


def page(found: Sequence[Row]) -> str:
    """The page, in Markdown.

    Raises:
        ValueError: a report holds an instruction that was not asked whole, or nothing was asked.
    """
    stopped = [f"{row.instruction.name}: {row.progress['status']}" for row in found if row.progress["status"] != "done"]
    if stopped or not found:
        raise ValueError(f"every campaign must be done before its page is written, got {', '.join(stopped) or 'no report'}")
    compared, differing = sum(row.compared for row in found), sum(row.differing for row in found)
    header = ("architecture", "instruction", "model", "results", "differ", "executable", "date")
    cells = [
        (
            row.instruction.arch, f"`{row.instruction.name}`", row.instruction.operation.name, f"{row.compared:,}",
            f"{row.differing:,}", row.report["emulator"] or "Spike", row.report["runs"][-1]["started"][:10],
        )
        for row in found
    ]  # fmt: skip
    made = f"{made_by('emulated')} It asks an executable that others wrote, by the protocol of `--program`"
    outcome = f"**{compared:,} results of {len(found)} instructions compared, {differing:,} differ.**"
    return document("Models held to emulators", f"{made}\n{PROGRAMS}", f"{outcome} {NANS}", table(header, cells))


def main() -> None:
    """Run the campaigns that are named, and write the page of all reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("programs", nargs="*", metavar="ARCH=COMMAND")
    parser.add_argument("--vectors", type=int, default=VECTORS)
    arguments = parser.parse_args()
    for word in arguments.programs:
        arch, _, command = word.partition("=")
        run(golden.architecture(arch), command, arguments.folder, arguments.vectors)
    write_atomically(arguments.page, page(rows(arguments.folder)).encode())


if __name__ == "__main__":
    main()
