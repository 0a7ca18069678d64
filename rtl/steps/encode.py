"""Step encode: a rounded significand and its exponent packed into the result's code (golden: `Format.encode_scaled`)."""

from amaranth import Cat, Const, Module, Mux, Shape, Signal
from amaranth.lib.wiring import In, Out

from golden.conversion import Conversion
from rtl.steps.component import SharedComponent
from rtl.steps.interfaces import Special, SpecialSignature


class Encode(SharedComponent):
    """Combinational packing of the result: overflow to infinity; NaN and infinities override.

    Args:
        rho: the conversion; pad bits of its format stay zero.
        e_norm: the shape of e_norm.
        nan: the code that a NaN result gets.
        canonical_zero: whether a zero result is always +0; else it keeps `sign`.
        flush: whether a subnormal result becomes a zero.
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

    def __init__(
        self,
        rho: Conversion,
        e_norm: Shape,
        nan: int,
        canonical_zero: bool,
        flush: bool = False,
        result_exp: str = "serial",
    ) -> None:
        self.rho, self.nan, self.canonical_zero, self.flush = rho, nan, canonical_zero, flush
        self.result_exp = result_exp
        super().__init__(
            "encode",
            (rho, e_norm.width, nan, canonical_zero, flush, result_exp),
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
        # 2. flush: a field below the smallest normal number's
        finite = Mux(field < (1 << fmt.man_bits), 0, field) if self.flush else field
        # 3. the sign of a zero
        finite_sign = self.sign & self.sig.any() if self.canonical_zero else self.sign
        # 4. overflow and specials, NaN last
        m.d.comb += [
            magnitude.eq(Mux(special.pos_inf | special.neg_inf | (field >= infinity), infinity, finite)),
            sign.eq(Mux(special.pos_inf | special.neg_inf, special.neg_inf, finite_sign)),
            self.d.eq(Mux(special.nan, self.nan, Cat(Const(0, fmt.pad_bits), magnitude, sign))),
        ]
        return m

    def _serial(self, m: Module) -> Signal:
        """The field: the rounded significand added to the stored exponent, whose place begins at the hidden bit.

            e e e e e | 0 0 0 0     the stored exponent, less one where norm has its hidden bit, else 0
                  c h | f f f f     sig; c: carry out of rounding, h: hidden bit
            --------- + -------
            e e e e e | f f f f

        h adds the one that the exponent lacks; where rounding carried, c = 1 and h = 0 add two. A subnormal that rounds up
        to a normal number gets the exponent 1 by its h.
        """
        fmt = self.rho.rounding_format
        stored_below = Signal(max(len(self.e_norm), fmt.exp_bits))
        field = Signal(len(stored_below) + fmt.man_bits + 1)
        m.d.comb += [
            stored_below.eq(Mux(self.hidden, self.e_norm + (fmt.bias - 1), 0)),
            field.eq(Cat(Const(0, fmt.man_bits), stored_below) + self.sig),
        ]
        return field

    def _parallel(self, m: Module) -> Signal:
        """The same field, its exponent one of two that do not wait for the rounding: without and with a carry."""
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
