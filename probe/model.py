"""Models: the arithmetics that a box may have, each an operation of golden with values for its keys, chained over K.

A family is all models of one operation. Which values a key can have follows from the operation's rules and the box's
formats; nothing here knows a published unit.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from golden.arrays import BitArray
from golden.chain import ORDERS, Chain, ConvertedChain
from golden.comparison import differing
from golden.conversion import CONVERSIONS, FP64_CONVERSIONS
from golden.engines import Batch, run
from golden.formats import FP16
from golden.operations import FMA, OPERATIONS, TFDPA, Operation
from golden.operations.base import EXPONENT_LIMIT, MAX_FRACTION
from golden.operations.fma import NANS
from golden.operations.idpa import BEYOND_RANGE
from golden.ordered_chain import ChainTable
from golden.paired_chain import PairedChain
from golden.rounding import OVERFLOWS
from golden.stimulus import Operands, OperandShape
from golden.unit import Unit
from golden.unit_file import unit_to_toml

CONVERTED = "converted T-FDPA"
"""FP8 as fp16 work, c added last (golden.chain.ConvertedChain)."""

PAIRED = "FMA in pairs"
"""Every product and every sum rounded by itself:  Arm's BFDOT (golden.paired_chain.PairedChain); no unit file says it."""

FAMILIES = (
    "T-FDPA", "ST-FDPA", "GST-FDPA", CONVERTED, "TR-FDPA", "GTR-FDPA", "E-FDPA", "FTZ-AddMul", "FMA", PAIRED, "FTZ-FMA",
    "FTZ-EO-FMA", "IDPA",
)  # fmt: skip
"""The operations that a box is held against. Of two that do as well, the first one counts."""

Keys = dict[str, Any]

SEARCHED = (
    "L", "P", "G", "F", "F2", "rho", "e_zero", "truncation", "sticky", "flush_inputs", "flush_results", "overflow", "order",
    "nan",
)  # fmt: skip
"""The keys that the probe has to find; formats, scales and K_block are the box's."""


@dataclass(frozen=True)
class Model:
    """One arithmetic: a family and its keys, over the operands of `shape`."""

    family: str
    items: tuple[tuple[str, Any], ...]
    shape: OperandShape

    @property
    def keys(self) -> Keys:
        """The keys that the probe has to find; formats and K_block are the box's."""
        return dict(self.items)

    @cached_property
    def chain(self) -> Chain | ConvertedChain:
        """What computes it."""
        return _chain(self)

    @property
    def operation(self) -> Operation:
        """One step."""
        return self.chain.operation

    def run(self, operands: Operands) -> BitArray:
        """d for every row."""
        return run(None, self.chain, Batch(*operands))

    def differs(self, operands: Operands, d: BitArray) -> Any:
        """Where the model's results are not `d`; any NaN is any NaN where the operation leaves its code open."""
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
            ValueError: no unit file can say what it computes.
        """
        chain = self.chain
        if isinstance(chain, PairedChain):
            raise ValueError(f"no unit file can say {self.family}, of which every product is rounded by itself")
        if isinstance(chain, ConvertedChain):
            table = ChainTable(convert=FP16.name, order=chain.order, add_c="last")
            return Unit(name=name, operation=chain.operation, chain=table, converted=(chain.a, chain.b))
        return Unit(name=name, operation=chain.operation)

    def __str__(self) -> str:
        shown = {key: value for key, value in self.items if value != default_of(key) or key in ("L", "F", "F2", "rho")}
        return f"{self.family} " + " ".join(f"{key}={value}" for key, value in shown.items())


def model(family: str, keys: Keys, shape: OperandShape) -> Model:
    """A model from a table of keys."""
    return Model(family, tuple(keys.items()), shape)


def toml_of(model: Model, name: str) -> str:
    """The model as a unit file.

    Raises:
        ValueError: no unit file can say what it computes.
    """
    return unit_to_toml(model.unit(name))


def _chain(model: Model) -> Chain | ConvertedChain:
    """The model's chain.

    Raises:
        ValueError, TypeError: the operation does not allow these keys together, or not over K products.
    """
    shape, keys = model.shape, model.keys
    if model.family == CONVERTED:
        if shape.K % 4:
            raise ValueError(f"K must be a multiple of 4, got {shape.K}")
        order = keys.pop("order")
        step = TFDPA(a=FP16, b=FP16, c=shape.c, **keys)
        _check_length(step, shape)
        return ConvertedChain(step, shape.a, shape.b, order)
    operation_class = FMA if model.family == PAIRED else OPERATIONS[model.family]
    allowed = operation_class.unit_keys()
    keys |= {"a": shape.a, "b": shape.b, "c": shape.c}
    keys |= {key: value for key, value in (("scale", shape.scale), ("K_block", shape.block_size)) if key in allowed}
    operation = operation_class(**keys)
    _check_length(operation, shape)
    if model.family == PAIRED and shape.K % 2:
        raise ValueError(f"K must be even, got {shape.K}")
    return PairedChain(operation) if model.family == PAIRED else Chain(operation)


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
    if family == CONVERTED:
        return ("order", *keys_of("T-FDPA"))
    family = "FMA" if family == PAIRED else family
    return tuple(key for key in OPERATIONS[family].unit_keys() if key in SEARCHED)


def default_of(key: str) -> Any:
    """What a key is while nothing is known of it: as if it were not there."""
    defaults = {
        "truncation": "RZ", "sticky": False, "flush_inputs": False, "flush_results": False, "overflow": "infinity",
        "order": "in-order", "nan": "quiet",
    }  # fmt: skip
    return defaults.get(key)


def values_of(key: str, family: str, shape: OperandShape) -> tuple[Any, ...]:
    """Every value that a key may have; those of e_zero below the smallest exponent of any term are one, and those above
    `highest_exponent`."""
    divisors = tuple(n for n in range(1, shape.K + 1) if shape.K % n == 0)
    match key:
        case "L" | "G":
            return divisors
        case "P":
            return tuple(n for n in divisors if not n & (n - 1))
        case "F" | "F2":
            return tuple(range(1, MAX_FRACTION + 1))
        case "rho":
            return tuple(name for name, rho in (CONVERSIONS | FP64_CONVERSIONS).items() if rho.d is shape.d)
        case "e_zero":
            lowest, highest = lowest_exponent(family, shape), highest_exponent(family, shape)
            return tuple(range(max(lowest, -EXPONENT_LIMIT), min(highest, EXPONENT_LIMIT) + 1))
        case "truncation":
            return ("RZ", "RD", "RO") if family not in ("TR-FDPA", "GTR-FDPA") else ("RZ", "RD")
        case "overflow":
            return BEYOND_RANGE if family == "IDPA" else OVERFLOWS
        case "nan":
            return NANS
        case "order":
            return ORDERS
        case "sticky" | "flush_inputs" | "flush_results":
            return (False, True)
    raise ValueError(f"the probe looks for {', '.join(SEARCHED)}, got {key!r}")


def lowest_exponent(family: str, shape: OperandShape) -> int:
    """The smallest exponent that a term other than zero can have: an e_zero at or below it never counts."""
    a, b = (FP16, FP16) if family == CONVERTED else (shape.a, shape.b)
    products = a.e_min + b.e_min
    if shape.scale is not None:  # a group's exponent is that of its scales; a product's, theirs and its own
        scales = 2 * shape.scale.e_min
        products = scales if family == "GST-FDPA" else products + scales
    return min(products, shape.c.e_min, shape.d.e_min)


def highest_exponent(family: str, shape: OperandShape) -> int:
    """An e_zero above which all are alike, whatever F is: of the largest group of products nothing is left, and the last
    place that is kept, 2^(e_zero − F), overflows."""
    a, b = (FP16, FP16) if family == CONVERTED else (shape.a, shape.b)
    products = a.e_max + b.e_max + 2 + shape.K.bit_length()
    if shape.scale is not None:
        products += 2 * shape.scale.e_max + 2
    return max(products, shape.c.e_max, shape.d.e_max) + 1 + MAX_FRACTION


def possible_families(shape: OperandShape) -> list[str]:
    """The families that take the box's formats and give its results."""
    return [family for family in FAMILIES if starts(family, shape)]


COARSE: dict[str, tuple[int, ...]] = {
    "F": (*range(1, 34), *range(36, 64, 4), *range(64, 129, 8)), "F2": (6, 12, 20, 31, 48, 128),
}  # fmt: skip
"""Values that a search starts from where it does not start from all."""


@lru_cache(maxsize=64)
def starts(family: str, shape: OperandShape) -> tuple[Model, ...]:
    """Models to begin with: every length, every order, precisions, or where there is none every rounding; other keys as
    if they were not there. None where the family does not take the box's formats."""
    base: Keys = {}
    for key in keys_of(family):
        values = values_of(key, family, shape)
        if not values:
            return ()
        base[key] = default_of(key) if default_of(key) in values else values[0]
    if "rho" in base:
        base["rho"] = next((name for name in values_of("rho", family, shape) if name.startswith("RNE")), base["rho"])
    lengths = [key for key in base if key in ("L", "P", "G", "order")]
    precisions = [key for key in base if key in ("F", "F2")] or [key for key in base if key == "rho"]
    found = []
    for chosen in product(*(values_of(key, family, shape) for key in lengths)):
        first = model(family, base | dict(zip(lengths, chosen, strict=True)), shape)
        if first.is_valid():  # which no precision changes
            choices = product(*(COARSE.get(key) or values_of(key, family, shape) for key in precisions))
            others = (first.changed(**dict(zip(precisions, bits, strict=True))) for bits in choices)
            found += [other for other in others if "rho" not in precisions or other.is_valid()]
            found += _above_all_terms(first)
    return tuple(found)


def varied_starts(family: str, shape: OperandShape) -> tuple[Model, ...]:
    """The same models with every rounding and every way to cut, whether the operation's rules allow them or not."""
    keys = [key for key in ("rho", "truncation") if key in keys_of(family)]
    choices = [dict(zip(keys, values, strict=True)) for values in product(*(values_of(key, family, shape) for key in keys))]
    return tuple(dict.fromkeys(start.changed(**choice) for start in starts(family, shape) for choice in choices))


def _above_all_terms(first: Model) -> list[Model]:
    """Models whose e_zero is above every term, where each way to cut leaves something else of a term: 0, −1 or ±1 in the
    last place. A search with a low e_zero gains nothing on the way here until `truncation` changes too."""
    if "e_zero" not in first.keys:
        return []
    ways = values_of("truncation", first.family, first.shape) if "truncation" in first.keys else ("RZ",)
    highest = values_of("e_zero", first.family, first.shape)[-1]
    return [first.changed(e_zero=highest, truncation=way) for way in ways]
