"""Units with a table [sums] as data, and for each the same table with one key changed: a wrong design of it."""

from typing import Any, NamedTuple

from golden import Unit
from golden.units.unit_file import unit_from_table


class SumUnit(NamedTuple):
    """A unit and its wrong design: keys of the unit, of its table [sums], and the table's keys that are changed."""

    keys: dict[str, Any]
    sums: dict[str, Any]
    wrong: dict[str, Any]

    def unit(self, *, is_wrong: bool = False, **implementation: Any) -> Unit:
        """The unit, or the wrong one, with some keys of its implementation replaced."""
        built = self.keys.get("implementation", {}) | implementation
        table = {"name": "unit", "operation": "E-FDPA", "L": 1, "a": "e4m3", "b": "e4m3", "c": "fp32"} | self.keys
        return unit_from_table(table | {"sums": self.sums | (self.wrong if is_wrong else {}), "implementation": built})


SUM_UNITS = {
    "two levels": SumUnit(
        {}, {"tree": "pairwise", "group": 4, "node": "RNE-e8m10", "outer": "RNE-e8m23", "c": "last"}, {"node": "RZ-e8m10"}
    ),
    "22 bits in groups, then promoted": SumUnit(
        {"implementation": {"encoding": "sign-magnitude", "stages": 2}},
        {"tree": "exact", "group": 8, "F": 13, "e_zero": -133, "node": "RZ-e8m13", "c": "last"},
        {"F": 12},
    ),
    "chunks of hybrid FP8": SumUnit(
        {"b": "e5m2", "implementation": {"stages": 3}},
        {"tree": "in-order", "group": 4, "node": "RNE-e8m15", "outer": "RU-e8m23"},
        {"outer": "RD-e8m23"},
    ),
    "a chain of multiply-adds": SumUnit(
        {"a": "bf16", "b": "bf16"}, {"tree": [["c", "p0"], "p1"]}, {"tree": [["c", "p1"], "p0"]}
    ),
    "rounded products": SumUnit(
        {"a": "fp16", "b": "fp16", "c": "fp16", "rho": "RNE-FP16",
         "implementation": {"normaliser": "narrowing", "rounder": "compound"}},
        {"tree": "halves", "product": "RNE-e5m10", "node": "RO-e8m12", "c": "among"},
        {"product": "RNE-e5m9"},
    ),
    "a tree of places": SumUnit(
        {"implementation": {"encoding": "twos-complement", "max_exp": "pairwise"}},
        {"tree": [["p0", "p1", "p2"], ["p3", ["0", "c"]]], "node": "RD-e8m7",
         "F": 10, "truncation": "RD", "e_zero": -5},
        {"e_zero": -4},
    ),
    "an accumulator of 12 bits": SumUnit(
        {"a": "e2m1", "b": "e2m1"}, {"tree": "pairwise", "node": "RNA-e5m6", "c": "last"}, {"node": "RNE-e5m6"}
    ),
    "block scales": SumUnit(
        {"b": "e5m2", "c": "fp16", "rho": "RNE-FP16", "scale": "ue8m0", "K_block": 8, "implementation": {"stages": 3}},
        {"tree": "exact", "group": 4, "node": "RO-e5m10", "scaled": "RZ-e5m10", "outer": "RZ-e5m10"},
        {"scaled": "RNE-e5m10"},
    ),
    "scales of b": SumUnit(
        {"a": "e2m1", "scale": "s", "scales": "b", "K_block": 4,
         "formats": {"s": {"exp_bits": 5, "man_bits": 4, "bias": 15, "specials": "ieee"}}},
        {"tree": "pairwise", "group": 4, "node": "RNE-e8m7", "scaled": "RU-e6m3", "outer": "RNE-e8m23", "c": "last"},
        {"scaled": "RD-e6m3"},
    ),
    "formats of its own": SumUnit(
        {"a": "e3m4", "b": "p4", "c": "fp22", "rho": "RNE-fp22", "formats": {
            "e3m4": {"exp_bits": 3, "man_bits": 4, "bias": 3, "specials": "ieee"},
            "p4": {"exp_bits": 4, "man_bits": 3, "bias": 8, "specials": "p3109"},
            "fp22": {"exp_bits": 8, "man_bits": 13, "bias": 127, "specials": "ieee"},
        }},
        {"tree": [["p0", "p1"], "c"], "node": "RNE-e8m10"},
        {"node": "RZ-e8m10"},
    ),
}  # fmt: skip
"""Units by name, each with a wrong design."""
