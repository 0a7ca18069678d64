"""Item 1: sparse instructions, and those of integers of which no row is kept: small integers, rows, then results at volume,
beside golden's model as `mmau conform` compares them. Some rows of each are kept as a recording."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import golden
from golden import Instruction, recording
from golden.files import temporary_folder
from golden.integer_format import IntegerFormat
from golden.stimulus import Stimulus
from hwtests.conform.campaign_worker import recorded
from hwtests.conform.check import check
from hwtests.conform.instruction_progress import Progress as Checked
from hwtests.nvidia.cupy_device import CudaDevice
from hwtests.record import thinned
from studies.lent_minutes.self_test import ENGINE, verdict_on_engine, verdict_on_kernel
from studies.lent_minutes.work import ARCH, Entry, Progress

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
