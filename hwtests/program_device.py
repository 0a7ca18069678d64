"""A program that answers rows, as a device of conformance; and the worker of a campaign on it:

    python -m hwtests.program_device ARCH COMMAND FORM PATIENCE

The worker does what `hwtests.conform.campaign_worker` does, on the program: every element of D is one row.
"""

import platform
import sys
import time
from typing import Any

import numpy as np

from golden import Instruction
from golden.chains.chain import Chain
from golden.device import formats_of
from golden.engines.engine import Batch, fastest_engine, run
from golden.program import FORMS, ProgramError, RowForm, RowProgram, digest_of
from golden.stimulus import Operands, Tiles
from hwtests import on_host
from hwtests.conform.campaign_worker import main
from hwtests.device import Description, DeviceError, Program
from hwtests.tally import Tally

BATCH_SECONDS = 10.0
"""Time that a batch of tiles may take (seconds); progress is recorded after each batch."""

UNMEASURED = 1 << 16
"""Rows of a batch for a program whose speed is not known yet."""


class ProgramDevice:
    """A program, as a device of an architecture.

    Args:
        arch: architecture whose instructions the program computes.
        command, form, patience: as `RowProgram` takes them.
    """

    xp: Any = np

    def __init__(self, arch: str, command: str, form: RowForm, patience: float) -> None:
        self.arch, self.command, self.form, self.patience = arch, command, form, patience

    @property
    def engine(self) -> str:
        """Name of the engine that `dot` uses."""
        return fastest_engine(on_device=False)

    def describe(self) -> Description:
        """The command of the program, and a digest of the files that the command names."""
        system = f"{platform.system()} {platform.release()}"
        return Description(f"program {self.command}", self.arch, f"sha256 {digest_of(self.command)}", system, "none")

    def evidence(self) -> dict[str, str]:
        """The form of the rows; `describe` says everything else."""
        return {"form": self.form.name}

    def load(self, instruction: Instruction) -> "tuple[TileProgram, ...]":
        """The program over the rows of an instruction; it starts when it is first asked."""
        return (TileProgram(RowProgram(self.command, formats_of(instruction), self.form, self.patience)),)

    def dot(self, chain: Chain, rows: Operands) -> Any:
        """Compute d of each row by the golden model, on golden's fastest engine."""
        return run(None, chain, Batch(*rows))

    def compare(self, instruction: Instruction, program: Program, seed: int, first: int, count: int) -> Tally:
        """Compare tiles with the model on the host. A batch that takes more than `BATCH_SECONDS` counts as one that does not
        fit.

        Raises:
            MemoryError: a batch of several tiles would take too long.
        """
        assert isinstance(program, TileProgram)
        if count > 1 and count * instruction.m * instruction.n > program.most_rows():
            raise MemoryError(f"{count} tiles are more than the program answers in {BATCH_SECONDS:g} s")
        return on_host.compare(instruction, program, seed, first, count, self.dot)

    def to_host(self, array: Any) -> Any:
        """Return the array, which is on the host already."""
        return array


class TileProgram:
    """The program as a kernel that computes tiles of an instruction."""

    route = ""
    machine_code: dict[str, int] = {}  # noqa: RUF012  # a program is no kernel
    expected_code: dict[str, int] = {}  # noqa: RUF012

    def __init__(self, program: RowProgram) -> None:
        self._program, self._rows, self._seconds = program, 0, 0.0
        self.sha256 = digest_of(program.command)

    def most_rows(self) -> int:
        """Rows that the program answers in `BATCH_SECONDS`, by its speed so far."""
        return int(BATCH_SECONDS * self._rows / self._seconds) if self._seconds else UNMEASURED

    def run(self, tiles: Tiles) -> Any:
        """Ask the program for every element; returns D with shape [tiles, m, n].

        Raises:
            DeviceError: the program misbehaves.
        """
        rows = Operands(*(None if x is None else x.reshape(tiles.c.size, *x.shape[3:]) for x in tiles.rows(np)))  # type: ignore[arg-type]
        began = time.perf_counter()
        try:
            d = self._program.dot(rows)
        except ProgramError as error:
            raise DeviceError(str(error)) from error
        self._rows, self._seconds = self._rows + len(d), self._seconds + time.perf_counter() - began
        return d.reshape(tiles.c.shape)


if __name__ == "__main__":
    arch, command, form, patience = sys.argv[1:]
    sys.exit(main(lambda _: ProgramDevice(arch, command, FORMS[form], float(patience))))
