"""Item 1: sparse instructions, and those of integers of which no row is kept: small integers, rows, then results at volume,
beside golden's model as `mmau conform` compares them. Some rows of each are kept as a recording."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import golden
from golden import Instruction
from golden.arithmetic.formats import Format, IntegerFormat
from golden.arrays import bits_dtype
from golden.comparison import differing
from golden.files import temporary_folder
from golden.recordings import recording
from golden.stimulus import Operands, Stimulus, Tiles
from hwtests.conform.campaign_worker import recorded
from hwtests.conform.check import check
from hwtests.conform.instruction_progress import Progress as Checked
from hwtests.device import Device
from hwtests.nvidia.cupy_device import CudaDevice
from hwtests.record import thinned
from studies.lent_minutes.reference import read
from studies.lent_minutes.work import ARCH, Entry, Progress

ENGINE = "engine"
"""Name of the engine's test among those of the kernels."""

LARGEST = 2
"""Largest element of A and B. Elements are integers from −2 to 2, restricted to 0 to 2 in unsigned formats and to 0 and 1
for single bits. Elements of c go up to the square."""

TILES = 8


def verdict_on_engine(device: Device, moved_on: Callable[[], None]) -> dict[str, Any]:
    """The device's engine against the reference's rows: status `done` or `failed`, and rows that differ by instruction.

    Args:
        moved_on: called after each arithmetic, whose kernel may have to be compiled.
    """
    wrong: dict[str, int] = {}
    compared = 0
    for rows in read():
        arrays = (None if x is None else device.xp.asarray(x) for x in rows.operands)
        on_device = Operands(*arrays)  # type: ignore[arg-type]
        got = device.to_host(device.dot(rows.instruction.chain, on_device))
        count = int(differing(got, rows.d, rows.instruction.operation).sum())
        compared += len(rows.d)
        if count:
            wrong[rows.instruction.name] = count
        moved_on()
    detail = f"engine {device.engine} differs from the reference" if wrong else ""
    return {"status": "failed" if wrong else "done", "compared": compared, "wrong": wrong, "detail": detail}


def verdict_on_kernel(device: Device, instruction: Instruction) -> dict[str, Any]:
    """Every operand route of an instruction on small integers: status `done` or `failed`, and the first wrong element."""
    tiles, expected = integer_tiles(instruction)
    on_device = Tiles(*(None if x is None else device.xp.asarray(x) for x in vars(tiles).values()))
    programs = device.load(instruction)
    entry: dict[str, Any] = {
        "status": "done", "detail": "",
        "sha256": {program.route: program.sha256 for program in programs},
        "machine_code": {program.route: dict(program.machine_code) for program in programs},
        "expected_code": dict(programs[0].expected_code),
    }  # fmt: skip
    for program in programs:
        entry["detail"] = _wrong_layout(device.to_host(program.run(on_device)), expected, program.route)
        if entry["detail"]:
            return entry | {"status": "failed"}
    return entry


def _wrong_layout(got: Any, expected: Any, route: str) -> str:
    """The number of wrong results, and the first of them; empty if all are right."""
    if (got == expected).all():
        return ""
    tile, row, column = np.argwhere(got != expected)[0].tolist()
    found = f"{int(got[tile, row, column]):#x} in place of {int(expected[tile, row, column]):#x}"
    wrong = f"{int((got != expected).sum())} of {got.size} elements of small-integer tiles"
    return f"wrong layout{f' ({route})' if route else ''}: {wrong}, first [{tile}, {row}, {column}], {found}"


def integer_tiles(instruction: Instruction) -> tuple[Tiles, Any]:
    """Tiles of small integers, different for every instruction, and the codes of D, computed on integers."""
    i, rng = instruction, _draws(instruction.name)
    a, b = (
        rng.integers(-LARGEST if of.signed else 0, min(LARGEST, (1 << of.width) - 1) + 1, (TILES, rows, i.k))
        for of, rows in ((i.a, i.m), (i.b, i.n))
    )
    c = rng.integers(-LARGEST * LARGEST, LARGEST * LARGEST + 1, (TILES, i.m, i.n))
    d = np.einsum("tik,tjk->tij", *(a, b) if ".xor." not in i.name else (a, 1 - b)) + c
    if ".xor." in i.name:  # bits that differ: those of a and not b, and of b and not a
        d += np.einsum("tik,tjk->tij", 1 - a, b)
    scales = [None, None]
    if i.scale is not None and i.block_size is not None:
        ones = [np.ones((TILES, rows, i.k // i.block_size), np.int64) for rows in (i.m, i.n)]
        scales = [codes(i.scale, array) for array in ones]
    return Tiles(codes(i.a, a), codes(i.b, b), codes(i.c, c), *scales), codes(i.d, d)


def _draws(name: str) -> np.random.Generator:
    """Random numbers of an instruction's own."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))


def codes(operand: Format, values: Any) -> Any:
    """The codes of integers that a format has."""
    low, high = int(values.min()), int(values.max())
    table = np.array([operand.encode(value) for value in range(low, high + 1)], bits_dtype(operand))
    return table[values - low]


RESULTS = 10**9
"""Results of each instruction that are compared."""

KEPT = 512
"""Rows of each instruction that are kept."""

COMPARED_N = (8, 256)
"""N does not change the arithmetic of a wgmma: the smallest and the largest are run."""

RECORDINGS, DIFFERING = "recordings", "differing"
"""Folders of the files that are kept."""

SEED = 40


def wanted() -> list[Instruction]:
    """The instructions of which the project has no rows of its own: sparse ones first, those on floating point before
    those on
    integers; the largest N last, since it is the least likely to bring something new."""
    dense = [i for i in golden.instructions(ARCH) if isinstance(i.d, IntegerFormat)]
    found = [i for i in golden.sparse_instructions(ARCH) + dense if i.evidence != "recorded"]
    found = [i for i in found if not i.name.startswith("wgmma.") or i.n in COMPARED_N]
    return sorted(found, key=lambda i: (i.n == COMPARED_N[1], not i.sparse, isinstance(i.d, IntegerFormat)))


def units() -> Sequence[str]:
    """The engine's own test, then every instruction."""
    return [ENGINE, *(i.name for i in wanted())]


class Instructions:
    """The item on a device."""

    def __init__(self, device: CudaDevice) -> None:
        self._device = device

    def do(self, unit: str, entry: Entry, progress: Progress) -> Entry:
        """The engine's test, or an instruction's."""
        if unit == ENGINE:
            return verdict_on_engine(self._device, lambda: progress.report({"status": "running"}))
        instruction = golden.instruction(ARCH, unit)
        checked = Checked(**{key: value for key, value in entry.items() if key != "layout"})
        layout = entry.get("layout")
        if layout is None or layout["detail"]:
            layout = verdict_on_kernel(self._device, instruction)
        if layout["detail"]:
            return {"status": "failed", "detail": layout["detail"], "layout": layout}
        checked.status = "running"
        with temporary_folder("mmau-lent-") as temporary:
            differing = Path(temporary)
            self._check(instruction, checked, progress, differing, layout)
        checked.status = "done" if checked.status == "running" else checked.status
        return asdict(checked) | {"layout": layout}

    def _check(self, instruction: Instruction, checked: Checked, progress: Progress, differing: Path, layout: Entry) -> None:
        file = recording.file_name(ARCH, instruction.name)
        before = progress.kept(f"{DIFFERING}/{file}")
        if before is not None:
            (differing / file).write_bytes(before)
        kept = checked.kept

        def moved_on() -> None:
            nonlocal kept
            if checked.kept != kept:
                kept = checked.kept
                progress.keep(f"{DIFFERING}/{file}", (differing / file).read_bytes())
            progress.report(asdict(checked) | {"layout": layout})

        def keep(stimulus: Stimulus, d: Any) -> None:
            whole = recorded(self._device, instruction, SEED, checked, stimulus, d)
            progress.keep(f"{RECORDINGS}/{file}", recording.content(thinned(whole, KEPT)))

        is_recorded = progress.kept(f"{RECORDINGS}/{file}") is not None and checked.rows_done
        check(
            self._device, instruction, RESULTS, SEED, checked, moved_on, loaded=moved_on, mismatches=differing,
            keep=None if is_recorded else keep,
        )  # fmt: skip
        moved_on()
