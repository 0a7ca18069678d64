"""The results of a GPU or a processor, recorded in five minutes into one file to send:

    python -m hwtests.record [--who NAME] [FOLDER]

runs every instruction of this machine's NVIDIA or AMD GPU that the time allows (`--arch x86-avx512`, `x86-amx`: its
processor), compares it with golden's models, and writes FOLDER/mmau-recording.zip: some rows of each instruction with
part, driver and licence, and the report. It needs Python, NumPy, ml_dtypes, and CuPy for NVIDIA or hip-python for AMD;
from a clone, no installation. Called again, it goes on where it was. docs/guides/silicon.md says more.
"""

import argparse
import dataclasses
import io
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import golden
from golden.commit import issues
from golden.files import write_atomically
from golden.recordings import recording, recording_index
from golden.recordings.recording import Recording
from hwtests.conform import PROCESSOR_WORKER, Job, Report, run_campaign, summary
from hwtests.conform.campaign import WORKER, mismatch_folder
from hwtests.conform.campaign_worker import OWN_LICENCE

ROWS = 1024
"""Number of rows of each instruction that are sent."""

SECONDS = 300.0

FILE, REPORT, RECORDINGS = "mmau-recording.zip", "conform.json", "recordings"

DATE = (1980, 1, 1, 0, 0, 0)
"""Date of every file in the zip, constant so that equal contents make equal files."""

NOTE = """\
Results of {device} ({arch}, driver {driver}, {runtime}, {compiler}), recorded by {who} with MMAU, python -m hwtests.record.

recordings/     the first rows of each generator, {rows} of an instruction at most: operands and what the device gave;
                MMAU's golden/recordings/recording.py describes the format, which NumPy reads
conform.json    how many results were compared with MMAU's models, and what differed
differing/      rows that differed from the models, if any did

Operands are generated; nothing in this file is about you or your machine but what stands above, and in conform.json the
device's UUID and clocks. The results of a device are facts. Whoever sends this file agrees that it is published with MMAU
under {licence}, with the name above.
"""


def thinned(whole: Recording, count: int) -> Recording:
    """A recording with `count` of its rows, in equal shares of each generator where it has enough, chosen by their place
    alone."""
    label, turn = whole.label, np.zeros(len(whole), np.int64)
    for generator in np.unique(label):
        of_it = label == generator
        turn[of_it] = np.arange(int(of_it.sum()))
    chosen = np.sort(np.argsort(turn, kind="stable")[:count])
    note = f"{len(chosen):,} of the {len(whole):,} rows that were recorded and compared, the first of each generator"
    if whole.instruction.sparse:
        note += "; b holds the selected elements: the device gave this under every selection, with others between them"
    return dataclasses.replace(
        whole, header=dataclasses.replace(whole.header, note=note), operands=whole.operands.rows(chosen),
        d=whole.d[chosen], label=label[chosen],
    )  # fmt: skip


def packed(folder: Path, report: Report, who: str) -> bytes:
    """The content of the zip file to send.

    Raises:
        ValueError: a recording is damaged.
        OSError: a recording cannot be read.
    """
    files: dict[str, bytes] = {}
    listed = {}
    for name in sorted(recording_index.read_index(folder / RECORDINGS)):
        found = thinned(recording.read(folder / RECORDINGS / name), ROWS)
        files[f"{RECORDINGS}/{name}"] = content = recording.content(found)
        listed[name] = recording_index.entry_of(found, content)
    files[f"{RECORDINGS}/{recording_index.INDEX}"] = recording_index.text_of(listed).encode()
    files[REPORT] = (folder / REPORT).read_bytes()
    for path in sorted(mismatch_folder(folder / REPORT).glob("*.npz")):
        files[f"differing/{path.name}"] = path.read_bytes()
    note = NOTE.format(**report.device, who=who, rows=ROWS, licence=OWN_LICENCE)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in {"README.txt": note.encode(), **files}.items():
            archive.writestr(zipfile.ZipInfo(name, DATE), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def main(arguments: Sequence[str] | None = None) -> int:
    """Record this machine. Exit status: 0 the models agree, 1 something differs or failed, 2 nothing can be recorded
    here."""
    parser = argparse.ArgumentParser(prog="python -m hwtests.record", description="Record what this machine's GPU computes.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("mmau-recording"), metavar="FOLDER",
                        help="of the recordings, which a later call goes on with (mmau-recording)")  # fmt: skip
    parser.add_argument("--who", default="a volunteer", metavar="NAME", help="who recorded it, as the rows will say")
    parser.add_argument("--arch", metavar="ARCH", help="gfx1201 …: an AMD GPU; x86-avx512, x86-amx: the processor")
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="S", help=f"of this call ({SECONDS:g})")
    given = parser.parse_args(arguments)
    try:
        if not given.seconds > 0 or not given.who:
            raise ValueError(f"--seconds must be more than 0 and --who a name, got {given.seconds:g} and {given.who!r}")
        arch = None if given.arch is None else golden.architecture(given.arch)
        (given.folder / RECORDINGS).mkdir(parents=True, exist_ok=True)
        job = Job(
            arch=arch, pattern="*", vectors=1, seed=0, seconds=given.seconds, record=str(given.folder / RECORDINGS),
            who=given.who,
        )  # fmt: skip
        worker = (*PROCESSOR_WORKER, arch) if arch in golden.PROCESSORS else WORKER
        report = run_campaign(job, given.folder / REPORT, lambda line: print(line, flush=True), worker)
        write_atomically(given.folder / FILE, packed(given.folder, report, given.who))
    except (ValueError, OSError) as error:
        print(f"hwtests.record: {error}", file=sys.stderr)
        return 2
    print(summary(report))
    where = issues() or "an issue of the project's own repository, not of a fork of it"
    print(
        f"Please send {given.folder / FILE}: attach it to {where}. "
        "Its README.txt says what is in it, and under which licence it is published."
    )
    return 0 if report.agreed() else 1


if __name__ == "__main__":
    sys.exit(main())
