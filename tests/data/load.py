"""The rows that tests hold the models to: computed by MMA-Sim (this folder), recorded on silicon (hwtests/recordings).

`golden.recordings.recording` describes the format and checks what it reads; here recordings become cases of tests.
"""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import golden
from golden import Instruction
from golden.recordings.recording import Recording
from golden.recordings.recording_index import held, read_listed
from golden.stimulus import Operands

Bits = npt.NDArray[np.unsignedinteger[Any]]

MMA_SIM = "mma-sim"
MATLAB = "matlab-tensor-core"
TENSORSCOPE = "tensorscope"
X86 = ("xeon", "epyc")
H100 = "h100"
RDNA = ("rocm-systems", "goc")
"""Folders of recordings, by who made them."""


class Case(NamedTuple):
    """A recording as a case of a test: its folder and name there, and what the index says of it."""

    folder: Path
    name: str
    arch: str
    instruction_name: str
    device: str
    rows: int

    @property
    def recording(self) -> Recording:
        """The rows."""
        return _read(self.folder, self.name)

    @property
    def instruction(self) -> Instruction:
        """The catalogue's entry."""
        return golden.instruction(self.arch, self.instruction_name)

    @property
    def place(self) -> str:
        """The folder of who recorded it."""
        return self.name.partition("/")[0]

    def operands(self) -> Operands:
        """a, b [rows, K], c [rows], scale_a, scale_b [rows, K/K_block] or None."""
        return self.recording.operands

    def expected(self) -> Bits:
        """d [rows]."""
        return self.recording.d

    @property
    def any_nan(self) -> bool:
        """Whether any NaN equals any NaN (numerics.md, section 3)."""
        return self.instruction_name.startswith("v_mfma") or ".f64." in self.instruction_name

    def __str__(self) -> str:
        return self.name.removesuffix(".npz")


@cache
def _read(folder: Path, name: str) -> Recording:
    """A recording, read once; nobody may change its arrays."""
    recording = read_listed(folder, name)
    for array in (*recording.operands, recording.d, recording.label):
        if array is not None:
            array.flags.writeable = False
    return recording


@cache
def cases(*places: str) -> tuple[Case, ...]:
    """The recordings in these folders, in the order of the catalogue."""
    order = {(i.arch, i.name): number for number, i in enumerate(golden.instructions())}
    found = (
        Case(folder, name, *(entry[key] for key in ("arch", "instruction", "device", "rows")))
        for folder, name, entry in held()
    )
    chosen = [case for case in found if case.place in places]
    return tuple(sorted(chosen, key=lambda case: (order[case.arch, case.instruction_name], case.name)))


def vector_sets() -> tuple[Case, ...]:
    """Vectors that MMA-Sim computed."""
    return cases(MMA_SIM)
