"""Operands for which every order of whole instructions gives the same bits, but a weaker unit or a wrong kernel gives
others."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import golden
from golden.arithmetic.formats import FP64, Format
from golden.arrays import bits_dtype, float_dtype
from golden.checks import check_choice, check_int

WIDEST_LAST_BIT = 30
"""Fraction bits of the small terms where a step adds exactly (E-FDPA): beyond the 25 bits of any unit that truncates."""


@dataclass(frozen=True)
class StepLayout:
    """The steps of one instruction.

    Attributes:
        k: products of the instruction. steps: the products of each step, in groups that are summed before they are aligned.
        F: fraction bits of an aligned term below the largest product, of which the last can be lost; None: no such sum.
        kept: fraction bits of d that a chain keeps below its leading one.
    """

    k: int
    steps: tuple[tuple[tuple[int, ...], ...], ...]
    F: int | None
    kept: int

    @classmethod
    def of(cls, instruction: golden.Instruction) -> "StepLayout":
        """The layout of an instruction.

        Raises:
            ValueError: an instruction on integers, whose sums are exact in any order.
        """
        operation, k = instruction.operation, instruction.k
        structure, rounding = operation.structure, operation.structure.last.rounding
        if rounding is None:
            raise ValueError(
                f"{instruction.arch} {instruction.name} adds integers exactly; probe data tells roundings apart"
            )
        order = instruction.chain.order_over(k)
        G = structure.group or 1 if structure.scales_groups else 1
        steps = tuple(
            tuple(tuple(order[at : at + G]) for at in range(first, first + operation.length, G))
            for first in range(0, k, operation.length)
        )
        kept = rounding.to.man_bits
        F = structure.sums[0].terms[0].F or structure.last.terms[-1].F
        if F is not None:
            F -= structure.headroom or 0  # a product counts that much above its own exponent
        elif structure.rounds_products:
            F = kept
        elif structure.is_exact_dot_product:
            F = WIDEST_LAST_BIT
        return cls(k, steps, F, kept if F is None else min(kept, F))

    @property
    def exact_below(self) -> int:
        """Sums of integers below this are exact in every order of whole instructions."""
        return 1 << (self.kept + 1)


def exponents(operand: Format, flushes: bool) -> range:
    """The exponents x for which 2^x is a number of the format that a unit reads as such."""
    lowest = operand.e_min if flushes else operand.e_min - operand.man_bits
    return range(lowest, operand.e_max + 1)


def parted(exp: int, a: range, b: range) -> tuple[int, int] | None:
    """Exponents of two factors whose product is 2^exp; None if their formats have no such numbers."""
    low, high = max(a[0], exp - b[-1]), min(a[-1], exp - b[0])
    if low > high:
        return None
    near = min(max(exp // 2, low), high)
    return near, exp - near


KINDS = {
    "dense": "integers from 1 on, whose sums need more than 11 bits",
    "precision": "+P, −P and small terms on the last bit that alignment keeps, inside every step",
    "promotion": "a large sum, small ones, the large one negated, in groups of instructions of their own",
}
"""The kinds of probe data."""

Numbers = npt.NDArray[np.float64]


class Operands(NamedTuple):
    """A, B and C as arrays of the formats' float dtypes; of codes where there is none."""

    a: Any
    b: Any
    c: Any


class ProbeData(Operands):
    """The operands a [M, K], b [K, N], c [M, N]; of an instruction with block scales also scale_a and scale_b."""

    scale_a: Any = None
    scale_b: Any = None


def probe_data(
    arch: str, instr: str, shape: tuple[int, int, int], kind: str, *, promote_every: int = 4, seed: int = 0
) -> ProbeData:
    """Operands of one kind.

    The bits of D are the same for every order of the instructions along K, and for every split of K whose parts are added in
    fp32 (fp64 where D is), in any order: of "promotion" for orders of whole groups, and of instructions within them.

    Args:
        arch, instr: an architecture and an instruction of the catalogue. shape: M, N, K. kind: one of `KINDS`.
        promote_every: instructions of a group (kind "promotion" only).
        seed: the seed of all random numbers.

    Raises:
        ValueError: a shape that is too small, or an instruction of which data of this kind can tell nothing, and why.
    """
    check_choice("kind", kind, KINDS)
    for name, size in zip("MNK", shape, strict=True):
        check_int(name, size, 1, 1 << 20)
    instruction = golden.instruction(arch, instr)
    draft = _Draft(instruction, shape, np.random.default_rng(seed))
    if kind == "dense":
        draft.fill_densely()
    elif kind == "promotion":
        draft.fill_for_promotion(promote_every)
    elif instruction.operation.structure.is_multiply_add:
        draft.fill_for_fused_multiply_add()
    else:
        draft.fill_for_precision()
    return draft.finished()


def probe_scales(
    shape: tuple[int, int, int], group: int, block: tuple[int, int] = (1, 1), seed: int = 0
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Scales for an order with scale_at = "promotion" that keep probe data what it is: powers of two, equal along K.

    Args:
        shape: M, N, K. group: products that share a scale. block: as `golden.GemmOrder.scale_block`.
    """
    M, N, K = shape
    rng = np.random.default_rng(seed)
    groups = -(-K // group)
    a = np.exp2(rng.integers(0, 3, (-(-M // block[0]), 1))) * np.ones((1, groups))
    b = np.exp2(rng.integers(3, 6, (1, -(-N // block[1])))) * np.ones((groups, 1))
    return a.astype(np.float32), b.astype(np.float32)


class _Draft:
    """Operands in the making: the numbers of A and B, and the exponents of their scales."""

    def __init__(self, instruction: golden.Instruction, shape: tuple[int, int, int], rng: np.random.Generator) -> None:
        self.instruction, self.rng = instruction, rng
        self.name = f"{instruction.arch} {instruction.name}"
        self.M, self.N, self.K = shape
        self.layout = StepLayout.of(instruction)
        self.count = -(-self.K // instruction.k)
        padded = self.count * instruction.k
        self.a: Numbers = np.zeros((self.M, padded))
        self.b: Numbers = np.zeros((padded, self.N))
        self.blocks = padded // (instruction.block_size or padded)
        self.scales = np.zeros((2, self.blocks), int)
        self.varies = False
        flushes = instruction.operation.structure.rounds_products
        self.ranges = exponents(instruction.a, flushes), exponents(instruction.b, flushes)
        scale = instruction.scale
        self.scale_range = None if scale is None else exponents(scale, False)

    def finished(self) -> ProbeData:
        """The operands: numbers as codes; the scales of dense data with a power of two of each row and column."""
        i, K = self.instruction, self.K
        arrays = _array(self.a[:, :K], i.a), _array(self.b[:K], i.b)
        made = ProbeData(*arrays, _array(np.zeros((self.M, self.N)), i.c))
        if i.scale is not None and i.block_size is not None:
            blocks = -(-K // i.block_size)
            rows, columns = (self.rng.integers(0, 2 if self.varies else 1, size) for size in ((self.M, 1), (1, self.N)))
            made.scale_a = _array(np.exp2(self.scales[0][:blocks] + rows), i.scale)
            made.scale_b = _array(np.exp2(self.scales[1][:blocks, None] + columns), i.scale)
        return made

    def fill_densely(self) -> None:
        """Integers from 1 to 3, or higher ones where K is short; some instructions are zero where sums are inexact."""
        self.varies = True
        limit = self.layout.exact_below // (4 if self.instruction.scale else 1)
        tops = [top for top in (3, 7, 15) if all(_has_integers(f, top) for f in (self.instruction.a, self.instruction.b))]
        enough = [top for top in tops if self.K * ((1 + top) / 2) ** 2 > 1 << 12 or top == tops[-1]]
        top = next((top for top in enough if self.K * top * top < limit), tops[0])
        used = min(self.count, max(1, (limit - 1) // (top * top * self.layout.k)))
        kept = np.unique(np.linspace(self.count - 1, 0, used).astype(int))
        products = (kept[:, None] * self.layout.k + np.arange(self.layout.k)).ravel()
        products = products[products < self.K]
        if len(products) * top * top >= limit:  # one instruction alone may be too much: its last products
            products = products[-((limit - 1) // (top * top)) :]
        self.a[:, products] = self.rng.integers(1, top + 1, (self.M, len(products)))
        self.b[products] = self.rng.integers(1, top + 1, (len(products), self.N))

    def fill_for_precision(self) -> None:
        """In every step +P and −P, and small terms of either sign, once or three times the last bit.

        −P is no neighbour of +P, which FTZ-AddMul adds first; where groups share scales, it is.
        """
        F = self.layout.F
        if F is None:
            raise ValueError(f"{self.name} rounds after every product: no last bit of an aligned sum can be lost")
        if any(len(step) < 3 for step in self.layout.steps):
            raise ValueError(
                f"{self.name} has steps of {len(self.layout.steps[0])} terms: +P, -P and a small one need three"
            )
        steps = [(n, step) for n in range(self.count) for step in self.layout.steps]
        slots = len(steps[0][1]) - 2
        budget = self.layout.exact_below - 1
        top = 3 if len(steps) * 3 <= budget else 1
        each = max(1, min(slots, budget // (len(steps) * top)))
        small = set(self.rng.permutation(len(steps))[: max(1, budget // (top * each))].tolist())
        small.add(len(steps) - 1)
        large, tiny = self._exponents_apart(F)
        minus = 1 if self.instruction.scale else 2
        for at, (number, step) in enumerate(steps):
            terms = [number * self.layout.k + group[0] for group in step]
            for term, sign in ((terms[0], 1), (terms[minus], -1)):
                self._place(term, large, np.full(self.M, sign), np.ones(self.N))
            if at in small:
                for term in self.rng.permutation([terms[3 - minus], *terms[3:]])[:each].tolist():
                    a = self.rng.choice((-1, 1), self.M) * self.rng.choice((1, top), self.M)
                    self._place(term, tiny, a, self.rng.choice((-1, 1), self.N))
            if terms[minus] >= self.K:  # K ends between them
                self.a[:, terms[0]] = 0

    def fill_for_fused_multiply_add(self) -> None:
        """In one instruction −h and x·y, where h is x·y rounded: the fused sum is what rounding took."""
        if self.layout.k < 2:
            raise ValueError(f"{self.name} has one product in an instruction, so that no sum lies inside of it")
        half = (self.instruction.a.man_bits + 1) // 2
        x, y = 1 + 2.0**-half, 1 + 2.0 ** -(self.instruction.a.man_bits + 1 - half)
        h = x + y - 1
        first = int(self.rng.integers(max(1, self.K // self.layout.k))) * self.layout.k
        signs = self.rng.choice((-1, 1), self.M)
        self.a[:, first], self.b[first] = -h * signs, 1
        self.a[:, first + 1], self.b[first + 1] = x * signs, y

    def fill_for_promotion(self, every: int) -> None:
        """2^e in the first group and −2^e in the last; between them a small term in each instruction, too small for a chain
        that holds 2^e, while a group's sum is not too small for fp32."""
        check_int("promote_every", every, 1, 1 << 20)
        groups = self.K // (every * self.layout.k)
        if groups < 3:
            raise ValueError(f"K must hold three groups of {every} instructions of {self.name}, got K = {self.K}")
        if self.instruction.d == FP64:
            raise ValueError(f"{self.name} gives fp64, which no promotion to fp32 adds")
        bits = (every - 1).bit_length()
        if not bits and self.layout.kept >= 23:
            raise ValueError(f"{self.name} keeps what fp32 does: promotion of single instructions changes no such sum")
        large, tiny = self._exponents_apart(self.layout.kept + bits, one_step=False)
        ones = np.ones(self.M), np.ones(self.N)
        last = (groups - 1) * every
        self._place(self._product_of(0), large, *ones)
        self._place(self._product_of(last), large, -ones[0], ones[1])
        twice = (1 << bits) - every  # instructions of a group whose term is doubled, to make its sum a power of two
        for number in range(every, last):
            self._place(self._product_of(number), tiny + (number % every < twice), *ones)

    def _product_of(self, number: int) -> int:
        """A product of an instruction, drawn; of the first of its blocks if it has scales."""
        return number * self.layout.k + int(self.rng.integers(self.instruction.block_size or self.layout.k))

    def _exponents_apart(self, bits: int, one_step: bool = True) -> tuple[int, int]:
        """Exponents of a large and a small product, `bits` bits apart, that the formats have.

        Raises:
            ValueError: they have none.
        """
        a, b = self.ranges
        scales = range(1) if self.scale_range is None else self.scale_range
        if one_step and self.blocks // self.count < 2:
            scales, self.scale_range = range(1), None  # all products of a step share one scale, which stays 1
        reach, depth = 2 * scales[-1], 2 * scales[0]
        if one_step and self.scale_range is not None:
            highest = reach  # the largest exponent is that of the scales
        else:
            highest = a[-1] + b[-1] + reach
        highest, lowest = min(highest, 60), max(a[0] + b[0] + depth, -60)
        if highest - lowest < bits:
            what = f"{self.instruction.a} by {self.instruction.b}"
            raise ValueError(
                f"{self.name}: products of {what} lie at most {highest - lowest} bits apart, and a small term must lie "
                f"{bits} below a large one"
            )
        large = min(max((highest + lowest + bits) // 2, lowest + bits), highest)
        return large, large - bits

    def _place(self, product: int, exp: int, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> None:
        """Make a product 2^exp · a·b for every row and column; with scales, by those of its block."""
        within = exp
        if self.scale_range is not None and self.instruction.block_size is not None:
            size = self.instruction.block_size
            block = product // size
            if not self.a[:, block * size : (block + 1) * size].any():
                low, high = 2 * self.scale_range[0], 2 * self.scale_range[-1]
                self.scales[:, block] = parted(min(max(exp, low), high), self.scale_range, self.scale_range)
            within = exp - int(self.scales[:, block].sum())  # what the scales do not reach, the elements take
        factors = parted(within, *self.ranges)
        assert factors is not None, (self.name, product, exp)
        self.a[:, product] = a * 2.0 ** factors[0]
        self.b[product] = b * 2.0 ** factors[1]


def _has_integers(operand: Format, top: int) -> bool:
    """Whether a format has every integer from 1 to `top`."""
    return all(operand.value(operand.encode(number)) == number for number in range(1, top + 1))


def _array(numbers: Numbers, operand: Format) -> Any:
    """Numbers of a format as an array of its float dtype, or of codes."""
    unique, places = np.unique(numbers, return_inverse=True)
    codes = np.array([operand.encode(float(number)) for number in unique], bits_dtype(operand))
    values = [operand.value(int(code)) for code in codes]
    assert values == [float(number) for number in unique], f"{operand} does not hold {unique}"
    array = codes[places].reshape(numbers.shape)
    floats = float_dtype(operand)
    return array if floats is None else array.view(floats)


__all__ = ["KINDS", "ProbeData", "probe_data", "probe_scales"]
