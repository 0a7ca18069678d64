"""Models: the arithmetics that a device under test may have. Each is an operation of golden with its keys, chained over K.

A family is all models of one operation. Which values a key can have follows from the operation's rules and the device's
formats; nothing here knows a published unit.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from golden.arithmetic.conversion import (
    CONVERSIONS,
    FP64_CONVERSIONS,
    ROUNDED_FORMATS,
    TWO_STEP_CONVERSIONS,
    Conversion,
    rounding_to,
    spelled,
)
from golden.arithmetic.formats import B1, FP16, FP32, Format
from golden.arithmetic.rounding import MODES, OVERFLOWS
from golden.arrays import BitArray
from golden.chains.chain import ADD_C, CHAIN_ORDERS, Chain, ChainTable, chain_of
from golden.chains.chain import PAIRED as PAIRED_ORDER
from golden.chains.sum_chain import C_PLACES, TREES, SumTable
from golden.comparison import differing
from golden.engines.engine import Batch, run
from golden.operations import EFDPA, FMA, OPERATIONS, TFDPA, TRFDPA, Operation
from golden.operations.base import EXPONENT_LIMIT, MAX_FRACTION, UNRANKED
from golden.operations.e_fdpa import ZEROS
from golden.operations.fma import NANS
from golden.operations.headroom_fdpa import MAX_HEADROOM
from golden.operations.idpa import BEYOND_RANGE, COMBINATIONS
from golden.stimulus import Operands, OperandShape
from golden.units.unit import Unit
from golden.units.unit_file import unit_to_toml

CONVERTED = "converted "
"""Prefix of a family's name: FP8 operands are first converted to fp16 (`[chain] convert`). The operation's name follows."""

PAIRED = "FMA in pairs"
"""Family in which every product and every sum is rounded alone: Arm's BFDOT. No unit file has it."""

SUMS = "sums"
"""Family of the programs of additions (golden.chains.sum_chain), which are searched only where no operation explains the
answers."""


def _families() -> list[str]:
    """Every operation of a, b and c by its rank, sums in pairs beside the multiply-adds that make them, then the operations
    whose elements are converted first; the published one of these stands among the first."""
    whole = {name: operation for name, operation in OPERATIONS.items() if operation.operands == Operation.operands}
    ranks = {name: float(operation.rank) for name, operation in whole.items()}
    converted = [name for name in whole if not {"K_block", "combination"} & {*_keys_of_operation(name)}]
    ranks |= {f"{CONVERTED}{name}": 2 * UNRANKED + ranks[name] for name in converted}
    ranks |= {PAIRED: ranks[FMA.name] + 0.5, f"{CONVERTED}{TFDPA.name}": TRFDPA.rank - 0.5}
    return sorted(ranks, key=lambda family: ranks[family])


def operation_of(family: str) -> str:
    """The name of a family's operation."""
    return FMA.name if family == PAIRED else family.removeprefix(CONVERTED)


def _keys_of_operation(family: str) -> Collection[str]:
    """The keys of a family's operation, formats among them, but for those whose results the library does not compute: no
    model has them. A program of additions has none."""
    if family == SUMS:
        return ()
    operation = OPERATIONS[operation_of(family)]
    return [key for key in operation.unit_keys() if key not in operation.golden_alone]


FAMILIES = tuple(_families())
"""The operations that a device under test is compared with. Of two that fit equally well, the first is reported."""

NODES = tuple(f"{mode}-{form}" for mode in ("RNE", "RZ") for form in (*(f"e8m{bits}" for bits in range(23, 6, -1)), "e5m10"))
"""Roundings and formats of a program's nodes."""

Keys = dict[str, Any]

ALIKE_FOR_ALL: dict[str, tuple[Any, ...]] = {
    "nan": NANS, "add_c": ADD_C, "addition": MODES, "zero": ZEROS, "tree": TREES, "node": NODES, "outer": NODES,
    "c": C_PLACES,
}  # fmt: skip
"""Values of the keys that have the same values in every family. Trees of places are not among them."""

SEARCHED = (
    "L", "P", "G", "F", "F2", "h", "rho", "e_zero", "truncation", "sticky", "flush_inputs", "flush_results", "overflow",
    "zero", "order", "add_c", "addition", "subtract", "nan", "combination",
)  # fmt: skip
"""The keys that the probe has to find; formats, scales and K_block are the device's."""

OF_SUMS = ("tree", "group", "product", "node", "outer", "c")
"""The keys of a program of additions; one in a tree of places has tree, product and node alone."""

ORDERED = ("order", "add_c")
"""Keys of the table [chain] that say in which order terms are added."""

CHAINED = (*ORDERED, "addition", "subtract")
"""Keys of the table [chain]; a report shows them where they are not at their defaults."""


@dataclass(frozen=True)
class Model:
    """One arithmetic: a family and its keys, over the operands of `shape`."""

    family: str
    items: tuple[tuple[str, Any], ...]
    shape: OperandShape

    @property
    def keys(self) -> Keys:
        """The keys that the probe has to find; formats and K_block are the device's."""
        return dict(self.items)

    @cached_property
    def chain(self) -> Chain:
        """The chain that computes it."""
        return _chain(self)

    @property
    def operation(self) -> Operation:
        """The operation of one step."""
        return self.chain.operation

    def run(self, operands: Operands) -> BitArray:
        """Compute d for every row."""
        return run(None, self.chain, Batch(*operands))

    def differs(self, operands: Operands, d: BitArray) -> Any:
        """Where the model's results differ from `d`. NaN codes are equal where the operation leaves the code open."""
        return differing(d, self.run(operands), self.operation)

    def changed(self, **keys: Any) -> "Model":
        """The model with other values for some keys."""
        return model(self.family, self.keys | keys, self.shape)

    def is_valid(self) -> bool:
        """Whether the operation's rules allow these keys together."""
        try:
            return self.chain is not None
        except (ValueError, TypeError):
            return False

    def unit(self, name: str) -> Unit:
        """The unit that computes it.

        Raises:
            ValueError: a unit file cannot describe it.
        """
        chain = self.chain
        if self.family == PAIRED:
            raise ValueError(f"a unit file cannot describe {self.family}, which rounds every product by itself")
        if chain.sums is not None:
            return Unit(name=name, operation=chain.operation, sums=chain.sums)
        table = _table(self.family, self.keys)
        converted = (self.shape.a, self.shape.b) if table.convert is not None else None
        return Unit(name=name, operation=chain.operation, chain=table, converted=converted)

    def __str__(self) -> str:
        shown = {key: value for key, value in self.items if value != default_of(key) or key in ("L", "F", "F2", "rho")}
        return f"{self.family} " + " ".join(f"{key}={value}" for key, value in shown.items())


def model(family: str, keys: Keys, shape: OperandShape) -> Model:
    """A model from a table of keys."""
    return Model(family, tuple(keys.items()), shape)


def toml_of(model: Model, name: str) -> str:
    """The model as a unit file.

    Raises:
        ValueError: a unit file cannot describe it.
    """
    return unit_to_toml(model.unit(name))


def _chain(model: Model) -> Chain:
    """The model's chain.

    Raises:
        ValueError, TypeError: the operation does not allow these keys together, or not over K products.
    """
    shape, keys = model.shape, model.keys
    if model.family == SUMS:
        table = SumTable(**keys)
        table.check_length(shape.K)
        if table.group == shape.K and table.c != "first":
            raise ValueError(f"[sums] group = {table.group} of all products is a sum without groups: leave it out")
        return Chain(_of_formats(shape), sums=table)
    chained = _table(model.family, keys)
    operation_class, allowed = OPERATIONS[operation_of(model.family)], _keys_of_operation(model.family)
    a, b = (shape.a, shape.b) if chained.convert is None else (FP16, FP16)
    keys = {key: value for key, value in keys.items() if key not in CHAINED} | {"a": a, "b": b, "c": shape.c}
    keys |= {key: value for key, value in (("scale", shape.scale), ("K_block", shape.block_size)) if key in allowed}
    operation = operation_class(**keys)
    _check_length(operation, shape)
    if model.family == PAIRED and shape.K % 2:
        raise ValueError(f"K must be even, got {shape.K}")
    if model.family == PAIRED:
        return Chain(operation, PAIRED_ORDER)
    converted = None if chained.convert is None else (shape.a, shape.b)
    return Chain(operation) if chained == ChainTable() else chain_of(operation, chained, converted, shape.K)


def _of_formats(shape: OperandShape) -> Operation:
    """The operation that names the formats of a program of additions.

    Raises:
        ValueError: none takes them.
    """
    formats: Keys = {"a": shape.a, "b": shape.b, "c": shape.c, "rho": spelled(rounding_to("RNE", shape.d))}
    if shape.scale is not None:
        raise ValueError("a program of additions has no scales")
    return FMA(**formats) if shape.a == FP32 else EFDPA(**formats, L=1)


def is_converted(family: str) -> bool:
    """Whether the family converts FP8 to fp16 first."""
    return family.startswith(CONVERTED)


def _table(family: str, keys: Keys) -> ChainTable:
    """The table [chain] of a family with these keys."""
    chained = {key: keys[key] for key in CHAINED if key in keys}
    return ChainTable(convert=FP16.name if is_converted(family) else None, **chained)


def _check_length(operation: Operation, shape: OperandShape) -> None:
    if operation.d is not shape.d:
        raise ValueError(f"d must be {shape.d}, got {operation.d}")
    if (operation.scale_format, operation.block_size) != (shape.scale, shape.block_size):
        raise ValueError(f"scales must be {shape.scale}, got {operation.scale_format}")
    if shape.K % operation.length:
        raise ValueError(f"K must be a multiple of L={operation.length}, got {shape.K}")
    if operation.length < shape.K:
        operation.accumulating()


def keys_of(family: str) -> tuple[str, ...]:
    """The keys of a family that the probe has to find."""
    if family == SUMS:
        return OF_SUMS
    keys = _keys_of_operation(family)
    of_operation = tuple(key for key in keys if key in SEARCHED)
    if "combination" in keys:  # integers: nothing is added in a format of rho, and no bit of an element is its sign alone
        return (*of_operation, "order")
    without_table = "K_block" in keys or family == PAIRED  # [chain] is for operations without scales
    return of_operation if without_table else (*of_operation, *CHAINED)


def default_of(key: str) -> Any:
    """The value of a key while it is unknown: the key has no effect."""
    defaults = {
        "truncation": "RZ", "sticky": False, "flush_inputs": False, "flush_results": False, "overflow": "infinity",
        "zero": "positive", "order": "in-order", "add_c": "first", "addition": "RNE", "subtract": False, "nan": "quiet",
        "combination": "multiply",
    }  # fmt: skip
    return defaults.get(key)


def values_of(key: str, family: str, shape: OperandShape) -> tuple[Any, ...]:
    """Every value that a key may have. The values of e_zero end at the smallest exponent of any term and at
    `highest_exponent`: beyond either end all values are equivalent."""
    if key in ALIKE_FOR_ALL:
        return ALIKE_FOR_ALL[key]
    of_operation = _keys_of_operation(family)
    divisors = tuple(n for n in range(1, shape.K + 1) if shape.K % n == 0)
    match key:
        case "L" | "G":
            return divisors
        case "P":
            return tuple(n for n in divisors if "L" in of_operation or not n & (n - 1))
        case "F" | "F2":
            return tuple(range(1, MAX_FRACTION + 1))
        case "h":
            return tuple(range(MAX_HEADROOM + 1))
        case "rho":
            further = TWO_STEP_CONVERSIONS if "h" in of_operation else FP64_CONVERSIONS
            known = [name for name, rho in (CONVERSIONS | further).items() if rho.d is shape.d]
            return tuple(dict.fromkeys((*known, *_conversions_stored_as(shape.d))))
        case "e_zero":
            lowest, highest = lowest_exponent(family, shape), highest_exponent(family, shape)
            return tuple(range(max(lowest, -EXPONENT_LIMIT), min(highest, EXPONENT_LIMIT) + 1))
        case "truncation":
            return ("RZ", "RD") if "F2" in of_operation else ("RZ", "RD", "RO")
        case "overflow":
            return BEYOND_RANGE if "combination" in of_operation else OVERFLOWS
        case "combination":
            return COMBINATIONS if shape.a is shape.b is B1 else ("multiply",)
        case "order":
            return tuple(order for order in CHAIN_ORDERS if not shape.K % ChainTable(order=order).group)
        case "group":
            return (0, *(n for n in divisors if 1 < n < shape.K))
        case "product":
            return ("exact", *NODES)
        case "sticky" | "flush_inputs" | "flush_results" | "subtract":
            return (False, True)
    raise ValueError(f"the probe looks for {', '.join(SEARCHED)}, got {key!r}")


def _conversions_stored_as(d: Format) -> Iterator[str | Conversion]:
    """Every ρ whose results are stored as d, a format of the device's own too: in each mode to d, and to a padded format of
    its word."""
    own = (d,) if d.signed and d.exp_bits else ()
    for form in dict.fromkeys((*own, *ROUNDED_FORMATS.values())):
        for rho in (rounding_to(mode, form) for mode in MODES):
            if rho.d is d:
                yield spelled(rho)


def lowest_exponent(family: str, shape: OperandShape) -> int:
    """The smallest exponent that a term other than zero can have: an e_zero at or below it never counts."""
    a, b = (FP16, FP16) if is_converted(family) else (shape.a, shape.b)
    products = a.e_min + b.e_min
    if shape.scale is not None:  # a group has the exponent of its scales; a product adds that of its factors
        scales = 2 * shape.scale.e_min
        products = scales if "G" in _keys_of_operation(family) else products + scales
    return min(products, shape.c.e_min, shape.d.e_min)


def highest_exponent(family: str, shape: OperandShape) -> int:
    """An e_zero above which all values are equivalent for every F: the largest group of products is cut to nothing, and the
    last retained place, 2^(e_zero − F), overflows."""
    a, b = (FP16, FP16) if is_converted(family) else (shape.a, shape.b)
    products = a.e_max + b.e_max + 2 + shape.K.bit_length()
    if shape.scale is not None:
        products += 2 * shape.scale.e_max + 2
    return max(products, shape.c.e_max, shape.d.e_max) + 1 + MAX_FRACTION
