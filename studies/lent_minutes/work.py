"""What an item at work receives and reports."""

from typing import Any, Protocol

ARCH = "sm_90"
"""The architecture that the list measures."""

COLD_SECONDS = 90.0
"""Seconds for a unit's first step, which loads kernels and compiles those that were not brought along."""

Entry = dict[str, Any]
"""The state of a unit: `status`, and the findings."""


class TimeUp(Exception):
    """The time of the item is up; what was reported is recorded."""


class Progress(Protocol):
    """The words of an item while it is at work on a unit."""

    def report(self, entry: Entry) -> None:
        """Report the progress of the unit. Raises TimeUp."""

    def keep(self, name: str, content: bytes) -> None:
        """A file to keep whole."""

    def kept(self, name: str) -> bytes | None:
        """The content of a file that this run or an earlier one kept; None if there is none."""


class Work(Protocol):
    """An item, open on a device."""

    def do(self, unit: str, entry: Entry, progress: Progress) -> Entry:
        """A unit to its end, from where `entry` left it.

        Raises:
            ValueError, MemoryError: the unit cannot be done. TimeUp: by `progress.report`.
        """
