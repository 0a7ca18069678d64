"""`mmau probe --recording`: what a recording alone says, without a box to ask."""

import argparse
import json
from pathlib import Path

from golden.files import check_output, is_stdout, write_output
from golden.npz import npz_bytes
from golden.recording import read
from mmau import DIFFERED, OK
from probe.box import box_of_instruction
from probe.model import toml_of
from probe.recorded import Reading, as_dict, read_rows, text_of


def run_recording(arguments: argparse.Namespace) -> int:
    """`mmau probe --recording`."""
    for output in (arguments.output, arguments.settle):
        if output is not None:
            if is_stdout(output):
                raise ValueError("with --recording, -o and --settle must name files; stdout has the report")
            check_output(output, [arguments.recording])
    recording = read(arguments.recording)
    reading = read_rows(box_of_instruction(recording.instruction).shape, recording.operands, recording.d, arguments.seed)
    print(json.dumps(as_dict(reading)) if arguments.json else text_of(reading), end="\n" if arguments.json else "")
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
