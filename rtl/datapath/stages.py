"""Steps on whole vectors: decode every operand, multiply every pair, gather the specials."""

from collections.abc import Iterable

from golden.formats import Format
from golden.operations import Operation
from rtl.datapath.base import Build
from rtl.datapath.pipeline import Bundle, flatten
from rtl.steps.decode import Decode
from rtl.steps.multiply import Accumulator, Multiply
from rtl.steps.specials import Specials


def decode(build: Build, code: str, values: Bundle, operand: Format, names: Iterable[str], flush: bool = False) -> Bundle:
    """The elements of the vector `code`, decoded, under the given names."""
    decoded: Bundle = {}
    for k, name in enumerate(names):
        part = Decode(operand, flush)
        build.place(f"decode_{name}", part)
        build.m.d.comb += part.code.eq(values[code].word_select(k, operand.width))
        decoded |= flatten(name, part.x)
    return decoded


def decode_operands(build: Build, values: Bundle, operation: Operation, flush: bool = False) -> Bundle:
    """Step decode: a as x_0 …, b as y_0 …, c as z, the scales as alpha_0 … and beta_0 …."""
    length, scales = range(operation.length), range(operation.scales_per_step)
    decoded = decode(build, "a", values, operation.a, [f"x_{k}" for k in length], flush)
    decoded |= decode(build, "b", values, operation.b, [f"y_{k}" for k in length], flush)
    decoded |= decode(build, "c", values, operation.c, ["z"], flush)
    if operation.scale_format is not None:
        decoded |= decode(build, "scale_a", values, operation.scale_format, [f"alpha_{k}" for k in scales])
        decoded |= decode(build, "scale_b", values, operation.scale_format, [f"beta_{k}" for k in scales])
    return decoded


def multiply_pairs(build: Build, values: Bundle, parts: Iterable[Multiply]) -> Bundle:
    """Step multiply: the products prod_0 …, their specials special_0 …."""
    products: Bundle = {}
    for k, part in enumerate(parts):
        build.place(f"multiply_{k}", part)
        build.drive(part.x, f"x_{k}", values)
        build.drive(part.y, f"y_{k}", values)
        products |= flatten(f"prod_{k}", part.prod) | flatten(f"special_{k}", part.special)
    return products


def accumulator_term(build: Build, values: Bundle, part: Accumulator) -> Bundle:
    """The decoded c as a term `c`, and its special `special_c`."""
    build.place("addend", part)
    build.drive(part.z, "z", values)
    return flatten("c", part.term) | flatten("special_c", part.special)


def combine_specials(build: Build, values: Bundle, names: Iterable[str]) -> Bundle:
    """The special result of a sum of terms whose specials have these names, as `special`; theirs are gone."""
    names = list(names)
    part = Specials(len(names))
    build.place("specials", part)
    for k, name in enumerate(names):
        build.drive(getattr(part, f"special_{k}"), name, values)
    gone = {f"{name}_{flag}" for name in names for flag in part.result.signature.members}
    return {key: value for key, value in values.items() if key not in gone} | flatten("special", part.result)
