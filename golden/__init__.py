"""MMAU's golden models: the arithmetic of matrix multiply-accumulate units, bit by bit.

>>> import golden, numpy as np
>>> hopper = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
>>> d = hopper.dot(np.ones(16, np.float16), np.ones(16, np.float16), np.float32(0.5))
>>> float(d)
16.5

`instruction`, `instructions` and `sparse_instructions` return entries of the catalogue; `load_unit` reads a user's unit from
a TOML file. Both an instruction and a unit have `.dot`, which computes dot products, and `.explain`, which shows the steps
of one. `gemm` multiplies matrices of any size with an instruction or a unit; `load_order` reads the order of its
accumulation from a file, and `recipes` has the orders of libraries. `FORMATS` and `OPERATIONS` are the number formats and
the elementary operations of instructions and units.
"""

from typing import TYPE_CHECKING

from golden.arithmetic.formats import FORMATS, Cls, Decoded, Format
from golden.catalogue import (
    ARCHITECTURES,
    PROCESSORS,
    architecture,
    catalogue_units,
    instruction,
    instructions,
    part,
    sparse_instructions,
)
from golden.catalogue.parts import Part
from golden.native.engine import set_threads
from golden.on_demand import on_demand
from golden.operations import OPERATIONS, Operation
from golden.text import mmau_version
from golden.units.instruction import EVIDENCE, Instruction
from golden.units.unit import Implementation, Unit
from golden.units.unit_file import load_unit

if TYPE_CHECKING:
    from golden import recipes
    from golden.products.gemm_order import GemmOrder
    from golden.products.recipes import load_order
    from golden.products.sum_trace import SumTrace, explain_sum
    from golden.products.tiled import gemm
    from golden.trace import Trace

__all__ = [
    "ARCHITECTURES",
    "EVIDENCE",
    "FORMATS",
    "OPERATIONS",
    "PROCESSORS",
    "Cls",
    "Decoded",
    "Format",
    "GemmOrder",
    "Implementation",
    "Instruction",
    "Operation",
    "Part",
    "SumTrace",
    "Trace",
    "Unit",
    "architecture",
    "catalogue_units",
    "explain_sum",
    "gemm",
    "instruction",
    "instructions",
    "load_order",
    "load_unit",
    "part",
    "recipes",
    "set_threads",
    "sparse_instructions",
]

__version__ = mmau_version()

__getattr__, __dir__ = on_demand(
    __name__,
    {
        "GemmOrder": "products.gemm_order",
        "SumTrace": "products.sum_trace",
        "Trace": "trace",
        "explain_sum": "products.sum_trace",
        "gemm": "products.tiled",
        "load_order": "products.recipes",
        "recipes": "",
    },
    [*__all__, "__version__"],
)
"""What a dot product does without: matrix products of any size, and traces."""
