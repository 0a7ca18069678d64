"""Step encode: a rounded significand and its exponent packed into the result's code (golden: `Format.encode_scaled`)."""

from dataclasses import dataclass
from typing import Literal

from amaranth import Cat, Const, Module, Mux, Shape, Signal, Value, signed
from amaranth.lib.wiring import In, Out

from golden.arithmetic.conversion import Conversion
from golden.arithmetic.rounding import Overflow, overflows_to_largest
from golden.arithmetic.specials import nvidia_nan, quiet_nan
from rtl.steps.component import SharedComponent
from rtl.steps.interfaces import Special, SpecialSignature

Underflow = Literal["gradual", "flush-subnormal", "flush-tiny"]
"""Treatments of a result below the normal numbers.

`gradual`: it is rounded to a subnormal number. `flush-subnormal`: the same, and a subnormal number then becomes a zero.
`flush-tiny`: it is rounded as if exponents had no lower end, and becomes a zero if it still is below the normal numbers then
(IEEE 754, section 7.5: tininess after rounding).
"""


@dataclass(frozen=True)
class ResultRules:
    """The rules for finite results that are not normal numbers, and for the codes of NaN and zero.

    Attributes:
        canonical: whether NaN and zero have one encoding each, as in NVIDIA's fused units; else a zero keeps its sign.
        underflow: treatment of results below the normal numbers.
        overflow: treatment of results beyond the largest finite number.
    """

    canonical: bool
    underflow: Underflow = "gradual"
    overflow: Overflow = "infinity"


class Encode(SharedComponent):
    """Combinational packing of the result; NaN and infinities override.

    Args:
        rho: the conversion; pad bits of its format stay zero.
        e_norm: the shape of e_norm.
        rules: see `ResultRules`.
        result_exp: how the exponent takes up a carry out of rounding; as in `golden.Implementation`.

    Members:
        sign: In(1). hidden: In(1), the top bit of norm. e_norm: In. sig: In, from `Round`.
        special: In(SpecialSignature). d: Out(width of d).
    """

    sign: Signal
    hidden: Signal
    e_norm: Signal
    sig: Signal
    special: Special
    d: Signal

    def __init__(self, rho: Conversion, e_norm: Shape, rules: ResultRules, result_exp: str = "serial") -> None:
        self.rho, self.rules, self.result_exp = rho, rules, result_exp
        self.nan = nvidia_nan(rho.d) if rules.canonical else quiet_nan(rho.d)
        super().__init__(
            "encode",
            (rho, e_norm.width, rules, result_exp),
            {
                "sign": In(1),
                "hidden": In(1),
                "e_norm": In(e_norm),
                "sig": In(rho.rounding_format.man_bits + 2),
                "special": In(SpecialSignature()),
                "d": Out(rho.d.width),
            },
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        fmt, special = self.rho.rounding_format, self.special
        infinity = ((1 << fmt.exp_bits) - 1) << fmt.man_bits
        # 1. stored exponent and mantissa as one number, the field: stored_exp | man
        field = self._parallel(m) if self.result_exp == "parallel" else self._serial(m)
        magnitude = Signal(fmt.exp_bits + fmt.man_bits)
        sign = Signal()
        # 2. underflow
        finite: Value = field
        overflows = field >= infinity
        kept = self.sig.any()
        match self.rules.underflow:
            case "flush-subnormal":  # a field below the smallest normal number's
                finite = Mux(field < (1 << fmt.man_bits), 0, field)
            case "flush-tiny":  # the field of a tiny result is no number: its exponent may be negative
                tiny = self._tiny(m)
                finite, overflows, kept = Mux(tiny, 0, field), overflows & ~tiny, kept & ~tiny
        # 3. the sign of a zero
        finite_sign = self.sign & kept if self.rules.canonical else self.sign
        # 4. overflow and specials, NaN last
        infinite = special.pos_inf | special.neg_inf
        m.d.comb += [
            magnitude.eq(self._magnitude(infinite, overflows, finite, infinity)),
            sign.eq(Mux(infinite, special.neg_inf, finite_sign)),
            self.d.eq(Mux(special.nan, self.nan, Cat(Const(0, fmt.pad_bits), magnitude, sign))),
        ]
        return m

    def _magnitude(self, infinite: Value, overflows: Value, finite: Value, infinity: int) -> Value:
        """The field of an infinite, an overflowing or a finite result. The largest finite number is one below infinity."""
        beyond = [
            infinity - overflows_to_largest(self.rules.overflow, self.rho.mode, negative) for negative in (False, True)
        ]
        if beyond == [infinity, infinity]:
            return Mux(infinite | overflows, infinity, finite)
        return Mux(infinite, infinity, Mux(overflows, Mux(self.sign, beyond[1], beyond[0]), finite))

    def _tiny(self, m: Module) -> Signal:
        """High if the rounded sum is below the normal numbers; only an exact zero has no hidden bit here."""
        fmt = self.rho.rounding_format
        tiny = Signal()
        rounded_up = Signal()
        m.d.comb += [
            rounded_up.eq(self.sig[-1] & (self.e_norm == fmt.e_min - 1)),
            tiny.eq(~self.hidden | ((self.e_norm < fmt.e_min) & ~rounded_up)),
        ]
        return tiny

    def _serial(self, m: Module) -> Signal:
        """The field: the rounded significand added to the stored exponent, whose place begins at the hidden bit.

            e e e e e | 0 0 0 0     the stored exponent, less one where norm has its hidden bit, else 0
                  c h | f f f f     sig; c: carry out of rounding, h: hidden bit
            --------- + -------
            e e e e e | f f f f

        h adds the one that the exponent lacks; where rounding carried, c = 1 and h = 0 add two. A subnormal that rounds up
        to a normal number gets the exponent 1 by its h. Without a bound, e_norm may lie below e_min: the stored exponent is
        then negative, and from −1 it gets to 1 by its c.
        """
        fmt = self.rho.rounding_format
        exp_bits = max(len(self.e_norm), fmt.exp_bits)
        stored_below = Signal(signed(exp_bits + 1) if self.rules.underflow == "flush-tiny" else exp_bits)
        field = Signal(len(stored_below) + fmt.man_bits + 1)
        placed = Cat(Const(0, fmt.man_bits), stored_below)
        m.d.comb += [
            stored_below.eq(Mux(self.hidden, self.e_norm + (fmt.bias - 1), 0)),
            field.eq((placed.as_signed() if stored_below.shape().signed else placed) + self.sig),
        ]
        return field

    def _parallel(self, m: Module) -> Signal:
        """The field of the result, with an exponent selected from two that do not wait for the rounding: without and with a
        carry."""
        fmt = self.rho.rounding_format
        exp_bits = max(len(self.e_norm), fmt.exp_bits)
        uncarried = Signal(exp_bits)
        carried = Signal(exp_bits)
        stored_exp = Signal(exp_bits)
        field = Signal(exp_bits + fmt.man_bits + 1)
        mantissa, hidden, carry = self.sig[: fmt.man_bits], self.sig[-2], self.sig[-1]
        # A subnormal's e_norm is e_min, so one that rounds up to a normal number gets 1.
        m.d.comb += [
            uncarried.eq(self.e_norm + fmt.bias),
            carried.eq(self.e_norm + (fmt.bias + 1)),
            stored_exp.eq(Mux(carry, carried, Mux(hidden, uncarried, 0))),
            field.eq(Cat(mantissa, stored_exp)),
        ]
        return field
