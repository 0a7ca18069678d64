"""The plan: a file that describes a design to a program: timing, operand formats, and the reference computation."""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from cosim.bench.comparison_rules import Compare
from cosim.bench.mismatch import BUCKETS
from cosim.bench.protocol import Timing
from cosim.bench.stimulus import LENGTHS
from golden import Format, Operation
from golden.arithmetic.formats import IntegerFormat
from golden.arrays import bits_dtype
from golden.chains.chain import Chain
from golden.native.library import MODULE
from golden.native.parameters import parameters
from golden.stimulus import OperandShape
from rtl.designs.design import Design
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.ports import OPERANDS
from rtl.designs.tile import TileShape
from rtl.designs.tile_design import TileDesign
from rtl.designs.unit_design import UnitDesign

PLAN = "plan.txt"


@dataclass(frozen=True, kw_only=True)
class Product:
    """One kind of dot product that a design computes.

    Attributes:
        name: name as in `DotProducts.name`; empty where there is one kind.
        operation: the operation, with the formats of c and d. a, b: formats of the operands, which may differ from the
            formats that the operation multiplies.
        chain: the computation of a whole dot product; shape: shape of its stimulus.
        m, n: rows and columns; steps: number of steps in which the design takes the products; c_step: the step that reads c.
        order: k of the products in the order in which the design takes them, all steps one after another.
    """

    name: str
    operation: Operation
    a: Format
    b: Format
    chain: Chain
    shape: OperandShape
    m: int = 1
    n: int = 1
    steps: int = 1
    c_step: int = 0
    order: tuple[int, ...] = ()

    @property
    def scales_per_step(self) -> int:
        """The number of scales of a row or column that one step takes; 0 where unscaled."""
        return 0 if self.shape.scale is None else self.operation.scales_per_step


def products_of(design: Design) -> list[Product]:
    """Every kind of dot product of a design, in the order of its port `format`."""
    if isinstance(design, TileDesign):
        i, shape = design.instruction, TileShape(design.instruction)
        order = tuple(k for step in range(shape.steps) for k in shape.products(step))
        return [
            Product(
                name="",
                operation=i.operation,
                a=i.a,
                b=i.b,
                chain=i.chain,
                shape=OperandShape.of(i),
                m=i.m,
                n=i.n,
                steps=shape.steps,
                c_step=shape.c_step,
                order=order,
            )
        ]
    if isinstance(design, MultiFormatDesign):
        named = [(f"format {number} ({unit.name})", unit.operation) for number, unit in enumerate(design.units)]
    else:
        assert isinstance(design, UnitDesign)
        named = [("", design.unit.operation)]
    return [
        Product(
            name=name,
            operation=operation,
            a=operation.a,
            b=operation.b,
            chain=Chain(operation),
            shape=OperandShape.of_operation(operation),
            order=tuple(range(operation.length)),
        )
        for name, operation in named
    ]


def operand_ports(design: Design) -> list[str]:
    """The inputs that vectors drive, in the order in which a transfer holds them."""
    return [port.name for port in design.ports if port.name in OPERANDS and port.direction == "input"]


def write_plan(
    design: Design,
    timing: Timing,
    folder: Path,
    results: int = 1,
    compare: Compare | None = None,
    seed: int | None = None,
    c_bits: int | None = None,
) -> Path:
    """Write the plan of a design, and return its path.

    Args:
        timing: timing of the design. results: dot products in a vector. compare: the permitted differences.
        seed: seed of native rows, whose directed corners are written beside the plan; None where all rows come from files.
        c_bits: bits of c, from which native rows extend it, where it has fewer than the unit's; 0 where there is no c.

    Raises:
        ValueError: libmmau is not installed.
    """
    rules = compare or Compare()
    lines = [
        f"protocol {timing.protocol} {timing.latency} {int(timing.enable)} {timing.reset} {timing.stages}",
        f"results {results}",
        f"compare {rules.nan} {rules.zero_sign}",
        f"distances {_listed(BUCKETS)}",
        f"repeats {_listed(LENGTHS)}",
        f"record {' '.join(operand_ports(design))}",
        f"library {library()}",
    ]
    if c_bits is not None:
        lines.append(f"c_bits {c_bits} {design.operation.no_c}")
    for number, product in enumerate(products_of(design)):
        lines += _product_lines(product)
        lines += [] if seed is None else _stimulus_lines(product, folder / f"corners{number}.bin", seed)
    path = folder / PLAN
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def _product_lines(product: Product) -> Iterator[str]:
    shape, d = product.shape, product.operation.d
    codes = parameters(product.chain, shape.K)
    yield f"product {_listed(getattr(codes, name) for name in field_names(codes))}"
    for name, operand in (("a", product.a), ("b", product.b), ("c", product.operation.c)):
        yield f"{name} {name} {operand.width} {_storage(operand)}"
    if shape.scale is not None:
        for name in ("scale_a", "scale_b"):
            yield f"{name} {name} {shape.scale.width} {_storage(shape.scale)}"
        yield f"scales {shape.blocks} {product.scales_per_step}"
    if isinstance(d, IntegerFormat):
        yield f"integer {d.width}"
    else:
        yield f"d {d.exp_bits} {d.man_bits} {d.bias} {8 * _storage(d)} {d.pad_bits} {int(product.operation.nan_is_fixed())}"
    yield f"tile {product.m} {product.n} {product.steps} {product.c_step}"
    yield f"order {_listed(product.order)}"


def _stimulus_lines(product: Product, corners: Path, seed: int) -> list[str]:
    from golden.stimulus import volume

    corners.write_bytes(volume.corner_table(product.shape, seed).blob)
    codes = volume.parameters(product.shape)
    return [f"stimulus {_listed(getattr(codes, name) for name in field_names(codes))}", f"corners {corners}"]


def field_names(structure: ctypes.Structure) -> list[str]:
    """The names of a struct's members, in order."""
    return [field[0] for field in structure._fields_]


def library() -> Path:
    """The path of libmmau.

    Raises:
        ValueError: it is not installed.
    """
    spec = find_spec(MODULE)
    if spec is None or spec.origin is None:
        raise ValueError("volume mode needs the native engine, which is not installed here: install the project with pip")
    return Path(spec.origin)


def _storage(operand: Format) -> int:
    """The size of a code in an array (bytes)."""
    return bits_dtype(operand).itemsize


def _listed(numbers: Iterator[int] | Sequence[int]) -> str:
    return " ".join(map(str, numbers))
