"""Operations with one statement of the rules of RDNA3 and RDNA4 changed (numerics.md, section 5), for the reference.

Recorded rows, and rows of the default stimulus, show which statements they pin.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import golden
from golden.arithmetic import steps
from golden.arithmetic.formats import BF16, FP16, FP32, Decoded
from golden.arithmetic.specials import NAN, addend_special, combine, factor_nan, first_nan, invalid_nan, product_special
from golden.arithmetic.steps import Term
from golden.operations import OCFDPA, Operation
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.stimulus import OperandShape, generate

VECTORS, SEED = 20_000, 1
"""Rows of the default stimulus, and its seed."""


@dataclass(frozen=True)
class Change:
    """A statement, changed: the steps that take the place of the operation's, or keys."""

    keys: dict[str, Any]
    steps: dict[str, Any]

    def of(self, operation: Operation) -> Operation:
        """The operation with the statement changed."""
        changed = operation.changed(**self.keys)
        return changed.with_steps(**self.steps) if self.steps else changed


def normalised(product: Term, h: int) -> Term:
    """A product at the exponent of its leading one."""
    above = abs(product.sig).bit_length() - 1 - product.frac
    return product._replace(exp=product.exp + above + h, frac=product.frac + above + h) if product.sig else product


def aligned_toward_zero(fracs: Sequence[int]) -> Callable[[Term, int, int, Any], int]:
    """Terms with one of these numbers of fraction bits cut toward zero."""
    return lambda term, e_max, F, own: steps.align(term, e_max, F, "RZ" if term.frac in fracs else own)


def decoded(flushes: Callable[[Any, bool], bool]) -> Any:
    """Decoding that flushes what `flushes(format, whether it is c)` says."""

    def step(self: HeadroomFDPA, a: Sequence[int], b: Sequence[int], c: int) -> Any:
        def one(operand: Any, code: int, is_c: bool) -> Decoded:
            x = operand.decode(code)
            return steps.flushed(x) if flushes(operand, is_c) else x

        return [one(self.a, x, False) for x in a], [one(self.b, y, False) for y in b], one(self.c, c, True)

    return step


def with_frame(sign_of: Callable[[Decoded], int]) -> Any:
    """OC-FDPA in another frame than the sign of c."""

    def step(self: OCFDPA, a: Sequence[int], b: Sequence[int], c: int, *_: Any) -> int:
        x, y, z = self.decoded(a, b, c)
        special = self.special(x, y, z, c)
        if special is not None:
            return special
        terms, frame = [*self.exact_products(x, y), self.addend(z, self.c, self.e_zero)], sign_of(z)
        e_max = self.max_exp(terms)
        signs = [*(p.sign ^ q.sign for p, q in zip(x, y, strict=True)), z.sign]
        aligned = [self.align(term, e_max, self.F, "RZ") for term in terms]
        total = sum(self.in_frame(term, sign != frame) for term, sign in zip(aligned, signs, strict=True))
        return self.converted(-total if frame else total, e_max - self.F)

    return step


def drops_c_when(drops: Callable[[Term, int], bool]) -> Any:
    """PS-FDPA that drops c by another rule, from the term and the exponent of the grid."""

    def step(self: Any, a: Sequence[int], b: Sequence[int], c: int, *_: Any) -> int:
        x, y, z = self.decoded(a, b, c)
        special = self.special(x, y, z, c)
        if special is not None:
            return int(special)
        products = self.exact_products(x, y)
        sums = [self.group_sum(products[k : k + self.P]) for k in range(0, self.L, self.P)]
        of_c = self.addend(z, self.c, self.e_zero)
        e_max = self.max_exp([*sums, of_c])
        of_c = of_c._replace(sig=0) if drops(of_c, e_max - self.F) else of_c
        total = sum(self.align(term, e_max, self.F, "RD") for term in (*sums, of_c))
        return int(self.converted(total, e_max - self.F))

    return step


def below(term: Term, grid: int) -> bool:
    """Whether a term's magnitude is less than a unit of the grid."""
    return abs(term.sig) < 1 << max(grid - term.exp + term.frac, 0) and term.sig != 0


def special(order: str) -> Any:
    """The rules for NaN in another order."""

    def step(self: HeadroomFDPA, x: Sequence[Decoded], y: Sequence[Decoded], z: Decoded, c: int) -> int | None:
        quieted = c if order == "c is not made quiet" and first_nan((c,), self.d) is not None else first_nan((c,), self.d)
        factor = any(operand.cls.name == "NAN" for operand in (*x, *y))
        products = combine(product_special(p, q) for p, q in zip(x, y, strict=True))
        invalid = any(
            product_special(p, q) == NAN for p, q in zip(x, y, strict=True) if "NAN" not in (p.cls.name, q.cls.name)
        )
        if order == "a NaN c first" and quieted is not None:
            return quieted
        if order == "invalid before a NaN factor" and invalid:
            return invalid_nan(self.d)
        if order == "the first NaN product decides" and factor:
            first = next(n for n, (p, q) in enumerate(zip(x, y, strict=True)) if product_special(p, q) == NAN)
            of_factor = any(operand.cls.name == "NAN" for operand in (x[first], y[first]))
            return factor_nan(self.d) if of_factor else invalid_nan(self.d)
        if factor:
            return factor_nan(self.d)
        if quieted is not None and (products != NAN or order == "a NaN c before invalid"):
            return quieted
        total = combine((products, addend_special(z)))
        return None if total is None else self.encode_special(total, self.d, invalid_nan(self.d))

    return step


def converted(how: str) -> Any:
    """ρ in another way."""

    def step(self: HeadroomFDPA, total: int, exp: int) -> int:
        if how == "fp16 through fp32":
            sign, e, sig, cls = FP32.decode(FP32.encode_scaled(total, exp, "RNE"))
            if cls.name == "INFINITY":
                return self.d.signed_infinity(sign)
            code = FP16.encode_scaled(-sig if sign else sig, e - FP32.man_bits, "RNE")
        elif how == "a dropped zero is +0":
            code = self.conversion.stored(self.conversion.rounded(total, exp))
        elif how == "flushed before rounding":
            code = 0 if abs(total).bit_length() + exp <= FP32.e_min else self.conversion.rounded(total, exp)
            return 0 if code == self.conversion.rounding_format.negative_zero else self.conversion.stored(code)
        else:  # rounded as a subnormal, then flushed
            code = self.conversion.rounded(total, exp)
            tiny = self.conversion.rounding_format.decode(code).cls.name in ("SUBNORMAL", "ZERO")
            return 0 if tiny else self.conversion.stored(code)
        return 0 if code == self.d.negative_zero else code

    return step


def statements(operation: Operation) -> dict[str, Change]:
    """The changed statements that an operation can have, by name."""
    is_oc, d, narrow = isinstance(operation, OCFDPA), operation.d, operation.a
    changes = {f"{key}={value}": Change({key: value}, {}) for key, value in (("F", 25), ("F", 27), ("h", 1), ("h", 3))}
    changes |= {"products normalised": Change({}, {"raised": staticmethod(normalised)})}
    for order in (
        "a NaN c first", "a NaN c before invalid", "invalid before a NaN factor", "the first NaN product decides",
        "c is not made quiet",
    ):  # fmt: skip
        changes[order] = Change({}, {"special": special(order)})
    changes["no floor of e_max for c"] = Change({"e_zero": -1000}, {})
    if d is BF16:
        changes["bf16 result rounded to nearest"] = Change({"rho": "RNE-BF16"}, {})
    if d is FP16:
        changes["fp16 result through fp32"] = Change({}, {"converted": converted("fp16 through fp32")})
    if is_oc:
        return changes | _of_oc(operation)
    if d is BF16:
        changes["bf16 result −0 is +0"] = Change({}, {"converted": converted("a dropped zero is +0")})
    if narrow is BF16:
        changes["bf16 subnormal a and b flushed"] = Change({}, {"decoded": decoded(lambda _, is_c: not is_c)})
    return changes | _of_ps(operation)


def _of_oc(operation: Operation) -> dict[str, Change]:
    twos = staticmethod(lambda aligned, opposite: -abs(aligned) if opposite else abs(aligned))
    floor = staticmethod(lambda term, e_max, F, _: steps.align(term, e_max, F, "RD"))
    nothing = staticmethod(lambda aligned, opposite: steps.in_frame(aligned, opposite) if aligned else 0)
    changes = {
        "two's complement": Change({}, {"in_frame": twos}),
        "floor": Change({}, {"in_frame": twos, "align": floor}),
        "zeros contribute nothing": Change({}, {"in_frame": nothing}),
        "the frame is always +": Change({}, {"step": with_frame(lambda _: 0)}),
    }
    if operation.a is BF16:
        changes["bf16 subnormal a and b kept"] = Change({}, {"decoded": decoded(lambda _, is_c: is_c)})
    else:
        changes["fp16 subnormal a and b flushed"] = Change(
            {}, {"decoded": decoded(lambda f, is_c: not is_c or f is not FP16)}
        )
    if operation.d is FP16:
        changes["fp16 subnormal c flushed"] = Change({}, {"decoded": decoded(lambda _, is_c: is_c)})
        return changes
    wide = operation.a is BF16
    changes["subnormal c kept"] = Change({}, {"decoded": decoded(lambda f, is_c: not is_c and wide)})
    changes["result flushed before rounding"] = Change({}, {"converted": converted("flushed before rounding")})
    changes["result subnormal, then flushed"] = Change({}, {"converted": converted("subnormal, then flushed")})
    changes["result not flushed"] = Change({"flush_results": False}, {})
    return changes


def _of_ps(operation: Operation) -> dict[str, Change]:
    c = operation.c.man_bits
    rules: dict[str, Callable[[Term, int], bool]] = {
        "c never dropped": lambda term, grid: False,
        "c dropped one exponent lower": lambda term, grid: term.exp < grid - 1,
        "c dropped one exponent higher": lambda term, grid: term.exp < grid + 1,
        "c dropped where it is below the grid": below,
    }
    changes = {name: Change({}, {"step": drops_c_when(rule)}) for name, rule in rules.items()}
    changes["sums of groups toward zero"] = Change({}, {"align": staticmethod(aligned_toward_zero((26,)))})
    changes["c toward zero"] = Change({}, {"align": staticmethod(aligned_toward_zero((c,)))})
    changes["products floored singly"] = Change({"P": 1}, {})
    if operation.length == 4:
        changes["one group of four"] = Change({"P": 4}, {})
    return changes


def rows_needed(instruction: golden.Instruction) -> dict[str, int | None]:
    """By changed statement, the rows of the default stimulus up to the first that shows it; None where none does."""
    operands = generate(OperandShape.of_operation(instruction.operation), VECTORS, SEED).operands
    rows = list(zip(operands.a.tolist(), operands.b.tolist(), operands.c.tolist(), strict=True))
    expected = [instruction.operation.step(*row) for row in rows]
    needed: dict[str, int | None] = {}
    for name, change in statements(instruction.operation).items():
        changed = change.of(instruction.operation)
        needed[name] = next(
            (n for n, (row, d) in enumerate(zip(rows, expected, strict=True), start=1) if changed.step(*row) != d), None
        )
    return needed
