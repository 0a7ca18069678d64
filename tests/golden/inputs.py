"""Random operands for the proofs, from any source with the interface of `random.Random`.

They do not use golden.stimulus: formats come from the twin's table, and nothing here depends on the code under test.
Codes are weighted to what breaks arithmetic: special values, zeros, subnormals, exponents within a few of each other, and
products that cancel each other or c.
"""

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

from tests.twin.twin_numbers import LAYOUTS, decode, encode
from tests.twin.x86_twin import bits_of

STYLES = ("bits", "near", "near", "near", "tiny", "huge", "corners")
"""How the codes of one vector are drawn; `near` counts most, for there the terms overlap."""


class Operands(NamedTuple):
    """One dot-product-accumulate, as bit patterns."""

    a: list[int]
    b: list[int]
    c: int
    scale_a: list[int]
    scale_b: list[int]

    def __str__(self) -> str:
        words = {
            key: [hex(code) for code in codes] if isinstance(codes, list) else hex(codes)
            for key, codes in self._asdict().items()
        }
        return ", ".join(f"{key}={word}" for key, word in words.items())


def operands(rng: Random, operation: Any, K: int, a: str | None = None, b: str | None = None) -> Operands:
    """Operands of a dot product of K products; `a` and `b` name the formats where they are not the operation's."""
    a, b, c = a or operation.a.name, b or operation.b.name, operation.c.name
    if operation.name == "IDPA":
        return integers(rng, a, b, bits_of(c), K)
    x, y = vector(rng, a, K), vector(rng, b, K)
    if rng.randrange(3) == 0:
        cancel_pairs(rng, b, x, y)
    if operation.name == "CVT":
        return Operands(x, [0], 0, [], [])
    if operation.name in ("MUL", "ADD"):  # without c; the sum of a and b may cancel too
        opposite = 2 ** (LAYOUTS[b].mantissa_bits + LAYOUTS[b].exponent_bits)
        y = [x[0] ^ opposite ^ rng.choice((0, 0, 1))] if operation.name == "ADD" and rng.randrange(4) == 0 else y
        return Operands(x, y, 0, [], [])
    z = cancelling(rng, a, b, c, x, y) if rng.randrange(4) == 0 else vector(rng, c, 1)[0]
    if operation.scale_format is None:
        return Operands(x, y, z, [], [])
    blocks = -(-K // operation.block_size)
    scale = operation.scale_format.name
    return Operands(x, y, z, scales(rng, scale, blocks), scales(rng, scale, blocks))


def integers(rng: Random, a: str, b: str, c_bits: int, K: int) -> Operands:
    """Integers, any, small, or at an end; c any, or such that the sum lies about an end of its range."""
    x, y = ([integer(rng, bits_of(name)) for _ in range(K)] for name in (a, b))
    sums = [-value if rng.randrange(2) else value for value in (1 << c_bits - 1, (1 << c_bits - 1) - 1)]
    signed = [
        [code - (1 << bits_of(name)) * (name.startswith("int") and code >> bits_of(name) - 1) for code in codes]
        for name, codes in ((a, x), (b, y))
    ]
    total = sum(p * q for p, q in zip(*signed, strict=True))
    near = rng.choice((0, *sums)) - total + rng.randrange(-2, 3)
    return Operands(x, y, rng.choice((near, near, rng.randrange(1 << c_bits))) % (1 << c_bits), [], [])


def integer(rng: Random, bits: int) -> int:
    """A code of an integer."""
    codes = 1 << bits
    few = rng.randrange(-2, 3) % codes
    return rng.choice((rng.randrange(codes), rng.randrange(codes), few, codes // 2 - 1, codes // 2, codes - 1)) % codes


def vector(rng: Random, name: str, count: int) -> list[int]:
    """Codes of one style, now and then a corner among them."""
    style = rng.choice(STYLES)
    centre = rng.randrange(2 ** LAYOUTS[name].exponent_bits)
    rarely = rng.choice((3, 30, 60, 60))
    return [corner(rng, name) if rng.randrange(rarely) == 0 else code(rng, name, style, centre) for _ in range(count)]


def code(rng: Random, name: str, style: str, centre: int) -> int:
    """One code: its stored exponent near `centre`, near the bottom, near the top, or anywhere."""
    layout = LAYOUTS[name]
    top = 2**layout.exponent_bits - 1
    if style == "corners":
        return corner(rng, name)
    pick: dict[str, Callable[[], int]] = {
        "bits": lambda: rng.randrange(top + 1),
        "near": lambda: centre + rng.randrange(-2, 3),
        "tiny": lambda: rng.randrange(3),
        "huge": lambda: top - rng.randrange(3),
    }
    stored = min(max(pick[style](), 0), top - (layout.specials == "ieee"))
    return fields(name, rng.randrange(2), stored, mantissa(rng, layout.mantissa_bits)) + rng.randrange(
        2**layout.dropped_bits
    )


def mantissa(rng: Random, bits: int) -> int:
    """Any, or a short or a long run of ones."""
    full = 2**bits - 1
    return rng.choice((rng.randrange(full + 1), rng.randrange(full + 1), 0, 1, full, full - 1, 2 ** (bits - 1)))


def fields(name: str, sign: int, stored: int, mantissa_field: int) -> int:
    exponent_bits, mantissa_bits, _, _, dropped_bits, *_ = LAYOUTS[name]
    return ((sign * 2**exponent_bits + stored) * 2**mantissa_bits + mantissa_field) * 2**dropped_bits


def corner(rng: Random, name: str) -> int:
    """A zero, the ends of the subnormals and normals, one, the top of the range; infinity and NaN if the format has them."""
    layout = LAYOUTS[name]
    top, full = 2**layout.exponent_bits - 1, 2**layout.mantissa_bits - 1
    stored, field = rng.choice(
        ((0, 0), (0, 0), (0, 1), (0, full), (1, 0), (layout.bias, 0), (top - 1, full), (top, 0), (top, 1), (top, full))
    )
    return fields(name, rng.randrange(2), stored, field)


def scales(rng: Random, name: str, count: int) -> list[int]:
    """Scales near each other, or anywhere, NaN rarely."""
    if name != "ue8m0":
        return vector(rng, name, count)
    centre = rng.choice((127, rng.randrange(255)))
    near = [min(max(centre + rng.randrange(-3, 4), 0), 254) for _ in range(count)]
    return [rng.choice((0, 1, 254, 255)) if rng.randrange(25) == 0 else scale for scale in near]


def cancel_pairs(rng: Random, b: str, x: list[int], y: list[int]) -> None:
    """Make some products the negative of the one before."""
    for k in range(1, len(x)):
        if rng.randrange(2):
            x[k], y[k] = x[k - 1], y[k - 1] ^ fields(b, 1, 0, 0)


def cancelling(rng: Random, a: str, b: str, c: str, x: list[int], y: list[int]) -> int:
    """A c that cancels the exact sum of products but for what c cannot hold, or a unit or two more."""
    pairs = [(decode(a, p), decode(b, q)) for p, q in zip(x, y, strict=True)]
    total = sum((p.value * q.value for p, q in pairs if p.kind == q.kind == "finite"), Fraction(0))
    z = encode(c, -total, "RNE")
    step = rng.choice((0, 0, 1, 2)) * 2 ** LAYOUTS[c].dropped_bits
    return max(z - step, 0)
