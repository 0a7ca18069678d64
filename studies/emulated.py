"""Models held to emulators at volume: `python -m studies.emulated PAGE FOLDER ARCH=COMMAND…`.

COMMAND asks a program for one instruction of the architecture (`--program` of mmau); `{name}` in it is the instruction's
name. Every instruction is a campaign of `hwtests.conform` with a report in FOLDER, from which another run goes on. The page
is written from all reports of the folder, and keeps its lines of instructions without one: those with enough results, of
which none differs, are not asked again. To ask all of them, name a new page.
"""

import argparse
import json
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import golden
from golden.cache import content_key
from golden.files import write_atomically
from golden.processes import run_tool
from golden.program import PATIENCE
from hwtests import conform
from mmau.report.markdown import document, table
from studies.pages import made_by

VECTORS = 10**7
"""Results of each instruction."""

FORM = "binary"

Key = tuple[str, str]
"""An architecture and an instruction of it."""


PROGRAMS = """\
([probing.md](../guides/probing.md#a-program-is-a-device)), for the results of the stimulus of `mmau conform`:
all classes and corners. The programs are in `examples/program`: `sme.c` runs the instruction under QEMU,
`rvbna.cpp` calls Spike's own header at the commit of `tests/peers.py`. No silicon had a part in it."""

NANS = """\
Any NaN counts as any NaN;
that it is the default NaN of the architecture is tested, with fewer rows, in
`tests/golden/catalogue/test_sme_peer.py` and `tests/golden/catalogue/test_rvbna_peer.py`, which hold every
instruction of both architectures to their executables."""

HEADER = ("architecture", "instruction", "model", "arithmetic", "results", "differ", "executable", "date")


class Line(NamedTuple):
    """A line of the page's table: an instruction, and what was compared on which day."""

    arch: str
    instruction: str
    model: str
    arithmetic: str
    results: int
    differing: int
    executable: str
    date: str

    @property
    def key(self) -> Key:
        return self.arch, self.instruction

    @property
    def cells(self) -> tuple[str, ...]:
        """Those of its row in the table."""
        name = f"`{self.instruction}`"
        counts = f"{self.results:,}", f"{self.differing:,}"
        return self.arch, name, self.model, self.arithmetic, *counts, self.executable, self.date


LINE = re.compile(r"\| (\S+) \| `(\S+)` \| (.+) \| ([0-9a-f]+) \| ([\d,]+) \| ([\d,]+) \| (.+) \| (\d{4}-\d\d-\d\d) \|")


def arithmetic(i: golden.Instruction) -> str:
    """A digest of all that an instruction's result follows from: its operation with every parameter, its chain and its K."""
    return content_key({"operation": i.operation.name, **i.operation.parameters(), "chain": repr(i.chain), "K": i.k})[:12]


def lines_of(page: Path) -> Iterator[Line]:
    """The lines of a page whose arithmetic is the catalogue's still; of a page that does not exist none."""
    for found in LINE.finditer(page.read_text(encoding="utf-8") if page.exists() else ""):
        arch, name, model, digest, results, differing, executable, date = found.groups()
        if any((i.name, i.operation.name, arithmetic(i)) == (name, model, digest) for i in golden.instructions(arch)):
            compared, wrong = (int(count.replace(",", "")) for count in (results, differing))
            yield Line(arch, name, model, digest, compared, wrong, executable, date)


def asked(arch: str) -> list[golden.Instruction]:
    """The instructions that an executable is asked for: of the draft of RISC-V those on floating point."""
    return [i for i in golden.instructions(arch) if not (arch == "riscv-zvbdota" and i.d.name == "int32")]


def campaign(i: golden.Instruction, command: str, folder: Path, vectors: int) -> None:
    """Run or resume the campaign of an instruction.

    Raises:
        DeviceError, ValueError, OSError: as `hwtests.conform.run_campaign`.
    """
    program = command.replace("{name}", i.name)
    job = conform.Job(arch=i.arch, pattern=i.name, vectors=vectors, seed=0, seconds=None, retry=False, record=None)
    path = folder / f"{i.arch}.{i.name}.json"
    worker = (*conform.PROGRAM_WORKER, i.arch, program, FORM, str(PATIENCE))
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


def reported(folder: Path) -> Iterator[Line]:
    """A line of each report of a folder.

    Raises:
        ValueError: a report holds an instruction that was not asked whole.
    """
    for path in sorted(folder.glob("*.outcome")):
        report = json.loads(path.read_text(encoding="utf-8"))
        ((name, progress),) = report["instructions"].items()
        if progress["status"] != "done":
            raise ValueError(f"every campaign must be done before its page is written, got {name}: {progress['status']}")
        arch = report["device"]["arch"]
        i = golden.instruction(arch, name)
        counts = sum(progress["vectors"].values()), sum(progress["mismatches"].values())
        yield Line(
            arch,
            name,
            i.operation.name,
            arithmetic(i),
            *counts,
            report["emulator"] or "Spike",
            report["runs"][-1]["started"][:10],
        )


def page(found: Iterable[Line]) -> str:
    """The page, in Markdown; of two lines of an instruction the later one counts, or the larger one if none differs.

    Raises:
        ValueError: nothing was asked.
    """
    lines: dict[Key, Line] = {}
    for line in found:
        before = lines.get(line.key, line)
        lines[line.key] = before if before.results > line.results and not before.differing + line.differing else line
    if not lines:
        raise ValueError("every campaign must be done before its page is written, got no report")
    compared, differing = sum(line.results for line in lines.values()), sum(line.differing for line in lines.values())
    of_catalogue = [(arch, i.name) for arch in golden.ARCHITECTURES for i in golden.instructions(arch)]
    made = f"{made_by('emulated')} It asks an executable that others wrote, by the protocol of `--program`"
    outcome = f"**{compared:,} results of {len(lines)} instructions compared, {differing:,} differ.**"
    cells = [lines[key].cells for key in of_catalogue if key in lines]
    return document("Models held to emulators", f"{made}\n{PROGRAMS}", f"{outcome} {NANS}", table(HEADER, cells))


def main() -> None:
    """Run the campaigns that are named, and write the page, after each of them too."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("programs", nargs="*", metavar="ARCH=COMMAND")
    parser.add_argument("--vectors", type=int, default=VECTORS)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    before = list(lines_of(arguments.page))
    done = {line.key for line in before if line.results >= arguments.vectors and not line.differing}
    for word in arguments.programs:
        arch, _, command = word.partition("=")
        for instruction in asked(golden.architecture(arch)):
            if (instruction.arch, instruction.name) not in done:
                campaign(instruction, command, arguments.folder, arguments.vectors)
                write_atomically(arguments.page, page([*before, *reported(arguments.folder)]).encode())
    write_atomically(arguments.page, page([*before, *reported(arguments.folder)]).encode())


if __name__ == "__main__":
    main()
