"""A command that runs beside the test, for tests that end it; the fixture `start` starts it."""

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Started:
    """A command that runs, with a mark in the environment that every process it starts inherits.

    Attributes:
        temporary: where its temporary folders go.
    """

    process: subprocess.Popen[str]
    mark: str
    temporary: Path

    def processes(self) -> list[str]:
        """The command lines of all that still runs."""
        return list(self.by_number().values())

    def by_number(self) -> dict[int, str]:
        """The command line of all that still runs, by process."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark in (folder / "environ").read_text(errors="replace"):
                    found[int(folder.name)] = (folder / "cmdline").read_text(errors="replace").replace("\0", " ")
            except OSError:
                continue
        return found

    def wait_for(self, program: str) -> None:
        """Wait until a program of that name runs."""
        until = time.monotonic() + 300
        while not any(program in line for line in self.processes()):
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < until, f"{program} does not come"
            time.sleep(0.02)
