"""Random tiles of the six classes, made where the device is: the same code on NumPy and on CuPy arrays, bit for bit.

Tile t depends on the seed and on t alone, whatever the batches: a counter-based generator (SplitMix64 as a hash of seed,
stream and counter), no state. Within a tile all of A lies near one exponent, all of B near another, and C near the exponents
of their products, so that every element of D is a sum of overlapping terms.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from golden import Instruction
from golden.arrays import bits_dtype
from golden.formats import Format
from golden.stimulus.codes import landmarks, lowest_lead, sign_bit
from hwtests.tiles import Tiles

CLASSES = ("bits", "normal", "cancel", "specials", "tiny", "huge")
"""As in golden's stimulus; tile t is of class t mod 6."""

SPREADS = (0, 1, 3, 7)
"""How far apart the exponents of a matrix lie in one tile (exponent value)."""

_GOLDEN_GAMMA = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Source:
    """Random numbers for the tiles from `first` on.

    Attributes:
        xp: numpy or cupy. seed: of the campaign. first, count: tile numbers.
    """

    xp: Any
    seed: int
    first: int
    count: int

    def draw(self, stream: int, *shape: int) -> Any:
        """uint64 [count, *shape], uniform; a stream for each use."""
        xp = self.xp
        each = int(np.prod(shape, dtype=np.int64))
        tile = xp.arange(self.first, self.first + self.count, dtype=xp.uint64)[:, None]
        counter = tile * xp.uint64(each) + xp.arange(each, dtype=xp.uint64)[None, :]
        key = (self.seed * 1024 + stream + 1) * _GOLDEN_GAMMA % (1 << 64)
        return _mixed(xp, _mixed(xp, counter + xp.uint64(1)) ^ xp.uint64(key)).reshape(self.count, *shape)

    def below(self, bound: int, stream: int, *shape: int) -> Any:
        """int64, 0 … bound − 1."""
        return (self.draw(stream, *shape) >> self.xp.uint64(11)).astype(self.xp.int64) % bound


def _mixed(xp: Any, z: Any) -> Any:
    """SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014)."""
    z = (z ^ (z >> xp.uint64(30))) * xp.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> xp.uint64(27))) * xp.uint64(0x94D049BB133111EB)
    return z ^ (z >> xp.uint64(31))


def classes_of(xp: Any, first: int, count: int) -> Any:
    """The class number of each tile."""
    return xp.arange(first, first + count) % len(CLASSES)


def random_tiles(instruction: Instruction, xp: Any, seed: int, first: int, count: int) -> Tiles:
    """Tiles first … first + count − 1 of a seed."""
    i, source = instruction, Source(xp, seed, first, count)
    label = classes_of(xp, first, count)
    scales = (None, None)
    if i.scale is not None and i.block_size is not None:
        blocks = i.k // i.block_size
        scales = (_scales(source, i.scale, label, 600, i.m, blocks), _scales(source, i.scale, label, 610, i.n, blocks))
    lead_a, lead_b = _leads(source, i.a, label, 100), _leads(source, i.b, label, 110)
    a = _matrix(source, i.a, lead_a, 200, i.m, i.k)
    b = _matrix(source, i.b, lead_b, 300, i.n, i.k)
    _cancel(source, i, label, a, b)
    # Scales move the products by their exponents, which lie near zero but in `bits` and `specials`.
    near = lead_a + lead_b + source.below(36, 400) - 28
    c = _matrix(source, i.c, near, 410, i.m, i.n)
    for operand, array, stream in ((i.a, a, 500), (i.b, b, 510), (i.c, c, 520)):
        _replace(source, operand, label, array, stream)
    return Tiles(a, b, c, *scales)


def _leads(source: Source, operand: Format, label: Any, stream: int) -> Any:
    """The exponent near which a tile's matrix lies: moderate, or near the end of the format's range (exponent value)."""
    xp = source.xp
    low, high = lowest_lead(operand), operand.e_max
    moderate_low, moderate_high = max(low, -12), min(high, 12)
    moderate = source.below(moderate_high - moderate_low + 1, stream) + moderate_low
    reach = min(24, high - low + 1)
    near_an_end = source.below(reach, stream + 1)
    lead = xp.where(label == CLASSES.index("tiny"), low + near_an_end, moderate)
    return xp.where(label == CLASSES.index("huge"), high - near_an_end % min(6, reach), lead)


def _matrix(source: Source, operand: Format, lead: Any, stream: int, rows: int, columns: int) -> Any:
    """Codes [tiles, rows, columns] with exponents at or a little below a tile's lead."""
    xp = source.xp
    spread = xp.asarray(SPREADS)[source.below(len(SPREADS), stream)]
    word = source.draw(stream + 1, rows, columns)
    down = (word >> xp.uint64(40)).astype(xp.int64) % (spread + 1)[:, None, None]
    frac = (word & xp.uint64((1 << operand.man_bits) - 1)).astype(xp.int64)
    # A quarter of the tiles have round numbers, whose products leave gaps, a quarter sparse fractions.
    kind = source.below(4, stream + 2)[:, None, None]
    sparse = frac & (source.draw(stream + 3, rows, columns) & xp.uint64((1 << operand.man_bits) - 1)).astype(xp.int64)
    frac = xp.where(kind == 0, 0, xp.where(kind == 1, sparse, frac))
    sign = (word >> xp.uint64(63)).astype(xp.int64)
    return _number(xp, operand, sign, lead[:, None, None] - down, frac)


def _number(xp: Any, operand: Format, sign: Any, lead: Any, frac: Any) -> Any:
    """Codes of (−1)^sign · 2^lead · (1 + frac/2^man_bits); below e_min a subnormal, at the ends clipped to the range."""
    lead = xp.clip(lead, lowest_lead(operand), operand.e_max)
    below = xp.maximum(operand.e_min - lead, 0)
    hidden = 1 << operand.man_bits
    normal = ((lead + operand.bias) << operand.man_bits) + frac
    field = xp.where(below > 0, (frac + hidden) >> below, normal)
    field = xp.minimum(field, operand.max_finite >> operand.pad_bits)
    code = field.astype(xp.uint64) << xp.uint64(operand.pad_bits)
    if operand.signed:
        code = code | (sign.astype(xp.uint64) << xp.uint64(operand.width - 1))
    return code.astype(bits_dtype(operand))


def _scales(source: Source, scale: Format, label: Any, stream: int, rows: int, blocks: int) -> Any:
    """Scales near one, any code in `bits`, now and then a landmark in `specials`."""
    xp = source.xp
    one = scale.encode(1)
    step = 1 << scale.man_bits
    near = one + (source.below(9, stream, rows, blocks) - 4) * step + source.below(step, stream + 1, rows, blocks)
    codes = xp.clip(near, 0, scale.max_finite).astype(bits_dtype(scale))
    _replace(source, scale, label, codes, stream + 2)
    return codes


def _cancel(source: Source, i: Instruction, label: Any, a: Any, b: Any) -> None:
    """In `cancel`, three quarters of the odd k hold the negative of the product before them, for every element of D."""
    if i.k < 2:
        return
    xp = source.xp
    chosen = (label == CLASSES.index("cancel"))[:, None] & (source.below(4, 700, i.k // 2) > 0)
    negative = a[:, :, 0::2] ^ a.dtype.type(sign_bit(i.a))
    a[:, :, 1::2] = xp.where(chosen[:, None, :], negative, a[:, :, 1::2])
    b[:, :, 1::2] = xp.where(chosen[:, None, :], b[:, :, 0::2], b[:, :, 1::2])


def _replace(source: Source, operand: Format, label: Any, codes: Any, stream: int) -> None:
    """In `bits` every code is any bit pattern; in `specials` one code in two rows, or in eight, is a landmark."""
    xp = source.xp
    shape = codes.shape[1:]
    uniform = (source.draw(stream, *shape) >> xp.uint64(64 - operand.width)).astype(codes.dtype)
    codes[...] = xp.where((label == CLASSES.index("bits"))[:, None, None], uniform, codes)
    menu = xp.asarray(np.array(landmarks(operand), codes.dtype))
    landmark = menu[source.below(len(menu), stream + 1, *shape)]
    odds = shape[-1] * xp.asarray([2, 8])[source.below(2, stream + 2)][:, None, None]
    rare = source.below(1 << 30, stream + 3, *shape) % odds == 0
    codes[...] = xp.where((label == CLASSES.index("specials"))[:, None, None] & rare, landmark, codes)
