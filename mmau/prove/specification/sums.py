"""Programs of sums, the table [sums] of a unit file, as terms of their operands (golden/chains/sum_chain.py)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from golden import Unit
from golden.arithmetic.formats import Format
from golden.arithmetic.specials import quiet_nan
from golden.chains.sum_chain import Node, Sort, Sum, program
from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.terms import Bits, Terms
from mmau.prove.specification.conversion import converted, special_code
from mmau.prove.specification.fma import rounded_sum
from mmau.prove.specification.fused import decoded, exact_total
from mmau.prove.specification.numbers import Number
from mmau.prove.specification.observer import Observer
from mmau.prove.specification.rounded_sums import Rounding, lifted
from mmau.prove.specification.step_results import Code, Result, Special, Term, Total
from mmau.prove.specification.steps import accumulate, addend, align, combine, decode, max_exp, multiply
from rtl.operations.sums import SumShape, circuit_sums, code_formats, factors_of, product_zero_exps, scale_at

Member = tuple[Term, Special]
"""A member of a sum: a term, and its flags for values that are not finite."""


def program_of_sums(terms: Terms, unit: Unit, ports: Mapping[str, Bits], observer: Observer) -> Bits:
    """The code of d that a program of sums gives (golden: `sum_chain.sum_of`), one sum after the other.

    From the circuit it takes the order of a sum's terms and the exponents with which zeros count, neither of which changes
    an exact sum; sums that cut their terms have golden's.

    Raises:
        NoTerm: the circuit does not make golden's sums.
    """
    o, K = unit.operation, unit.usual_K
    assert unit.sums is not None
    shapes = circuit_sums(o, unit.sums, K)
    _check_sums(program(o, unit.sums, K), [shape.sum for shape in shapes], o.d)
    x, y = (decoded(terms, observer, name, ports[port], fmt, K) for name, port, fmt in (("x", "a", o.a), ("y", "b", o.b)))
    zero = Bits(terms.number(0, o.c.width).term, o.c.width)  # a term like any other code
    places: dict[str, Member | Bits] = {"c": ports["c"], "0": zero}
    zero_exps = product_zero_exps(shapes)
    for k, (p, q) in enumerate(zip(x, y, strict=True)):
        places[f"p{k}"] = observer.term(f"multiply_{k}", *multiply(p, q, o.product_frac, zero_exps[f"p{k}"]))
    formats = code_formats(o, [shape.sum for shape in shapes])
    for place, fmt in formats.items():
        if scale := scale_at(o, place):
            low = scale[1] * fmt.width
            places[place] = terms.part(ports[scale[0]], low + fmt.width - 1, low)

    def member(shape: SumShape, k: int) -> Member:
        text = shape.sum.members[k]
        name, inverted = text.removeprefix("-"), text.startswith("-")
        if factors := factors_of(name):
            return product(shape, k, factors)
        place = places[name]
        if not isinstance(place, Bits):
            term, special = place
            if inverted:
                return replace(term, sign=~term.sign), Special(special.nan, special.neg_inf, special.pos_inf)
            return place
        fmt, own = formats[name], shape.sum.name
        code = _negative(terms, place) if inverted else place
        z = observer.value(f"{own}_decode_{k}", decode(terms, fmt, code))
        zero_exp = shape.zero_exps[k] if shape.sum.align is None else shape.sum.align.e_zero
        return observer.term(f"{own}_term_{k}", *addend(z, fmt, zero_exp))

    def product(shape: SumShape, k: int, factors: Sequence[str]) -> Member:
        own, frac = f"{shape.sum.name}_{k}", sum(formats[each].man_bits for each in factors)
        p, q = (
            observer.value(f"{own}_factor_{number}", decode(terms, formats[each], _code_of(places, each)))
            for number, each in enumerate(factors)
        )
        return observer.term(f"multiply_{own}", *multiply(p, q, frac, shape.zero_exps[k]))

    for shape in shapes:
        members = [member(shape, k) for k in range(len(shape.sum.members))]
        places[shape.sum.name] = _code(terms, shape, members, observer)
    d = places[shapes[-1].sum.name]
    assert isinstance(d, Bits)
    if d.width < o.d.width:
        d = terms.joined([d, terms.number(0, o.d.width - d.width)])
    return observer.value("d", Result(Code(d))).code.bits


def _code_of(places: Mapping[str, Member | Bits], name: str) -> Bits:
    code = places[name]
    assert isinstance(code, Bits)
    return code


def _check_sums(golden: Sequence[Sum | Sort], made: Sequence[Sum], d: Format) -> None:
    """Raise NoTerm unless a circuit makes golden's sums, each of the same members, and one more if d has another format than
    the last of them."""
    last = golden[-1]
    assert isinstance(last, Sum)
    sums = [*golden, Sum("d", (last.name,), Node("RNE", d))][: len(made)]
    alike = all(
        isinstance(g, Sum) and g._replace(members=()) == m._replace(members=()) for g, m in zip(sums, made, strict=True)
    )
    if (
        not alike
        or any(sorted(g.members) != sorted(m.members) for g, m in zip(sums, made, strict=True))
        or len(made) < len(golden)
    ):
        raise NoTerm("the circuit does not make the sums of the program, each of its members")
    exact = made[-1].node.format
    if (exact.exp_bits, exact.bias) != (d.exp_bits, d.bias) or exact.man_bits > d.man_bits:
        raise NoTerm(f"d in {d} does not hold the last sum, which is in {exact}")


def _negative(terms: Terms, code: Bits) -> Bits:
    top = code.width - 1
    flipped = terms.choice(terms.part(code, top, top), lambda: terms.number(0, 1), lambda: terms.number(1, 1))
    return terms.joined([flipped, terms.part(code, top - 1, 0)])


def _code(terms: Terms, shape: SumShape, members: Sequence[Member], observer: Observer) -> Bits:
    """The code of one sum (golden: `OneRow.sum`)."""
    sum_ = shape.sum
    name, rho = sum_.name, sum_.node.rho
    if shape.F is not None:
        pairs = list(members)
        if shape.lift:
            pairs[0] = lifted(pairs[0][0], shape.lift), pairs[0][1]
        return rounded_sum(name, pairs, Rounding(rho, overflow="by-mode"), f"{name}_specials", observer)[0]
    summed, specials = [term for term, _ in members], [special for _, special in members]
    if len(members) == 1:
        special, total, lsb = specials[0], Total(summed[0].sign, summed[0].sig), summed[0].exp - summed[0].frac
    else:
        special = observer.value(f"{name}_specials", combine(specials))
        observer.only(special, members)
        exact = sum_.align is None
        total, lsb = exact_total(name, summed, sum_.node.mode, observer) if exact else _aligned(sum_, summed, observer)
    finite = converted(total, lsb, rho, "by-mode")
    otherwise = special_code(special, rho.d, quiet_nan(rho.d))
    return observer.code(f"{name}_encode", terms.choice(special.finite.bits, lambda: finite, lambda: otherwise))


def _aligned(sum_: Sum, summed: Sequence[Term], observer: Observer) -> tuple[Total, Number]:
    """The sum of terms that are cut at their largest exponent, and the exponent of its last bit."""
    at = sum_.align
    assert at is not None
    largest = observer.value(f"{sum_.name}_max_exp", max_exp(summed))
    aligned = [
        observer.value(f"{sum_.name}_align_{k}", align(term, largest.e_max, at.F, at.truncation))
        for k, term in enumerate(summed)
    ]
    total = observer.total(f"{sum_.name}_accumulate", aligned, accumulate(aligned))
    return total, largest.e_max - at.F
