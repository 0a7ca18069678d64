"""The interface of everything that answers rows of operands with codes of d: a model, a GPU, a processor, a program, a
simulated design."""

from dataclasses import replace
from typing import Any, Protocol

from golden.stimulus import Operands, OperandShape
from golden.units.model import Model


class Device(Protocol):
    """A function from operands to results, of which only the formats are known.

    Implementations: `mmau.probe.device_under_test.ModelDevice` (a model), `hwtests.dot.DeviceDot` (an instruction of a GPU
    or a processor), `golden.program.RowProgram` (a program) and `cosim.volume.answers.Answers` (a simulated design).
    """

    @property
    def name(self) -> str:
        """Name of the device in reports."""

    @property
    def shape(self) -> OperandShape:
        """Formats and lengths of the operands; `shape.d` is the format that carries the results."""

    @property
    def identity(self) -> str:
        """Digest of everything that determines the answers, such as design, program and driver. Recorded answers count only
        for an equal identity. Empty if the name determines them."""

    def dot(self, rows: Operands) -> Any:
        """Compute d [rows] for operands [rows, K]; operands and results are bit patterns."""


def formats_of(model: Model, K: int | None = None) -> OperandShape:
    """The formats and lengths of a model's operands over K products (`usual_K` by default), without its arithmetic."""
    shape = OperandShape.of(model, K)
    return replace(shape, d=model.d, headroom=None, neighbours=1)
