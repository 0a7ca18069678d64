"""The conversion ρ of a sum: steps normalise, round and encode."""

from dataclasses import replace

from amaranth import Cat, Const, Mux, Value

from golden import Implementation
from golden.arithmetic.conversion import Conversion
from golden.arithmetic.formats import Format
from golden.arithmetic.rounding import overflows_to_largest
from golden.operations.exact_sum import ExactSum
from golden.operations.fused import FusedOperation
from rtl.datapath.fused_records import Code, MaxExponent, Normalised, NormalisedSum, SignedTotal
from rtl.datapath.step import Build
from rtl.steps.encode import Encode, ResultRules
from rtl.steps.interfaces import Special, Term
from rtl.steps.normalise import Normalise, NormaliseCount, NormaliseShift
from rtl.steps.round import Round


def result_rules(operation: FusedOperation, canonical: bool) -> ResultRules:
    """The rules of an operation for results that are not normal numbers, and its flags; `canonical` as in `ResultRules`."""
    tininess = operation.tininess if isinstance(operation, ExactSum) and operation.flags else None
    return ResultRules(canonical, "flush-tiny" if operation.flushes_results else "gradual", operation.overflow, tininess)


def normalise_total(
    build: Build, largest: MaxExponent, total: SignedTotal, result: Format, bounded: bool = True, narrows: int = 0
) -> NormalisedSum:
    """Step normalise: move the total's leading one to the top, as near as the e_min of the result's format allows.

    Args:
        bounded: whether e_min limits the shift; it does unless tiny results are flushed.
        narrows: as in `Normalise`.
    """
    component = Normalise(total.format, result, total.zeros is not None, _is_filled(total), bounded, narrows)
    return _normalised_total(build, component, largest, total)


def count_places(
    build: Build, largest: MaxExponent, total: SignedTotal, result: Format, bounded: bool, narrows: int
) -> Value:
    """The first part of step normalise: how far the total moves left; arguments as of `normalise_total`."""
    component = NormaliseCount(total.format, result, filled=_is_filled(total), bounded=bounded, narrows=narrows)
    build.place(f"{total.name}_normalise_count", component)
    build.assign(component.total.eq(total.total), component.e_max.eq(largest.exp))
    return component.left


def shift_total(
    build: Build, largest: MaxExponent, total: SignedTotal, left: Value, result: Format, bounded: bool, narrows: int
) -> NormalisedSum:
    """The second part of step normalise: the total moved `left` places; the other arguments as of `normalise_total`."""
    component = NormaliseShift(total.format, result, filled=_is_filled(total), bounded=bounded, narrows=narrows)
    normalised = _normalised_total(build, component, largest, total)
    build.assign(component.left.eq(left))
    return normalised


def _is_filled(total: SignedTotal) -> bool:
    return total.lost is not None and total.lost.fill is not None


def _normalised_total(build: Build, component: Normalise, largest: MaxExponent, total: SignedTotal) -> NormalisedSum:
    normalised, lost = _placed(build, total.name, component, total.sign, largest.exp, total.total), total.lost
    if total.zeros is not None:
        build.assign(component.zeros.eq(total.zeros))
    if lost is None:
        return normalised
    if lost.fill is not None:
        build.assign(component.fill.eq(lost.fill))
    return replace(normalised, sticky=normalised.sticky | lost.sticky)


def normalise_term(
    build: Build, name: str, term: Term, result: Format, bounded: bool = True, narrows: int = 0
) -> NormalisedSum:
    """Step normalise for a single term instead of a total."""
    component = Normalise(term.format, result, bounded=bounded, narrows=narrows)
    return _placed(build, name, component, term.sign, term.exp, term.sig)


def _placed(build: Build, name: str, component: Normalise, sign: Value, exp: Value, total: Value) -> NormalisedSum:
    build.place(f"{name}_normalise", component)
    build.assign(component.total.eq(total), component.e_max.eq(exp))
    return NormalisedSum(name, sign, component.norm, component.e_norm, component.sticky, component.normalised)


def encode_result(
    build: Build, normalised: Normalised, rho: Conversion, implementation: Implementation, rules: ResultRules
) -> Code:
    """Steps round and encode of a step's last value, and its flags; arguments as of `round_and_encode`."""
    word = round_and_encode(build, normalised.sum, normalised.special, rho, implementation, rules)
    width, invalid = rho.d.width, normalised.invalid
    code = word if invalid is None else word[:width]
    written = code if normalised.nan is None else Mux(normalised.special.nan, normalised.nan, code)
    return Code(written, None if invalid is None else Cat(word[width:], Const(0, 1), invalid))


def round_and_encode(
    build: Build,
    total: NormalisedSum,
    special: Special,
    rho: Conversion,
    implementation: Implementation,
    rules: ResultRules,
) -> Value:
    """Steps round and encode: the code of a normalised sum, or of a special value in its place, below the flags that the
    rules ask for.

    Args:
        special: the flags of a sum that is not finite.
        rho: the conversion.
        implementation: the options of the circuit.
        rules: rules for results that are not normal numbers; if tiny results are flushed, the sum must be normalised
            unbounded.
    """
    compound, modes = implementation.rounder == "compound", build.modes
    several = () if modes is None else modes.all
    rounding = Round(len(total.norm), rho.rounding_format.man_bits, several or rho.mode, compound)
    norm_bits = 0 if rules.tininess is None else len(total.norm)
    encode = Encode(rho, total.e_norm.shape(), rules, implementation.result_exp, several, norm_bits)
    build.place(f"{total.name}_round", rounding)
    build.place(f"{total.name}_encode", encode)
    build.assign(rounding.sign.eq(total.sign), rounding.norm.eq(total.norm), rounding.sticky.eq(total.sticky))
    build.assign(encode.sign.eq(total.sign), encode.sig.eq(rounding.sig), encode.hidden.eq(total.norm[-1]))
    build.assign(encode.e_norm.eq(total.e_norm))
    build.drive(encode.special, special)
    if rules.tininess is not None:
        build.assign(encode.norm.eq(total.norm), encode.sticky.eq(total.sticky))
    if modes is not None:
        chosen = Cat(*(modes.is_any([mode]) for mode in modes.all))
        build.assign(*(part.chosen.eq(chosen) for part in (rounding, encode) if "chosen" in part.signature.members))
        positive, negative = (
            modes.is_any([mode for mode in modes.all if overflows_to_largest(rules.overflow, mode, sign)])
            for sign in (False, True)
        )
        build.assign(encode.to_largest.eq(Mux(total.sign, negative, positive)))
    return encode.d
