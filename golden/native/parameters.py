"""Conversion of a chain's parameters to the C interface: `mmau_parameters` of mmau.h."""

import ctypes
from typing import Any

from golden.arithmetic.conversion import CONVERSIONS, FP64_CONVERSIONS, TWO_STEP_CONVERSIONS
from golden.arithmetic.formats import FORMATS, Format
from golden.arithmetic.rounding import OVERFLOWS
from golden.chains.chain import ORDERS, RUNS, Chain
from golden.operations import OPERATIONS, Operation
from golden.operations.e_fdpa import ZEROS
from golden.operations.fma import NANS
from golden.operations.idpa import COMBINATIONS

OPERATION_CODES = {name: code for code, name in enumerate(OPERATIONS)}
"""Name of an operation to its number in enum mmau_operation."""

FORMAT_CODES = {name: code for code, name in enumerate(FORMATS)}
"""Name of a format to its number in enum mmau_format."""

RHO_CODES = {name: code for code, name in enumerate(CONVERSIONS | FP64_CONVERSIONS | TWO_STEP_CONVERSIONS)}
"""Name of a conversion ρ to its number in enum mmau_rho."""

TRUNCATION_CODES = {"RZ": 0, "RD": 1, "RO": 2}
"""Truncation mode to its number in enum mmau_truncation."""

ORDER_CODES = {name: code for code, name in enumerate(ORDERS, start=1)}
"""enum mmau_fp16_order; 0 is not converted."""

OVERFLOW_CODES = {name: code for code, name in enumerate((*OVERFLOWS, "wrap"))}
"""Name of a treatment of overflow to its number in enum mmau_overflow."""

NAN_CODES = {name: code for code, name in enumerate(NANS)}
"""Value of the key `nan` to its number in enum mmau_nan."""

ZERO_CODES = {name: code for code, name in enumerate(ZEROS)}
"""Value of the key `zero` to its number in enum mmau_zero."""

COMBINATION_CODES = {name: code for code, name in enumerate(COMBINATIONS)}
"""Name of a combination to its number in enum mmau_combination."""

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
    """The ctypes form of struct mmau_parameters."""

    _fields_ = [(key, ctypes.c_int32) for key in KEYS]


def parameters(chain: Chain, K: int) -> Parameters:
    """The parameters of a chain over K products.

    Raises:
        ValueError: the operation cannot take its own result as c, and K needs more than one step.
    """
    operation = chain.operation
    if not is_one_call(chain):
        raise ValueError(f"engine 'native' computes no such chain in one call: {chain}")
    if type(operation) is not OPERATIONS[operation.name]:
        raise ValueError(f"engine 'native' cannot run {operation.name} with replaced steps; use engine='reference'")
    if operation.length < K:
        operation.accumulating()
    keys: dict[str, Any] = {"operation": OPERATION_CODES[operation.name], "K": K, "L": operation.length}
    structure = operation.structure
    keys |= {key: int(getattr(operation, key, 0)) for key in (*INTEGER_KEYS, *FLAGS)}
    keys |= {"G": structure.group or 0, "h": structure.headroom or 0}
    keys["order"] = 0 if chain.fp16_order is not None else RUNS[chain.order]
    keys |= {key: FORMAT_CODES[operand.name] for key, operand in _formats(chain, operation).items()}
    keys["rho"] = RHO_CODES.get(getattr(operation, "rho", ""), 0)
    keys["truncation"] = TRUNCATION_CODES[getattr(operation, "truncation", "RZ")]
    keys["overflow"] = OVERFLOW_CODES[getattr(operation, "overflow", "infinity")]
    keys["combination"] = COMBINATION_CODES[getattr(operation, "combination", "multiply")]
    keys["zero"] = ZERO_CODES[getattr(operation, "zero", "positive")]
    keys["nan"] = NAN_CODES[getattr(operation, "nan", "quiet")]
    keys["fp16_order"] = 0 if chain.fp16_order is None else ORDER_CODES[chain.fp16_order]
    return Parameters(**keys)


def is_one_call(chain: Chain) -> bool:
    """Whether one call of the library computes a chain: plain steps, steps in an order that the library has for their
    operation, or FP8 that runs as fp16. Any other chain rounds sums outside of its steps, or changes the operands first."""
    if chain.is_plain or chain.fp16_order is not None:
        return True
    structure = chain.operation.structure
    is_ordered = structure.headroom is not None or structure.is_integer
    return is_ordered and chain.order in RUNS and chain == Chain(chain.operation, chain.order)


def _formats(chain: Chain, operation: Operation) -> dict[str, Format]:
    formats = {"a": chain.a, "b": chain.b, "c": operation.c}
    if operation.scale_format is not None:
        formats["scale"] = operation.scale_format
    return formats
