"""IEEE 754's multiply-add, FMA, and its parts: MUL and ADD (golden: operations/fma.py)."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from amaranth import Const, Mux, Value

from golden import Format, Implementation
from golden.arithmetic.specials import invalid_nan
from golden.operations import ADD, FMA, MUL
from golden.units.unit import MULTIPLIERS
from rtl.datapath import depths, fused_sum
from rtl.datapath.base import ModeInput
from rtl.datapath.fused import FusedDatapath
from rtl.datapath.fused_records import Compared, Decoded, Operands, Terms
from rtl.datapath.fused_sum import Precision
from rtl.datapath.step import Build, Step, Steps, part
from rtl.datapath.vector_steps import (
    add_rows,
    addend,
    combine_specials,
    decode,
    invalid_flag,
    multiply_pairs,
    negative_zero,
    signalling_nan,
    subnormal_inputs,
)
from rtl.steps.interfaces import Operand, Special, Term, TermFormat
from rtl.steps.multiply import addend_format
from rtl.steps.step_record import Record


@dataclass(frozen=True, eq=False)
class SignedProducts(Terms):
    """The product and c, and the sign of a zero sum by IEEE 754, section 6.3: negative if both are negative.

    If ρ rounds toward minus infinity, a zero sum is negative if either is negative.
    """

    prod: tuple[Term, ...]
    c: Term
    zero_negative: Value
    special: Special
    nan: Value | None
    invalid: Value | None

    @property
    def terms(self) -> tuple[Term, ...]:
        return (*self.prod, self.c)

    def zero_sign(self) -> Value:
        return self.zero_negative

    def written_nan(self) -> Value | None:
        return self.nan

    def is_invalid(self) -> Value | None:
        return self.invalid


@dataclass(frozen=True, eq=False)
class DecodedWithNaN(Decoded):
    """Record after step decode: the operands, the code of a NaN result if it depends on them, and for flags whether a NaN
    among them is signalling."""

    nan: Value | None
    signalling: Value | None


class FMADatapath(FusedDatapath):
    """d = ρ(a·b + c): the product stays at its place, c is shifted, what it loses below is sticky.

    The product's leading one stands `lift` = man_bits + 4 places below the top, or one place higher:

        product    0 … 0 p p . p p p p p p 0 0 0     F = product's fraction bits + lift + 3
        c          c c c c c c 0 0 0 0 0 0 0 0 0     at the top: its exponent is the product's + lift
        c          0 0 0 0 0 0 0 0 0 c c c c c s     below: what leaves on the right is sticky (s)

    A c whose exponent is more than `lift` above the product's exceeds it so far that every bit of the product lies below the
    rounding position and the place below that, which a subtraction may need. Then the rounding needs no more of the product
    than its sign and that it is not zero, so the product need not move right: c is put at the top, and the product stays
    where it is. Below the product's last bit a product of 24 bits (subnormal times normal, fp32) needs three places when c
    is subtracted: two bits and the sticky bit. Flags need one place more in both (`Encode`).
    """

    operation: FMA

    def __init__(self, operation: FMA, implementation: Implementation, modes: ModeInput | None = None) -> None:
        self.lift = operation.d.man_bits + 4 + operation.flags
        super().__init__(operation, implementation, canonical=False, modes=modes)

    @property
    def term_count(self) -> int:
        return 2

    def term_steps(self) -> Steps[Any, SignedProducts]:
        decoded = Steps(Step("decode", depths.DECODE, self.decode))
        return decoded.then(Step("multiply", self.multiply_depth(), self.multiply, self._multiply_parts()))

    def decode(self, build: Build, operands: Operands) -> DecodedWithNaN:
        """Step decode. Beside it: the NaN operand that is first, made quiet; without one, that of an invalid operation."""
        decoded = super().decode(build, operands)
        o = self.operation
        read = [(decoded.x[0], operands.a, o.a), (decoded.y[0], operands.b, o.b), (decoded.z, operands.c, o.c)]
        known = {f.name: getattr(decoded, f.name) for f in fields(decoded)}
        return DecodedWithNaN(**known, nan=self._written_nan(read), signalling=self._signalling(read))

    def _written_nan(self, operands: Sequence[tuple[Operand, Value, Format]]) -> Value | None:
        """The code of a NaN result, if it depends on the operands, which are given with their codes and formats."""
        d = self.operation.d
        if self.operation.nan == "quiet":
            return None
        nan: Value = Const(invalid_nan(d), d.width)
        for operand, code, _ in reversed(self.operation.in_order_of_nans(operands)):
            nan = Mux(operand.nan, code | 1 << (d.man_bits - 1), nan)
        return nan

    def _signalling(self, operands: Sequence[tuple[Operand, Value, Format]]) -> Value | None:
        """Whether any operand is a signalling NaN, if the unit has flags."""
        if not self.operation.flags:
            return None
        return signalling_nan(operands)

    def _invalid(
        self, signalling: Value | None, operands: Sequence[Operand], special: Special, factors: bool = True
    ) -> Value | None:
        """The flag NV, if the unit has flags.

        Args:
            operands: those that are read, the factors first. factors: whether the first two are multiplied.
        """
        if signalling is None:
            return None
        x, y, *_ = operands
        return invalid_flag(signalling, operands, special, [(x, y)] * (factors and self.operation.beside_nan == "invalid"))

    def multiply(self, build: Build, decoded: DecodedWithNaN) -> SignedProducts:
        """Step multiply: the exact product. A zero c has exponent e_min, so e_max is never below a result's exponent.

        The product is never shifted, so that its rows can enter the sum, where nothing inverts them: in ones' complement."""
        return self._products(build, decoded, self._sums_rows)

    @property
    def _sums_rows(self) -> bool:
        return self.implementation.multiplier != MULTIPLIERS[0] and self.implementation.encoding == "ones-complement"

    def _multiply_parts(self) -> Steps[DecodedWithNaN, SignedProducts] | None:
        if self._sums_rows:
            return None  # there is no adder
        return Steps(part("multiply_rows", self.multiply_rows)).then(part("multiply", self.add_rows))

    def multiply_rows(self, build: Build, decoded: DecodedWithNaN) -> SignedProducts:
        """Step multiply up to the adder: the product in two rows."""
        return self._products(build, decoded, in_rows=True)

    def add_rows(self, build: Build, terms: SignedProducts) -> SignedProducts:
        """The adder of step multiply."""
        return replace(terms, prod=add_rows(build, terms.prod, self.implementation))

    def _products(self, build: Build, decoded: "DecodedWithNaN | Factors", in_rows: bool) -> SignedProducts:
        operation, built = self.operation, self.implementation
        prod, specials = multiply_pairs(
            build, decoded.x, decoded.y, operation, operation.product_exp_min, implementation=built, in_rows=in_rows
        )
        c, c_special = self._addend(build, decoded)
        special = combine_specials(build, [*specials, c_special])
        read = [decoded.x[0], decoded.y[0], *([decoded.z] if isinstance(decoded, DecodedWithNaN) else [])]
        return self._signed(build, prod, c, special, decoded.nan, self._invalid(decoded.signalling, read, special))

    def _addend(self, build: Build, decoded: "DecodedWithNaN | Factors") -> tuple[Term, Special]:
        """c as a term, and its special."""
        assert isinstance(decoded, DecodedWithNaN)
        return addend(build, "addend", decoded.z, self.operation.c, self.operation.c.e_min)

    def _signed(
        self, build: Build, prod: tuple[Term, ...], c: Term, special: Special, nan: Value | None, invalid: Value | None
    ) -> SignedProducts:
        """The terms, with the sign of their sum where it is zero."""
        zero_negative = negative_zero(build, self.rho.mode, [prod[0].sign, c.sign])
        return SignedProducts(prod, c, zero_negative, special, nan, invalid)

    def max_exp(  # type: ignore[override]  # it takes what this class's own `term_steps` gives
        self, build: Build, terms: SignedProducts
    ) -> Compared:
        """Step max_exp: c against the product lifted, the same number with a larger exponent and more fraction bits."""
        (product,) = terms.prod
        terms = replace(terms, prod=(fused_sum.lifted(product, self.lift),))
        return Compared(terms, fused_sum.max_exp(build, "sum", terms.terms, self.implementation))

    def precisions(self, terms: Sequence[TermFormat]) -> list[Precision]:
        """The product whole, whatever its exponent; c with a sticky bit. Where c has more fraction bits than a product may
        have beside subnormal factors, there is room for all of c below the product's last bit, where the two may cancel."""
        o = self.operation
        F = terms[0].frac + 3 + o.flags + (0 if o.a == o.c else o.d.man_bits + 2)
        return [Precision(F, "unshifted"), Precision(F, "RO")]


@dataclass(frozen=True, eq=False)
class Elements(Record):
    """The operand ports of an operation without c."""

    a: Value
    b: Value


@dataclass(frozen=True, eq=False)
class Factors(Record):
    """Record after step decode of MUL: the factors, and the further values of `DecodedWithNaN`."""

    x: tuple[Operand, ...]
    y: tuple[Operand, ...]
    nan: Value | None
    signalling: Value | None


class MULDatapath(FMADatapath):
    """d = ρ(a·b): a multiply-add with the zero that changes no product in the place of c."""

    operation: MUL

    def operands(self) -> Elements:
        return Elements(self.a, self.b)

    def decode(self, build: Build, operands: Elements) -> Factors:  # type: ignore[override]  # its operands have no c
        """Step decode."""
        x, y = (
            decode(build, f"decode_{name}_0", code, self.operation.a, subnormal_inputs(self.operation))
            for name, code in (("x", operands.a), ("y", operands.b))
        )
        read = [(x, operands.a, self.operation.a), (y, operands.b, self.operation.b)]
        return Factors((x,), (y,), self._written_nan(read), self._signalling(read))

    def multiply(self, build: Build, decoded: Factors) -> SignedProducts:  # type: ignore[override]
        return self._products(build, decoded, self._sums_rows)

    def multiply_rows(self, build: Build, decoded: Factors) -> SignedProducts:  # type: ignore[override]
        return self._products(build, decoded, in_rows=True)

    def _addend(self, build: Build, decoded: DecodedWithNaN | Factors) -> tuple[Term, Special]:
        c = self.operation.c
        shape = addend_format(c, c.e_min)
        sign: Value = Const(self.operation.no_c >> (c.width - 1), 1)
        if build.modes is not None:
            sign = ~build.modes.is_any(["RD"])
        no = Const(0, 1)
        return Term(sign, Const(c.e_min, shape.exps.shape), Const(0, shape.sig_bits), shape), Special(no, no, no)


class ADDDatapath(FMADatapath):
    """d = ρ(a + b): a multiply-add with a itself in the place of the product, and b in that of c."""

    operation: ADD

    def operands(self) -> Elements:
        return Elements(self.a, self.b)

    def term_steps(self) -> Steps[Elements, SignedProducts]:
        return Steps(Step("decode", depths.DECODE, self.decode_terms))

    def decode_terms(self, build: Build, operands: Elements) -> SignedProducts:
        """Step decode; a and b are terms as they are."""
        operation, decoded, terms, specials = self.operation, [], [], []
        for name, code in (("x", operands.a), ("y", operands.b)):
            decoded.append(decode(build, f"decode_{name}_0", code, operation.d, subnormal_inputs(operation)))
            term, special = addend(build, f"addend_{name}", decoded[-1], operation.d, operation.d.e_min)
            terms.append(term)
            specials.append(special)
        read = [(part, code, operation.d) for part, code in zip(decoded, (operands.a, operands.b), strict=True)]
        special, nan = combine_specials(build, specials), self._written_nan(read)
        invalid = self._invalid(self._signalling(read), decoded, special, factors=False)
        return self._signed(build, (terms[0],), terms[1], special, nan, invalid)
