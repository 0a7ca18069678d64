"""The state of the job between calls: `state.json` in the state folder, and the results that are not handed over yet."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from golden import recording, recording_index
from golden.files import write_atomically

VERSION = 1
FILE = "state.json"
RESULTS = "results"
CUBINS = "cubins"

STAGES = ("self-test", "recordings", "sparse and integers", "microbenchmarks", "volume")
"""The stages in their order. An instruction has a separate entry in each of its stages."""

STOPPED = ("hung", "crashed", "failed")


@dataclass
class State:
    """Attributes:
    device: description of the device; empty before the first call. runs: what tells each worker's machine and sources.
    done: by stage, what is known of each item: its status and what else it found; everything is plain JSON.
    planned: by stage, all its items, in order; empty before the first call.
    handed: result files that were handed over, with their SHA-256.
    waiting: result files that there was no room to hand over yet.
    """

    device: dict[str, str] = field(default_factory=dict)
    runs: list[dict[str, str]] = field(default_factory=list)
    planned: dict[str, list[str]] = field(default_factory=dict)
    done: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    handed: dict[str, str] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)

    def entry(self, stage: str, name: str) -> dict[str, Any]:
        """The state of an item; `status` is empty before it has begun."""
        return self.done.setdefault(stage, {}).setdefault(name, {"status": ""})

    def open_items(self, stage: str) -> list[str]:
        """Items that are still to be dealt with."""
        ended = ("done", "dependent", *STOPPED)
        return [name for name in self.planned.get(stage, []) if self.entry(stage, name)["status"] not in ended]

    def complete(self) -> bool:
        """Whether every stage has been dealt with."""
        return bool(self.planned) and not any(self.open_items(stage) for stage in STAGES)

    def open_again(self) -> None:
        """Make what hung, crashed or failed something that is still to be dealt with."""
        for entries in self.done.values():
            for entry in entries.values():
                if entry["status"] in STOPPED:
                    entry["status"], entry["detail"] = "", ""

    def open_lost(self, results: Path) -> list[str]:
        """Open again what made files that waited to be handed over and are gone: another machine was given the state alone.
        Returns their names."""
        lost = [name for name in self.waiting if not (results / name).exists()]
        for name in lost:
            stage = {"recordings": STAGES[1], "tiles": STAGES[2], "microbenchmarks": STAGES[3]}.get(name.partition("/")[0])
            for item, entry in self.done.get(stage or "", {}).items():
                files = {entry.get("file"), recording.file_name(self.device.get("arch", ""), item)}
                if stage == STAGES[3] or name.partition("/")[2] in files:
                    self.done[str(stage)][item] = {"status": ""}
        self.waiting = []
        return lost


def load(folder: Path) -> State:
    """The state of a folder; a new one if it has no state.

    Raises:
        ValueError: not a state. OSError: it cannot be read.
    """
    path = folder / FILE
    if not path.exists():
        return State()
    try:
        text = json.loads(path.read_text(encoding="utf-8"))
        if text.pop("version") != VERSION:
            raise ValueError(f"its version must be {VERSION}")
        state = State(**text)
        for entries in state.done.values():
            for entry in entries.values():
                str(entry["status"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is no state of this job: {error}; name another folder or remove it") from error
    return state


def save(folder: Path, state: State) -> None:
    """Write the state; the file appears whole or not at all."""
    write_atomically(folder / FILE, (json.dumps({"version": VERSION} | asdict(state), indent=1) + "\n").encode())


def new_results(folder: Path, state: State) -> dict[str, str]:
    """Result files that were not handed over as they are now: path below the results, SHA-256."""
    root = folder / RESULTS
    found = {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != recording_index.INDEX  # it is made again where the pieces are put together
    }
    return {name: digest for name, digest in found.items() if state.handed.get(name) != digest}
