"""Step encode: a rounded significand and its exponent packed into the result's code (golden: `Format.encode_scaled`)."""

from dataclasses import dataclass
from typing import Literal

from amaranth import Cat, Const, Module, Mux, Shape, Signal, Value, signed
from amaranth.lib.wiring import In, Out

from golden.arithmetic.conversion import Conversion
from golden.arithmetic.flags import Tininess
from golden.arithmetic.rounding import Mode, Overflow, overflows_to_largest
from golden.arithmetic.specials import nvidia_nan, quiet_nan
from rtl.steps.component import SharedComponent
from rtl.steps.interfaces import Special, SpecialSignature
from rtl.steps.round import chosen_increment, increment

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
        tininess: when it is decided whether a result is tiny, if flags are raised; else None.
    """

    canonical: bool
    underflow: Underflow = "gradual"
    overflow: Overflow = "infinity"
    tininess: Tininess | None = None


class Encode(SharedComponent):
    """Combinational packing of the result; NaN and infinities override. With flags NX, UF and OF stand above the code:

        d    OF UF NX | sign | field | pad

    Args:
        rho: the conversion; pad bits of its format stay zero.
        e_norm: the shape of e_norm.
        rules: see `ResultRules`.
        result_exp: how the exponent takes up a carry out of rounding; as in `golden.Implementation`.
        modes: the rounding modes one of which is chosen, by which results overflow to the largest finite number.
        norm_bits: bits of norm, if flags are raised: at least man_bits + 3.

    Members:
        norm: In(norm_bits). sticky: In(1), both as in `Round`; with flags only.
        sign: In(1). hidden: In(1), the top bit of norm. e_norm: In. sig: In, from `Round`.
        special: In(SpecialSignature). d: Out(width of d), 3 bits more with flags.
        to_largest: In(1), if the mode is chosen; with flags also chosen: In, one bit for each mode, as in `Round`.
    """

    sign: Signal
    hidden: Signal
    e_norm: Signal
    sig: Signal
    special: Special
    norm: Signal
    sticky: Signal
    d: Signal
    to_largest: Signal
    chosen: Signal

    def __init__(
        self,
        rho: Conversion,
        e_norm: Shape,
        rules: ResultRules,
        result_exp: str = "serial",
        modes: tuple[Mode, ...] = (),
        norm_bits: int = 0,
    ) -> None:
        self.rho, self.rules, self.result_exp, self.modes = rho, rules, result_exp, modes
        self.nan = 0 if rho.d.nan is None else nvidia_nan(rho.d) if rules.canonical else quiet_nan(rho.d)
        raises = rules.tininess is not None
        members = {
            "sign": In(1),
            "hidden": In(1),
            "e_norm": In(e_norm),
            "sig": In(rho.rounding_format.man_bits + 2),
            "special": In(SpecialSignature()),
            "d": Out(rho.d.width + 3 * raises),
        }
        super().__init__(
            "encode",
            (rho, e_norm.width, rules, result_exp, modes, norm_bits),
            members
            | ({"norm": In(norm_bits), "sticky": In(1)} if raises else {})
            | ({"to_largest": In(1)} if modes else {})
            | ({"chosen": In(len(modes))} if modes and raises else {}),
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        fmt, special = self.rho.rounding_format, self.special
        beyond = (fmt.max_finite >> fmt.pad_bits) + 1  # the code of infinity, if there is one
        # 1. stored exponent and mantissa as one number, the field: stored_exp | man
        field = self._parallel(m) if self.result_exp == "parallel" else self._serial(m)
        magnitude = Signal(fmt.exp_bits + fmt.man_bits)
        sign = Signal()
        # 2. underflow
        finite: Value = field
        overflows = field >= beyond
        kept = self.sig.any()
        tiny: Value = Const(0, 1)
        match self.rules.underflow:
            case "flush-subnormal":  # a field below the smallest normal number's
                finite = Mux(field < (1 << fmt.man_bits), 0, field)
            case "flush-tiny":  # the field of a tiny result is no number: its exponent may be negative
                tiny = self._tiny(m)
                finite, overflows, kept = Mux(tiny, 0, field), overflows & ~tiny, kept & ~tiny
        if not fmt.subnormals:  # the code of the smallest normal number, without a mantissa, is that of zero
            kept = kept & field.any()
        # 3. the sign of a zero
        keeps_sign = fmt.negative_zero and not self.rules.canonical
        finite_sign = self.sign if keeps_sign else self.sign & kept
        # 4. overflow and specials, NaN last
        infinite = special.pos_inf | special.neg_inf
        nan, carries_nan = special.nan, fmt.specials == "fnuz"
        if fmt.infinity is None:
            nan, infinite = nan | infinite, Const(0, 1)
        code = Mux(
            nan | (overflows & self._becomes_nan()) if carries_nan else nan,
            self.nan,
            Cat(Const(0, fmt.pad_bits), magnitude, sign),
        )
        m.d.comb += [
            magnitude.eq(self._magnitude(infinite, overflows, finite, beyond)),
            sign.eq(Mux(infinite, special.neg_inf, finite_sign)),
        ]
        if self.rules.tininess is None:
            m.d.comb += self.d.eq(code)
        else:  # 5. flags of a finite sum
            flags = Mux(infinite | nan, 0, self._flags(self.rules.tininess, overflows, tiny))
            m.d.comb += self.d.eq(Cat(code[: self.rho.d.width], flags))
        return m

    def _flags(self, tininess: Tininess, overflows: Value, flushed: Value) -> Value:
        """NX, UF and OF of a finite sum.

        A subnormal norm is tiny before it is rounded. Rounded one place lower, as its leading one at the place below the
        hidden bit demands, it reaches the hidden bit only if every kept bit below and the guard bit are ones:

            norm   0 1 1 1 1 | 1 | n b b b     n: the guard bit of that rounding
        """
        fmt = self.rho.rounding_format
        low = len(self.norm) - fmt.man_bits - 1
        guard, following = self.norm[low - 1], self.norm[low - 2]
        below = self.norm[: low - 2].any() | self.sticky
        if self.rules.underflow == "flush-tiny":
            is_tiny = flushed if tininess == "after" else self.e_norm < fmt.e_min
            is_tiny, flushed = is_tiny & self.hidden, flushed & self.hidden
        else:
            ones = self.norm[low - 1 : -1].all()
            last = self.sign, Const(1, 1), following, below
            up = chosen_increment(self.modes, self.chosen, *last) if self.modes else increment(self.rho.mode, *last)
            is_tiny = ~self.hidden if tininess == "before" else ~self.hidden & ~(ones & up)
        inexact = guard | following | below | overflows | flushed
        return Cat(inexact, inexact & is_tiny, overflows)

    def _magnitude(self, infinite: Value, overflows: Value, finite: Value, infinity: int) -> Value:
        """The field of an infinite, an overflowing or a finite result. The largest finite number is one below infinity."""
        if self.modes:
            return Mux(infinite, infinity, Mux(overflows, Mux(self.to_largest, infinity - 1, infinity), finite))
        beyond = [infinity - self._to_largest(negative) for negative in (False, True)]
        if beyond == [infinity, infinity]:
            return Mux(infinite | overflows, infinity, finite)
        return Mux(infinite, infinity, Mux(overflows, Mux(self.sign, beyond[1], beyond[0]), finite))

    def _to_largest(self, negative: bool) -> bool:
        """Whether a result beyond the largest finite number of its sign becomes that number."""
        to_largest = overflows_to_largest(self.rules.overflow, self.rho.mode, negative)
        return to_largest or self.rho.rounding_format.nan is None

    def _becomes_nan(self) -> Value:
        """Whether a result beyond the largest finite number becomes the one NaN, which has no place above that number."""
        if self.modes:
            return ~self.to_largest
        positive, negative = (Const(not self._to_largest(is_negative), 1) for is_negative in (False, True))
        return Mux(self.sign, negative, positive)

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

    @property
    def _stored_bits(self) -> int:
        """Bits of a stored exponent: those of the format, and of each that e_norm may give, after a carry too."""
        shape, fmt = self.e_norm.shape(), self.rho.rounding_format
        highest = (1 << shape.width - shape.signed) - 1
        return max(shape.width, fmt.exp_bits, (highest + fmt.bias + 1).bit_length())

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
        exp_bits = self._stored_bits
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
        exp_bits = self._stored_bits
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
