"""Covergroups of the inputs of a step: the class of every operand in every place, scales, steps; and of special values: the
number and kind of special terms, and each rule that makes a result special."""

import re
from collections.abc import Callable, Sequence

import numpy as np

from cosim.coverage.covergroup import (
    CLASSES,
    INFINITE,
    NAN,
    NORMAL,
    SUBNORMAL,
    ZERO,
    Covergroup,
    IntArray,
    Point,
    Reason,
    Seen,
    chosen,
    classes,
    reachable,
)
from cosim.coverage.shapes import flushes
from golden import Operation
from golden.arithmetic.formats import Format
from golden.operations.blocks import SCALES


def operand_groups(operation: Operation, steps: int, a: Format, b: Format) -> list[Covergroup]:
    """The covergroups of the inputs: class of each operand in each place, extremes of scales, c at each kind of step.

    Args:
        a, b: the formats of elements, whose carriers the operation multiplies.
    """
    L = operation.length
    groups = [class_group("a", operation.a, L, lambda seen: seen.a, not_carried(a))]
    if "b" in operation.operands:
        groups.append(class_group("b", operation.b, L, lambda seen: seen.b, not_carried(b)))
    if "c" in operation.operands:
        groups.append(class_group("c", operation.c, 1, lambda seen: seen.c[:, :1, None]))
    if operation.scale_format is not None:
        groups += scale_groups(operation, operation.scale_format)
    if steps > 1:
        groups.append(step_group(operation, steps))
    return groups


def not_carried(operand: Format) -> Callable[[str], Reason]:
    """The reason if no code of a format without fields is carried by one of a class."""
    if operand.carried_by is operand:
        return reachable
    codes = operand.carried_codes(np.arange(operand.codes))
    there = {CLASSES[number] for number in classes(operand.carried_by, codes)}
    return lambda cls: None if cls in there else f"no code of {operand} is {cls} in its carrier"


def class_group(
    name: str,
    operand: Format,
    places: int,
    found: Callable[[Seen], IntArray],
    unreachable: Callable[[str], Reason] = reachable,
) -> Covergroup:
    """The classes of a format, in each place."""
    where = Point("place", tuple(f"{name}[{k}]" if places > 1 else name for k in range(places)))
    return Covergroup(
        f"class of {name}",
        (where, Point("class", CLASSES)),
        lambda seen: (np.arange(places), found(seen)),
        lambda _, cls: _not_in_format(operand, cls) or unreachable(cls),
    )


def _not_in_format(operand: Format, cls: str) -> Reason:
    """Return the reason if a format has no code of a class."""
    if cls.startswith("-") and not operand.signed:
        return f"{operand} has no sign"
    if cls.endswith("infinity") and operand.infinity is None:
        return f"{operand} has no infinities"
    if cls == "NaN" and operand.nan is None:
        return f"{operand} has no NaN"
    if cls == "-0" and not operand.negative_zero:
        return f"{operand} has no -0"
    if not operand.has_zero and (cls.endswith("0") or cls.endswith("subnormal")):
        return f"{operand} has neither zeros nor subnormals"
    if not operand.subnormals and cls.endswith("subnormal"):
        return f"{operand} has no subnormals"
    return None


def _no_result(operation: Operation, cls: str) -> Reason:
    """The classes that d never has."""
    structure = operation.structure
    if cls == "-0" and structure.zero == "positive" and structure.headroom is None:
        return "a result of zero is +0"
    if "subnormal" in cls and structure.last.rounding is not None and structure.last.rounding.flushes:
        return "subnormal results are flushed"
    return None


def scale_groups(operation: Operation, scale: Format) -> list[Covergroup]:
    """Covergroups of the scales: the class of each by its place, and both scales at the ends of their ranges."""
    count = operation.scales_per_step
    normal_ones = ("smallest normal",) if scale.subnormals else ()
    extremes = ("smallest", *normal_ones, "between", "largest")

    read = [number for number, name in enumerate(SCALES["both"]) if name in operation.scale_operands]

    def ends(seen: Seen) -> tuple[IntArray, ...]:
        found = []
        for codes in (seen.scales[number] for number in read):
            field = codes & scale.magnitude_mask
            smallest = 1 if scale.has_zero else 0
            cls = classes(scale, codes)
            normal = cls == NORMAL
            smallest_normal = [normal & (field == 1 << scale.man_bits)] if scale.subnormals else []
            between = normal & (field != smallest) & (field != scale.max_finite) | (cls == SUBNORMAL)
            found.append(chosen(field == smallest, *smallest_normal, between, field == scale.max_finite))
        return tuple(found)

    return [
        *(
            class_group(name, scale, count, lambda seen, n=number: classes(scale, seen.scales[n]))  # type: ignore[misc]
            for number, name in zip(read, operation.scale_operands, strict=True)
        ),
        Covergroup("ends of the scales", tuple(Point(name, extremes) for name in operation.scale_operands), ends, reachable),
    ]


def step_group(operation: Operation, steps: int) -> Covergroup:
    """The class of c at the first, a middle and the last step of a chain."""
    names = ("first step", "middle step", "last step")

    def sample(seen: Seen) -> tuple[IntArray, IntArray]:
        which = np.ones(steps, np.int64)
        which[0], which[-1] = 0, 2
        return which, seen.c

    def unreachable(step: str, cls: str) -> Reason:
        if step == "middle step" and steps < 3:
            return "a chain of two steps has none between"
        of = operation.c if step == "first step" else operation.d
        return _not_in_format(of, cls) or (None if step == "first step" else _no_result(operation, cls))

    return Covergroup("c of each step", (Point("step", names), Point("class of c", CLASSES)), sample, unreachable)


OF_C = re.compile(r"\bc\b")
"""A rule that has to do with c."""

SPECIALS = ("+infinity", "-infinity", "NaN")


def special_groups(operation: Operation) -> list[Covergroup]:
    """The covergroups of special values: number and kind of special terms, and each rule alone."""
    numbers = ("one", "two", "several")
    makeups = (*SPECIALS, "infinities of both signs", "NaN and infinities")
    limits = _special_limits(operation)

    def sample(seen: Seen) -> tuple[IntArray, IntArray]:
        terms = _special_terms(seen)
        plus, minus, nan = ((terms == n).sum(axis=-1) for n in range(3))
        makeup = chosen(
            (plus > 0) & (minus + nan == 0),
            (minus > 0) & (plus + nan == 0),
            (nan > 0) & (plus + minus == 0),
            (plus > 0) & (minus > 0) & (nan == 0),
            nan > 0,
        )
        count = plus + minus + nan
        return np.where(count > 0, np.minimum(count, 3) - 1, -1), makeup

    def unreachable(number: str, makeup: str) -> Reason:
        least = numbers.index(number) + 1
        kinds = 2 if makeup in makeups[3:] else 1
        if kinds > least:
            return "it takes two terms"
        return limits(least, makeup)

    terms = Covergroup("special terms", (Point("how many", numbers), Point("what", makeups)), sample, unreachable)
    return [terms, rule_group(operation)]


def _special_limits(operation: Operation) -> Callable[[int, str], Reason]:
    """The reason why this number of terms cannot be special in this combination; None if they can."""
    a, b, count = operation.a, operation.b, len(_term_names(operation))
    infinite = a.infinity is not None or b.infinity is not None
    special = infinite or a.nan is not None or b.nan is not None
    c = operation.c if "c" in operation.operands else a

    def limits(least: int, makeup: str) -> Reason:
        if least > count:
            return f"a step has {count} term{'s' * (count > 1)}"
        if least > 1 and not special:
            return f"products of {a} and {b} are finite, so that c alone can be special"
        of_infinities = makeup in ("+infinity", "-infinity", "infinities of both signs")
        if makeup != "NaN" and not infinite and c.infinity is None:
            return "no operand has infinities"
        if makeup == "NaN" and not special and c.nan is None:
            return "no operand has a NaN"
        if least > 1 and of_infinities and not infinite:
            return f"{a} and {b} have no infinities, so that c alone can be one"
        return None

    return limits


def _term_names(operation: Operation) -> list[str]:
    """What each term of a step that an operand can make special is called."""
    if operation.structure.adds_elements:
        return [name for name in "ab" if name in operation.operands]
    return [*(f"product {k}" for k in range(operation.length)), *(["c"] if "c" in operation.operands else [])]


def _special_terms(seen: Seen) -> IntArray:
    """Index in `SPECIALS` of each term [rows, steps, terms]; −1 for a finite one."""
    names, c = _term_names(seen.operation), _special_of(seen.c)[..., None]
    if seen.operation.structure.adds_elements:
        return np.concatenate([_special_of(getattr(seen, name)) for name in names], axis=-1)
    products = _special_products(seen)
    return np.concatenate([products, c], axis=-1) if names[-1] == "c" else products


def _special_of(cls: IntArray) -> IntArray:
    """Index in `SPECIALS`; −1 for finite values."""
    return np.where(cls >= INFINITE, cls - INFINITE, -1)


def _read(seen: Seen, operand: Format, cls: IntArray) -> IntArray:
    """The class that a step sees: with flushed inputs a subnormal counts as a zero."""
    is_low = (cls == SUBNORMAL) | (cls == SUBNORMAL + 1)
    return np.where(is_low, ZERO, cls) if flushes(seen.operation, operand) else cls


def _special_products(seen: Seen) -> IntArray:
    """Index in `SPECIALS` of each product [rows, steps, L]; −1 for a finite one."""
    a, b = _read(seen, seen.operation.a, seen.a), _read(seen, seen.operation.b, seen.b)
    nan = (a == NAN) | (b == NAN) | (_infinite(a) & _zero(b)) | (_zero(a) & _infinite(b))
    infinite = _infinite(a) | _infinite(b)
    return np.where(nan, 2, np.where(infinite, (a ^ b) & 1, -1))


def _any(found: IntArray) -> IntArray:
    """Return whether any element of a step has the property."""
    return np.asarray(found.any(axis=-1))


def _zero(cls: IntArray) -> IntArray:
    return np.isin(cls, (ZERO, ZERO + 1))


def _infinite(cls: IntArray) -> IntArray:
    return np.isin(cls, (INFINITE, INFINITE + 1))


def rule_group(operation: Operation) -> Covergroup:
    """Each rule of numerics.md, section 3, in rows where it alone makes the result special."""
    rules = _rules_of_elements(operation) if operation.structure.adds_elements else _rules(operation)
    rules = [rule for rule in rules if "c" in operation.operands or not OF_C.search(rule[0])]
    reasons = {name: why for name, _, why in rules}

    def sample(seen: Seen) -> Sequence[IntArray]:
        facts = _Facts(seen)
        return (chosen(*(condition(facts) for _, condition, _ in rules)),)

    return Covergroup("special rules", (Point("rule", tuple(reasons)),), sample, lambda name: reasons[name])


class _Facts:
    """The facts about a step on which the rules depend, arrays [rows, steps]."""

    def __init__(self, seen: Seen) -> None:
        a, b = _read(seen, seen.operation.a, seen.a), _read(seen, seen.operation.b, seen.b)
        products, c = _special_products(seen), seen.c
        self.of_a, self.of_b = (_special_of(cls).max(axis=-1) for cls in (a, b))
        self.nan_a, self.nan_b = _any(a == NAN), _any(b == NAN)
        self.nan_c = c == NAN
        zero_a, zero_b = _zero(a) & _infinite(b), _infinite(a) & _zero(b)
        self.zero_a, self.zero_b = _any(zero_a), _any(zero_b)
        self.flushed = _any((seen.a != a) & zero_a | (seen.b != b) & zero_b)
        self.of_both = _any(_infinite(a) & _infinite(b))
        self.plus, self.minus = _any(products == 0), _any(products == 1)
        self.plus_c, self.minus_c = c == INFINITE, c == INFINITE + 1
        self.nan_alpha, self.nan_beta, self.under_zero = self._of_scales(seen, products)
        self.nan_operands = (
            self.nan_a.astype(int) + self.nan_b + self.nan_c + self.nan_alpha + self.nan_beta + self.zero_a + self.zero_b
            + self.under_zero
        )  # fmt: skip
        special_result = seen.d >= INFINITE
        any_operand = _any(products >= 0) | (c >= INFINITE) | self.nan_alpha | self.nan_beta
        last_sums = seen.records.sums["flags"][..., -1] & 1
        self.too_large = (
            special_result & ~any_operand & (last_sums == 0) & (seen.operation.structure.product_limit is not None)
        )
        self.too_large_kind = np.where(self.too_large, seen.d - INFINITE, -1)

    def _of_scales(self, seen: Seen, products: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Three facts: a scale of A is NaN, a scale of B is NaN, an infinite product of GST-FDPA has a zero scale."""
        scale = seen.operation.scale_format
        if scale is None:
            nowhere = np.zeros(seen.c.shape, np.bool_)
            return nowhere, nowhere, nowhere
        alpha, beta = (classes(scale, codes) for codes in seen.scales)
        of_products = (_zero(alpha) | _zero(beta))[..., seen.blocks()]
        under_zero = of_products & np.isin(products, (0, 1)) & seen.operation.structure.scales_groups
        return _any(alpha == NAN), _any(beta == NAN), _any(under_zero)


def _rules_of_elements(operation: Operation) -> list[tuple[str, Callable[[_Facts], IntArray], Reason]]:
    """The rules that make a + b special, both of a format, or a alone."""
    of = operation.a

    def both(a: int, b: int) -> Callable[[_Facts], IntArray]:
        return lambda f: (f.of_a == a) & (f.of_b == b)

    rules = {
        "NaN in a": lambda f: (f.of_a == 2) & (f.of_b < 2), "NaN in b": lambda f: (f.of_b == 2) & (f.of_a < 2),
        "NaN in a and b": both(2, 2),
        "+infinity and -infinity": both(0, 1), "-infinity and +infinity": both(1, 0),
        "+infinity in both": both(0, 0), "-infinity in both": both(1, 1),
        "+infinity in a": both(0, -1), "-infinity in a": both(1, -1),
        "+infinity in b": both(-1, 0), "-infinity in b": both(-1, 1),
    }  # fmt: skip
    infinity = f"{of} has no infinities" if of.infinity is None else None
    nan = f"{of} has no NaN" if of.nan is None else None
    return [
        (name, condition, nan if "NaN" in name else infinity)
        for name, condition in rules.items()
        if "b" in operation.operands or name.endswith(" in a")
    ]


def _rules(operation: Operation) -> list[tuple[str, Callable[[_Facts], IntArray], Reason]]:
    """The name, the condition and the reason for unreachability (or None) of each rule."""
    a, b, c, scale = operation.a, operation.b, operation.c, operation.scale_format

    def no_nan(operand: Format | None) -> Reason:
        return f"{operand} has no NaN" if operand is None or operand.nan is None else None

    def no_infinity(*operands: Format) -> Reason:
        return (
            None
            if any(each.infinity is not None for each in operands)
            else f"{' and '.join(map(str, operands))} have no infinities"
        )

    def alone(condition: Callable[[_Facts], IntArray]) -> Callable[[_Facts], IntArray]:
        return lambda f: condition(f) & (f.nan_operands == 1)

    def finite(condition: Callable[[_Facts], IntArray]) -> Callable[[_Facts], IntArray]:
        return lambda f: condition(f) & (f.nan_operands == 0)

    both = None if a.infinity is not None and b.infinity is not None else f"not both of {a} and {b} have infinities"
    rules: list[tuple[str, Callable[[_Facts], IntArray], Reason]] = [
        ("NaN in a", alone(lambda f: f.nan_a), no_nan(a)),
        ("NaN in b", alone(lambda f: f.nan_b), no_nan(b)),
        ("NaN in c", alone(lambda f: f.nan_c), no_nan(c)),
    ]
    if scale is not None:
        of_scales = {"scale_a": alone(lambda f: f.nan_alpha), "scale_b": alone(lambda f: f.nan_beta)}
        rules += [(f"NaN in {name}", of_scales[name], no_nan(scale)) for name in operation.scale_operands]
    if operation.structure.scales_groups:
        no_zero = None if scale is not None and scale.has_zero else f"{scale} has no zero"
        rules.append(("infinite product under a zero scale", alone(lambda f: f.under_zero), no_infinity(a, b) or no_zero))
    if flushes(operation, a) or flushes(operation, b):
        rules.append(("infinity times a flushed subnormal", alone(lambda f: f.flushed), no_infinity(a, b)))
    few = "it takes two products" if operation.length < 2 else None
    rules += [
        ("zero of a times infinity", alone(lambda f: f.zero_a), no_infinity(b)),
        ("infinity times zero of b", alone(lambda f: f.zero_b), no_infinity(a)),
        ("infinities of two products cancel", finite(lambda f: f.plus & f.minus), no_infinity(a, b) or few),
        (
            "infinite product and infinite c cancel",
            finite(lambda f: f.plus & f.minus_c | f.minus & f.plus_c),
            no_infinity(a, b) or no_infinity(c),
        ),
        (
            "infinite product and infinite c alike",
            finite(lambda f: f.plus & f.plus_c | f.minus & f.minus_c),
            no_infinity(a, b) or no_infinity(c),
        ),
        ("c is +infinity", finite(lambda f: f.plus_c), no_infinity(c)),
        ("c is -infinity", finite(lambda f: f.minus_c), no_infinity(c)),
        ("infinity times infinity", finite(lambda f: f.of_both), both),
        ("+infinity of a product", finite(lambda f: f.plus), no_infinity(a, b)),
        ("-infinity of a product", finite(lambda f: f.minus), no_infinity(a, b)),
    ]
    limit = operation.structure.product_limit
    if limit is not None:
        largest = a.e_max + b.e_max + 2
        small = f"products of {a} and {b} lie below 2^{largest}" if largest <= limit else None
        rules += [
            (f"+product of 2^{limit} or more", lambda f: f.too_large_kind == 0, small),
            (f"-product of 2^{limit} or more", lambda f: f.too_large_kind == 1, small),
            (f"products of 2^{limit} or more cancel", lambda f: f.too_large_kind == 2, small or few),
        ]
    return rules
