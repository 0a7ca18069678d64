"""The folder of an exploration."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from explore.run.proof import VERILOG, renamed
from explore.run.records import joined
from explore.space.points import Point
from golden.checks import listed
from golden.files import write_atomically
from jobs import Record
from rtl.verilog.headers import with_paragraph

STORE, RESULTS, SPACE = "store", "results.jsonl", "space.toml"

WHAT = "explore"
"""What its store holds."""


def prepare(folder: Path, text: str) -> None:
    """Make the folder, or go on with one of an earlier exploration.

    Args:
        text: the space's file.

    Raises:
        ValueError: there is something else. OSError: it cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = sorted(path.name for path in folder.iterdir())
    if found and STORE not in found:
        shown = listed(found[:3]) + (" …" if len(found) > 3 else "")
        raise ValueError(
            f"{folder} must be an empty folder or that of an exploration, and holds {shown}; name another folder"
        )
    (folder / STORE).mkdir(exist_ok=True)
    for name in ("units", "verilog"):
        (folder / name).mkdir(exist_ok=True)
    write_atomically(folder / SPACE, text.encode())


def write_unit(folder: Path, point: Point) -> None:
    """The unit's file, where it is not there as it should be."""
    _write(folder / "units" / f"{point.file_name}.toml", point.toml)


def remove_verilog(folder: Path, point: Point) -> None:
    """Remove the Verilog of another unit, or of other sources, that was called so."""
    (folder / "verilog" / f"{point.file_name}.v").unlink(missing_ok=True)


def write_verilog(folder: Path, point: Point, record: Record, is_waiting: bool, proof: Record | None) -> None:
    """The Verilog that a task has left, under the point's name, with what is known of it.

    Args:
        record: of its co-simulation. proof: of its proof, None where none was asked or it is still to come.
        is_waiting: whether it is.
    """
    if record.folder is None:
        raise ValueError(f"{point.name}: the task that is done has left no Verilog; remove {folder} to begin anew")
    text = (record.folder / VERILOG).read_text(encoding="utf-8")
    text = with_paragraph(renamed(text, point.name), known_of(record, is_waiting, proof))
    _write(folder / "verilog" / f"{point.file_name}.v", text)


def known_of(record: Record, is_waiting: bool, proof: Record | None) -> tuple[str, str]:
    """What a point's header says: simulated, proved."""
    if record.result is None:
        return "Simulated: no.", "Proved: no."
    found = joined(record.result, proof)
    received, mismatches = found["received"], found["mismatches"]
    note = "its proof has not ended" if is_waiting else found["proved_note"]
    proved = f"for all inputs, {found['obligations']} obligations" if found["proved"] else f"no; {note}"
    return f"Simulated: {received:,} vectors in Verilator, {mismatches:,} mismatches.", f"Proved: {proved}."


def write_results(folder: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """results.jsonl, a record a line."""
    lines = (json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n" for record in records)
    write_atomically(folder / RESULTS, lines)


def _write(path: Path, text: str) -> None:
    content = text.encode()
    if not path.is_file() or path.read_bytes() != content:
        write_atomically(path, content)
