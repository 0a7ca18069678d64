"""Conversion of a chain's parameters to the C interface: `mmau_parameters` of mmau.h."""

import ctypes
from typing import Any

from golden.chain import ORDERS, RUNS, Chain, ConvertedChain
from golden.conversion import CONVERSIONS, FP64_CONVERSIONS, TWO_STEP_CONVERSIONS
from golden.formats import FORMATS, Format
from golden.operations import OPERATIONS, Operation
from golden.operations.e_fdpa import ZEROS
from golden.operations.fma import NANS
from golden.operations.idpa import COMBINATIONS
from golden.ordered_chain import OrderedChain
from golden.rounding import OVERFLOWS

OPERATION_CODES = {name: code for code, name in enumerate(OPERATIONS)}
"""enum mmau_operation."""

FORMAT_CODES = {name: code for code, name in enumerate(FORMATS)}
"""enum mmau_format."""

RHO_CODES = {name: code for code, name in enumerate(CONVERSIONS | FP64_CONVERSIONS | TWO_STEP_CONVERSIONS)}
"""enum mmau_rho."""

TRUNCATION_CODES = {"RZ": 0, "RD": 1, "RO": 2}
"""enum mmau_truncation."""

ORDER_CODES = {name: code for code, name in enumerate(ORDERS, start=1)}
"""enum mmau_fp16_order; 0 is not converted."""

OVERFLOW_CODES = {name: code for code, name in enumerate((*OVERFLOWS, "wrap"))}
"""enum mmau_overflow."""

NAN_CODES = {name: code for code, name in enumerate(NANS)}
"""enum mmau_nan."""

ZERO_CODES = {name: code for code, name in enumerate(ZEROS)}
"""enum mmau_zero."""

COMBINATION_CODES = {name: code for code, name in enumerate(COMBINATIONS)}
"""enum mmau_combination."""

FLAGS = ("sticky", "flush_inputs", "flush_results")

INTEGER_KEYS = ("F", "F2", "e_zero", "K_block")

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
    "G",
    "scale",
    *FLAGS,
    "overflow",
    "nan",
    "h",
    "order",
    "combination",
    "zero",
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
    if not is_one_call(chain):
        raise ValueError(f"engine 'native' has no chain of type {type(chain).__name__}")
    if type(operation) is not OPERATIONS[operation.name]:
        raise ValueError(f"engine 'native' cannot run {operation.name} with replaced steps; use engine='reference'")
    if operation.length < K:
        operation.accumulating()
    keys: dict[str, Any] = {"operation": OPERATION_CODES[operation.name], "K": K, "L": operation.length}
    structure = operation.structure
    keys |= {key: int(getattr(operation, key, 0)) for key in (*INTEGER_KEYS, *FLAGS)}
    keys |= {"G": structure.group or 0, "h": structure.headroom or 0}
    if isinstance(chain, OrderedChain):
        keys["order"] = RUNS[chain.table.order]
    keys |= {key: FORMAT_CODES[operand.name] for key, operand in _formats(chain, operation).items()}
    keys["rho"] = RHO_CODES.get(getattr(operation, "rho", ""), 0)
    keys["truncation"] = TRUNCATION_CODES[getattr(operation, "truncation", "RZ")]
    keys["overflow"] = OVERFLOW_CODES[getattr(operation, "overflow", "infinity")]
    keys["combination"] = COMBINATION_CODES[getattr(operation, "combination", "multiply")]
    keys["zero"] = ZERO_CODES[getattr(operation, "zero", "positive")]
    keys["nan"] = NAN_CODES[getattr(operation, "nan", "quiet")]
    keys["fp16_order"] = ORDER_CODES[chain.order] if isinstance(chain, ConvertedChain) else 0
    return Parameters(**keys)


def is_one_call(chain: object) -> bool:
    """Whether one call of the library computes a chain: it rounds no sum outside of its steps."""
    return type(chain) in (Chain, ConvertedChain) or is_only_ordered(chain)


def is_only_ordered(chain: object) -> bool:
    """Whether a table [chain] does no more than put the steps of an operation in an order that the library has for it."""
    if not isinstance(chain, OrderedChain) or chain.table.convert is not None or chain.table.adds or chain.table.subtract:
        return False
    structure = chain.operation.structure
    return structure.headroom is not None or structure.is_integer


def _formats(chain: Chain | ConvertedChain, operation: Operation) -> dict[str, Format]:
    formats = {"a": operation.a, "b": operation.b, "c": operation.c}
    if isinstance(chain, ConvertedChain):
        formats |= {"a": chain.a, "b": chain.b}
    if operation.scale_format is not None:
        formats["scale"] = operation.scale_format
    return formats
