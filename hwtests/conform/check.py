"""One instruction on a device: independence and determinism, rows of the stimulus, then random tiles in any number."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from golden import Instruction
from golden.comparison import differing
from golden.recording import MIN_ROWS
from golden.stimulus import (
    NAMES,
    Operands,
    OperandShape,
    Stimulus,
    Tiles,
    complete_rows,
    from_diagonals,
    generate,
    on_diagonals,
    places,
)
from hwtests.conform.inputs import CLASSES, classes_of, random_tiles
from hwtests.conform.mismatch import mismatch_of, simplified
from hwtests.device import Device, Program

BATCH_PRODUCTS = 1 << 28
"""Products a batch of random tiles has at most: some gigabytes of operands once spread out for the model."""

PLACEMENTS = ((0, 0), (1, 0), (3, 0), (0, 1))
"""(shift, below) at which the same rows must give the same results (paper 000, section 3.1.1)."""


@dataclass
class Progress:
    """What is known of one instruction so far; everything in it is plain JSON.

    Attributes:
        status: running, done, dependent (results depend on place or run), hung or crashed.
        vectors: results compared, by class or corner; mismatches: those that differed.
        next_tile: where the random tiles go on.
        first: the first mismatch, simplified.
        machine_code: the matrix instructions of the kernel.
        seconds: time spent on it.
        detail: why it is dependent, hung or crashed.
    """

    status: str = "running"
    vectors: dict[str, int] = field(default_factory=dict)
    mismatches: dict[str, int] = field(default_factory=dict)
    next_tile: int = 0
    first: dict[str, Any] | None = None
    machine_code: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    detail: str = ""

    def total(self) -> int:
        """Results compared."""
        return sum(self.vectors.values())

    def wrong(self) -> int:
        """Results that differed."""
        return sum(self.mismatches.values())


class Check:
    """The checks of one instruction on one device."""

    def __init__(self, device: Device, instruction: Instruction, seed: int, progress: Progress) -> None:
        self.device, self.instruction, self.seed, self.progress = device, instruction, seed, progress
        self.program: Program = device.load(instruction)
        progress.machine_code = dict(self.program.machine_code)

    def rows(self) -> Stimulus:
        """The stimulus: classes and every case of every corner, filling whole tiles."""
        shape = OperandShape.of_instruction(self.instruction)
        return self._filling_tiles(generate(shape, max(MIN_ROWS, complete_rows(shape)), self.seed))

    def _filling_tiles(self, stimulus: Stimulus) -> Stimulus:
        """Rows repeated from the first on until they fill their tiles."""
        count = places(self.instruction.m, self.instruction.n)
        return stimulus.rows(np.arange(-(-len(stimulus) // count) * count) % len(stimulus))

    def results(self, rows: Operands, shift: int = 0, below: int = 0) -> Any:
        """The device's d of each row, as a NumPy array."""
        tiles = self._on_device(on_diagonals(rows, self.instruction.m, self.instruction.n, np, shift, below))
        d = self.device.to_host(self.program.run(tiles))
        return from_diagonals(d, np, shift, below)

    def _on_device(self, tiles: Tiles) -> Tiles:
        xp = self.device.xp
        arrays = (tiles.a, tiles.b, tiles.c, tiles.scale_a, tiles.scale_b)
        return Tiles(*(None if array is None else xp.asarray(array) for array in arrays))

    def check_independence(self, stimulus: Stimulus) -> bool:
        """Whether results depend on nothing but their row: not on the run, not on i and j."""
        first = self.results(stimulus.operands)
        for shift, below in PLACEMENTS:
            if (below + 1) * places(self.instruction.m, self.instruction.n) > self.instruction.m:
                continue
            again = self.results(stimulus.operands, shift, below)
            if (again != first).any():
                row = int(np.flatnonzero(again != first)[0])
                self.progress.status = "dependent"
                self.progress.detail = (
                    f"row {row} gives {int(first[row]):#x}, and {int(again[row]):#x} with {shift=}, {below=}"
                )
                return False
        return True

    def check_rows(self, stimulus: Stimulus) -> Any:
        """Compare the stimulus, row by row; returns the device's results."""
        got = self.results(stimulus.operands)
        expected = self._model_rows(stimulus.operands)
        differs = differing(got, expected, self.instruction.operation)
        for label, name in enumerate(NAMES):
            of_it = stimulus.label == label
            self._count(name, int(of_it.sum()), int((differs & of_it).sum()))
        if differs.any():
            row = int(np.flatnonzero(differs)[0])
            self._note(NAMES[int(stimulus.label[row])], stimulus.operands.rows(np.array([row])))
        return got

    def _model_rows(self, rows: Operands) -> Any:
        """The model's d of rows, each as a tile of one element."""
        a, b, c, scale_a, scale_b = (None if array is None else array.reshape(len(rows.c), 1, -1) for array in rows)
        d = self.device.model(self.instruction, self._on_device(Tiles(a, b, c, scale_a, scale_b)))
        return self.device.to_host(d).reshape(-1)

    def check_tiles(self, vectors: int, report: Callable[[], None]) -> None:
        """Compare random tiles until so many results are compared in all; a batch that does not fit is halved.

        Raises:
            MemoryError: not even one tile fits.
        """
        i = self.instruction
        batch = max(1, BATCH_PRODUCTS // (i.m * i.n * i.k))
        while self.progress.total() < vectors:
            wanted = -(-(vectors - self.progress.total()) // (i.m * i.n))
            try:
                self._check_batch(min(batch, wanted))
            except MemoryError:
                if batch == 1:
                    raise
                batch //= 2
                continue
            report()

    def _check_batch(self, count: int) -> None:
        i, xp, first = self.instruction, self.device.xp, self.progress.next_tile
        tiles = random_tiles(i, xp, self.seed, first, count)
        differs = differing(self.program.run(tiles), self.device.model(i, tiles), i.operation)
        wrong = self.device.to_host(differs.reshape(count, -1).sum(axis=1))
        label = classes_of(np, first, count)
        for number, name in enumerate(CLASSES):
            of_it = label == number
            self._count(name, int(of_it.sum()) * i.m * i.n, int(wrong[of_it].sum()))
        self.progress.next_tile = first + count
        if wrong.any() and self.progress.first is None:
            tile = int(np.flatnonzero(wrong)[0])
            row, column = np.argwhere(self.device.to_host(differs[tile]))[0]
            self._note(CLASSES[int(label[tile])], self._row_of(tiles, tile, int(row), int(column)))

    def _row_of(self, tiles: Tiles, tile: int, row: int, column: int) -> Operands:
        """The operands of one element of D, as a single row."""
        host = self.device.to_host
        scales = [
            None if array is None else host(array[tile, place])[None]
            for array, place in ((tiles.scale_a, row), (tiles.scale_b, column))
        ]
        return Operands(
            host(tiles.a[tile, row])[None],
            host(tiles.b[tile, column])[None],
            host(tiles.c[tile, row, column])[None],
            *scales,
        )

    def _count(self, name: str, vectors: int, wrong: int) -> None:
        if vectors:
            self.progress.vectors[name] = self.progress.vectors.get(name, 0) + vectors
        if wrong:
            self.progress.mismatches[name] = self.progress.mismatches.get(name, 0) + wrong

    def _note(self, found_in: str, row: Operands) -> None:
        """Keep the first mismatch, simplified."""
        if self.progress.first is not None:
            return
        row = simplified(row, self.instruction, self.fails)
        got, expected = self._both(row)
        self.progress.first = vars(mismatch_of(found_in, row, got[0], expected[0])).copy()

    def fails(self, rows: Operands) -> Any:
        """Which rows device and model differ on."""
        got, expected = self._both(rows)
        return differing(got, expected, self.instruction.operation)

    def _both(self, rows: Operands) -> tuple[Any, Any]:
        count = len(rows.c)
        filled = self._filling_tiles(Stimulus(rows, np.zeros(count, np.uint8), ("",))).operands
        return self.results(filled)[:count], self._model_rows(filled)[:count]


def check(
    device: Device, instruction: Instruction, vectors: int, seed: int, progress: Progress, report: Callable[[], None]
) -> tuple[Stimulus, Any] | None:
    """All checks of one instruction, from where `progress` stands.

    Args:
        vectors: results to compare in all. report: called after every step, when `progress` has moved on.

    Returns:
        The stimulus and the device's results for it, None where independence does not hold.

    Raises:
        DeviceError: the instruction does not run here. MemoryError: not even one tile fits.
    """
    started = time.monotonic()
    spent_before = progress.seconds

    def moved_on() -> None:
        progress.seconds = spent_before + time.monotonic() - started
        report()

    checks = Check(device, instruction, seed, progress)
    stimulus = checks.rows()
    if not checks.check_independence(stimulus):
        moved_on()
        return None
    if not progress.vectors:
        got = checks.check_rows(stimulus)
        moved_on()
    else:
        got = checks.results(stimulus.operands)
    checks.check_tiles(vectors, moved_on)
    return stimulus, got
