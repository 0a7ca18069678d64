"""The structure that an operation declares is what its step computes: a reading of it, node by node, gives the step's d."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import golden
from golden import Operation
from golden.arithmetic import steps
from golden.arithmetic.formats import FP32, Cls, Decoded
from golden.arithmetic.rounding import Overflow, shift_and_round
from golden.arithmetic.specials import factor_nan, nvidia_nan
from golden.arithmetic.steps import Term
from golden.chains.chain import steps_for
from golden.operations.ieee import is_zero_negative
from golden.operations.structure import Addend, Element, Partial, Product, Rounding, Structure, Sum, Summand, Zero
from golden.stimulus import OperandShape, generate
from golden.units.unit_file import operation_from_table
from rtl.designs.sample_units import FURTHER
from tests.golden.inputs import Operands
from tests.golden.strategies import cases

MANY_ROWS = 4000
"""Directed rows of an operation in which a bit is rarely the last that counts: T-FDPA is published in many forms, the others
in few."""

NOTHING = -999
"""Exponent of a zero term that does not count."""


class Reading:
    """One step, read from the structure of its operation, of operands that are finite."""

    def __init__(self, operation: Operation, drawn: Operands, structure: Structure | None = None) -> None:
        self.operation, self.structure = operation, structure or operation.structure
        a, b = drawn.a[: operation.length], drawn.b[: operation.length]
        self.x, self.y = ([self.decoded(f, code) for code in codes] for f, codes in ((operation.a, a), (operation.b, b)))
        self.z = self.decoded(operation.c, drawn.c)
        self.scales = (drawn.scale_a, drawn.scale_b)
        self.totals: list[tuple[Term, bool]] = []

    def decoded(self, operand: golden.Format, code: int) -> Decoded:
        x = operand.decode(code)
        if operand not in self.structure.flushed:
            return x
        to_plus_zero = self.structure.rounds_products and x.cls is Cls.SUBNORMAL
        return steps.flushed(x)._replace(sign=0 if to_plus_zero else x.sign)

    def d(self) -> int:
        """The code of the last sum."""
        code = 0
        for each in self.structure.sums:
            code = self.of(each)
        return code

    def of(self, each: Sum) -> int:
        """The code of a sum; it becomes a term of later ones."""
        found = [self.term(summand) for summand in each.terms]
        terms = [term for term, _ in found]
        negative = is_zero_negative([sign for _, sign in found], each.rounding.mode if each.rounding else "RNE")
        if each.is_exact:
            total, lsb = steps.exact_sum(terms)
            exp = max(term.exp for term in terms)
        else:
            total, lsb, exp = self.aligned(each, terms, [sign for _, sign in found])
        own = Term(total, exp, exp - lsb)
        if each.cut is not None:
            e_norm = max(abs(total).bit_length() - 1 + lsb, self.operation.c.e_min)
            total, lsb = shift_and_round(total, e_norm - each.cut.F - lsb, each.cut.truncation), e_norm - each.cut.F
            if own.sig < 0 and not total:
                return self.operation.d.negative_zero
        if each.rounding is None:
            self.totals.append((own, False))
            return total
        code = self.rounded(total, lsb, each.rounding, negative)
        if each is self.structure.last:
            return code
        z = within_range(each.rounding.to.decode(code))
        self.totals.append((steps.addend(z, each.rounding.to, each.rounding.to.e_min), bool(z.sign)))
        return code

    def aligned(self, each: Sum, terms: list[Term], signs: Sequence[bool]) -> tuple[int, int, int]:
        """The sum of terms at the largest exponent, the exponent of its last bit, and the largest exponent."""
        e, mode = max(term.exp for term in terms), each.truncation
        assert mode is not None
        widest = max(summand.F or 0 for summand in each.terms)
        total = 0
        for term, summand, sign in zip(terms, each.terms, signs, strict=True):
            assert summand.F is not None
            if summand.reach is not None and term.exp < e - summand.reach:
                term = term._replace(sig=0)
            part = steps.align(term, e, summand.F, mode)
            if each.in_frame:
                part = (-1 if self.z.sign else 1) * steps.in_frame(part, sign != bool(self.z.sign))
            total += part << (widest - summand.F)
        lsb = e - widest
        if self.structure.sticky and total and any(steps.is_truncated(term, e, widest) for term in terms):
            assert each.rounding is not None
            total, lsb = steps.add_sticky(total, lsb, mode, each.rounding.to.man_bits)
        return total, lsb, e

    def term(self, summand: Summand) -> tuple[Term, bool]:
        """A term of a sum, and its sign, which a zero has too. A total whose terms cancelled keeps its exponent."""
        o, node = self.operation, summand.node
        if isinstance(node, Partial):
            term, sign = self.totals[node.of]
            return (self.scaled_group(term, node.of) if node.scaled else term), sign
        match node:
            case Addend():
                term, sign = steps.addend(self.z, o.c, o.c.e_min), bool(self.z.sign)
            case Element():
                x, of = (self.x[0], o.a) if node.operand == "a" else (self.y[0], o.b)
                term, sign = steps.addend(x, of, of.e_min), bool(x.sign)
            case Zero():
                term, sign = Term(0, FP32.e_min, FP32.man_bits), False
            case Product():
                term, sign = self.product(node)
        if not term.sig and summand.F is not None:
            term = term._replace(exp=NOTHING if summand.zero_exp is None else summand.zero_exp)
        return term, sign

    def product(self, node: Product) -> tuple[Term, bool]:
        x, y, o = self.x[node.k], self.y[node.k], self.operation
        product, sign = (
            steps.raised(steps.multiply(x, y, o.product_frac, o.product_exp_min), node.headroom),
            x.sign != y.sign,
        )
        if getattr(o, "combination", "multiply") == "xor":
            product = product._replace(sig=x.sig + y.sig - 2 * product.sig)
        if node.rounding is not None:
            code = self.rounded(product.sig, product.exp - product.frac, node.rounding, sign)
            z = within_range(node.rounding.to.decode(code))
            return steps.addend(z, node.rounding.to, node.rounding.to.e_min), bool(z.sign)
        return (self.scaled(product, node.k) if node.scaled and product.sig else product), sign

    def factors(self, k: int) -> list[Decoded]:
        scale, block = self.operation.scale_format, self.operation.block_size
        assert scale is not None
        assert block is not None
        return [scale.decode(codes[k // block]) for codes in self.scales]

    def scaled(self, product: Term, k: int) -> Term:
        scale, (alpha, beta) = self.operation.scale_format, self.factors(k)
        assert scale is not None
        sig, frac = product.sig * steps.signed_sig(alpha) * steps.signed_sig(beta), product.frac + 2 * scale.man_bits
        return Term(sig, product.exp + alpha.exp + beta.exp, frac)

    def scaled_group(self, group: Term, number: int) -> Term:
        places, scale = self.structure.leaves[number], self.operation.scale_format
        alpha, beta = self.factors(places[0])
        assert scale is not None
        frac = 2 * scale.man_bits + group.frac - group.exp
        if not alpha.sig or not beta.sig or all(not (self.x[k].sig and self.y[k].sig) for k in places):
            return Term(0, self.structure.last.floor or 0, frac)
        return Term(group.sig * steps.signed_sig(alpha) * steps.signed_sig(beta), alpha.exp + beta.exp, frac)

    def rounded(self, total: int, lsb: int, rounding: Rounding, negative: bool) -> int:
        d, structure = self.operation.d, self.structure
        if not total:
            return d.negative_zero if negative and structure.zero == "ieee" else 0
        if structure.rho is not None:
            overflow: Overflow = getattr(self.operation, "overflow", "infinity")
            if structure.nan == "cause":
                code = structure.rho.rounded(total, lsb, overflow, rounding.flushes)
                if structure.rho.rounding_format.decode(code).cls is Cls.ZERO:
                    return 0
                return structure.rho.stored(code)
            code = structure.rho.encode(total, lsb, overflow, rounding.flushes)
            return 0 if structure.zero == "positive" and d.decode(code).cls is Cls.ZERO else code
        if structure.rounds_products:
            code = rounding.to.encode_scaled(total, lsb, rounding.mode)
            return code & rounding.to.negative_zero if rounding.to.decode(code).cls is Cls.SUBNORMAL else code
        return rounding.to.encode_scaled(total, lsb, rounding.mode, flush=rounding.flushes)


def within_range(x: Decoded) -> Decoded:
    """A rounded term of a later sum.

    Raises:
        OverflowError: it is an infinity, which this reading leaves out.
    """
    if x.cls is Cls.INFINITY:
        raise OverflowError
    return x


def is_finite(operation: Operation, drawn: Operands) -> bool:
    """Whether no operand and no product is special."""
    codes = [(operation.a, drawn.a), (operation.b, drawn.b), (operation.c, [drawn.c])]
    if operation.scale_format is not None:
        codes += [(operation.scale_format, drawn.scale_a), (operation.scale_format, drawn.scale_b)]
    if any(operand.decode(code).cls >= Cls.INFINITY for operand, found in codes for code in found):
        return False
    special = getattr(operation, "product_special", None)
    pairs = zip(map(operation.a.decode, drawn.a), map(operation.b.decode, drawn.b), strict=True)
    return special is None or all(special(p, q) is None for p, q in pairs)


@pytest.mark.parametrize("name", golden.OPERATIONS)
@settings(max_examples=40)
@given(data=st.data())
def test_structure_read_node_by_node_is_the_step(name: str, data: st.DataObject) -> None:
    operation, drawn = data.draw(cases(name))
    operation = steps_for(operation, len(drawn.a))
    drawn = drawn._replace(a=drawn.a[: operation.length], b=drawn.b[: operation.length])
    if not is_finite(operation, drawn):
        return
    note(f"{operation.name} {operation.parameters()}\n{drawn}")
    expected = operation.step(drawn.a, drawn.b, drawn.c, drawn.scale_a, drawn.scale_b)
    try:
        got = Reading(operation, drawn).d()
    except OverflowError:
        return
    if operation.structure.is_integer:
        got = operation.narrowed(got)  # type: ignore[attr-defined]
    assert got == expected


@cache
def published(name: str, count: int = 500) -> tuple[tuple[Operation, tuple[Operands, ...]], ...]:
    """The operation as the catalogue has it, or as the sample units have what no part has: once for each of its
    parameters but the formats of a and b and the length, the shortest, with so many directed rows of one step."""
    found: dict[object, Operation] = {}
    every = [*(i.operation for i in golden.instructions()), *(o for o in FURTHER if o.name in ("MUL", "ADD", "CVT"))]
    for operation in sorted(every, key=lambda each: each.length):
        if operation.name == name:
            keys = {key: value for key, value in operation.parameters().items() if key not in ("a", "b", "L")}
            found.setdefault(tuple(keys.items()), operation)
    return tuple((operation, tuple(directed(operation, count))) for operation in found.values())


def directed(operation: Operation, count: int) -> Iterator[Operands]:
    """Rows of the stimulus without special operands, and one in which the last bit that T retains beside c decides."""
    a, b, c, *scales = generate(OperandShape.of_operation(operation), count, 0).operands
    for row in range(count):
        scale_a, scale_b = ([] if scale is None else scale[row].tolist() for scale in scales)
        drawn = Operands(a[row].tolist(), b[row].tolist(), int(c[row]), scale_a, scale_b)
        if is_finite(operation, drawn):
            yield drawn
    if operation.structure.last.cut is not None:  # 2^13 − 3·2^−12 + 2^−19 is no tie; without its last bit it is one
        x, y = [0] * operation.length, [0] * operation.length
        x[:2] = operation.a.encode_scaled(-3, -6, "RNE"), operation.a.encode_scaled(1, -9, "RNE")
        y[:2] = operation.b.encode_scaled(1, -6, "RNE"), operation.b.encode_scaled(1, -10, "RNE")
        yield Operands(x, y, operation.c.encode_scaled(1, 13, "RNE"), [], [])


def wrong_rows(operation: Operation, structure: Structure, rows: Sequence[Operands]) -> int:
    """Of how many rows a structure, read node by node, gives another code than the operation's step."""
    wrong = 0
    for drawn in rows:
        try:
            got = Reading(operation, drawn, structure).d()
        except OverflowError:
            continue
        if structure.is_integer:
            got = operation.narrowed(got)  # type: ignore[attr-defined]
        wrong += got != operation.step(*drawn)
    return wrong


@pytest.mark.parametrize("name", golden.OPERATIONS)
def test_published_structures_are_the_steps_on_directed_rows(name: str) -> None:
    assert published(name)
    for operation, rows in published(name):
        assert not wrong_rows(operation, operation.structure, rows), operation


def with_term(structure: Structure, number: int, place: int, **keys: Any) -> Structure:
    """A structure with another term in one of its sums."""
    each = structure.sums[number]
    terms = [replace(term, **keys) if n == place else term for n, term in enumerate(each.terms)]
    return replace(structure, sums=tuple(replace(s, terms=tuple(terms)) if s is each else s for s in structure.sums))


@pytest.mark.slow
@pytest.mark.attack("a declared width of alignment that is one bit off, in one term of one sum")
@pytest.mark.parametrize("name", ["T-FDPA", "ST-FDPA", "GST-FDPA", "TR-FDPA", "GTR-FDPA", "OC-FDPA", "PS-FDPA"])
def test_width_that_is_one_bit_off_in_one_term_is_noticed(name: str) -> None:
    every = published(name, 500 if name == "T-FDPA" else MANY_ROWS)
    for shape in {tuple(len(each.terms) for each in operation.structure.sums) for operation, _ in every}:
        alike = [(o, rows) for o, rows in every if tuple(len(s.terms) for s in o.structure.sums) == shape]
        for number, count in enumerate(shape):
            for place in sorted({0, count - 1}):
                F = [o.structure.sums[number].terms[place].F for o, _ in alike]
                if F[0] is None:
                    continue
                wrong = sum(
                    wrong_rows(o, with_term(o.structure, number, place, F=(F or 0) - 1), rows)
                    for (o, rows), F in zip(alike, F, strict=True)
                )
                assert wrong, (name, shape, number, place)


def of_one_pair(operation: Operation, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """d of a step that begins with these elements and goes on with zeros, under scales of 1."""
    scale = operation.scale_format
    ones = [] if scale is None else [scale.encode(1)] * operation.scales_per_step
    zeros = [0] * operation.length
    return operation.step([*a, *zeros][: operation.length], [*b, *zeros][: operation.length], c, ones, ones)


@pytest.mark.parametrize("name", golden.OPERATIONS)
def test_declared_code_of_nan_is_the_steps(name: str) -> None:
    """Of a NaN c with a payload; where that is kept, of a NaN factor, which RDNA writes by a code of its own."""
    for operation, _ in published(name):
        c, d, rule = operation.c, operation.d, operation.structure.nan
        if c.nan is None:
            assert rule == "none"
            continue
        codes = {"ones": nvidia_nan(d), "quiet": d.nan, "first": c.nan | 1, "b-c-a": c.nan | 1, "cause": c.nan | 1}
        operands = ([0], [0], c.nan | 1) if "c" in operation.operands else ([(operation.a.nan or 0) | 1], [0], 0)
        assert of_one_pair(operation, *operands) == codes[rule], operation
        if rule in ("first", "b-c-a", "cause"):
            assert operation.a.nan is not None
            got = of_one_pair(operation, [operation.a.nan | 1], [0], 0)
            assert (got == factor_nan(d)) == (rule == "cause"), operation


@pytest.mark.parametrize("name", golden.OPERATIONS)
def test_declared_limit_of_products_is_the_steps(name: str) -> None:
    """Two products that cancel are infinities from it on."""
    for operation, _ in published(name):
        a, b, limit = operation.a, operation.b, operation.structure.product_limit
        if not operation.structure.is_aligned or operation.length < 2 or min(a.e_max, b.e_max) < 64:
            continue
        for exponent in (127, 128):
            products = [a.encode_scaled(sign, exponent - 64, "RNE") for sign in (1, -1)], [b.encode_scaled(1, 64, "RNE")] * 2
            d = operation.d.decode(of_one_pair(operation, *products, 0))
            assert (d.cls is Cls.NAN) == (limit is not None and exponent >= limit), (operation, exponent)


@pytest.mark.parametrize("name", golden.OPERATIONS)
def test_declared_headroom_and_groups_are_those_of_the_sums(name: str) -> None:
    for operation, _ in published(name):
        structure = operation.structure
        headroom = {node.headroom for each in structure.sums for node in each.nodes if isinstance(node, Product)}
        assert headroom <= {structure.headroom or 0}
        if structure.group is not None:
            assert {len(leaves) for leaves in structure.leaves[:-1]} == {structure.group}


@pytest.mark.parametrize("name", golden.OPERATIONS)
def test_declared_nodes_are_those_of_the_vocabulary(name: str) -> None:
    """As the table in `golden.operations.structure` has them; processors' multiply-adds alone widen their elements."""
    nodes = {
        "E-FDPA": {"exact"}, "IDPA": {"exact"}, "MUL": {"exact"}, "CVT": {"exact"}, "ADD": {"add"}, "FMA": {"fma"},
        "GST-FDPA": {"exact", "align"}, "FTZ-AddMul": {"add"},
        "FTZ-FMA": {"fma"}, "FTZ-EO-FMA": {"fma", "add"},
    }.get(name, {"align"})  # fmt: skip
    for operation, _ in published(name):
        assert {each.node for each in operation.structure.sums} == nodes
        assert operation.structure.widened == (FP32 if name in ("FTZ-FMA", "FTZ-EO-FMA") else None)


def test_leaves_are_the_products_of_each_sum() -> None:
    table = {"operation": "FTZ-EO-FMA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 4}
    assert operation_from_table(table).structure.leaves == ((0,), (1,), (2, 0), (3, 1), (2, 0, 3, 1), (2, 0, 3, 1))
