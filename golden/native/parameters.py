"""Conversion of a chain's parameters to the C interface: `mmau_parameters` of mmau.h."""

import ctypes
from typing import Any

from golden.arithmetic.coded_format import CodedFormat
from golden.arithmetic.formats import Format, IntegerFormat
from golden.arithmetic.rounding import MODES, OVERFLOWS
from golden.chains.chain import ORDERS, RUNS, Chain
from golden.native.library import TooWide
from golden.operations import OPERATIONS, Operation
from golden.operations.e_fdpa import ZEROS
from golden.operations.exact_sum import ExactSum
from golden.operations.fma import NANS
from golden.operations.idpa import COMBINATIONS

OPERATION_CODES = {name: code for code, name in enumerate(OPERATIONS)}
"""Name of an operation to its number in enum mmau_operation."""

SPECIALS_CODES = {"ieee": 0, "fn": 1, "fnuz": 2, "finite": 3, "p3109": 4, "merged": 1}
"""Kind of special values to its number in enum mmau_specials; `merged` and `fn` compute the same."""

MODE_CODES = {name: code for code, name in enumerate(MODES)}
"""Rounding mode to its number in enum mmau_mode."""

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
    "rounded",
    "d",
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
        ValueError: the operation cannot take its own result as c, and K needs more than one step. TooWide: the library does
            not compute it.
    """
    operation = chain.operation
    if not is_one_call(chain):
        raise ValueError(f"engine 'native' computes no such chain in one call: {chain}")
    if type(operation) is not OPERATIONS[operation.name]:
        raise ValueError(f"engine 'native' cannot run {operation.name} with replaced steps; use engine='reference'")
    if not operation.is_native:
        raise TooWide(f"engine 'native' computes no {operation.name} of such formats or scales")
    if operation.length < K:
        operation.accumulating()
    keys: dict[str, Any] = {"operation": OPERATION_CODES[operation.name], "K": K, "L": operation.length}
    structure = operation.structure
    keys |= {key: int(getattr(operation, key, 0)) for key in (*INTEGER_KEYS, *FLAGS)}
    keys |= {"G": structure.group or 0, "h": structure.headroom or 0}
    keys["order"] = 0 if chain.fp16_order is not None else RUNS[chain.order]
    keys |= {key: format_number(operand) for key, operand in _formats(chain, operation).items()}
    keys["rho"] = 0 if structure.rho is None else MODE_CODES[structure.rho.mode]
    keys["truncation"] = MODE_CODES[getattr(operation, "truncation", "RZ")]
    keys["overflow"] = OVERFLOW_CODES[getattr(operation, "overflow", "infinity")]
    keys["combination"] = COMBINATION_CODES[getattr(operation, "combination", "multiply")]
    keys["zero"] = ZERO_CODES[getattr(operation, "zero", "positive")]
    keys["nan"] = NAN_CODES[getattr(operation, "nan", "quiet")]
    keys["fp16_order"] = 0 if chain.fp16_order is None else ORDER_CODES[chain.fp16_order]
    return Parameters(**keys)


def format_number(form: Format) -> int:
    """The number of a format: its fields, as MMAU_FORMAT of mmau.h packs them.

    Raises:
        ValueError: a format that the library does not have.
    """
    if isinstance(form, CodedFormat):
        raise ValueError(f"the library has no format {form}, whose codes have no fields")
    if isinstance(form, IntegerFormat):
        exp_bits, man_bits, bias = 0, form.bits - form.signed, 0
    else:
        exp_bits, man_bits, bias = form.exp_bits, form.man_bits, form.bias
    if form.pad_bits and (form.width != 32 or not form.signed):
        raise ValueError(f"engine 'native' has formats with padding only as words of 32 bits, got {form}")
    layout = 3 if form.pad_bits else 2 if form.ignored_sign else int(form.signed)
    upper = (form.subnormals * 4 + layout) * 8 + SPECIALS_CODES[form.specials]
    return bias * 65536 + upper * 1024 + man_bits * 16 + exp_bits


def flag_rules(operation: Operation) -> int:
    """What raises exception flags, as enum mmau_flag_rule."""
    assert isinstance(operation, ExactSum)
    return (operation.tininess == "before") + 2 * (operation.beside_nan == "quiet")


def is_one_call(chain: Chain) -> bool:
    """Whether one call of the library computes a chain: plain steps, steps in an order that the library has for their
    operation, or FP8 that runs as fp16. Any other chain rounds sums outside of its steps, or changes the operands first."""
    if chain.is_plain or chain.fp16_order is not None:
        return True
    structure = chain.operation.structure
    is_ordered = structure.headroom is not None or structure.is_integer
    return is_ordered and chain.order in RUNS and chain == Chain(chain.operation, chain.order)


def _formats(chain: Chain, operation: Operation) -> dict[str, Format]:
    formats = {"a": chain.a, "b": chain.b, "c": operation.c, "d": operation.d}
    rho = operation.structure.rho
    if rho is not None and rho.rounding_format != rho.d:
        formats["rounded"] = rho.rounding_format
    if operation.scale_format is not None:
        formats["scale"] = operation.scale_format
    return formats
