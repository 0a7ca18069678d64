"""ρ of a sum: steps normalise, round and encode."""

from amaranth import Value

from golden.conversion import Conversion
from golden.formats import Format
from golden.specials import nvidia_nan, quiet_nan
from rtl.datapath.records import MaxExponent, NormalisedSum, SignedTotal
from rtl.datapath.step import Build
from rtl.steps.encode import Encode
from rtl.steps.interfaces import Special, Term, TermFormat
from rtl.steps.normalise import Normalise
from rtl.steps.round import Round


def normalise_total(build: Build, largest: MaxExponent, total: SignedTotal, result: Format) -> NormalisedSum:
    """Step normalise: the total's leading one at the top, as near as the e_min of the result's format allows."""
    return _normalise(build, total.name, total.format, total.sign, largest.exp, total.total, total.zeros, result)


def normalise_term(build: Build, name: str, term: Term, result: Format) -> NormalisedSum:
    """The same for a term by itself."""
    return _normalise(build, name, term.format, term.sign, term.exp, term.sig, None, result)


def _normalise(
    build: Build,
    name: str,
    total_format: TermFormat,
    sign: Value,
    exp: Value,
    total: Value,
    zeros: Value | None,
    result: Format,
) -> NormalisedSum:
    component = Normalise(total_format, result, anticipated=zeros is not None)
    build.place(f"{name}_normalise", component)
    build.assign(component.total.eq(total), component.e_max.eq(exp))
    if zeros is not None:
        build.assign(component.zeros.eq(zeros))
    return NormalisedSum(name, sign, component.norm, component.e_norm, component.sticky, component.normalised)


def round_and_encode(
    build: Build,
    total: NormalisedSum,
    special: Special,
    rho: Conversion,
    result_exp: str,
    canonical: bool,
    flush: bool = False,
) -> Value:
    """Steps round and encode: the code of a normalised sum, or of its special.

    Args:
        rho: the conversion.
        result_exp: how the exponent takes up a carry out of rounding; as in `golden.Implementation`.
        canonical: whether NaN and zero have one encoding each, as in NVIDIA's fused units.
        flush: whether a subnormal result becomes a zero.
    """
    rounding = Round(len(total.norm), rho.rounding_format.man_bits, rho.mode)
    nan = nvidia_nan(rho.d) if canonical else quiet_nan(rho.d)
    encode = Encode(rho, total.e_norm.shape(), nan, canonical, flush, result_exp)
    build.place(f"{total.name}_round", rounding)
    build.place(f"{total.name}_encode", encode)
    build.assign(rounding.sign.eq(total.sign), rounding.norm.eq(total.norm), rounding.sticky.eq(total.sticky))
    build.assign(encode.sign.eq(total.sign), encode.sig.eq(rounding.sig), encode.hidden.eq(total.norm[-1]))
    build.assign(encode.e_norm.eq(total.e_norm))
    build.drive(encode.special, special)
    return encode.d
