"""The results of the list: lines of JSON in `results-001.jsonl` and the files after it, which are appended to alone. The
last line about a unit counts; a line that was cut off when its writer was killed is passed over."""

import json
import os
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PART_BYTES = 12 << 20
"""Size of a file (bytes) from which it takes no further line; a line has a few hundred kilobytes at most."""

RUNNING, DONE = "running", "done"

STOPPED = ("failed", "hung", "crashed", "dependent")
"""Ends of a unit beside DONE; it is not tried again unless it is asked for."""


class Records:
    """The records in a folder.

    Attributes:
        machine: device and software; empty before the first run. runs: what identifies each worker's machine and sources.
        units: the last entry of each unit, by item and unit: `status` and what was found.
        files: name to content of the files that are kept whole.

    Raises:
        ValueError: a file that is none of these. OSError: the folder cannot be read or made.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.machine: dict[str, str] = {}
        self.runs: list[dict[str, str]] = []
        self.units: dict[str, dict[str, dict[str, Any]]] = {}
        self.files: dict[str, bytes] = {}
        for path in self._parts():
            for line in _lines(path):
                self._enter(path, line)

    def _parts(self) -> list[Path]:
        return sorted(path for path in self._folder.glob("results-*.jsonl") if re.fullmatch(r"results-\d{3}", path.stem))

    def _enter(self, path: Path, line: dict[str, Any]) -> None:
        try:
            if "machine" in line:
                self.machine = {str(key): str(value) for key, value in line["machine"].items()}
                self.runs.append(line["run"])
            elif "file" in line:
                self.files[line["file"]] = b64decode(line["content"], validate=True)
            else:
                str(line["entry"]["status"])
                self.units.setdefault(line["item"], {})[line["unit"]] = line["entry"]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{path} has a line that is no result of the list: {error!r}; name another folder") from error

    def add(self, **line: Any) -> None:
        """Append a line, and take it in.

        Args:
            line: machine and run; or file and content, in base64; or item, unit and entry.

        Raises:
            OSError: it cannot be written.
        """
        parts = self._parts()
        path = parts[-1] if parts else self._folder / "results-001.jsonl"
        if path.exists() and path.stat().st_size > PART_BYTES:
            path = path.with_stem(f"results-{int(path.stem[-3:]) + 1:03}")
        self._enter(path, line)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            is_torn = size and os.pread(descriptor, 1, size - 1) != b"\n"
            content = memoryview((b"\n" if is_torn else b"") + json.dumps(line).encode() + b"\n")
            while content:
                content = content[os.write(descriptor, content) :]
        finally:
            os.close(descriptor)

    def entry(self, item: str, unit: str) -> dict[str, Any]:
        """The last entry of a unit; its status is empty before it has begun."""
        return self.units.get(item, {}).get(unit, {"status": ""})

    def is_open(self, item: str, unit: str) -> bool:
        """Whether a unit is still to be dealt with."""
        return self.entry(item, unit)["status"] not in (DONE, *STOPPED)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file."""
    for line in path.read_bytes().split(b"\n"):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found
