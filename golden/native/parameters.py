"""A chain's parameters as the C interface takes them: `mmau_parameters` of mmau.h."""

import ctypes
from typing import Any

from golden.chain import ORDERS, Chain, ConvertedChain
from golden.conversion import CONVERSIONS, FP64_CONVERSIONS
from golden.formats import FORMATS, Format
from golden.operations import OPERATIONS, Operation
from golden.operations.fma import NANS
from golden.rounding import OVERFLOWS

OPERATION_CODES = {name: code for code, name in enumerate(OPERATIONS)}
"""enum mmau_operation."""

FORMAT_CODES = {name: code for code, name in enumerate(FORMATS)}
"""enum mmau_format."""

RHO_CODES = {name: code for code, name in enumerate(CONVERSIONS | FP64_CONVERSIONS)}
"""enum mmau_rho."""

TRUNCATION_CODES = {"RZ": 0, "RD": 1, "RO": 2}
"""enum mmau_truncation."""

ORDER_CODES = {name: code for code, name in enumerate(ORDERS, start=1)}
"""enum mmau_fp16_order; 0 is not converted."""

OVERFLOW_CODES = {name: code for code, name in enumerate((*OVERFLOWS, "wrap"))}
"""enum mmau_overflow."""

NAN_CODES = {name: code for code, name in enumerate(NANS)}
"""enum mmau_nan."""

FLAGS = ("sticky", "flush_inputs", "flush_results")

INTEGER_KEYS = ("F", "F2", "e_zero", "K_block", "G")

KEYS = (
    "operation",
    "a",
    "b",
    "c",
    "rho",
    "truncation",
    "fp16_order",
    "K",
    "L",
    *INTEGER_KEYS,
    "scale",
    *FLAGS,
    "overflow",
    "nan",
)
"""The members of struct mmau_parameters, in order."""


class Parameters(ctypes.Structure):
    """struct mmau_parameters."""

    _fields_ = [(key, ctypes.c_int32) for key in KEYS]


def parameters(chain: Chain | ConvertedChain, K: int) -> Parameters:
    """The parameters of a chain over K products.

    Raises:
        ValueError: the operation cannot take its own result as c, and K needs more than one step.
    """
    operation = chain.operation
    if type(chain) not in (Chain, ConvertedChain):
        raise ValueError(f"engine 'native' knows no chain of the kind {type(chain).__name__}")
    if type(operation) is not OPERATIONS[operation.name]:
        raise ValueError(f"engine 'native' knows {operation.name} as it is, got one whose steps were replaced")
    if operation.length < K:
        operation.accumulating()
    keys: dict[str, Any] = {"operation": OPERATION_CODES[operation.name], "K": K, "L": operation.length}
    keys |= {key: int(getattr(operation, key, 0)) for key in (*INTEGER_KEYS, *FLAGS)}
    keys |= {key: FORMAT_CODES[operand.name] for key, operand in _formats(chain, operation).items()}
    keys["rho"] = RHO_CODES.get(getattr(operation, "rho", ""), 0)
    keys["truncation"] = TRUNCATION_CODES[getattr(operation, "truncation", "RZ")]
    keys["overflow"] = OVERFLOW_CODES[getattr(operation, "overflow", "infinity")]
    keys["nan"] = NAN_CODES[getattr(operation, "nan", "quiet")]
    keys["fp16_order"] = ORDER_CODES[chain.order] if isinstance(chain, ConvertedChain) else 0
    return Parameters(**keys)


def _formats(chain: Chain | ConvertedChain, operation: Operation) -> dict[str, Format]:
    formats = {"a": operation.a, "b": operation.b, "c": operation.c}
    if isinstance(chain, ConvertedChain):
        formats |= {"a": chain.a, "b": chain.b}
    if operation.scale_format is not None:
        formats["scale"] = operation.scale_format
    return formats
