"""Whatever answers rows of operands with codes of d: a model, a GPU, a processor, a program, a simulated design."""

from typing import Any, Protocol

from golden.instruction import Instruction
from golden.stimulus import Operands, OperandShape
from golden.unit import Unit


class Device(Protocol):
    """A function from operands to results, of which no more is known than the formats.

    `mmau.probe.device_under_test.ModelDevice` is one of a model, `hwtests.dot.DeviceDot` of a GPU's or a processor's
    instruction, `golden.program.RowProgram` of a program, and `cosim.volume.answers.Answers` of a simulated design.
    """

    @property
    def name(self) -> str:
        """Its name in reports."""

    @property
    def shape(self) -> OperandShape:
        """Formats and lengths of its operands; `shape.d` is the format that carries its results."""

    @property
    def identity(self) -> str:
        """Digest of what the answers follow from, such as design, program and driver; recorded answers of another one do not
        count. Empty where the name says it all."""

    def dot(self, rows: Operands) -> Any:
        """d [rows], bit patterns as the operands are."""


def formats_of(model: Instruction | Unit, K: int | None = None) -> OperandShape:
    """The formats of a model over K products, `usual_K` by default, and nothing of its arithmetic."""
    m, K = model, model.usual_K if K is None else K
    return OperandShape(a=m.a, b=m.b, c=m.c, d=m.d, K=K, scale=m.scale, block_size=m.block_size)
