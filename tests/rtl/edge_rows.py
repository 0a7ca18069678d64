"""Operands whose sums lie where the keys of units of one's own matter: at both ends of d, at ties, at lost bits, at zero.

c has nearly all of the sum, or none of it; the first product is a power of two at a chosen distance from it, half a place of
d's, a place that alignment loses, or the same place with the other sign; the others are zeros, tiny, or cancel it.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from golden import Format
from golden.arithmetic.formats import FP32, Cls
from golden.operations.fused import FusedOperation
from golden.operations.headroom_fdpa import HeadroomFDPA
from golden.stimulus import OperandShape
from golden.stimulus.codes import GeneratorDraws
from golden.stimulus.corners.of_conversions import CORNERS

SUBNORMAL_ROWS = 4


@dataclass(frozen=True)
class Row:
    """The operands of one step, as `Operation.step` takes them."""

    a: Sequence[int]
    b: Sequence[int]
    c: int
    scale_a: Sequence[int]
    scale_b: Sequence[int]


def edge_rows(operation: FusedOperation, count: int, seed: int = 0) -> list[Row]:
    """Rows drawn at random, the same for the same arguments; `SUBNORMAL_ROWS` more of OC- and PS-FDPA."""
    if "b" not in operation.operands:
        return _conversions(operation, count, seed)
    rng = random.Random(f"{seed} {operation.name} {operation.parameters()}")
    rows = [_row(operation, rng) for _ in range(count)]
    return rows + [
        _subnormal_by_the_largest(operation, rng) for _ in range(SUBNORMAL_ROWS) if _has_fp32s_subnormals(operation)
    ]


def _has_fp32s_subnormals(operation: FusedOperation) -> bool:
    return isinstance(operation, HeadroomFDPA) and FP32.e_min in (operation.a.e_min, operation.b.e_min)


def _conversions(operation: FusedOperation, count: int, seed: int) -> list[Row]:
    """Operands from golden's corners of conversions: of each an equal share of cases, from its first to its last."""
    shape, draws = OperandShape.of_operation(operation), GeneratorDraws(np.random.default_rng(seed))
    found: list[Row] = []
    for corner in CORNERS.values():
        cases = np.unique(np.linspace(0, corner.cases(shape) - 1, count // len(CORNERS)).astype(np.int64))
        found += [Row([code], [0], 0, [], []) for code in corner.make(shape, draws, cases).a.ravel().tolist()]
    return found


def _without_c(operation: FusedOperation, rng: random.Random) -> Row:
    """a and b of a product or a sum near an end of the range, of any sign and fraction; some of any bits."""
    of = operation.a
    a, b = rng.getrandbits(of.width), rng.getrandbits(of.width)
    if rng.random() < 0.8:
        adds = operation.structure.last.node == "add"
        below = rng.randint(-3, 1 if adds else of.man_bits + 2)
        end = of.e_max + rng.randint(-1, 1) if rng.random() < 0.5 else of.e_min - below
        first = end if adds else rng.randint(max(of.e_min, end - of.e_max), min(of.e_max, end - of.e_min + of.man_bits))
        second = end - rng.randint(0, 3) if adds else end - first
        if not adds and rng.random() < 0.2:  # a subnormal factor, of a product that is none
            first, second = of.e_min - 1, rng.randint(of.man_bits, of.e_max)
        a, b = (_at(of, exp, rng) for exp in (first, second))
    return Row([a], [b], 0, [], [])


def _at(of: Format, exp: int, rng: random.Random) -> int:
    """A code of that exponent, or of the nearest that the format has, with a fraction of few or of many bits."""
    stored = min(max(exp, of.e_min - 1), of.e_max) + of.bias
    fraction = rng.getrandbits(of.man_bits) & -(1 << rng.choice((0, rng.randint(0, of.man_bits))))
    return rng.getrandbits(1) << of.width - 1 | stored << of.man_bits | fraction


def _row(operation: FusedOperation, rng: random.Random) -> Row:
    if "c" not in operation.operands:
        return _without_c(operation, rng)
    if rng.random() < 0.25:
        return _at_an_end(operation, rng)
    zero = rng.random() < 0.1
    c = _signed(operation.c, 0, rng) if zero and rng.random() < 0.6 else _addend(operation, rng)
    z = operation.c.decode(c)
    # 1. the scales, all alike
    alpha, beta = _scales(operation, z.exp, rng)
    scaled = _scaled(operation, alpha, beta)
    # 2. the first product: how far its exponent lies from that of c
    man, F = operation.conversion.rounding_format.man_bits, int(operation.parameters().get("F", operation.d.man_bits))
    half = [man + 1] * 5
    distance = rng.choice([0, -1, 1, man, *half, man + 2, F - 1, F, F + 1, F + 2, 2 * F, rng.randint(-4, 60)])
    first = _pair(operation, z.exp - distance - scaled, rng, negative=bool(z.sign) ^ (rng.random() < 0.6))
    pairs = [(_signed(operation.a, 0, rng), 0) if zero else first]
    # 3. the others
    for _ in range(operation.length - 1):
        p, q = pairs[-1]
        match rng.choice(["zero", "tiny", "cancels", "lost"]):
            case "cancels":
                pairs.append((p ^ 1 << (operation.a.width - 1), q))
            case "zero":
                pairs.append((0, rng.randrange(2)))
            case "tiny":
                pairs.append((rng.choice(_least(operation.a)), rng.choice(_least(operation.b))))
            case "lost":
                pairs.append(_pair(operation, z.exp - F - rng.randint(1, 9) - scaled, rng, negative=rng.random() < 0.5))
    return _arranged(operation, rng.sample(pairs, len(pairs)), c, alpha, beta)


def _subnormal_by_the_largest(operation: FusedOperation, rng: random.Random) -> Row:
    """A number that fp32 calls subnormal times an infinity, or the largest number where there is none: what OC- and PS-FDPA
    flush shows there alone if d is narrower than fp32."""
    operands = operation.a, operation.b
    least = [rng.choice(_least(operand)[:2]) for operand in operands]
    largest = [operand.max_finite if operand.infinity is None else operand.infinity for operand in operands]
    first = (least[0], largest[1]) if operation.a.e_min == FP32.e_min else (largest[0], least[1])
    pairs = [first, *[(0, 0)] * (operation.length - 1)]
    return _arranged(operation, rng.sample(pairs, len(pairs)), _addend(operation, rng), 0, 0)


def _at_an_end(operation: FusedOperation, rng: random.Random) -> Row:
    """The smallest normal number of d less half, a quarter or an eighth of its last place: tiny, or no more once rounded. Or
    about the largest number, and a part of its last place or more."""
    c, d, negative, below = operation.c, operation.conversion.rounding_format, rng.random() < 0.5, rng.random() < 0.5
    exp = max(d.e_min, c.e_min) if below else min(d.e_max, c.e_max)
    stored_exp = exp + c.bias << c.man_bits
    code = stored_exp if below else min(stored_exp | (1 << c.man_bits) - 1, c.max_finite >> c.pad_bits)
    alpha, beta = _scales(operation, exp, rng)
    distance = d.man_bits + rng.randint(1, 3) if below else rng.randint(0, d.man_bits + 2)
    pair = _pair(operation, exp - distance - _scaled(operation, alpha, beta), rng, negative=negative != below)
    pairs = [pair, *[(0, 0)] * (operation.length - 1)]
    return _arranged(operation, pairs, code << c.pad_bits | c.negative_zero * negative, alpha, beta)


def _arranged(operation: FusedOperation, pairs: Sequence[tuple[int, int]], c: int, alpha: int, beta: int) -> Row:
    a, b = zip(*pairs, strict=True)
    return Row(a, b, c, [alpha] * operation.scales_per_step, [beta] * operation.scales_per_step)


def _addend(operation: FusedOperation, rng: random.Random) -> int:
    """A code of c: at either end of c's or d's range, a zero, 1 and beside it, or any."""
    c, d = operation.c, operation.conversion.rounding_format
    exp = rng.choice([c.e_min, c.e_max, d.e_min - 1, d.e_min, d.e_max, 0, None])
    if exp is None:
        return rng.choice([_signed(c, 0, rng), rng.randrange(c.codes)])
    return _signed(c, max(0, _code(c, exp, rng) + rng.choice([-1, 0, 0, 1])), rng)


def _signed(operand: Format, code: int, rng: random.Random) -> int:
    """The code of a positive number or zero, with either sign where the format has it."""
    return code | operand.negative_zero * rng.randrange(2)


def _pair(operation: FusedOperation, exp: int, rng: random.Random, negative: bool) -> tuple[int, int]:
    """Elements of a and b whose product has that exponent, or one as near as can be; at times that of b is subnormal."""
    a, b = operation.a, operation.b
    if rng.random() < 0.1:
        return _code(a, exp - b.e_min, rng) | (1 << (a.width - 1)) * negative, rng.choice(_least(b)[:2])
    share = max(exp - b.e_max, min(exp - b.e_min, exp // 2 + rng.randint(-3, 3)))
    share = max(a.e_min, min(a.e_max, share))
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


def _scaled(operation: FusedOperation, alpha: int, beta: int) -> int:
    """The exponent that the scales add to a product's."""
    scale = operation.scale_format
    return 0 if scale is None else scale.decode(alpha).exp + scale.decode(beta).exp


def _scales(operation: FusedOperation, exp: int, rng: random.Random) -> tuple[int, int]:
    """A scale of a and one of b: 1 or beside it, or together about of that exponent."""
    scale = operation.scale_format
    if scale is None:
        return 0, 0
    share = rng.choice([0, 0, exp // 2])
    codes = (max(scale.e_min, min(scale.e_max, share + rng.randint(-1, 1))) + scale.bias << scale.man_bits for _ in range(2))
    return next(codes), next(codes)
