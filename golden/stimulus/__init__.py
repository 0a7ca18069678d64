"""Seeded operand vectors for any dot-product-accumulate, shared by co-simulation, silicon tests and probing.

    >>> from golden.arithmetic.formats import FP16, FP32
    >>> from golden.stimulus import OperandShape, generate
    >>> stimulus = generate(OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=8), count=1000, seed=1)
    >>> stimulus.operands.a.shape
    (1000, 8)

Six classes of random inputs (`CLASSES`) and directed corners in two levels (`CORNERS`, docs/guides/stimulus.md);
`Stimulus.label` names the generator of each row. The generators know only formats and lengths, never an operation's
parameters: they sweep exponent gaps, so that they reach the edges of any alignment and any e_zero.
"""

from golden.stimulus.classes import CLASSES
from golden.stimulus.codes import Draws, GeneratorDraws
from golden.stimulus.corners import CORNERS
from golden.stimulus.generate import NAMES, chunks, complete_rows, generate
from golden.stimulus.shape import (
    Operands,
    OperandShape,
    Place,
    Row,
    Stimulus,
    Tiles,
    among_mixed,
    from_diagonals,
    on_diagonals,
    operands_of,
    places,
    rows_of,
    tiles_of,
)

__all__ = [
    "CLASSES", "CORNERS", "NAMES", "Draws", "GeneratorDraws", "OperandShape", "Operands", "Place", "Row",
    "Stimulus", "Tiles", "among_mixed", "chunks", "complete_rows", "from_diagonals", "generate", "on_diagonals",
    "operands_of", "places", "rows_of", "tiles_of",
]  # fmt: skip
