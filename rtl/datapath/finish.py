"""The last steps of a fused sum: normalise, round, encode."""

from amaranth import Value

from golden import Implementation
from golden.conversion import Conversion
from golden.specials import nvidia_nan, quiet_nan
from rtl.datapath.base import Build
from rtl.datapath.pipeline import Bundle
from rtl.steps.normalise import Normalise
from rtl.steps.round import Encode, Round
from rtl.steps.shapes import TermShape


class Finish:
    """ρ of a sum: the values `<name>_sign`, `<name>_exp`, `<name>_total` and `special_…` become the code `d`.

    Args:
        name: prefix of the sum's values.
        shape: the total as a term.
        rho: the conversion.
        implementation: how the exponent meets a carry out of rounding.
        canonical: whether NaN and zero have one encoding each, as in NVIDIA's fused units.
        flush: whether a subnormal result becomes a zero.
    """

    def __init__(
        self,
        name: str,
        shape: TermShape,
        rho: Conversion,
        implementation: Implementation,
        canonical: bool,
        flush: bool = False,
    ) -> None:
        self.name, self.shape, self.rho, self.canonical, self.flush = name, shape, rho, canonical, flush
        self._result_exp = implementation.result_exp

    def normalise(self, build: Build, values: Bundle) -> Bundle:
        """Step normalise: total, exponent and any `<name>_zeros` give way to `<name>_norm`, `<name>_e_norm`,
        `<name>_sticky`."""
        name = self.name
        part = Normalise(self.shape, self.rho.rounding_format, anticipated=f"{name}_zeros" in values)
        build.place(f"{name}_normalise", part)
        build.m.d.comb += [part.total.eq(values[f"{name}_total"]), part.e_max.eq(values[f"{name}_exp"])]
        if part.anticipated:
            build.m.d.comb += part.zeros.eq(values[f"{name}_zeros"])
        gone = (f"{name}_total", f"{name}_exp", f"{name}_zeros")
        result = {key: value for key, value in values.items() if key not in gone}
        return result | {f"{name}_norm": part.norm, f"{name}_e_norm": part.e_norm, f"{name}_sticky": part.sticky}

    def encode(self, build: Build, values: Bundle) -> Bundle:
        """Steps round and encode: everything gives way to the code, under the name `d`."""
        return {"d": self.code(build, values)}

    def code(self, build: Build, values: Bundle, special: str = "special") -> Value:
        """The code, from the normalised sum and the special result of that name."""
        name = self.name
        sign, norm, e_norm = values[f"{name}_sign"], values[f"{name}_norm"], values[f"{name}_e_norm"]
        rounding = Round(len(norm), self.rho.rounding_format.man_bits, self.rho.mode)
        nan = nvidia_nan(self.rho.d) if self.canonical else quiet_nan(self.rho.d)
        encode = Encode(self.rho, e_norm.shape(), nan, self.canonical, self.flush, self._result_exp)
        build.place(f"{name}_round", rounding)
        build.place(f"{name}_encode", encode)
        build.m.d.comb += [rounding.sign.eq(sign), rounding.norm.eq(norm), rounding.sticky.eq(values[f"{name}_sticky"])]
        build.m.d.comb += [encode.sign.eq(sign), encode.sig.eq(rounding.sig), encode.hidden.eq(norm[-1])]
        build.m.d.comb += encode.e_norm.eq(e_norm)
        build.drive(encode.special, special, values)
        return encode.d
