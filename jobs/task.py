"""Tasks, their keys, and what came of them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

DONE, FAILED, CRASHED, TIMED_OUT = STATUSES = ("done", "failed", "crashed", "timed out")
"""A task has a result; its work raised an exception; its process ended; it did not end in time."""


@dataclass(frozen=True)
class Task:
    """A piece of work, as data.

    Attributes:
        name: what people are shown; no part of the key.
        content: what the work function is given; it determines the result.
        depends: what else determines it: digests of sources, versions of programs.

    Raises:
        ValueError: content or depends is no plain JSON.
    """

    name: str
    content: Mapping[str, Any]
    depends: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, value in (("content", self.content), ("depends", self.depends)):
            try:
                plain = json.loads(canonical(value))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{key} of task {self.name} must be plain JSON: {error}") from error
            if not isinstance(plain, dict):
                raise ValueError(f"{key} of task {self.name} must be a table, got {value!r}")
            object.__setattr__(self, key, plain)

    @cached_property
    def key(self) -> str:
        """SHA-256 of content and depends, in hexadecimal."""
        return hashlib.sha256(canonical({"content": self.content, "depends": self.depends})).hexdigest()


@dataclass(frozen=True)
class Outcome:
    """What came of a task, as an engine hands it over.

    Attributes:
        task: the task.
        status: one of `STATUSES`.
        seconds: how long it took (wall time).
        result: what the work function returned, JSON; None unless done.
        message: why it is not done, one line; empty where it is.
        log: the end of what it and its programs wrote to stdout and stderr.
        folder: the files that it left, which may be moved away; None where it left none.
    """

    task: Task
    status: str
    seconds: float
    result: Any = None
    message: str = ""
    log: str = ""
    folder: Path | None = None


def canonical(value: Any) -> bytes:
    """JSON with one spelling for each value.

    Raises:
        TypeError, ValueError: it is no plain JSON; NaN and infinities are none.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
