"""`mmau probe --recording`: infer models from a recording alone, without a device under test."""

import argparse
from pathlib import Path

from golden.device import formats_of
from golden.files import check_output, is_stdout, write_output
from golden.recordings.npz import npz_bytes
from golden.recordings.recording import read
from mmau import DIFFERED, OK
from mmau.cli.json_objects import print_object
from mmau.cli.streams import progress
from mmau.probe.from_recording import Reading, as_dict, read_rows, text_of
from mmau.probe.model import toml_of


def run_recording(arguments: argparse.Namespace) -> int:
    """Run `mmau probe --recording` and return its exit status."""
    for output in (arguments.output, arguments.settle):
        if output is not None:
            if is_stdout(output):
                raise ValueError("with --recording, -o and --settle must name files: the report goes to stdout")
            check_output(output, [arguments.recording])
    if None not in (arguments.output, arguments.settle) and arguments.output.resolve() == arguments.settle.resolve():
        raise ValueError(f"-o and --settle must name two files, got {arguments.output} twice")
    recording = read(arguments.recording)
    shape = formats_of(recording.instruction)
    reading = read_rows(shape, recording.operands, recording.d, arguments.seed, progress)
    if arguments.json:
        print_object("probe-recording", as_dict(reading))
    else:
        print(text_of(reading), end="")
    _write(reading, arguments.output, arguments.settle)
    return OK if reading.consistent else DIFFERED


def _write(reading: Reading, output: Path | None, settle: Path | None) -> None:
    if not reading.consistent:
        return
    if output is not None:
        write_output(output, toml_of(reading.best, "recorded").encode())
    rows = reading.settling()
    if settle is not None and rows is not None:
        named = zip(rows._fields, rows, strict=True)
        write_output(settle, npz_bytes({name: array for name, array in named if array is not None}))
