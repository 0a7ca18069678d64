"""Steps round and encode: a normalised sum cut to the result's precision and packed (golden: `Format.encode_scaled`)."""

from amaranth import Cat, Const, Module, Mux, Shape, Signal, Value
from amaranth.lib.wiring import In, Out

from golden.conversion import Conversion
from golden.rounding import Mode
from rtl.steps.component import Part
from rtl.steps.shapes import SpecialSignature


class Round(Part):
    """Combinational rounding to the significand of ρ.

    Args:
        norm_bits: bits of norm, at least man_bits + 2.
        man_bits: fraction bits that the result keeps.
        mode: rounding mode of ρ.

    Members:
        sign: In(1). norm: In(norm_bits). sticky: In(1).
        sig: Out(man_bits + 2), the rounded significand; its top bit is set where rounding carried.
    """

    def __init__(self, norm_bits: int, man_bits: int, mode: Mode) -> None:
        self.man_bits, self.mode = man_bits, mode
        members = {"sign": In(1), "norm": In(norm_bits), "sticky": In(1), "sig": Out(man_bits + 2)}
        super().__init__("round", (norm_bits, man_bits, mode), members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        cut_at = len(self.norm) - self.man_bits - 1
        kept, guard = self.norm[cut_at:], self.norm[cut_at - 1]
        below = self.norm[: cut_at - 1].any() | self.sticky
        m.d.comb += self.sig.eq(kept + self._increment(kept[0], guard, below))
        return m

    def _increment(self, odd: Value, guard: Value, below: Value) -> Value:
        match self.mode:
            case "RNE":
                return guard & (below | odd)
            case "RD":
                return self.sign & (guard | below)
            case "RU":
                return ~self.sign & (guard | below)
            case "RZ":
                return Const(0, 1)
        raise ValueError(f"rounding mode must be RZ, RNE, RD or RU, got {self.mode!r}")


class Encode(Part):
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
        field = self._parallel(m) if self.result_exp == "parallel" else self._serial(m)
        magnitude = Signal(fmt.exp_bits + fmt.man_bits)
        sign = Signal()
        finite = Mux(field < (1 << fmt.man_bits), 0, field) if self.flush else field
        finite_sign = self.sign & self.sig.any() if self.canonical_zero else self.sign
        m.d.comb += [
            magnitude.eq(Mux(special.pos_inf | special.neg_inf | (field >= infinity), infinity, finite)),
            sign.eq(Mux(special.pos_inf | special.neg_inf, special.neg_inf, finite_sign)),
            self.d.eq(Mux(special.nan, self.nan, Cat(Const(0, fmt.pad_bits), magnitude, sign))),
        ]
        return m

    def _serial(self, m: Module) -> Signal:
        """Stored exponent and mantissa as one number: the rounded significand added to the exponent."""
        fmt = self.rho.rounding_format
        # One less than the stored exponent: the hidden bit adds the missing one, and so does a carry out of rounding.
        stored_below = Signal(max(len(self.e_norm), fmt.exp_bits))
        field = Signal(len(stored_below) + fmt.man_bits + 1)
        m.d.comb += [
            stored_below.eq(Mux(self.hidden, self.e_norm + (fmt.bias - 1), 0)),
            field.eq(Cat(Const(0, fmt.man_bits), stored_below) + self.sig),
        ]
        return field

    def _parallel(self, m: Module) -> Signal:
        """The same number, its exponent one of two that do not wait for the rounding."""
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
