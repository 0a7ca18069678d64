"""Variants of what hand-written floating-point units get wrong: the ends of the exponent, infinities, NaNs and subnormals of
operands, the sign of a zero product, a second rounding, a carry out of rounding, the sticky bit of a subtracted term.

Each can be made to a model that has others already, for such units often have two or three at once.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from golden import Cls, Decoded, Format
from golden.arithmetic import steps
from golden.arithmetic.formats import FP32
from golden.arithmetic.rounding import shift_and_round
from golden.arithmetic.steps import Term
from golden.operations.fused import FusedOperation
from golden.variants.variant import Model, Rows, Variant, stepped


def float_unit_variants(model: Model, operation: FusedOperation) -> Iterator[Variant[Rows]]:
    """Every variant of a floating-point unit that is tried; the operation is the model's."""
    yield from _ends_of_the_exponent(model, operation)
    yield from _specials(model, operation)
    yield from _subnormal_operands(model, operation)
    yield from _zeros(model, operation)
    yield from _second_roundings(model, operation)
    yield from _carries(model, operation)
    if operation.structure.is_exact and len(operation.structure.last.terms) == 2:
        yield from _subtracted_terms(model, operation)


class _Rounded(NamedTuple):
    """A sum rounded as if exponents had no ends.

    Attributes:
        negative: whether it is. stored_exp: its exponent as a format stores it, which may not fit.
        sig: the significand, of man_bits + 1 bits. carried: whether rounding made it a power of two.
    """

    negative: bool
    stored_exp: int
    sig: int
    carried: bool


def _rounded(self: FusedOperation, total: int, lsb: int, more: int = 0) -> _Rounded:
    """A sum that is not zero, rounded to the precision of d, or `more` bits more."""
    d = self.conversion.rounding_format
    last = d.last_bit(total, lsb, flush=True) - more
    sig = abs(shift_and_round(total, last - lsb, self.conversion.mode))
    carried = bool(sig >> (d.man_bits + more + 1))
    return _Rounded(total < 0, last + carried + d.man_bits + more + d.bias, sig >> carried, carried)


def _packed(self: FusedOperation, negative: bool, stored_exp: int, sig: int) -> int:
    """The code with the low bits of a stored exponent and of a significand."""
    d = self.conversion.rounding_format
    field = stored_exp % (1 << d.exp_bits) << d.man_bits | sig & (1 << d.man_bits) - 1
    return self.conversion.stored((d.negative_zero if negative else 0) | field << d.pad_bits)


Ended = Callable[[FusedOperation, _Rounded], int]


def _ends_of_the_exponent(model: Model, operation: FusedOperation) -> Iterator[Variant[Rows]]:
    d, own = operation.conversion.rounding_format, type(operation)
    if d.specials != "ieee":
        return
    top = (1 << d.exp_bits) - 1

    def kept(self: FusedOperation, r: _Rounded) -> int:
        return _packed(self, r.negative, r.stored_exp, r.sig)

    def zero(self: FusedOperation, r: _Rounded) -> int:
        return self.d.negative_zero if r.negative else 0

    def infinity(self: FusedOperation, r: _Rounded) -> int:
        return self.d.signed_infinity(r.negative)

    def where(words: str, is_beyond: Callable[[int], bool], ended: Ended) -> Variant[Rows]:
        def converted(self: FusedOperation, total: int, lsb: int) -> int:
            if total and is_beyond((r := _rounded(self, total, lsb)).stored_exp):
                return ended(self, r)
            return own.converted(self, total, lsb)

        return stepped(model, words, converted=converted)

    wraps = f"wraps modulo 2^{d.exp_bits}"
    yield where(f"an exponent too large or too small {wraps}", lambda exp: exp >= top or exp <= 0, kept)
    yield where(f"an exponent too large {wraps}", lambda exp: exp >= top, kept)
    yield where(f"an exponent too small {wraps}", lambda exp: exp <= 0, kept)
    yield where("overflow gives 0", lambda exp: exp >= top, zero)
    yield where(f"a stored exponent above {top} gives 0", lambda exp: exp > top, zero)
    yield where(f"a stored exponent of {top} does not overflow: the fraction stays", lambda exp: exp == top, kept)
    yield where("underflow gives infinity", lambda exp: exp <= 0, infinity)
    yield where("a stored exponent below 0 gives infinity", lambda exp: exp < 0, infinity)
    yield where("a stored exponent below 0 gives 0", lambda exp: exp < 0, zero)
    yield where("a stored exponent of 0 does not underflow: the fraction stays", lambda exp: exp == 0, kept)
    yield where(f"a stored exponent of {top - 1} overflows", lambda exp: exp == top - 1, infinity)
    yield where("a stored exponent of 1 underflows to 0", lambda exp: exp == 1, zero)


def _redecoded(
    model: Model, operation: FusedOperation, words: str, change: Callable[[Format, Decoded, int], Decoded]
) -> Iterator[Variant[Rows]]:
    """Variants in which operands are decoded in another way, a function (format, operand, code): a and b, or c too."""
    own = type(operation)
    for names in {2: ("a and b",), 3: ("a and b", "a, b and c")}.get(len(operation.operands), ("a",)):

        def decoded(
            self: FusedOperation, a: Sequence[int], b: Sequence[int], c: int, names: str = names
        ) -> tuple[list[Decoded], list[Decoded], Decoded]:
            x, y, z = own.decoded(self, a, b, c)
            changed = [
                [change(operand, each, code) for each, code in zip(decoded, codes, strict=True)]
                for operand, decoded, codes in ((self.a, x, a), (self.b, y, b))
            ]
            return changed[0], changed[1], change(self.c, z, c) if "c" in names else z

        yield stepped(model, words.format(names), decoded=decoded)


Change = tuple[Cls, Cls]
"""A class of operands, and the class that it becomes."""


def _specials(model: Model, operation: FusedOperation) -> Iterator[Variant[Rows]]:
    def as_number(operand: Format, x: Decoded, code: int) -> Decoded:
        if x.cls < Cls.INFINITY or operand.specials != "ieee":
            return x
        mantissa = code >> operand.pad_bits & (1 << operand.man_bits) - 1
        return Decoded(x.sign, operand.e_max + 1, 1 << operand.man_bits | mantissa, Cls.NORMAL)

    yield from _redecoded(model, operation, "infinities and NaNs of {} are decoded as numbers", as_number)
    if operation.structure.adds_elements:
        return
    own = type(operation)
    zero, number = (Cls.INFINITY, Cls.ZERO), (Cls.ZERO, Cls.NORMAL)  # the factor that changes, and into what
    kinds = {"0 · inf is 0": (zero, zero), "0 · inf is an infinity": (number, number)}
    lost = "0 · inf is 0 and c beside it too, and an infinity beside an infinite one"
    if "c" in operation.operands:
        kinds |= {
            "0 · inf is 0 beside a finite c, and an infinity beside an infinite one": (zero, number),
            lost: (zero, number),
        }
    for words, changes in kinds.items():

        def decoded(
            self: FusedOperation,
            a: Sequence[int],
            b: Sequence[int],
            c: int,
            changes: tuple[Change, Change] = changes,
            is_lost: bool = words == lost,
        ) -> tuple[list[Decoded], list[Decoded], Decoded]:
            x, y, z = own.decoded(self, a, b, c)
            old, new = changes[z.cls >= Cls.INFINITY]
            for k, pair in enumerate(zip(x, y, strict=True)):
                if {p.cls for p in pair} == {Cls.ZERO, Cls.INFINITY}:
                    x[k], y[k] = (p._replace(cls=new) if p.cls is old else p for p in pair)
                    if is_lost and z.cls < Cls.INFINITY:
                        z = z._replace(sig=0, cls=Cls.ZERO)
                        x[k], y[k] = x[k]._replace(sign=z.sign), y[k]._replace(sign=0)
            return x, y, z

        yield stepped(model, words, decoded=decoded)


def _subnormal_operands(model: Model, operation: FusedOperation) -> Iterator[Variant[Rows]]:
    """Variants in which operands with a stored exponent of 0 have their hidden bit set."""
    kinds: dict[str, Callable[[Decoded], bool]] = {
        "subnormals": lambda x: x.cls is Cls.SUBNORMAL,
        "subnormals and -0": lambda x: x.cls is Cls.SUBNORMAL or (x.cls is Cls.ZERO and x.sign == 1),
        "subnormals and zeros": lambda x: x.cls in (Cls.SUBNORMAL, Cls.ZERO),
    }
    for kind, is_one in kinds.items():
        for stored in (0, 1):

            def as_normal(
                operand: Format, x: Decoded, _: int, is_one: Callable[[Decoded], bool] = is_one, stored: int = stored
            ) -> Decoded:
                if not operand.subnormals or not is_one(x):
                    return x
                return Decoded(x.sign, operand.e_min - 1 + stored, 1 << operand.man_bits | x.sig, Cls.NORMAL)

            words = f"{kind} of {{}} count as normal numbers with a stored exponent of {stored}"
            yield from _redecoded(model, operation, words, as_normal)


def _zeros(model: Model, operation: FusedOperation) -> Iterator[Variant[Rows]]:
    own = type(operation)

    def unsigned(self: FusedOperation, total: int, lsb: int) -> int:
        code = own.converted(self, total, lsb)
        return 0 if code == self.d.negative_zero else code

    yield stepped(model, "a result that rounds to zero is +0", converted=unsigned)
    if operation.structure.adds_elements:
        return

    def decoded(
        self: FusedOperation, a: Sequence[int], b: Sequence[int], c: int
    ) -> tuple[list[Decoded], list[Decoded], Decoded]:
        x, y, z = own.decoded(self, a, b, c)
        for k, pair in enumerate(zip(x, y, strict=True)):
            if Cls.ZERO in (pair[0].cls, pair[1].cls):
                x[k], y[k] = (p._replace(sign=0) for p in pair)
        return x, y, z

    yield stepped(model, "a product with a zero factor is +0", decoded=decoded)


def _second_roundings(model: Model, operation: FusedOperation) -> Iterator[Variant[Rows]]:
    d, own = operation.conversion.rounding_format, type(operation)

    def first_as_a_normal_number(self: FusedOperation, total: int, lsb: int) -> int:
        if not total or (r := _rounded(self, total, lsb)).stored_exp > 0:
            return own.converted(self, total, lsb)
        return own.converted(self, -r.sig if r.negative else r.sig, r.stored_exp - d.bias - d.man_bits)

    yield stepped(model, "subnormal results are rounded twice, first as normal numbers", converted=first_as_a_normal_number)
    for more in (1, 2, 3):

        def first_longer(self: FusedOperation, total: int, lsb: int, more: int = more) -> int:
            if not total:
                return own.converted(self, total, lsb)
            r = _rounded(self, total, lsb, more)
            return own.converted(self, -r.sig if r.negative else r.sig, r.stored_exp - d.bias - d.man_bits - more)

        yield stepped(model, f"results are rounded twice, first to {more} more fraction bits", converted=first_longer)

    def first_to_fp32(self: FusedOperation, total: int, lsb: int) -> int:
        z = FP32.decode(FP32.encode_scaled(total, lsb, self.conversion.mode))
        value = steps.signed_sig(z)
        return own.converted(self, *((value, z.exp - FP32.man_bits) if z.cls < Cls.INFINITY else (total, lsb)))

    if d.man_bits < FP32.man_bits and d.exp_bits <= FP32.exp_bits:
        yield stepped(model, "results are rounded twice, first to fp32", converted=first_to_fp32)


def _carries(model: Model, operation: FusedOperation) -> Iterator[Variant[Rows]]:
    d, own = operation.conversion.rounding_format, type(operation)

    def carry_in_the_fraction(self: FusedOperation, total: int, lsb: int) -> int:
        code = own.converted(self, total, lsb)
        is_carried = total and _rounded(self, total, lsb).carried and self.d.decode(code).cls is Cls.NORMAL
        return code | self.conversion.stored(1 << (d.man_bits - 1 + d.pad_bits)) if is_carried else code

    yield stepped(
        model, "after a carry of rounding the carry stays in the fraction, as its first bit", converted=carry_in_the_fraction
    )


PLACES = (0, 1, 2, 3)
"""Bits below the other term's last place that an adder may have."""


def _subtracted_terms(model: Model, operation: FusedOperation) -> Iterator[Variant[Rows]]:
    """Variants in which one of two terms, where they have different signs, is cut below the last place of the other."""
    names, exact_sum = ("a", "b") if operation.structure.adds_elements else ("the product", "c"), operation.exact_sum
    for number, places, is_seen in ((n, p, s) for n in (1, 0) for p in PLACES for s in (True, False)):

        def summed(
            self: FusedOperation, terms: Sequence[Term], number: int = number, places: int = places, is_seen: bool = is_seen
        ) -> tuple[int, int]:
            small, other = terms[number], terms[1 - number]
            grid = other.exp - other.frac - places
            shift = grid - (small.exp - small.frac)
            if small.sig * other.sig >= 0 or shift <= 0 or not small.sig & (1 << shift) - 1:
                return exact_sum(terms)
            total = (other.sig << places) + shift_and_round(small.sig, shift, "RZ")
            return steps.add_sticky(total, grid, "RZ", self.d.man_bits) if is_seen and total else (total, grid)

        end = "count as a sticky bit of the sum" if is_seen else "are lost"
        below = f" and {places} more" if places else ""
        words = f"where {names[number]} is subtracted, its bits below the last place of {names[1 - number]}{below} {end}"
        yield stepped(model, words, exact_sum=summed)
