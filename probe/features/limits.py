"""The ends of the range: results that overflow, products that do, subnormal operands, subnormal results."""

from golden.stimulus import CLASSES, GeneratorDraws, Operands, OperandShape
from probe.features.feature import Feature, Questions, corner, joined


def drawn(name: str, rows: int) -> Questions:
    """Rows of one of the stimulus' classes."""

    def questions(shape: OperandShape, draws: GeneratorDraws) -> Operands:
        return CLASSES[name](shape, draws, rows, ())

    return questions


SUBNORMALS = Feature(
    "subnormals", "operands and results below the normal numbers", ("flush_inputs", "flush_results"),
    joined(corner("subnormal-results", 48), corner("c-sweep", 24), drawn("tiny", 32)),
)  # fmt: skip

OVERFLOW = Feature(
    "overflow", "sums and products at and beyond the largest number", ("overflow",),
    joined(corner("overflow", 40), drawn("huge", 32)),
)  # fmt: skip
