"""Steps on whole vectors: decode every operand, multiply every pair, gather the specials."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import and_, or_

from amaranth import Cat, Mux, Value

from golden import Implementation
from golden.arithmetic.formats import Format
from golden.arithmetic.rounding import Mode
from golden.operations import Operation
from golden.operations.fused import FusedOperation
from rtl.datapath.fused_records import Decoded, Operands
from rtl.datapath.step import Build
from rtl.steps.decode import Decode, Subnormals
from rtl.steps.interfaces import Operand, Special, Term
from rtl.steps.multiply import Addend, AddRows, Multiply
from rtl.steps.scale import ScaleGroup, ScaleProduct, ScaleSpecial
from rtl.steps.specials import Specials


def decode_vector(
    build: Build, name: str, codes: Value, operand: Format, count: int, subnormals: Subnormals = "kept"
) -> tuple[Operand, ...]:
    """The elements of a vector, decoded by the components `decode_<name>_0` …."""
    return tuple(
        decode(build, f"decode_{name}_{k}", codes.word_select(k, operand.width), operand, subnormals) for k in range(count)
    )


def decode(build: Build, name: str, code: Value, operand: Format, subnormals: Subnormals = "kept") -> Operand:
    """Decode one operand by the component `name`, if it was not decoded in front of the datapath."""
    if name in build.decoded:
        return build.decoded[name]
    component = Decode(operand, subnormals)
    build.place(name, component)
    build.assign(component.code.eq(code))
    return component.x


def subnormal_inputs(operation: FusedOperation) -> Subnormals:
    """The treatment of subnormal elements of a, b and c; scales are never flushed."""
    return "±0" if operation.flush_inputs else "kept"


def decode_operands(build: Build, operands: Operands, operation: Operation, subnormals: Subnormals = "kept") -> Decoded:
    """Step decode: a, b, c and the scales."""
    x = decode_vector(build, "x", operands.a, operation.a, operation.length, subnormals)
    y = decode_vector(build, "y", operands.b, operation.b, operation.length, subnormals)
    z = decode(build, "decode_z", operands.c.word_select(0, operation.c.width), operation.c, subnormals)
    scale, count = operation.scale_format, operation.scales_per_step
    alpha, beta = (
        () if scale is None or codes is None else decode_vector(build, name, codes, scale, count)
        for name, codes in (("alpha", operands.scale_a), ("beta", operands.scale_b))
    )
    return Decoded(x, y, z, alpha, beta)


def multiply_pairs(
    build: Build,
    x: Sequence[Operand],
    y: Sequence[Operand],
    formats: Operation,
    zero_exp: int,
    overflow_exp: int | None = None,
    *,
    implementation: Implementation,
    in_rows: bool = False,
) -> tuple[tuple[Term, ...], tuple[Special, ...]]:
    """The products of pairs of operands, and their specials.

    Args:
        x, y: the operands.
        formats: the operation whose a and b the operands are elements of.
        zero_exp, overflow_exp, in_rows: as for the component `Multiply`.
    """
    products, specials = [], []
    for k, (p, q) in enumerate(zip(x, y, strict=True)):
        component = Multiply(
            formats.a, formats.b, zero_exp, overflow_exp, implementation.multiplier, implementation.adder, in_rows
        )
        build.place(f"multiply_{k}", component)
        build.drive(component.x, p)
        build.drive(component.y, q)
        products.append(component.prod)
        specials.append(component.special)
    return tuple(products), tuple(specials)


def add_rows(build: Build, products: Sequence[Term], implementation: Implementation) -> tuple[Term, ...]:
    """Add up the rows of products that were left in rows, so that each term has one significand."""
    summed = []
    for k, product in enumerate(products):
        assert product.carry is not None
        component = AddRows(product.format, implementation.multiplier, implementation.adder)
        build.place(f"multiply_{k}_sum", component)
        build.assign(component.row_0.eq(product.sig), component.row_1.eq(product.carry))
        shape = replace(product.format, carry_bits=0)
        summed.append(Term(product.sign, product.exp, component.sig, shape))
    return tuple(summed)


def addend(build: Build, name: str, z: Operand, c: Format, zero_exp: int) -> tuple[Term, Special]:
    """c as a term, a zero with exponent `zero_exp`, and its special, by the component `name`."""
    component = Addend(c, zero_exp)
    build.place(name, component)
    build.drive(component.z, z)
    return component.term, component.special


def combine_specials(build: Build, specials: Iterable[Special], name: str = "specials") -> Special:
    """The special of a sum whose terms have the given specials, by the component `name`."""
    specials = list(specials)
    component = Specials(len(specials))
    build.place(name, component)
    for port, special in zip(component.special, specials, strict=True):
        build.drive(port, special)
    return component.result


def signalling_nan(operands: Sequence[tuple[Operand, Value, Format]]) -> Value:
    """Whether any operand, given with its code and format, is a signalling NaN."""
    read = [each for each in operands if each[2].specials == "ieee"]
    return Cat(operand.nan & ~code[fmt.pad_bits + fmt.man_bits - 1] for operand, code, fmt in read).any()


def negative_zero(build: Build, mode: Mode, signs: Sequence[Value]) -> Value:
    """High if a sum of zeros with these signs is −0: all are negative, or, in the mode RD, any is."""
    either, both = reduce(or_, signs), reduce(and_, signs)
    if build.modes is not None:
        return Mux(build.modes.is_any(["RD"]), either, both)
    return either if mode == "RD" else both


def invalid_flag(
    signalling: Value, operands: Sequence[Operand], special: Special, factors: Sequence[tuple[Operand, Operand]]
) -> Value:
    """The flag NV of an exact sum.

    Args:
        operands: those that are read. factors: the pairs whose 0·∞ raises it beside a quiet NaN too.
    """
    invalid = signalling | (special.nan & ~Cat(operand.nan for operand in operands).any())
    for x, y in factors:
        invalid = invalid | (x.inf & y.zero) | (x.zero & y.inf)
    return invalid


def scale_products(
    build: Build,
    products: Sequence[Term],
    specials: Sequence[Special],
    decoded: Decoded,
    scale: Format,
    K_block: int,
    zero_exp: int,
) -> tuple[tuple[Term, ...], tuple[Special, ...]]:
    """Products under the scales of their block, a zero one with exponent `zero_exp`, and their specials, by the components
    `scale_<k>` and `scale_special_<k>`."""
    terms, of_terms = [], []
    for k, (product, special) in enumerate(zip(products, specials, strict=True)):
        scales = decoded.scales(k // K_block)
        component = ScaleProduct(product.format, scale, zero_exp, tuple(scales))
        place_scaled(build, f"scale_{k}", component, scales)
        build.drive(component.prod, product)
        terms.append(component.term)
        of_terms.append(place_scale_special(build, k, scale, product, special, scales))
    return tuple(terms), tuple(of_terms)


def place_scale_special(
    build: Build, k: int, scale: Format, product: Term, special: Special, scales: Mapping[str, Operand]
) -> Special:
    """The special of product k under its scales, by the component `scale_special_<k>`."""
    component = ScaleSpecial(scale, tuple(scales))
    place_scaled(build, f"scale_special_{k}", component, scales)
    build.drive(component.special, special)
    if scale.infinity is not None:
        build.assign(component.sign.eq(product.sign), component.zero.eq(~product.sig.any()))
    return component.result


def place_scaled(
    build: Build, name: str, component: ScaleProduct | ScaleGroup | ScaleSpecial, scales: Mapping[str, Operand]
) -> None:
    """Put a component in and connect its ports for the scales."""
    build.place(name, component)
    for side, scale in scales.items():
        build.drive(getattr(component, side), scale)
