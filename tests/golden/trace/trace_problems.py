"""A list of the inconsistencies of a trace, by independent arithmetic."""

from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any

from golden.arithmetic.integer_format import IntegerFormat
from golden.operations import OPERATIONS, Operation
from golden.trace import Exact, Narrowing, Rounding, Scaling, Special, Step, Sum, Term, Trace
from tests.twin.twin_numbers import decode

Problems = list[str]


def fraction(number: Exact) -> Fraction:
    return Fraction(number.sig) * Fraction(2) ** number.exp


def problems(trace: Trace) -> Problems:
    """The rules that a trace breaks."""
    found = []
    for number, step in enumerate(trace.steps):
        for place, part in enumerate(step.parts):
            found += [f"step {number}: {problem}" for problem in problems_of(part, step.parts[:place])]
        found += problems_between(trace, step)
        found += [f"step {number}: {name} is in no sum" for name in missing_terms(step, OPERATIONS[trace.operation])]
        found += [f"step {number}: {problem}" for problem in problems_of_two_steps(trace, step)]
        goes_on = "c" if step.products else "sum of the products"
        if number and [x.code for x in step.operands if x.name == goes_on] != [trace.steps[number - 1].d.code]:
            found.append(f"step {number}: it does not go on from the d of the step before")
    if trace.steps[-1].d.code != trace.d:
        found.append("the last step's d is not the trace's")
    return found


def problems_of_two_steps(trace: Trace, step: Step) -> Problems:
    """TR- and GTR-FDPA end with the sum of T and c at e_out."""
    sums = [part for part in step.parts if isinstance(part, Sum)]
    if trace.operation not in ("TR-FDPA", "GTR-FDPA") or not sums:
        return []
    last = sums[-1]
    named = (last.of, last.exponent, [term.name for term in last.terms]) == ("T and c", "e_out", ["T", "c"])
    return [] if named else ["the last sum is not of T and c"]


def missing_terms(step: Step, operation: type[Operation]) -> set[str]:
    """The products (of an addition: a and b; of a conversion: a), and c, that no sum has although all are finite."""
    if any(isinstance(part, Special) for part in step.parts):
        return set()
    summed = {term.name for part in step.parts if isinstance(part, Sum) for term in part.terms}
    terms = set()
    for k in step.products:
        factors = [f"{name}[{k}]" for name in ("a", "b") if name in operation.operands]
        terms |= {*factors} if operation.name == "ADD" else {"·".join(factors)}
    return (terms | {"c"} & {*operation.operands}) - summed


def problems_of(part: Any, before: tuple[Any, ...]) -> Problems:
    if isinstance(part, Sum):
        return problems_of_sum(part, before)
    if isinstance(part, Rounding):
        return problems_of_rounding(part)
    if isinstance(part, Scaling):
        product = prod(map(fraction, (part.before, *part.scales)))
        return [] if product == fraction(part.exact) else ["scaled value is not the product"]
    if isinstance(part, Narrowing):
        return problems_of_narrowing(part, before)
    assert isinstance(part, Special)
    return [] if part.reasons else ["a special without a reason"]


def problems_of_narrowing(part: Narrowing, before: tuple[Any, ...]) -> Problems:
    """The total is that of the sum before; the record states the excess over d's format, and the result follows the rule."""
    codes = part.format.codes
    lowest, largest = -codes // 2, codes // 2 - 1
    value = part.code - codes * (part.code > largest)
    ends = [value] if part.rule == "wrap" else [lowest if part.total < 0 else largest]
    expected = [part.total] if lowest <= part.total <= largest else ends
    found = [] if part.total == fraction(before[-1].total) else ["narrowed is not the total"]
    found += [] if value in expected and part.beyond == part.total - value else ["the amount beyond the range is wrong"]
    return found if (part.total - value) % codes == 0 or part.rule == "saturate" else [*found, "not wrapped"]


def has_exponent(term: Term, before: tuple[Any, ...]) -> bool:
    """Whether the term has an exponent for alignment: it is not zero, or it is a sum of terms that are not zero."""
    sums = {part.of: part for part in before if isinstance(part, Sum)}
    scalings = {part.name: part for part in before if isinstance(part, Scaling)}
    if term.name.startswith("group ") and term.name not in scalings:
        return any(t.sig for t in sums[f"products of {term.name}"].terms)
    if term.name.startswith("group "):
        scaling = scalings[term.name]
        return bool(
            all(scale.sig for scale in scaling.scales) and any(t.sig for t in sums[f"products of {term.name}"].terms)
        )
    if term.name == "T":
        parts = [sums[of] for of in ("products", "even products", "odd products") if of in sums]
        return any(t.sig for part in parts for t in part.terms)
    if term.name in ("even products", "odd products"):
        return any(t.sig for t in sums[term.name].terms)
    return term.sig != 0


def problems_of_sum(part: Sum, before: tuple[Any, ...]) -> Problems:
    found = []
    if sum((fraction(t.aligned) for t in part.terms), Fraction(0)) != fraction(part.total):
        found.append("aligned terms do not add up to the total")
    for term in part.terms:
        found += problems_of_term(term, part)
    if part.e is not None:
        exps = [t.exp for t in part.terms]
        if part.e != max(exps):
            found.append(f"{part.exponent} is not the largest exponent")
        if part.set_by != tuple(t.name for t in part.terms if t.exp == part.e and has_exponent(t, before)):
            found.append(f"{part.exponent} was set by others")
    return found


def problems_of_term(term: Term, part: Sum) -> Problems:
    value = (-1) ** term.sign * Fraction(term.sig) * Fraction(2) ** (term.exp - term.frac)
    exact, aligned, cut = fraction(term.exact), fraction(term.aligned), fraction(term.cut)
    found = []
    if value != exact:
        found.append(f"{term.name}: its parts are not its value")
    if exact != aligned + cut:
        found.append(f"{term.name}: exact is not aligned plus cut")
    unit = Fraction(2) ** term.aligned.exp
    limits = {"RZ": abs(cut) < unit and cut * exact >= 0, "RD": 0 <= cut < unit, "RO": abs(cut) < unit}
    if part.truncation.endswith("one's complement in the sign frame of c"):
        return found + problems_of_inversion(term, part)
    if not term.dropped and not limits.get(part.truncation.split(", ")[0], cut == 0):
        found.append(f"{term.name}: {part.truncation} does not cut {term.cut}")
    return found


def problems_of_inversion(term: Term, part: Sum) -> Problems:
    """Of c's sign a magnitude is cut toward zero; of the other sign, which a zero product may have, it is a unit more."""
    of_c = fraction(next(t for t in part.terms if t.name == "c").exact)
    exact, aligned, unit = fraction(term.exact), fraction(term.aligned), Fraction(2) ** term.aligned.exp
    kept = abs(exact) - abs(exact) % unit
    if abs(aligned) not in (kept, kept + unit) or aligned * exact < 0:
        return [f"{term.name}: neither cut nor inverted"]
    inverted = abs(aligned) != kept
    if term.name == "c" or not of_c:
        return ["c is inverted"] if term.name == "c" and inverted else []
    expected = exact * of_c < 0 if exact else inverted and aligned * of_c < 0
    return [] if inverted == expected else [f"{term.name}: its sign in the frame of c is another"]


def problems_of_rounding(part: Rounding) -> Problems:
    rounded = abs(fraction(part.rounded))
    exact = abs(fraction(part.exact) + part.amount * Fraction(2) ** (part.exact.exp - 300))
    if part.last is None or part.e_norm is None:
        return [] if exact == rounded == 0 else ["no leading one in what is not zero"]
    found = []
    unit = Fraction(2) ** part.last
    lost = exact - part.kept * unit
    if not 0 <= lost < unit:
        found.append("kept is not the part above the last bit")
    if part.guard != (lost >= unit / 2) or part.sticky != (lost not in (0, unit / 2)) or part.tie != (lost == unit / 2):
        found.append("guard, sticky and tie do not describe what is lost")
    direction = "exact" if not lost else "toward zero" if rounded == part.kept * unit else "away from zero"
    if part.direction != direction or rounded not in (part.kept * unit, (part.kept + bool(lost)) * unit):
        found.append("rounded is not a neighbour, or its direction is another")
    if not Fraction(2) ** part.e_norm <= exact < Fraction(2) ** (part.e_norm + 1):
        found.append("e_norm is not the exponent of the leading one")
    if part.code is not None and not part.note.startswith(("overflow", "subnormal, flushed", "zero")):
        value = decode(str(part.format), part.code).value
        if part.note.endswith("low 16 bits dropped"):
            rounded -= rounded % two_to_last_bit(part)
        if abs(value) != rounded:
            found.append(f"code {part.code:#x} is not the rounded value")
    return found


def two_to_last_bit(part: Rounding) -> Fraction:
    """The last bit that bf16 keeps of an fp32 number."""
    assert part.last is not None
    magnitude = abs(fraction(part.rounded))
    exponent = next(e for e in range(part.last, 130) if magnitude < Fraction(2) ** (e + 1))
    return Fraction(2) ** (max(exponent, -126) - 7)


def problems_between(trace: Trace, step: Step) -> Problems:
    """The rules on values that one part hands to the next, and on the result of the last."""
    found = []
    for before, after in pairwise(step.parts):
        if not isinstance(before, Sum) or not isinstance(after, Rounding):
            continue
        if fraction(before.total) != fraction(after.exact):
            found.append("what is rounded is not the total before it")
        lost = "sticky" in trace.parameters and before.total.sig and any(t.cut.sig for t in before.terms)
        negative = trace.parameters.get("truncation") == "RZ" and before.total.sig < 0
        if after.amount != (0 if not lost else -1 if negative else 1):
            found.append("what alignment cut off is not what joins the total")
    last = step.parts[-1]
    code = getattr(last, "code", step.d.code)
    zero = not isinstance(step.d.format, IntegerFormat) and code is not None and decode(str(step.d.format), code).value == 0
    if code is not None and code != step.d.code and not zero:
        found.append("the last part's code is not d")
    return found
