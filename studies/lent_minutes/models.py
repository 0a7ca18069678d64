"""Item 4: golden's models as an engine on the GPU: their matrix products beside the native engine's, bit for bit, at volume;
then their speed beside the card's own product of fp32, one right after the other, and rows of what was timed."""

import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import golden
from golden import GemmOrder, Instruction
from golden.arrays import bits_dtype
from golden.native.cuda import product_source, source
from golden.products.additions import Additions
from hwtests.nvidia.cupy_device import CudaDevice
from studies.lent_minutes.work import Entry, Progress

RESULTS = 1_000_000_000
"""Elements of D that are compared of each kind."""

SHAPES = ((2048, 2048, 128), (2047, 1985, 80), (1921, 2111, 272), (2048, 2049, 32), (1999, 2017, 128))
"""M, N and K of the comparisons, by turns: whole tiles of 64 by 64 and tiles that D ends within; one instruction and more
steps than a kernel is compiled for; a last instruction that K does not fill, and a last promotion of fewer instructions."""

DRAWN_ROWS = 64
"""Rows of C that are drawn, twice as long as C's. A row of C is a piece of one of them."""

SIZE = 4096
"""M, N and K of a timed product."""

TIMED_ROWS = 64
"""Rows of a timed product that are compared, the first and the last among them."""

TURNS = 5
"""Timed products, of which the fastest counts."""

STYLES = ("wide", "near", "cancelling", "zeros", "few specials", "smallest")
"""Data, by turns: exponents around one of each row's and column's own, anywhere in the range, so that results are of every
size from subnormal to infinite; exponents near each other; the second half of K the first with other signs; many zeros, in
some rows alone, and the smallest c; near, with a few NaN and infinities, in scales too; the smallest exponents, subnormal
numbers among them."""

SPREAD = 8
"""Exponents on either side of a row's own in style "wide"."""

SPECIALS = 4
"""Codes of each kind that is not finite, in an operand of style "few specials"."""

MOST_EXAMPLES = 16
"""Elements that differ which are kept of each kind: style, turn, row, column, found, expected. `operands_of` makes
the operands of a turn."""


class Kind(NamedTuple):
    """A model and an order."""

    model: Instruction
    order: GemmOrder


def kinds() -> dict[str, Kind]:
    """The kinds of product that are tried, by name."""
    find = golden.instruction
    return {
        "fp16 sm_80": Kind(find("sm_80", "mma.m16n8k16.f32.f16.f16.f32"), GemmOrder()),
        "e4m3 sm_90 promoted": Kind(find("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3"), GemmOrder(promote_every=4)),
        "bf16 gfx942": Kind(find("gfx942", "v_mfma_f32_16x16x16_bf16"), GemmOrder()),
        "nvfp4 sm_100": Kind(find("sm_100", "tcgen05.m128n128k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"), GemmOrder()),
    }


OF_ENGINE = " by engine "
"""What stands between a unit's kind and the digest of the engine: another engine, or other data, is another unit."""


def units() -> Sequence[str]:
    """First whether each kind is right, then its speed."""
    named = [f"{name}{OF_ENGINE}{engine_of(kind)}" for name, kind in kinds().items()]
    return [*(f"equal {name}" for name in named), *(f"speed {name}" for name in named)]


def engine_of(kind: Kind) -> str:
    """The digest of the kernels that compute a kind, and of this file, which makes its data."""
    digest = sha256(Path(__file__).read_bytes())
    for text in sources_of(kind):
        digest.update(text.encode())
    return digest.hexdigest()[:12]


def sources() -> Iterator[str]:
    """The sources of every kernel of the item, in the order of their first use."""
    for kind in kinds().values():
        yield from sources_of(kind)


def sources_of(kind: Kind) -> Iterator[str]:
    """The sources of a kind's kernels."""
    model, every = kind.model, kind.order.promote_every
    chained: dict[int, None] = {}  # instructions of a chain
    for size in (*(K for _, _, K in SHAPES), SIZE):
        count = -(-size // model.k)
        whole, rest = (count // every, count % every) if every else (0, count)
        chained |= dict.fromkeys(n for n in (every if whole else 0, rest) if n)
    yield from dict.fromkeys(product_source(model.chain, n * model.k) for n in chained)
    if every:
        yield source(Additions(model.operation, "cuda").addition, 1)


def codes(rng: np.random.Generator, operand: golden.Format, shape: tuple[int, int], style: str) -> Any:
    """Codes of an operand, [rows, K]."""
    dtype = bits_dtype(operand)
    anything = rng.integers(0, operand.codes, shape, np.uint64).astype(dtype)
    largest = operand.max_finite >> operand.pad_bits  # of the fields of exponent and fraction
    top = largest >> operand.man_bits
    if style == "wide":
        middle = rng.integers(0, top + 1, (shape[0], 1))
        exp = np.clip(middle + rng.integers(-SPREAD, SPREAD + 1, shape), 0, top)
    elif style == "smallest":
        exp = rng.integers(0, min(3, top + 1), shape)
    else:
        exp = max(1, (1 << operand.exp_bits) // 2 - 1) + rng.integers(0, min(3, 1 << operand.exp_bits), shape)
    fraction = anything & dtype.type((1 << operand.man_bits) - 1)
    field = np.minimum(exp.astype(dtype) << dtype.type(operand.man_bits) | fraction, dtype.type(largest))
    made = field << dtype.type(operand.pad_bits)
    made |= anything & dtype.type(operand.negative_zero)
    if style == "zeros":
        made[(rng.random(shape) < 0.8) | (rng.random((shape[0], 1)) < 0.25)] = 0
    if style == "cancelling":
        half = shape[1] // 2
        made[:, half:] = made[:, :half]
    if style == "few specials":
        kinds_of = (operand.nan, *(() if operand.infinity is None else map(operand.signed_infinity, (0, 1))))
        for code in (each for each in kinds_of if each is not None):
            made[rng.integers(0, shape[0], SPECIALS), rng.integers(0, shape[1], SPECIALS)] = code
    return made


def addends(rng: np.random.Generator, c: golden.Format, shape: tuple[int, int], style: str) -> Any:
    """Codes of C: rows cut anywhere out of a few that are drawn, for drawing takes ten times as long as comparing."""
    rows, columns = shape
    drawn = codes(rng, c, (min(rows, DRAWN_ROWS), 2 * columns), style)
    pieces = np.lib.stride_tricks.sliding_window_view(drawn, columns, axis=1)
    return pieces[np.arange(rows) % len(drawn), rng.integers(0, columns, rows)]


def matrices(kind: Kind, style: str, rng: np.random.Generator, shape: tuple[int, int, int]) -> tuple[Any, ...]:
    """A, B, C and the scales, codes, of a product of M, N and K."""
    (M, N, K), o = shape, kind.model.operation
    a, b = (codes(rng, operand, (rows, K), style) for rows, operand in ((M, kind.model.a), (N, kind.model.b)))
    if style == "cancelling":
        b[:, K // 2 :] ^= b.dtype.type(kind.model.b.negative_zero)
    c = addends(rng, o.c, (M, N), "smallest" if style == "zeros" else style)
    if o.block_size is None or o.scale_format is None:
        return a, b.T, c, None, None
    sizes = [(rows, -(-K // o.block_size)) for rows in (M, N)]
    about = o.scale_format.encode(1) if o.scale_format.man_bits else o.scale_format.bias
    alpha, beta = (rng.integers(about - 4, about + 5, size).astype(np.uint8) for size in sizes)
    if style == "wide":
        alpha, beta = (rng.integers(0, o.scale_format.max_finite + 1, size).astype(np.uint8) for size in sizes)
    if style == "few specials" and o.scale_format.nan is not None:
        alpha[rng.integers(0, M, SPECIALS), 0] = o.scale_format.nan
    return a, b.T, c, alpha, beta.T


def operands_of(kind: Kind, turn: int) -> tuple[Any, ...]:
    """The operands of a turn of a comparison, which follow from its number: every style meets every shape."""
    return matrices(kind, STYLES[turn % len(STYLES)], np.random.default_rng([40, turn]), SHAPES[turn % len(SHAPES)])


def product(kind: Kind, given: tuple[Any, ...], engine: str) -> Any:
    """D of A, B, C and the scales on an engine."""
    A, B, C, alpha, beta = given
    return golden.gemm(kind.model, A, B, C, alpha, beta, engine=engine, order=kind.order)


class Models:
    """The item on a device."""

    def __init__(self, device: CudaDevice) -> None:
        self._xp, self._to_host = device.xp, device.to_host

    def do(self, unit: str, entry: Entry, progress: Progress) -> Entry:
        """Whether a kind is right, or how fast it is."""
        what, _, name = unit.partition(" ")
        kind = kinds()[name.partition(OF_ENGINE)[0]]
        return self._compared(kind, entry, progress) if what == "equal" else self._timed(kind)

    def _on_device(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(None if x is None else self._xp.asarray(np.ascontiguousarray(x)) for x in arrays)

    def _compared(self, kind: Kind, known: Entry, progress: Progress) -> Entry:
        """Products of one style after another, from where an earlier run came to."""
        entry: Entry = {"turns": 0, "vectors": {}, "mismatches": {}, "examples": []} | known | {"status": "running"}
        done, differ, examples = entry["vectors"], entry["mismatches"], entry["examples"]
        while sum(done.values()) < RESULTS or entry["turns"] % len(STYLES):
            turn = entry["turns"]
            style, given = STYLES[turn % len(STYLES)], operands_of(kind, turn)
            expected = product(kind, given, "native")
            found = self._to_host(product(kind, self._on_device(given), "cuda"))
            places = differing(found, expected)
            done[style] = done.get(style, 0) + expected.size
            differ[style] = differ.get(style, 0) + len(places)
            for m, n in places[: MOST_EXAMPLES - len(examples)].tolist():
                examples.append([style, turn, m, n, int(found[m, n]), int(expected[m, n])])
            entry["turns"] += 1
            progress.report(entry)
        return entry | {"status": "done"}

    def _timed(self, kind: Kind) -> Entry:
        """A kind's time and, right after it, the time of the card's own product of fp32; some rows beside the native
        engine's."""
        rng = np.random.default_rng(40)
        given = matrices(kind, "near", rng, (SIZE, SIZE, SIZE))
        on_device = self._on_device(given)
        seconds, D = self._fastest(lambda: product(kind, on_device, "cuda"))
        square = self._xp.ones((SIZE, SIZE), np.float32)
        of_card, _ = self._fastest(lambda: square @ square)
        rows = np.unique([0, SIZE - 1, *rng.integers(0, SIZE, TIMED_ROWS - 2)])
        A, B, C, alpha, beta = given
        expected = product(kind, (A[rows], B, C[rows], None if alpha is None else alpha[rows], beta), "native")
        places = differing(self._to_host(D)[rows], expected)
        return {
            "status": "done", "seconds": seconds, "products_per_second": SIZE**3 / seconds, "card_seconds": of_card,
            "times_the_card": seconds / of_card, "vectors": {"timed": expected.size}, "mismatches": {"timed": len(places)},
        }  # fmt: skip

    def _fastest(self, product: Callable[[], Any]) -> tuple[float, Any]:
        """The seconds of the fastest of some products, after one that compiles, and D of the last."""
        seconds, D = [], None
        for _ in range(TURNS + 1):
            self._xp.cuda.runtime.deviceSynchronize()
            started = time.perf_counter()
            D = product()
            self._xp.cuda.runtime.deviceSynchronize()
            seconds.append(time.perf_counter() - started)
        return min(seconds[1:]), D


def differing(found: Any, expected: Any) -> Any:
    """The places where two matrices differ."""
    return np.argwhere(found != expected)
