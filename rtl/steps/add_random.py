"""Step add_random: random bits added below the last place of a result, and dropped (golden: `RandomStep.results`)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out

from golden.arithmetic.random_bits import RandomStep
from rtl.steps.component import SharedComponent


class AddRandom(SharedComponent):
    """Combinational addition of random bits to the magnitude of a wide code; infinities and NaN take none.

        code     sign | exponent | mantissa | x x x x
        added                                 r r r 1     1: with `half` alone
        d        sign | exponent | mantissa

    Args:
        step: what it computes.

    Members:
        code: In, a wide code. random: In(bits). d: Out(width of d).
    """

    code: Signal
    random: Signal
    d: Signal

    def __init__(self, step: RandomStep) -> None:
        self._step = step
        members = {"code": In(step.wide.d.width), "random": In(step.random.bits), "d": Out(step.rho.d.width)}
        super().__init__("add_random", (step,), members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        step, wide, d = self._step, self._step.wide.d, self._step.rho.d
        places = step.random.places
        sign, magnitude = self.code[-1], self.code[:-1]
        # 1. add; a carry out of the exponent is one more bit
        total = Signal(wide.width)
        m.d.comb += total.eq(magnitude + (Cat(Const(1, 1), self.random) if step.random.half else self.random))
        kept = total[places:]
        # 2. infinities and NaN stay as they are
        special: Value = Const(0, 1)
        if wide.max_finite < wide.magnitude_mask:
            special = magnitude > wide.max_finite
        if not wide.negative_zero:  # the code of −0 is NaN
            special = special | (sign & ~magnitude.any())
        # 3. overflow; and the sign of what became a zero
        beyond = Mux(sign, *(Const(d.overflowed(negative, step.saturates), d.width) for negative in (True, False)))
        of_zero: Value = sign if step.negative_zero else sign & kept.any()
        finite = Mux(kept > d.max_finite, beyond, Cat(kept[: d.width - 1], of_zero))
        m.d.comb += self.d.eq(Mux(special, self.code[places:], finite))
        return m
