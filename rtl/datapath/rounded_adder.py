"""A rounded addition of two codes: what FTZ-AddMul is made of, and the last step of an FP8 instruction that runs as FP16."""

from amaranth import Value

from golden import Implementation
from golden.conversion import Conversion, conversion
from rtl.datapath.aligned_sum import Addend, AlignedSum
from rtl.datapath.base import Build
from rtl.datapath.finish import Finish
from rtl.datapath.pipeline import Bundle, flatten, kept
from rtl.operations.fma import signed_zero
from rtl.steps.decode import Decode
from rtl.steps.multiply import Accumulator
from rtl.steps.shapes import TermShape
from rtl.steps.specials import Specials

RNE_FP32 = conversion("RNE-FP32")


class RoundedAdder:
    """ρ of the sum of two codes of ρ's format.

    With man_bits + 3 fraction bits a sticky bit is as good as the exact sum: a term loses bits only to a normal number four
    or more exponents above it, and then the sum's leading one is that number's, or one place lower.

    Args:
        name: prefix of its values and parts.
        x, y: names of the values that hold the codes.
        rho: the conversion.
        implementation: how it is built.
        canonical: whether NaN and zero have one encoding each, as in NVIDIA's units.
        flush: whether subnormal operands count as +0 and a subnormal result becomes a zero.
    """

    def __init__(
        self,
        name: str,
        x: str,
        y: str,
        rho: Conversion,
        implementation: Implementation,
        canonical: bool,
        flush: bool,
    ) -> None:
        self.name, self._codes, self._format, self._flush = name, {"x": x, "y": y}, rho.d, flush
        self._term = {side: Accumulator(rho.d, rho.d.e_min) for side in self._codes}
        addends = [
            Addend(name=f"{name}_{side}", shape=part.shape, F=rho.d.man_bits + 3, truncation="sticky")
            for side, part in self._term.items()
        ]
        self._sum = AlignedSum(name, addends, implementation, normalised=True)
        self._finish = Finish(name, self._sum.term, rho, implementation, canonical, flush)

    def align(self, build: Build, values: Bundle) -> Bundle:
        """Both operands decoded and aligned, and their special."""
        specials = Specials(2)
        build.place(f"{self.name}_specials", specials)
        terms: Bundle = {}
        for k, (side, code) in enumerate(self._codes.items()):
            decode, term = Decode(self._format, self._flush), self._term[side]
            build.place(f"{self.name}_decode_{side}", decode)
            build.place(f"{self.name}_term_{side}", term)
            build.m.d.comb += decode.code.eq(values[code])
            build.drive(term.z, "z", flatten("z", decode.x))
            build.drive(getattr(specials, f"special_{k}"), "special", flatten("special", term.special))
            terms |= flatten(f"{self.name}_{side}", term.term)
        both = terms[f"{self.name}_x_sign"] & terms[f"{self.name}_y_sign"]
        aligned = self._sum.align(build, self._sum.max_exp(build, terms))
        return aligned | flatten(f"{self.name}_special", specials.result) | {f"{self.name}_both_negative": both}

    def accumulate(self, build: Build, values: Bundle) -> Bundle:
        """Their sum, an exact zero signed as IEEE 754 has it."""
        both = values[f"{self.name}_both_negative"]
        others = {key: value for key, value in values.items() if key != f"{self.name}_both_negative"}
        return signed_zero(self._sum.accumulate(build, others) | {"all_negative": both}, self.name)

    def encode(self, build: Build, values: Bundle) -> Value:
        """The rounded sum."""
        return self._finish.code(build, self._finish.normalise(build, values), special=f"{self.name}_special")


def products_to_fp32(
    build: Build, values: Bundle, shape: TermShape, count: int, implementation: Implementation, flush: bool
) -> Bundle:
    """Products `prod_0` … as fp32 codes `value_0` …; fp32 has all their significand bits, so only range can change one.

    Args:
        shape: of each product.
        flush: whether a subnormal result becomes a zero.

    Returns:
        The codes, and `c` as it was.
    """
    codes = kept(values, "c")
    for k in range(count):
        name = f"prod_{k}"
        finish = Finish(name, shape, RNE_FP32, implementation, canonical=False, flush=flush)
        total = kept(values, name, f"special_{k}") | {f"{name}_total": values[f"{name}_sig"]}
        codes[f"value_{k}"] = finish.code(build, finish.normalise(build, total), special=f"special_{k}")
    return codes
