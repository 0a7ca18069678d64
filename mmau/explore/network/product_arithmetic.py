"""The arithmetic of a network's matrix products: a unit or an instruction, and the order of the instructions in a sum."""

import json
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import golden
from golden.checks import check_choice, check_type, listed
from golden.units.unit_file import unit_from_table, unit_to_toml
from mmau.frameworks.core import multiply

OPERANDS = ("fp32", "tf32", "bf16", "fp16", "e5m2", "e4m3", "e5m2fnuz", "e4m3fnuz", "e4m3ieee", "e3m2", "e2m3", "e2m1")
"""Formats of a and b that fp32 numbers are quantised to."""

INFINITIES = ("keep", "saturate")
"""The choices for infinities in operands."""

RESULTS = ("fp32", "fp16", "bf16")
"""Formats of c and d: fp32 holds their numbers exactly."""


@dataclass(frozen=True)
class Product:
    """A·B on a unit, from c = 0.

    Attributes:
        unit: a unit, of which one step of L products is an instruction, or an instruction of the catalogue.
        promote_every: instructions after which the partial sum is added, RNE, to an fp32 accumulator, and the next one
            starts from 0; 0: never.
        split_k: parts of K whose sums are added, RNE, at the end.
        infinities: what an operand's infinities become: "keep", as the format has them: infinities, else NaN, else the
            largest number; or "saturate": the largest number.

    Raises:
        TypeError: neither a unit nor an instruction. ValueError: one that a network's numbers cannot be given to.
    """

    unit: golden.Unit | golden.Instruction
    promote_every: int = 0
    split_k: int = 1
    infinities: str = "keep"

    def __post_init__(self) -> None:
        check_type("unit of a network", self.unit, golden.Unit, golden.Instruction)
        operation = self.unit.operation
        if operation.scale_format is not None:
            raise ValueError(
                f"the unit of a network must have no scales of blocks, for a tensor has one scale; got {self.unit.name} "
                f"({operation.name}): take an operation without, such as T-FDPA"
            )
        self._check_formats({"a": self.unit.a, "b": self.unit.b}, OPERANDS)
        self._check_formats({"c": operation.c, "d": operation.d}, RESULTS)
        check_choice("infinities of a network", self.infinities, INFINITIES)
        self.order.check(self.unit)

    def _check_formats(self, formats: dict[str, golden.Format], choices: Collection[str]) -> None:
        for key, found in formats.items():
            if found.name not in choices:
                raise ValueError(f"{key} of a network's unit must be one of {listed(choices)}; {self.unit.name} has {found}")

    @cached_property
    def order(self) -> golden.GemmOrder:
        """The order of the steps, as `golden.gemm` takes it."""
        return golden.GemmOrder(promote_every=self.promote_every, split_k=self.split_k)

    @cached_property
    def d(self) -> golden.Format:
        """Format of the results."""
        return golden.FORMATS["fp32"] if self.promote_every else self.unit.operation.d

    @cached_property
    def text(self) -> str:
        """The product as JSON, which `product_of` reads back: an operator of PyTorch takes text, and no object."""
        unit = self.unit
        shown = {"unit": unit_to_toml(unit)} if isinstance(unit, golden.Unit) else {"instruction": [unit.arch, unit.name]}
        return json.dumps(
            {**shown, "promote_every": self.promote_every, "split_k": self.split_k, "infinities": self.infinities}
        )

    def __call__(self, a: Any, b: Any) -> Any:
        """D [M, N], codes of `d`, of a [M, K] and b [K, N], codes of the unit's formats: arrays or tensors."""
        return multiply(self.unit, a, b, order=self.order)


@cache
def product_of(text: str) -> Product:
    """The product that `Product.text` wrote.

    Raises:
        TypeError, ValueError: another text.
    """
    table = json.loads(text)
    order = {key: table[key] for key in ("promote_every", "split_k", "infinities")}
    if "unit" in table:
        return Product(unit_from_table(tomllib.loads(table["unit"])), **order)
    return Product(golden.instruction(*table["instruction"]), **order)
