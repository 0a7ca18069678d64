"""Covergroups of the inputs: the class of every operand in every place, scales, steps."""

from collections.abc import Callable

import numpy as np

from cosim.coverage.covergroup import (
    CLASSES,
    NORMAL,
    SUBNORMAL,
    Covergroup,
    IntArray,
    Point,
    Reason,
    Seen,
    chosen,
    classes,
    reachable,
)
from golden import Operation
from golden.arithmetic.formats import Format


def operand_groups(operation: Operation, steps: int) -> list[Covergroup]:
    """The covergroups of the inputs: class of each operand in each place, extremes of scales, c at each kind of step."""
    L = operation.length
    groups = [
        class_group("a", operation.a, L, lambda seen: seen.a),
        class_group("b", operation.b, L, lambda seen: seen.b),
    ]
    if "c" in operation.operands:
        groups.append(class_group("c", operation.c, 1, lambda seen: seen.c[:, :1, None]))
    if operation.scale_format is not None:
        groups += scale_groups(operation, operation.scale_format)
    if steps > 1:
        groups.append(step_group(operation, steps))
    return groups


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
    if not operand.subnormals and (cls.endswith("0") or cls.endswith("subnormal")):
        return f"{operand} has neither zeros nor subnormals"
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

    def ends(seen: Seen) -> tuple[IntArray, IntArray]:
        found = []
        for codes in seen.scales:
            field = codes & (scale.codes // 2 - 1 if scale.subnormals else scale.codes - 1)
            smallest = 1 if scale.subnormals else 0
            cls = classes(scale, codes)
            normal = cls == NORMAL
            smallest_normal = [normal & (field == 1 << scale.man_bits)] if scale.subnormals else []
            between = normal & (field != smallest) & (field != scale.max_finite) | (cls == SUBNORMAL)
            found.append(chosen(field == smallest, *smallest_normal, between, field == scale.max_finite))
        return found[0], found[1]

    return [
        *(
            class_group(name, scale, count, lambda seen, n=number: classes(scale, seen.scales[n]))  # type: ignore[misc]
            for number, name in enumerate(("scale_a", "scale_b"))
        ),
        Covergroup("ends of the scales", (Point("scale_a", extremes), Point("scale_b", extremes)), ends, reachable),
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
