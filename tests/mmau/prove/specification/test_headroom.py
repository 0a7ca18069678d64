"""RDNA's rules against changed ones: the netlist of a datapath is refuted by a specification with one statement
changed, and the operands that the solver finds show it: there golden gives what the netlist gives."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from bitwuzla import Kind

from golden import Unit
from golden.arithmetic.conversion import conversion
from golden.arithmetic.formats import FP32, Format
from golden.arithmetic.specials import factor_nan, invalid_nan
from golden.operations import OCFDPA, PSFDPA
from golden.operations.headroom_fdpa import HeadroomFDPA
from mmau.prove.counterexample import golden_result
from mmau.prove.datapath.unit_questions import SPECIFICATIONS
from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.terms import Bits, Terms, deep_stack
from mmau.prove.smtlib import question
from mmau.prove.solvers.with_bitwuzla import solve
from mmau.prove.specification import conversion as CONVERSION
from mmau.prove.specification import headroom, steps
from mmau.prove.specification.conversion import converted as CONVERTED
from mmau.prove.specification.numbers import Flag, Number, any_of, choose, total
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.step_results import Aligned, Operand, Special, Term, Total
from mmau.prove.targets import combinational_netlist
from tests.mmau.prove.provable_units import not_proved, unit_of, verilog_of
from tests.volume import one_in

pytestmark = pytest.mark.slow

SECONDS = 120.0

_RHO = {
    "fp32": {"c": "fp32", "rho": "RNE-FP32", "e_zero": -126},
    "fp16": {"c": "fp16", "rho": "RNE-FP16", "e_zero": -14},
    "bf16": {"c": "bf16", "rho": "RNE-FP32-RZ-BF16", "e_zero": -126},
}


def rdna3(factor: str, d: str, **keys: Any) -> OCFDPA:
    """The step of RDNA3."""
    fixed: dict[str, Any] = {"a": factor, "b": factor, "L": 2, "F": 26, "h": 2, **_RHO[d]}
    return OCFDPA(**(fixed | {"flush_inputs": True, "flush_results": d != "fp16"} | keys))


def rdna4(factor: str, d: str, L: int = 4, **keys: Any) -> PSFDPA:
    """The step of RDNA4's WMMA."""
    fixed: dict[str, Any] = {"a": factor, "b": factor, "L": L, "P": 2, "F": 26, "h": 2, **_RHO[d]}
    return PSFDPA(**(fixed | keys))


OC, PS = rdna3("e5m2", "fp16"), rdna4("e5m2", "fp16")
"""With factors of fp16's range and three bits, for a solver's sake: its time goes into multipliers."""

Patch = Mapping[str, Any]
"""Functions of the specification that are replaced, by name."""


def tells_apart(operation: HeadroomFDPA, changed: HeadroomFDPA, patch: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Find operands on which the operation's netlist differs from the changed specification, and check them in golden."""
    unit: Unit = unit_of(operation)
    with deep_stack() as manager:
        terms = Terms(manager)
        inputs, d = combinational_netlist(terms, verilog_of(operation))
        with monkeypatch.context() as patched:
            for name, function in patch.items():
                patched.setattr(headroom, name, function)
            specified = SPECIFICATIONS[type(operation)](terms, changed, inputs, Observer())
        text, variables = question(manager.mk_term(Kind.DISTINCT, [d.term, specified.term]))
        answer = solve(text, SECONDS)
        assert answer.verdict == "sometimes"
        by_port = {bits.term: port for port, bits in inputs.items()}
        found = {by_port[variable]: answer.values[f"v{k}"] for k, variable in enumerate(variables)}
        rows = {port: found.get(port, 0) for port in inputs}
        given = {bits.term: rows[port] for port, bits in inputs.items()}
        got, other = Evaluation([d.term, specified.term]).of(given)
    assert got == golden_result(unit, rows) != other


# 1. alignment and the sum


def normalised(product: Term, h: int) -> Term:
    """A product of 2 or more counts one exponent higher."""
    top = product.sig.bit(product.frac + 1)
    one, zero = Number.constant(product.exp.terms, 1), Number.constant(product.exp.terms, 0)
    sig = choose(top, product.sig, product.sig.times_two_to(1))
    return Term(product.sign, product.exp + choose(top, one, zero) + h, sig, product.frac + 1 + h)


def counted(aligned: Sequence[Aligned], flags: Sequence[Flag], sign: Flag) -> Aligned:
    """As many increments as flags are set."""
    zero, one = Number.constant(sign.terms, 0), Number.constant(sign.terms, 1)
    return Aligned(sign, total([choose(flag, one, zero) for flag in flags]))


def none_missing(aligned: Sequence[Aligned]) -> Aligned:
    sign = aligned[-1].sign
    return Aligned(sign, Number.constant(sign.terms, 0))


def none_of_zeros(aligned: Sequence[Aligned]) -> Aligned:
    *others, frame = aligned
    flags = [(term.sign ^ frame.sign) & ~term.aligned.is_zero() for term in others]
    return counted(aligned, flags, ~frame.sign)


def positive_frame(aligned: Sequence[Aligned]) -> Aligned:
    sign = aligned[-1].sign
    return counted(aligned, [term.sign for term in aligned], Flag(sign.terms, sign.terms.number(1, 1)))


def aligned_down(term: Term, e_max: Number, F: int, mode: str) -> Aligned:
    return steps.align(term, e_max, F, "RD")


def sums_toward_zero(term: Term, e_max: Number, F: int, mode: str) -> Aligned:
    return steps.align(term, e_max, F, "RZ" if term.frac == F else "RD")


def c_toward_zero(term: Term, e_max: Number, F: int, mode: str) -> Aligned:
    return steps.align(term, e_max, F, "RD" if term.frac == F else "RZ")


def never_dropped(c: Term, e_max: Number, F: int) -> Flag:
    return steps.no(c.exp.terms)


def dropped_if_small(c: Term, e_max: Number, F: int) -> Flag:
    """Whether |c| < 2^(e_max − F), of a subnormal c too."""
    return steps.align(c, e_max, F, "RZ").aligned.is_zero()


# 2. subnormals, rounding


def subnormals(**treated: str) -> Patch:
    """A treatment by format."""
    original = headroom._subnormals
    return {"_subnormals": lambda operation, fmt: treated.get(fmt.name, original(operation, fmt))}


def flushed_early(total: Any, lsb: Number, rho: Any, overflow: Any, flush: bool, canonical: bool) -> Bits:
    """A sum below the normal numbers is +0 before it is rounded."""
    code, fmt = CONVERTED(total, lsb, rho, overflow, flush, canonical), rho.rounding_format
    tiny = CONVERSION.normalised(total.total, lsb, fmt, True).exp < fmt.e_min
    return lsb.terms.choice(tiny.bits, lambda: lsb.terms.number(0, fmt.width), lambda: code)


def flushed_late(total: Any, lsb: Number, rho: Any, overflow: Any, flush: bool, canonical: bool) -> Bits:
    """A sum is rounded to a subnormal number, which then is +0."""
    fmt, terms = rho.rounding_format, lsb.terms
    code = CONVERTED(total, lsb, rho, overflow, False, canonical)
    stored = terms.part(code, fmt.width - 2, fmt.man_bits)
    return terms.choice(terms.truth(terms.is_nonzero(stored)), lambda: code, lambda: terms.number(0, fmt.width))


def through_fp32(total: Any, lsb: Number, rho: Any, overflow: Any, flush: bool, canonical: bool) -> Bits:
    """A sum is rounded to fp32, then to the format of ρ."""
    code = CONVERTED(total, lsb, conversion("RNE-FP32"), overflow, False, canonical)
    x = steps.decode(lsb.terms, FP32, code)
    again = CONVERTED(Total(x.sign, x.sig), x.exp - FP32.man_bits, rho, overflow, flush, canonical)
    infinite = lsb.terms.joined([x.sign.bits, lsb.terms.number(rho.d.infinity, rho.d.width - 1)])
    return lsb.terms.choice((x.inf | x.nan).bits, lambda: infinite, lambda: again)


# 3. NaN


def nan_in_order(*order: str) -> Patch:
    """The causes of a NaN in another order; an infinite c against an infinite product is the last."""

    def written(terms: Terms, factors: Sequence[Operand], specials: Sequence[Special], z: Operand, d: Format) -> Bits:
        both = any_of([s.pos_inf for s in specials]) & any_of([s.neg_inf for s in specials])
        causes = {
            "factor": (any_of([factor.nan for factor in factors]), terms.number(factor_nan(d), d.width)),
            "invalid": (_invalid(factors, specials) | both, terms.number(invalid_nan(d), d.width)),
            "c": (z.nan, headroom._quieted(terms, z, d)),
        }
        code = terms.number(invalid_nan(d), d.width)
        for cause in reversed(order):
            flag, of_cause = causes[cause]
            code = _first(terms, flag, of_cause, code)
        return code

    return {"written_nan": written}


def _first(terms: Terms, flag: Flag, code: Bits, otherwise: Bits) -> Bits:
    return terms.choice(flag.bits, lambda: code, lambda: otherwise)


def _invalid(factors: Sequence[Operand], specials: Sequence[Special]) -> Flag:
    """Whether a product is 0·∞; the elements of a come before those of b."""
    half = len(factors) // 2
    pairs = zip(factors[:half], factors[half:], strict=True)
    return any_of([(x.inf & y.zero) | (x.zero & y.inf) for x, y in pairs])


def not_quieted(terms: Terms, z: Operand, d: Format) -> Bits:
    ones = terms.number((1 << d.exp_bits) - 1, d.exp_bits)
    return terms.joined([z.sign.bits, ones, terms.part(z.sig.bits, d.man_bits - 1, 0)])


NAN_ORDERS = {
    "c first": nan_in_order("c", "factor", "invalid"),
    "c before invalid": nan_in_order("factor", "c", "invalid"),
    "invalid before factor": nan_in_order("invalid", "factor", "c"),
    "c not quieted": {"_quieted": not_quieted},
}

CHANGED: dict[str, tuple[HeadroomFDPA, dict[str, Any], Patch]] = {
    "OC: F 25": (OC, {"F": 25}, {}),
    "OC: F 27": (OC, {"F": 27}, {}),
    "OC: h 1": (OC, {"h": 1}, {}),
    "OC: h 3": (OC, {"h": 3}, {}),
    "OC: products normalised before alignment": (OC, {}, {"lifted": normalised}),
    "OC: two's complement": (OC, {}, {"missing_increments": none_missing}),
    "OC: floor": (OC, {}, {"missing_increments": none_missing, "align": aligned_down}),
    "OC: zeros contribute nothing": (OC, {}, {"missing_increments": none_of_zeros}),
    "OC: frame always +": (OC, {}, {"missing_increments": positive_frame}),
    "OC: bf16 factors keep subnormals": (rdna3("bf16", "fp32", L=1), {}, subnormals(bf16="kept")),
    "OC: factors of fp16's range flushed": (OC, {}, subnormals(e5m2="±0")),
    "OC: fp32 c keeps subnormals": (rdna3("bf16", "fp32", L=1), {}, subnormals(fp32="kept")),
    "OC: fp16 c flushed": (OC, {}, subnormals(fp16="±0")),
    # with d in fp32 a sum so small is flushed, whatever e_max is
    "OC: no e_min floor": (rdna3("e5m2", "fp16", F=12), {"e_zero": -60}, {}),
    "OC: flushed before rounding": (rdna3("bf16", "fp32", L=1), {}, {"converted": flushed_early}),
    "OC: rounded to a subnormal, then flushed": (rdna3("bf16", "fp32", L=1), {}, {"converted": flushed_late}),
    "OC: no flush": (rdna3("bf16", "fp32", L=1), {"flush_results": False}, {}),
    "OC: bf16 output RNE": (rdna3("bf16", "bf16", L=1), {"rho": "RNE-BF16"}, {}),
    "OC: fp16 output through fp32": (rdna3("e5m2", "fp16", L=1), {}, {"converted": through_fp32}),
    **{f"OC: NaN, {name}": (OC, {}, patch) for name, patch in NAN_ORDERS.items()},
    "PS: F 25": (PS, {"F": 25}, {}),
    "PS: F 27": (PS, {"F": 27}, {}),
    "PS: h 1": (PS, {"h": 1}, {}),
    "PS: h 3": (PS, {"h": 3}, {}),
    "PS: products normalised before alignment": (PS, {}, {"lifted": normalised}),
    "PS: pair sums toward zero": (PS, {}, {"align": sums_toward_zero}),
    "PS: c toward zero": (PS, {}, {"align": c_toward_zero}),
    "PS: products floored singly": (PS, {"P": 1}, {}),
    "PS: one group of four": (PS, {"P": 4}, {}),
    "PS: c never dropped": (PS, {}, {"below_the_grid": never_dropped}),
    "PS: c dropped one exponent lower": (PS, {}, {"below_the_grid": lambda c, e_max, F: c.exp < e_max - (F + 1)}),
    "PS: c dropped one exponent higher": (PS, {}, {"below_the_grid": lambda c, e_max, F: c.exp <= e_max - F}),
    "PS: c dropped by its magnitude": (rdna4("e5m2", "fp16", L=2), {}, {"below_the_grid": dropped_if_small}),
    "PS: no e_min floor": (rdna4("e5m2", "fp16", L=2, F=12), {"e_zero": -60}, {}),
    "PS: bf16 subnormals flushed": (rdna4("bf16", "fp32", L=2), {"flush_inputs": True}, {}),
    "PS: bf16 output RNE": (rdna4("bf16", "bf16", L=2), {"rho": "RNE-BF16"}, {}),
    "PS: fp16 output through fp32": (rdna4("e5m2", "fp16", L=2), {}, {"converted": through_fp32}),
    "PS: tiny results flushed": (rdna4("bf16", "fp32", L=2), {"flush_results": True}, {}),
    **{f"PS: NaN, {name}": (PS, {}, patch) for name, patch in NAN_ORDERS.items()},
}
"""Operation, changed keys, changed functions of the specification, by the statement that is changed."""


SLOW_TO_REFUTE = {
    "PS: products normalised before alignment", "PS: one group of four", "PS: c toward zero",
    "PS: c dropped one exponent lower", "PS: c dropped by its magnitude", "PS: fp16 output through fp32", "PS: F 25",
    "PS: h 1", "OC: zeros contribute nothing", "OC: rounded to a subnormal, then flushed",
}  # fmt: skip
"""Of which a solver needs a second to half a minute."""


@pytest.mark.attack("faults of a netlist or a specification, in prove")
@pytest.mark.parametrize(
    "statement",
    [
        each if n % 2 and each not in SLOW_TO_REFUTE else pytest.param(each, marks=pytest.mark.long)
        for n, each in enumerate(CHANGED)
    ],
)
def test_each_statement_of_the_rule_is_refuted_where_it_is_changed(statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    operation, keys, patch = CHANGED[statement]
    tells_apart(operation, operation.changed(**keys), patch, monkeypatch)


@pytest.mark.parametrize("operation", one_in(2, [OC, rdna3("bf16", "bf16"), PS, rdna4("bf16", "fp16", L=2)]))
def test_nothing_is_refuted_where_nothing_is_changed(operation: HeadroomFDPA) -> None:
    assert not_proved(unit_of(operation)) == []
