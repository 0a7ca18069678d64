"""The plan: a file that describes a design to a program: timing, operand formats, and the reference computation."""

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from cosim.bench.comparison_rules import Compare
from cosim.bench.mismatch import BUCKETS
from cosim.bench.operand_widths import THE_UNITS, OperandWidths
from cosim.bench.protocol import Timing
from cosim.bench.runs import LENGTHS
from golden import Format, Operation
from golden.arithmetic.flags import FLAGS
from golden.arithmetic.formats import INT8, INT32
from golden.arrays import bits_dtype
from golden.chains.chain import Chain
from golden.native.library import MODULE
from golden.native.parameters import flag_rules, format_number, parameters
from golden.operations import IDPA
from golden.stimulus import OperandShape
from golden.units.controls import Source
from golden.units.random_dot import with_random_step
from golden.units.selection import PAIRS_OF_FOUR
from golden.units.unit import Unit
from rtl.designs.design import Design, operand_names
from rtl.designs.ports import OPERANDS
from rtl.designs.product_design import ProductDesign
from rtl.designs.tile_design import TileDesign

PLAN = "plan.txt"

OTHER = IDPA(a=INT8, b=INT8, c=INT32, L=1)
"""What a plan names where the library does not compute the results: golden's are in the files of vectors."""

NO_PORT = "-"
"""The port of an operand that a step does not read."""


@dataclass(frozen=True, kw_only=True)
class Product:
    """One kind of dot product that a design computes.

    Attributes:
        name: name as in `DotProducts.name`; empty where there is one kind.
        operation: the operation, with the formats of c and d. a, b: formats of the operands, which may differ from the
            formats that the operation multiplies.
        chain: the computation of a whole dot product; shape: shape of its stimulus.
        m, n: rows and columns; steps: number of steps in which the design takes the products; c_step: the step that reads c.
        rows: rows of a in one transfer: m, or 1 where b stays while they pass.
        blocks: the blocks whose scales the design takes, in its order, all steps one after another.
        order: k of the products in the order in which the design takes them, all steps one after another.
        codes: inputs that choose it, with their codes. places: the ports of operands that have others than their own.
        last_flags: of how many products, the last ones, exception flags are; 0 for those of all together.
        random: the unit with random bits, whose results these take; `chain` then gives wide ones.
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
    rows: int = 1
    blocks: tuple[int, ...] = ()
    order: tuple[int, ...] = ()
    codes: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, Source] = field(default_factory=dict)
    last_flags: int = 0
    random: Unit | None = None

    def source(self, operand: str) -> Source:
        """The port that an operand comes from."""
        return self.places.get(operand, Source(operand))

    @property
    def products_per_step(self) -> int:
        """The number of products of a dot product that one transfer has."""
        return len(self.order) // self.steps

    @property
    def passes(self) -> int:
        """The number of transfers in which the rows of a come."""
        return self.m // self.rows

    @property
    def taken_blocks(self) -> tuple[int, ...]:
        """`blocks`, or all in their order."""
        return self.blocks or tuple(range(self.shape.blocks))


def products_of(design: Design, widths: OperandWidths = THE_UNITS) -> list[Product]:
    """Every kind of dot product of a design, in the order of its port `format`.

    Args:
        widths: the widths of c and d, which the stimulus depends on.
    """
    if isinstance(design, TileDesign):
        i, shape = design.instruction, design.shape
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
                rows=shape.rows,
                blocks=() if i.block_size is None else tuple(b for step in range(shape.steps) for b in shape.blocks(step)),
                order=order,
            )
        ]
    if isinstance(design, ProductDesign):
        return [
            Product(
                name=choice.name,
                operation=unit.operation,
                a=unit.a,
                b=unit.b,
                chain=unit.chain_over(K),
                shape=widths.shape_of(unit, K),
                m=design.m,
                n=design.n,
                rows=design.m,
                order=tuple(range(K)),
                codes=choice.codes,
                places=choice.places,
                last_flags=design.last_flags,
            )
            for choice, K in design.kinds
            for unit in [choice.unit]
        ]
    return [
        Product(
            name=choice.name,
            operation=operation,
            a=operation.a,
            b=operation.b,
            chain=Chain(operation if choice.unit.random is None else with_random_step(choice.unit)[0].operation),
            shape=widths.shape_of(choice.unit),
            order=tuple(range(operation.length)),
            codes=choice.codes,
            places=choice.places,
            random=None if choice.unit.random is None else choice.unit,
        )
        for choice in design.choices
        for operation in [choice.unit.operation]
    ]


def operand_ports(design: Design) -> list[str]:
    """The inputs that vectors drive, in the order in which a transfer holds them."""
    known = (*operand_names(design), *design.shared_inputs)
    return [port.name for port in design.ports if port.name in known and port.direction == "input"]


def _flags_lines(product: Product, flags: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The lines about the ports that hold golden's exception flags: enum mmau_flag_rule, and the number of each flag; before
    them those about the products before the last transfer and about the last one, if its flags alone count."""
    last = product.last_flags
    if flags and 0 < last < product.shape.K:
        yield f"before {_numbers(parameters(product.chain.carried, product.shape.K - last))}"
        yield f"last {last} {_numbers(parameters(product.chain.carried, last))}"
    for port, names in flags.items():
        yield f"flags {port} {flag_rules(product.operation)} {_listed([FLAGS.index(name) for name in names])}"


def write_plan(
    design: Design,
    timing: Timing,
    folder: Path,
    results: int = 1,
    compare: Compare | None = None,
    seed: int | None = None,
    widths: OperandWidths = THE_UNITS,
) -> Path:
    """Write the plan of a design, and return its path.

    Args:
        timing: timing of the design. results: dot products in a vector. compare: the permitted differences.
        seed: seed of native rows, whose directed corners are written beside the plan; None where all rows come from files.
        widths: the widths of c, from whose bits native rows extend it where it has fewer than the unit's.

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
        *(f"echo {echo.port} {echo.width} {echo.low} {int(bool(echo.flags))}" for echo in design.echoes),
        *([f"mask {design.mask}"] if design.mask else []),
        *([f"metadata {design.metadata} {_listed(tuple(PAIRS_OF_FOUR))}"] if design.metadata else []),
    ]
    if widths.c_bits is not None:
        lines.append(f"c_bits {widths.c_bits} {widths.no_c(design.operation)}")
    shared = design.shared_inputs
    own = {port.name: port.width for port in design.ports if port.name in operand_ports(design) and port.name not in shared}
    for number, product in enumerate(products_of(design, widths)):
        lines += _product_lines(product)
        lines += [f"select {port} {shared[port]} {code}" for port, code in product.codes.items()]
        read = {product.source(operand).port for operand in product.operation.operands}
        unread = {port: width * results for port, width in own.items() if port in OPERANDS[:3] and port not in read}
        flags = {echo.port: echo.flags for echo in design.echoes if echo.flags}
        unread |= {port: width for port, width in shared.items() if port not in (*product.codes, *flags)}
        lines += _flags_lines(product, flags)
        lines += [f"random {port} {width}" for port, width in unread.items()]
        lines += [] if seed is None else _stimulus_lines(product, folder / f"corners{number}.bin", seed)
    path = folder / PLAN
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def _product_lines(product: Product) -> Iterator[str]:
    shape, d = product.shape, product.operation.d
    chain = product.chain.carried if product.operation.is_native else Chain(OTHER)
    yield f"product {_numbers(parameters(chain, shape.K))}"
    for name, operand in (("a", product.a), ("b", product.b), ("c", product.operation.c)):
        port, is_negated = product.source(name) if name in product.operation.operands else (NO_PORT, False)
        yield f"{name} {port} {operand.width} {_storage(operand.carried_by)} {int(is_negated)} {_codes(operand)}"
    if shape.scale is not None:
        for name in ("scale_a", "scale_b"):
            port = name if name in shape.scale_operands else NO_PORT
            yield f"{name} {port} {shape.scale.width} {_storage(shape.scale)} 0 0"
        yield f"scales {shape.blocks}"
        yield f"blocks {_listed(product.taken_blocks)}"
        of = shape.scale
        yield f"one_side {of.encode(1)} {of.max_finite} {of.magnitude_mask} {int(of.has_zero)}"
    yield f"d {format_number(d)} {int(product.operation.nan_is_fixed())}"
    if product.random is not None and product.random.random is not None:
        step, port = with_random_step(product.random)[1], product.random.random.port
        rules = (step.random.bits, format_number(step.wide.d), step.random.half, step.saturates, step.negative_zero)
        yield f"random_bits {port} {_listed(map(int, rules))}"
    yield f"tile {product.m} {product.n} {product.steps} {product.c_step} {product.rows}"
    yield f"order {_listed(product.order)}"


def _stimulus_lines(product: Product, corners: Path, seed: int) -> list[str]:
    from golden.stimulus import volume

    shape = product.shape.carried
    corners.write_bytes(volume.corner_table(shape, seed).blob)
    return [f"stimulus {_numbers(volume.parameters(shape))}", f"corners {corners}"]


def _codes(operand: Format) -> str:
    """Of a format without fields, whose carrier's codes the program computes with: how many codes the carrier has, the code
    next to each of them, and the carrier's code of each code."""
    if operand.carried_by is operand:
        return "0"
    carrier = operand.carried_by
    near, carried = operand.codes_of(np.arange(carrier.codes)), operand.carried_codes(np.arange(operand.codes))
    return _listed([carrier.codes, *near.tolist(), *carried.tolist()])


def _numbers(structure: ctypes.Structure) -> str:
    """The members of a struct, in order."""
    return _listed(getattr(structure, name) for name in field_names(structure))


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
