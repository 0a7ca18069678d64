"""The datapath of a program of sums, the table [sums] of a unit file (golden: chains/sum_chain.py)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_, or_
from typing import Any

from amaranth import Cat, Const, Value
from amaranth.lib.wiring import In, Member

from golden import Implementation, Operation
from golden.arithmetic.formats import Format
from golden.chains.sum_chain import Node, Sort, Sum, SumTable, places_read, program
from golden.checks import check_int
from rtl.datapath import depths, fused_sum
from rtl.datapath.base import Datapath
from rtl.datapath.conversion import normalise_term, normalise_total, round_and_encode
from rtl.datapath.fused_records import AlignedTerms, Code, MaxExponent, Operands, SignedTotal
from rtl.datapath.fused_sum import Precision
from rtl.datapath.rounded_adder import PairExponent, Product, RoundedOperands
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import addend, combine_specials, decode, decode_vector
from rtl.steps.accumulate import signed_zero
from rtl.steps.encode import ResultRules
from rtl.steps.interfaces import Special, Term
from rtl.steps.multiply import Multiply
from rtl.steps.step_record import COLUMNS, Record

RULES = ResultRules(canonical=False, overflow="by-mode")
"""The rules of every sum's result."""

MOST_PRODUCTS = 256
"""Largest K of a datapath; nothing longer has been built and tested."""

LIFT = 4
"""Least distance of the common exponent of a product and a code above the product's, in addition to man_bits."""


@dataclass(frozen=True)
class SumShape:
    """A sum as a circuit makes it.

    Attributes:
        sum: the sum; of a product and a code the product comes first. zero_exps: the exponent of each term that is zero.
        F: fraction bits at the largest exponent, below which a term is sticky; None if the circuit has all bits of each.
        lift: distance above the product's own exponent at which the first term counts, which is then never shifted, as in
            `rtl.operations.fma.FMADatapath`; 0 for terms at their own exponents.
    """

    sum: Sum
    zero_exps: tuple[int, ...]
    F: int | None = None
    lift: int = 0


def circuit_sums(operation: Operation, table: SumTable, K: int) -> tuple[SumShape, ...]:
    """The sums of a program over K products, in order; the last one gives d, in a format of d's exponents.

    Raises:
        ValueError: a program that sorts, or too many products.
    """
    check_int("K of a datapath", K, 1, MOST_PRODUCTS)
    sums: list[Sum] = []
    for step in program(operation, table, K):
        if isinstance(step, Sort):
            raise ValueError(f'[sums] tree = "{table.tree}" sorts its terms, for which there is no datapath')
        sums.append(step)
    last, d = sums[-1].node.format, operation.d
    if (last.exp_bits, last.bias) != (d.exp_bits, d.bias) or last.man_bits > d.man_bits:
        sums.append(Sum("d", (sums[-1].name,), Node("RNE", d)))
    formats = code_formats(operation, sums)
    return tuple(_shape(operation, each, formats) for each in sums)


def code_formats(operation: Operation, sums: Sequence[Sum]) -> dict[str, Format]:
    """The format of each place of a program that is a code: c, 0, the sums, and the scales that they read."""
    found = {"c": operation.c, "0": operation.c} | {each.name: each.node.format for each in sums}
    read = {place for each in sums for member in each.members for place in places_read(member)}
    scale = operation.scale_format
    return found | {place: scale for place in sorted(read) if scale is not None and scale_at(operation, place)}


def scale_at(operation: Operation, place: str) -> tuple[str, int] | None:
    """The operand and the number of the scale that a place of a program is; None for another place."""
    names = (name for name in operation.scale_operands if place.startswith(name))
    return next(((name, int(place.removeprefix(name))) for name in names), None)


def factors_of(member: str) -> list[str]:
    """The places of codes whose exact product a member is; none for another member."""
    read = places_read(member)
    return read if len(read) > 1 else []


def least_exp(operation: Operation, member: str, formats: Mapping[str, Format]) -> int:
    """The exponent with which a member that is zero counts: no more than that of any other value of it."""
    read = [formats[place].e_min for place in places_read(member) if place in formats]
    return sum(read) if read else operation.product_exp_min


def _shape(operation: Operation, sum_: Sum, formats: Mapping[str, Format]) -> SumShape:
    """The cheapest circuit of a sum that gives the exact sum's code."""
    members = sorted(sum_.members, key=lambda member: member.removeprefix("-") in formats)  # products first; stable
    if len(members) == 2:
        sum_ = sum_._replace(members=tuple(members))
    of_members = [formats.get(member.removeprefix("-")) for member in sum_.members]
    if sum_.align is not None:
        return SumShape(sum_, (sum_.align.e_zero,) * len(members))
    zero_exps = [least_exp(operation, member, formats) for member in sum_.members]
    result = sum_.node.format
    codes = [fmt for fmt in of_members if fmt is not None]
    if len(members) != 2 or not codes or any((fmt.exp_bits, fmt.bias) != (result.exp_bits, result.bias) for fmt in codes):
        return SumShape(sum_, tuple(zero_exps))
    if len(codes) == 2:
        if codes[0].man_bits > codes[1].man_bits:  # the longer one comes second
            sum_ = sum_._replace(members=sum_.members[::-1])
        return SumShape(sum_, tuple(zero_exps), max(result.man_bits, *(fmt.man_bits for fmt in codes)) + 3)
    if codes[0].man_bits > result.man_bits:
        return SumShape(sum_, tuple(zero_exps))
    # A zero product lies no higher than any c, whose bits it would cut; below a product of one bit there is room for c.
    lift = result.man_bits + LIFT
    zero_exps[0] = min(zero_exps[0], result.e_min - lift)
    return SumShape(sum_, tuple(zero_exps), operation.product_frac + lift + 3 + result.man_bits + 2, lift)


def product_zero_exps(shapes: Sequence[SumShape]) -> dict[str, int]:
    """The exponent of each product that is zero, by its name."""
    found: dict[str, int] = {}
    for shape in shapes:
        for member, exp in zip(shape.sum.members, shape.zero_exps, strict=True):
            name = member.removeprefix("-")
            if name.startswith("p"):
                found[name] = min(exp, found.get(name, exp))
    return found


@dataclass(frozen=True, eq=False)
class SumsOperands(RoundedOperands):
    """Record after step decode: also the codes of the scales."""

    scales: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class Places(Record):
    """Record between sums: the exact products and the codes that later sums add.

    Attributes:
        products: the products, with their names. codes: the codes. names: their names.
    """

    products: tuple[Product, ...] = field(metadata=COLUMNS)
    product_names: tuple[str, ...]
    codes: tuple[Value, ...]
    names: tuple[str, ...]

    def product(self, name: str) -> Product:
        """The product of that name."""
        return self.products[self.product_names.index(name)]

    def code(self, name: str) -> Value:
        """The code of that name."""
        return self.codes[self.names.index(name)]


@dataclass(frozen=True, eq=False)
class AlignedSum(Record):
    """The aligned terms of the sum `name`, the special of the sum, and the sign of a sum of zero, if it can be negative."""

    name: str
    largest: MaxExponent
    aligned: AlignedTerms
    special: Special
    zero_negative: Value | None


@dataclass(frozen=True, eq=False)
class AlignedSums(Record):
    """Record after step align of a level: its sums, and what later levels read."""

    sums: tuple[AlignedSum, ...]
    single: tuple[Product, ...] = field(metadata=COLUMNS)
    rest: Places


@dataclass(frozen=True, eq=False)
class SumTotals(Record):
    """Record after step accumulate of a level."""

    exponents: tuple[PairExponent, ...]
    totals: tuple[SignedTotal, ...]
    single: tuple[Product, ...] = field(metadata=COLUMNS)
    rest: Places


class Level:
    """The sums of one level, which read products, c and sums of earlier levels.

    Args:
        sums: the sums. formats: format of each code. read_later: names of the places that later levels read.
        implementation: the options of the circuit.
    """

    def __init__(
        self, sums: Sequence[SumShape], formats: Mapping[str, Format], read_later: set[str], implementation: Implementation
    ) -> None:
        self._single = [each for each in sums if len(each.sum.members) == 1]
        self._sums = [each for each in sums if len(each.sum.members) > 1]
        self._formats, self._read_later, self._implementation = formats, read_later, implementation

    @property
    def terms(self) -> int:
        """The most terms of a sum."""
        return max((len(each.sum.members) for each in self._sums), default=1)

    @property
    def multiply_depth(self) -> int:
        """Depth of the products of codes, which step align makes first; 0 if there are none."""
        factors = [factors_of(member) for each in (*self._single, *self._sums) for member in each.sum.members]
        return max((depths.multiply(*(self._formats[x] for x in pair)) for pair in factors if pair), default=0)

    def align(self, build: Build, places: Places) -> AlignedSums:
        """Step align: the terms of every sum at their exponent."""
        sums = tuple(self._aligned(build, each, places) for each in self._sums)
        single = tuple(Product(*self._term(build, each, 0, places)) for each in self._single)
        products = [(p, n) for p, n in zip(places.products, places.product_names, strict=True) if n in self._read_later]
        codes = [(c, n) for c, n in zip(places.codes, places.names, strict=True) if n in self._read_later]
        rest = Places(*_columns(products), *_columns(codes))
        return AlignedSums(sums, single, rest)

    def accumulate(self, build: Build, aligned: AlignedSums) -> SumTotals:
        """Step accumulate: the sums; one of zero has the sign that its terms give."""
        totals = []
        for each in aligned.sums:
            total = fused_sum.accumulate(build, each.largest, each.aligned, self._implementation, normalised=True)
            if each.zero_negative is not None:
                total = replace(total, sign=signed_zero(total.sign, total.total, each.zero_negative))
            totals.append(total)
        exponents = tuple(PairExponent(each.name, each.largest, each.special) for each in aligned.sums)
        return SumTotals(exponents, tuple(totals), aligned.single, aligned.rest)

    def codes(self, build: Build, sums: SumTotals) -> dict[str, Value]:
        """Steps normalise, round and encode: the code of every sum."""
        built, narrows = self._implementation, int(self._implementation.normaliser == "narrowing")
        found: dict[str, Value] = {}
        for shape, exponent, total in zip(self._sums, sums.exponents, sums.totals, strict=True):
            rho = shape.sum.node.rho
            normalised = normalise_total(build, exponent.largest, total, rho.rounding_format, narrows=narrows)
            found[shape.sum.name] = round_and_encode(build, normalised, exponent.special, rho, built, RULES)
        for shape, single in zip(self._single, sums.single, strict=True):
            rho = shape.sum.node.rho
            normalised = normalise_term(build, shape.sum.name, single.prod, rho.rounding_format)
            found[shape.sum.name] = round_and_encode(build, normalised, single.special, rho, built, RULES)
        return found

    def encode(self, build: Build, sums: SumTotals) -> Places:
        """Step encode: the codes beside what later levels read."""
        codes, rest = self.codes(build, sums), sums.rest
        return replace(rest, codes=(*rest.codes, *codes.values()), names=(*rest.names, *codes))

    def _aligned(self, build: Build, shape: SumShape, places: Places) -> AlignedSum:
        name, sum_ = shape.sum.name, shape.sum
        pairs = [self._term(build, shape, k, places) for k in range(len(sum_.members))]
        terms, special = [term for term, _ in pairs], combine_specials(build, [s for _, s in pairs], f"{name}_specials")
        signs = [term.sign for term in terms]
        negative = None if sum_.align is not None else reduce(or_ if sum_.node.mode == "RD" else and_, signs)
        if shape.lift:
            terms[0] = fused_sum.lifted(terms[0], shape.lift)
        if sum_.align is not None:
            largest = fused_sum.max_exp(build, name, terms, self._implementation)
            precisions = [Precision(sum_.align.F, sum_.align.truncation)] * len(terms)  # type: ignore[arg-type]
        elif shape.F is not None:
            largest = fused_sum.max_exp(build, name, terms, self._implementation)
            precisions = [Precision(shape.F, "unshifted" if shape.lift else "RO"), Precision(shape.F, "RO")]
        else:
            formats = [term.format for term in terms]
            largest = fused_sum.fixed_exp(name, max(each.exps.high for each in formats))
            precisions = [fused_sum.without_loss(formats)] * len(terms)
        aligned = fused_sum.align(build, largest, terms, precisions)
        return AlignedSum(name, largest.without_gaps(), aligned, special, negative)

    def _term(self, build: Build, shape: SumShape, k: int, places: Places) -> tuple[Term, Special]:
        """A member of a sum as a term, and its special."""
        member = shape.sum.members[k]
        name, inverted = member.removeprefix("-"), member.startswith("-")
        if name in places.product_names:
            product = places.product(name)
            term, special = product.prod, product.special
            if inverted:
                term = replace(term, sign=~term.sign)
                special = Special(special.nan, special.neg_inf, special.pos_inf)
            return term, special
        if factors := factors_of(name):
            return self._product(build, f"{shape.sum.name}_{k}", factors, shape.zero_exps[k], places)
        operand = self._formats[name]
        code: Value = Const(0, operand.width) if name == "0" else places.code(name)
        if inverted:
            code = Cat(code[:-1], ~code[-1])
        z = decode(build, f"{shape.sum.name}_decode_{k}", code, operand)
        return addend(build, f"{shape.sum.name}_term_{k}", z, operand, shape.zero_exps[k])

    def _product(
        self, build: Build, name: str, factors: Sequence[str], zero_exp: int, places: Places
    ) -> tuple[Term, Special]:
        """The exact product of two codes, by the component `multiply_<name>`."""
        formats, built = [self._formats[each] for each in factors], self._implementation
        component = Multiply(formats[0], formats[1], zero_exp, multiplier=built.multiplier, adder=built.adder)
        build.place(f"multiply_{name}", component)
        for number, (port, factor, fmt) in enumerate(zip((component.x, component.y), factors, formats, strict=True)):
            build.drive(port, decode(build, f"{name}_factor_{number}", places.code(factor), fmt))
        return component.prod, component.special


def _columns(pairs: Sequence[tuple[Any, str]]) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    return tuple(value for value, _ in pairs), tuple(name for _, name in pairs)


class SumsDatapath(Datapath):
    """d of a program of sums over K products.

    Args:
        operation: names the formats of a, b, c and d. table: the program. K: its products.
        implementation: the options of the circuit.

    Raises:
        ValueError: a program that sorts, or too many products.
    """

    def __init__(self, operation: Operation, table: SumTable, K: int, implementation: Implementation) -> None:
        self.table, self.K = table, K
        self._shapes = circuit_sums(operation, table, K)
        formats = code_formats(operation, [each.sum for each in self._shapes])
        #: The scales as places, in the order of their codes between steps.
        self._scale_places = tuple(place for place in formats if scale_at(operation, place))
        super().__init__(operation, implementation)

    def input_members(self, operation: Operation) -> dict[str, Member]:
        members = {"a": In(self.K * operation.a.width), "b": In(self.K * operation.b.width), "c": In(operation.c.width)}
        if operation.scale_format is not None and operation.block_size is not None:
            width = -(-self.K // operation.block_size) * operation.scale_format.width
            members |= {name: In(width) for name in operation.scale_operands}
        return members

    def settles_steps(self) -> tuple[Any, ...]:
        return (*super().settles_steps(), self.table, self.K)

    def steps(self) -> Steps[Any, Code]:
        operation, levels = self.operation, self._levels()
        formats = code_formats(operation, [each.sum for each in self._shapes])
        places: Steps[Any, Places] = Steps(Step("decode", depths.DECODE, self.decode)).then(
            Step("multiply", depths.multiply(operation.a, operation.b), self.multiply)
        )
        for number, sums in enumerate(levels):
            after = [member for level in levels[number + 1 :] for each in level for member in each.sum.members]
            later = {place for member in after for place in places_read(member)}
            level = Level(sums, formats, later, self.implementation)
            align = depths.DECODE + level.multiply_depth + depths.ALIGN
            totals = places.then(Step(f"align_{number}", align, level.align)).then(
                Step(f"accumulate_{number}", depths.accumulate(level.terms), level.accumulate)
            )
            depth = depths.NORMALISE + max(depths.encode(each.sum.node.rho) for each in sums)
            if number < len(levels) - 1:
                places = totals.then(Step(f"encode_{number}", depth, level.encode))
        return totals.then(Step(f"encode_{number}", depth, Last(level, operation.d).encode))

    def _levels(self) -> list[list[SumShape]]:
        """The sums by level: one more than the highest level of a sum that they read."""
        level_of: dict[str, int] = {}
        levels: list[list[SumShape]] = []
        for shape in self._shapes:
            read = [place for member in shape.sum.members for place in places_read(member)]
            level = max((level_of[place] + 1 for place in read if place in level_of), default=0)
            level_of[shape.sum.name] = level
            levels += [[]] * (level == len(levels))
            levels[level] = [*levels[level], shape]
        return levels

    def decode(self, build: Build, operands: Operands) -> SumsOperands:
        """Step decode: the elements of a and b; c and the scales stay codes, which the sums that read them decode."""
        x = decode_vector(build, "x", operands.a, self.operation.a, self.K)
        y = decode_vector(build, "y", operands.b, self.operation.b, self.K)
        scale = self.operation.scale_format
        scales = () if scale is None else tuple(self._scales(operands, scale))
        return SumsOperands(x, y, operands.c, scales)

    def _scales(self, operands: Operands, scale: Format) -> Iterator[Value]:
        """The codes of the scales, in the order of `_scale_places`."""
        for place in self._scale_places:
            if found := scale_at(self.operation, place):
                yield getattr(operands, found[0]).word_select(found[1], scale.width)

    def multiply(self, build: Build, operands: SumsOperands) -> Places:
        """Step multiply: exact products."""
        built, products = self.implementation, []
        zero_exps = product_zero_exps(self._shapes)
        for k, (x, y) in enumerate(zip(operands.x, operands.y, strict=True)):
            component = Multiply(
                self.operation.a, self.operation.b, zero_exps[f"p{k}"], multiplier=built.multiplier, adder=built.adder
            )
            build.place(f"multiply_{k}", component)
            build.drive(component.x, x)
            build.drive(component.y, y)
            products.append(Product(component.prod, component.special))
        names = tuple(f"p{k}" for k in range(self.K))
        return Places(tuple(products), names, (operands.c, *operands.scales), ("c", *self._scale_places))


class Last:
    """The last level, whose only sum is d's.

    Args:
        level: the level. d: the format of d, which holds every number of the sum's.
    """

    def __init__(self, level: Level, d: Format) -> None:
        self._level, self._d = level, d

    def encode(self, build: Build, sums: SumTotals) -> Code:
        """Step encode: the code of d."""
        (code,) = self._level.codes(build, sums).values()
        return Code(Cat(Const(0, self._d.width - len(code)), code))
