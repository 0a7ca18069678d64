"""The checks of one instruction on a device: independence and determinism, rows of the stimulus, tiles of the stimulus at
volume."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from golden import Instruction
from golden.arrays import bits_dtype
from golden.catalogue import PROCESSORS
from golden.chains.chain import ORDERS, Chain
from golden.comparison import differing
from golden.recordings.recording import MIN_ROWS
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
    volume,
)
from golden.stimulus.shrink import smallest_operands
from hwtests.conform import differing_rows
from hwtests.conform.differing_rows import KeptRows
from hwtests.conform.instruction_progress import Progress, mismatch_of
from hwtests.device import Device, Program, unexpected_code
from hwtests.tally import KEPT_ROWS, Tally

BATCH_PRODUCTS = 1 << 30
"""Largest number of products of a batch of tiles; its operands take a few gigabytes."""

PROCESSOR_ROWS = 20_480
"""Least number of stimulus rows that are compared and recorded on a processor: so many are needed to see a rare rounding."""

ORDER_CANDIDATES = 1 << 16
"""Number of rows among which those that distinguish orders of the products are looked for."""

PLACEMENTS = ((0, 0), (1, 0), (3, 0), (0, 1))
"""Values of (shift, below) for which the same rows must give the same results (paper 000, section 3.1.1)."""


class Check:
    """The checks of one instruction on one device.

    Args:
        mismatches: folder for differing rows, None for none.
    """

    def __init__(
        self, device: Device, instruction: Instruction, seed: int, progress: Progress, mismatches: Path | None = None
    ) -> None:
        self.device, self.instruction, self.seed, self.progress = device, instruction, seed, progress
        self.mismatches = mismatches
        self.programs = device.load(instruction)
        progress.machine_code = dict(self.programs[0].machine_code)
        progress.sha256 = {program.route: program.sha256 for program in self.programs}
        others = {p.route: unexpected_code(p.machine_code, p.expected_code) for p in self.programs}
        progress.unexpected_code = {route: code for route, code in others.items() if code}

    def rows(self) -> Stimulus:
        """The stimulus: all classes and every case of every corner, repeated to fill whole tiles."""
        shape = OperandShape.of(self.instruction)
        least = PROCESSOR_ROWS if self.instruction.arch in PROCESSORS else MIN_ROWS
        return self._filling_tiles(generate(shape, max(least, complete_rows(shape)), self.seed))

    def _filling_tiles(self, stimulus: Stimulus) -> Stimulus:
        """The rows, repeated from the first on until they fill their tiles."""
        count = places(self.instruction.m, self.instruction.n)
        return stimulus.rows(np.arange(-(-len(stimulus) // count) * count) % len(stimulus))

    def results(self, rows: Operands, shift: int = 0, below: int = 0, program: Program | None = None) -> Any:
        """The device's d of each row, as a NumPy array; computed by the first operand route unless another program is
        given."""
        tiles = self._on_device(on_diagonals(rows, self.instruction.m, self.instruction.n, np, shift, below))
        d = self.device.to_host((program or self.programs[0]).run(tiles))
        return from_diagonals(d, np, shift, below)

    def _on_device(self, tiles: Tiles) -> Tiles:
        xp = self.device.xp
        arrays = (tiles.a, tiles.b, tiles.c, tiles.scale_a, tiles.scale_b)
        return Tiles(*(None if array is None else xp.asarray(array) for array in arrays))

    def check_independence(self, stimulus: Stimulus) -> bool:
        """Check that results depend only on their row: not on the run, on i and j, or on the operand route. Return whether
        they do."""
        first = self.results(stimulus.operands)
        for program in self.programs:
            for shift, below in PLACEMENTS:
                if (below + 1) * places(self.instruction.m, self.instruction.n) > self.instruction.m:
                    continue
                again = self.results(stimulus.operands, shift, below, program)
                if (again != first).any():
                    where = f"{shift=}, {below=}" + (f", {program.route}" if program.route else "")
                    self._note_dependence(stimulus.operands, first, again, where)
                    return False
        return True

    def _note_dependence(self, rows: Operands, first: Any, again: Any, where: str) -> None:
        """Keep the rows whose results depend on something else, and describe the first one."""
        differ = np.flatnonzero(again != first)
        chosen, row, kept_before = differ[:KEPT_ROWS], int(differ[0]), self.progress.kept
        self._keep(KeptRows(rows.rows(chosen), again[chosen], first[chosen], np.full(len(chosen), where.encode())))
        self.progress.status = "dependent"
        self.progress.detail = (
            f"row {row} gives {int(first[row]):#x}, and {int(again[row]):#x} with {where}; {len(differ):,} rows of "
            f"{len(first):,} differ like that, and {self.progress.kept - kept_before:,} of them are stored"
        )

    def check_rows(self, stimulus: Stimulus) -> Any:
        """Compare the stimulus row by row; return the device's results."""
        got = self.results(stimulus.operands)
        expected = self._model_rows(stimulus.operands)
        differs = differing(got, expected, self.instruction.operation)
        for label, name in enumerate(NAMES):
            of_it = stimulus.label == label
            self._count(name, int(of_it.sum()), int((differs & of_it).sum()))
        if differs.any():
            chosen = np.flatnonzero(differs)[:KEPT_ROWS]
            found_in = np.array([NAMES[label] for label in stimulus.label[chosen].tolist()], "S")
            self._keep(KeptRows(stimulus.operands.rows(chosen), got[chosen], expected[chosen], found_in))
            self._note(NAMES[int(stimulus.label[chosen[0]])], stimulus.operands.rows(chosen[:1]))
        self.progress.rows_done = True
        return got

    def check_orders(self, chain: Chain) -> None:
        """Find out in which order the device adds the products: for each order, count the rows that it gets wrong, among
        rows that distinguish the orders.

        Args:
            chain: the instruction's chain; chains with the other orders are tried beside it.
        """
        shape = OperandShape.of(self.instruction)
        stimulus = volume.rows(shape, self.seed, 0, ORDER_CANDIDATES)
        by_order: dict[str, Any] = {order: self._dot(replace(chain, order=order), stimulus.operands) for order in ORDERS}
        reference = by_order[chain.order]
        tells = np.any([d != reference for d in by_order.values()], axis=0)
        chosen = np.flatnonzero(tells)[:MIN_ROWS]
        if not chosen.size:
            return
        got = self.results(self._filling_tiles(stimulus.rows(chosen)).operands)[: chosen.size]
        self.progress.order_rows = int(chosen.size)
        self.progress.orders = {
            order: int(differing(got, d[chosen], self.instruction.operation).sum()) for order, d in by_order.items()
        }

    def _model_rows(self, rows: Operands) -> Any:
        return self._dot(self.instruction.chain, rows)

    def _dot(self, chain: Chain, rows: Operands) -> Any:
        """A model's d of each row, computed where the device's arrays are."""
        xp = self.device.xp
        on_device = Operands(*(None if array is None else xp.asarray(array) for array in rows))  # type: ignore[arg-type]
        return self.device.to_host(self.device.dot(chain, on_device))

    def check_tiles(self, vectors: int, report: Callable[[], None]) -> None:
        """Compare tiles until `vectors` results have been compared in all. The operand routes take the batches in turn; a
        batch that does not fit in memory is halved.

        Raises:
            MemoryError: not even one tile fits.
        """
        i, turn = self.instruction, 0
        batch = max(1, BATCH_PRODUCTS // (i.m * i.n * i.k))
        while self.progress.total() < vectors:
            wanted = -(-(vectors - self.progress.total()) // (i.m * i.n))
            try:
                self._check_batch(min(batch, wanted), self.programs[turn % len(self.programs)])
            except MemoryError:
                if batch == 1:
                    raise
                batch //= 2
                continue
            turn += 1
            report()

    def _check_batch(self, count: int, program: Program) -> None:
        first, progress = self.progress.next_tile, self.progress
        found = self.device.compare(self.instruction, program, self.seed, first, count)
        for name, compared in found.compared.items():
            self._count(name, compared, found.wrong.get(name, 0))
        for code, results in found.nans.items():
            progress.nans[code] = progress.nans.get(code, 0) + results
        progress.negative_zeros += found.negative_zeros
        progress.e_zero_results += found.e_zero_results
        progress.e_zero_cases += found.e_zero_cases
        progress.next_tile = first + count
        self._keep_differences(found)

    def _keep_differences(self, found: Tally) -> None:
        """Keep the differing rows of a batch while there is room, and describe the first one."""
        if found.rows is None:
            return
        dtype = bits_dtype(self.instruction.d)
        got, expected = (np.array([getattr(x, key) for x in found.differences], dtype) for key in ("got", "expected"))
        names = [x.found_in for x in found.differences]
        self._keep(KeptRows(found.rows, got, expected, np.array(names, "S")))
        self._note(names[0], found.rows.rows(slice(0, 1)))

    def _keep(self, rows: KeptRows) -> None:
        """Keep differing rows while there is room."""
        if self.mismatches is not None and self.progress.kept < KEPT_ROWS:
            self.progress.kept = differing_rows.keep(self.mismatches, self.instruction, rows)

    def _count(self, name: str, vectors: int, wrong: int) -> None:
        if vectors:
            self.progress.vectors[name] = self.progress.vectors.get(name, 0) + vectors
        if wrong:
            self.progress.mismatches[name] = self.progress.mismatches.get(name, 0) + wrong

    def _note(self, found_in: str, row: Operands) -> None:
        """Record the first mismatch, minimised."""
        if self.progress.first is not None:
            return
        row = smallest_operands(row, OperandShape.of(self.instruction), self.fails)
        got, expected = self._both(row)
        self.progress.first = vars(mismatch_of(found_in, row, got[0], expected[0])).copy()

    def fails(self, rows: Operands) -> Any:
        """For each row, whether device and model differ."""
        got, expected = self._both(rows)
        return differing(got, expected, self.instruction.operation)

    def _both(self, rows: Operands) -> tuple[Any, Any]:
        count = len(rows.c)
        filled = self._filling_tiles(Stimulus(rows, np.zeros(count, np.uint8), ("",))).operands
        return self.results(filled)[:count], self._model_rows(filled)[:count]


def check(
    device: Device,
    instruction: Instruction,
    vectors: int,
    seed: int,
    progress: Progress,
    report: Callable[[], None],
    *,
    loaded: Callable[[], None] = lambda: None,
    mismatches: Path | None = None,
    keep: Callable[[Stimulus, Any], None] | None = None,
    compare: bool = True,
) -> None:
    """Run all checks of one instruction, resuming from `progress`; the stimulus rows are compared once over all runs.

    Args:
        vectors: number of results to compare in all.
        report: called after every step, when `progress` has been updated.
        loaded: called when the kernels are compiled and loaded.
        mismatches: folder for differing rows, None for none.
        keep: called with the stimulus and the device's results for it as soon as they are known; None if nobody needs them.
        compare: whether rows are compared with the model; False if its engine cannot be trusted.

    Raises:
        ValueError (DeviceError, CompileError), FileNotFoundError: the instruction does not run here.
        MemoryError: not even one tile fits.
    """
    started = time.monotonic()
    spent_before = progress.seconds

    def moved_on() -> None:
        progress.seconds = spent_before + time.monotonic() - started
        report()

    checks = Check(device, instruction, seed, progress, mismatches)
    loaded()
    if keep is not None or not progress.rows_done:
        stimulus = checks.rows()
        if not checks.check_independence(stimulus):
            return
        wanted = compare and not progress.rows_done
        got = checks.check_rows(stimulus) if wanted else checks.results(stimulus.operands)
        if keep is not None:
            keep(stimulus, got)
        if compare and instruction.fp16_order is not None:
            checks.check_orders(instruction.chain)
        moved_on()
    checks.check_tiles(vectors, moved_on)
