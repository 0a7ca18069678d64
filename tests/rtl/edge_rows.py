"""Operands whose sums lie where the keys of units of one's own matter: at both ends of d, at ties, at lost bits, at zero.

c has nearly all of the sum, or none of it; the first product is a power of two at a chosen distance from it, half a place of
d's, a place that alignment loses, or the same place with the other sign; the others are zeros, tiny, or cancel it.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from golden import Format
from golden.formats import Cls
from golden.operations.fused import FusedOperation


@dataclass(frozen=True)
class Row:
    """The operands of one step, as `Operation.step` takes them."""

    a: Sequence[int]
    b: Sequence[int]
    c: int
    scale_a: Sequence[int]
    scale_b: Sequence[int]


def edge_rows(operation: FusedOperation, count: int, seed: int = 0) -> list[Row]:
    """Rows drawn at random, the same for the same arguments."""
    rng = random.Random(f"{operation} {seed}")
    return [_row(operation, rng) for _ in range(count)]


def _row(operation: FusedOperation, rng: random.Random) -> Row:
    c = _addend(operation, rng)
    z = operation.c.decode(c)
    # 1. the scales, all alike
    alpha, beta = _scales(operation, z.exp, rng)
    scaled = sum(operation.scale_format.decode(code).exp for code in (alpha, beta)) if operation.scale_format else 0
    # 2. the first product: how far its exponent lies from that of c
    man, F = operation.conversion.rounding_format.man_bits, int(operation.parameters().get("F", operation.d.man_bits))
    half = [man + 1] * 5
    distance = rng.choice([0, -1, 1, man, *half, man + 2, F - 1, F, F + 1, F + 2, 2 * F, rng.randint(-4, 60)])
    first = _pair(operation, z.exp - distance - scaled, rng, negative=bool(z.sign) ^ (rng.random() < 0.6))
    pairs = [first]
    # 3. the others
    for _ in range(operation.length - 1):
        kind = rng.choice(["zero", "tiny", "cancels", "lost"])
        p, q = pairs[-1]
        match kind:
            case "cancels":
                pairs.append((p ^ 1 << (operation.a.width - 1), q))
            case "zero":
                pairs.append((0, rng.randrange(2)))
            case "tiny":
                pairs.append((rng.choice(_least(operation.a)), rng.choice(_least(operation.b))))
            case "lost":
                pairs.append(_pair(operation, z.exp - F - rng.randint(1, 9) - scaled, rng, negative=rng.random() < 0.5))
    order = rng.sample(range(len(pairs)), len(pairs))
    a, b = zip(*(pairs[k] for k in order), strict=True)
    return Row(a, b, c, [alpha] * operation.scales_per_step, [beta] * operation.scales_per_step)


def _addend(operation: FusedOperation, rng: random.Random) -> int:
    """A code of c: at either end of c's or d's range, a zero, 1 and beside it, or any."""
    c, d = operation.c, operation.conversion.rounding_format
    exp = rng.choice([c.e_min, c.e_max, d.e_min - 1, d.e_min, d.e_max, 0, None])
    if exp is None:
        return rng.choice([0, c.negative_zero, rng.randrange(c.codes)])
    code = _code(c, exp, rng) + rng.choice([-1, 0, 0, 1])
    sign = c.negative_zero * rng.randrange(2)
    return (max(0, code) | sign) & (c.codes - 1)


def _pair(operation: FusedOperation, exp: int, rng: random.Random, negative: bool) -> tuple[int, int]:
    """Elements of a and b whose product has that exponent, or one as near as can be."""
    a, b = operation.a, operation.b
    share = max(a.e_min, min(a.e_max, exp // 2 + rng.randint(-3, 3)))
    p, q = _code(a, share, rng), _code(b, exp - share, rng)
    return p | (1 << (a.width - 1)) * negative, q


def _code(operand: Format, exp: int, rng: random.Random) -> int:
    """A positive number of that exponent, mostly a power of two or all ones; a subnormal one below e_min."""
    man = rng.choice([0, 0, 0, (1 << operand.man_bits) - 1, rng.randrange(1 << operand.man_bits)])
    if exp < operand.e_min:
        field = max(1, (1 << operand.man_bits) >> (operand.e_min - exp))
    else:
        field = (min(exp, operand.e_max) + operand.bias << operand.man_bits) | man
    code = min(field << operand.pad_bits, operand.max_finite)
    assert operand.decode(code).cls in (Cls.SUBNORMAL, Cls.NORMAL)
    return code


def _least(operand: Format) -> list[int]:
    """The smallest numbers, of which all but the last are subnormal."""
    return [code << operand.pad_bits for code in (1, (1 << operand.man_bits) - 1, 1 << operand.man_bits)]


def _scales(operation: FusedOperation, exp: int, rng: random.Random) -> tuple[int, int]:
    """A scale of a and one of b: 1 or beside it, or together about of that exponent."""
    scale = operation.scale_format
    if scale is None:
        return 0, 0
    share = rng.choice([0, 0, exp // 2])
    codes = (max(scale.e_min, min(scale.e_max, share + rng.randint(-1, 1))) + scale.bias << scale.man_bits for _ in range(2))
    return next(codes), next(codes)
