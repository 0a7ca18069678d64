"""The folder of an exploration."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from golden.checks import listed
from golden.files import write_atomically
from mmau.explore.run.cosimulation import VERILOG, renamed
from mmau.explore.run.result_records import proof_of
from mmau.explore.space.space_points import Point
from mmau.jobs import Record
from rtl.verilog.headers import with_paragraph

STORE, RESULTS, SPACE = "store", "results.jsonl", "space.toml"

WHAT = "explore"
"""The kind of its store's results."""


def check(folder: Path) -> None:
    """Raise ValueError where the folder holds something else than an exploration."""
    found = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    if found and STORE not in found:
        shown = listed(found[:3]) + (" …" if len(found) > 3 else "")
        raise ValueError(
            f"{folder} must be an empty folder or that of an exploration, and holds {shown}; name another folder"
        )


def prepare(folder: Path, text: str) -> None:
    """Begin or resume an exploration in the folder, whose store is open: no other process uses it.

    Args:
        text: the space's file.

    Raises:
        OSError: it cannot be written.
    """
    for name in ("units", "verilog"):
        (folder / name).mkdir(exist_ok=True)
    write_atomically(folder / SPACE, text.encode())


def write_unit(folder: Path, point: Point) -> None:
    """Write the unit's file, unless it exists with this content."""
    _write(folder / "units" / f"{point.file_name}.toml", point.toml)


def remove_verilog(folder: Path, point: Point) -> None:
    """Remove earlier Verilog under the point's name, of another unit or of other sources."""
    (folder / "verilog" / f"{point.file_name}.v").unlink(missing_ok=True)


def remove_others(folder: Path, points: Sequence[Point]) -> None:
    """Remove the units and the Verilog of points that the space had before and has no longer; their results stay stored."""
    names = {point.file_name for point in points if point.is_valid}
    for path in (*(folder / "units").glob("*.toml"), *(folder / "verilog").glob("*.v")):
        if path.stem not in names:
            path.unlink()


def write_verilog(folder: Path, point: Point, record: Record, is_waiting: bool, proof: Record | None) -> None:
    """Write the Verilog of a task under the point's name, with its evidence in the header.

    Args:
        record: of its co-simulation. proof: of its proof, None if none was requested or it has not ended.
        is_waiting: whether a requested proof has not ended.
    """
    if record.folder is None:
        raise ValueError(f"{point.name}: the finished task has no Verilog; remove {folder} to begin anew")
    text = (record.folder / VERILOG).read_text(encoding="utf-8")
    text = with_paragraph(renamed(text, point.name), known_of(record, is_waiting, proof))
    _write(folder / "verilog" / f"{point.file_name}.v", text)


def known_of(record: Record, is_waiting: bool, proof: Record | None) -> tuple[str, str]:
    """The lines on simulation and proof in a point's header."""
    if record.result is None:
        return "Simulated: no.", "Proved: no."
    received, mismatches = record.result["received"], record.result["mismatches"]
    found = proof_of(record.result, proof) or {"proved": None, "reason": "not asked"}
    reason = "its proof has not ended" if is_waiting else found["reason"]
    proved = f"for all inputs, {found['obligations']} obligations" if found["proved"] else f"no; {reason}"
    return f"Simulated: {received:,} vectors in Verilator, {mismatches:,} mismatches.", f"Proved: {proved}."


def write_results(folder: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """results.jsonl, a record a line."""
    lines = (json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n" for record in records)
    write_atomically(folder / RESULTS, lines)


def _write(path: Path, text: str) -> None:
    content = text.encode()
    if not path.is_file() or path.read_bytes() != content:
        write_atomically(path, content)
