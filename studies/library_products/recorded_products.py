"""The products that are recorded: routes, formats, shapes, and operands drawn from a seed."""

import hashlib
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import golden
from golden.arrays import to_bits
from mmau.testing import probe_data
from studies.library_products.drawn_codes import STREAMS, A, B, C, codes

SAMPLED = 64
"""Largest numbers of rows and columns of D that are recorded."""

ROUTES = {
    "mm": "torch.mm",
    "mm-fp32": "torch.mm(..., out_dtype=torch.float32)",
    "mm-tf32": "torch.mm of fp32 operands with allow_tf32",
    "bmm": "torch.bmm, two products",
    "linear": "torch.nn.functional.linear with a bias",
    "addmm": "torch.addmm with beta = 0.5 and alpha = 1.5",
    "scaled": "torch._scaled_mm, scales 1, use_fast_accum=False",
    "scaled-fast": "torch._scaled_mm, scales 1, use_fast_accum=True",
    "scaled-fp32": "torch._scaled_mm into fp32, scales 1, use_fast_accum=False",
    "scaled-fast-fp32": "torch._scaled_mm into fp32, scales 1, use_fast_accum=True",
    "scaled-rows": "torch._scaled_mm, a scale for each row of A and column of B, use_fast_accum=False",
    "scaled-rows-fast": "torch._scaled_mm, a scale for each row of A and column of B, use_fast_accum=True",
    "scaled-blocks": "torch.nn.functional.scaled_mm, a scale for every 128 of K of a row of A, and for 128 x 128 of B",
    "int": "torch._int_mm",
    "triton": "Triton, acc = tl.dot(a, b, acc), one program for each tile of D",
    "triton-plus": "Triton, acc += tl.dot(a, b)",
    "triton-imprecise": "Triton, acc = tl.dot(a, b, acc, max_num_imprecise_acc=64)",
}
"""The ways to compute a product, each with a description."""


class Tile(NamedTuple):
    """Triton's BLOCK_M, BLOCK_N and BLOCK_K."""

    M: int
    N: int
    K: int


@dataclass(frozen=True, kw_only=True)
class Case:
    """One product D = A·B.

    Attributes:
        route: one of `ROUTES`. a, b: names of the operands' formats; c: format of the bias or of C; "" where there is none.
        M, N, K: its shape. tile: the tile of Triton's routes; other routes have none.
        operands: "random", or the kind of `mmau.testing.probe_data`. seed: the seed of the operands.
    """

    route: str
    a: str
    b: str
    M: int
    N: int
    K: int
    c: str = ""
    tile: Tile | None = None
    operands: str = "random"
    seed: int = 0

    @property
    def name(self) -> str:
        """The name that identifies the case in a recording."""
        tile = "" if self.tile is None else "." + "x".join(map(str, self.tile))
        return f"{self.route}.{self.a}.{self.b}.{self.M}x{self.N}x{self.K}{tile}.{self.operands}.{self.seed}"


def scales(case: Case, stream: int, index: Any) -> Any:
    """Codes of positive fp32 scales near 1 at places of their matrix."""
    return codes("fp32", STREAMS * case.seed + stream, index) & 0x7FFFFFFF


def scale_shapes(case: Case) -> tuple[tuple[int, int], tuple[int, int]]:
    """Shapes of the scales of A and of B."""
    if case.route == "scaled-blocks":
        return (case.M, case.K // 128), (case.K // 128, case.N // 128)
    return (case.M, 1), (1, case.N)


class Operands(NamedTuple):
    """Codes of operands: sampled rows of A [rows, K], sampled columns of B [K, columns], and C for them ([columns] for a
    bias)."""

    a: npt.NDArray[Any]
    b: npt.NDArray[Any]
    c: npt.NDArray[Any] | None

    def digest(self) -> str:
        """SHA-256 of all codes, as little-endian int64."""
        found = hashlib.sha256()
        for array in self:
            if array is not None:
                found.update(np.ascontiguousarray(array.astype("<i8")).tobytes())
        return found.hexdigest()


def operands(case: Case) -> Operands:
    """The rows of A, columns of B and numbers of C of the sampled elements of D."""
    rows, columns = sampled(case)
    if case.operands != "random":
        made = probe_operands(case)
        return Operands(made.a[rows], made.b[:, columns], None)
    k = np.arange(case.K)
    a = codes(case.a, STREAMS * case.seed + A, rows[:, None] * case.K + k)
    b = codes(case.b, STREAMS * case.seed + B, k[:, None] * case.N + columns)
    c = None
    if case.c:
        places = columns if case.route == "linear" else rows[:, None] * case.N + columns
        c = codes(case.c, STREAMS * case.seed + C, places)
    return Operands(a, b, c)


def probe_operands(case: Case) -> Operands:
    """All of A and B of a case with probe data."""
    instr = PROBED[case.a]
    made = probe_data("sm_90", instr, (case.M, case.N, case.K), case.operands, seed=case.seed)
    instruction = golden.instruction("sm_90", instr)
    a, b = to_bits("a", made.a, instruction.a), to_bits("b", made.b, instruction.b)
    return Operands(a.astype(np.int64), b.astype(np.int64), None)


def sampled(case: Case) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The rows and columns of D that are recorded, ascending."""
    rng = np.random.default_rng([7, case.seed, case.M, case.N])
    return tuple(np.sort(rng.permutation(size)[:SAMPLED]) for size in (case.M, case.N))  # type: ignore[return-value]


PROBED = {
    "bf16": "wgmma.m64n128k16.f32.bf16.bf16",
    "fp16": "wgmma.m64n128k16.f32.f16.f16",
    "e4m3": "wgmma.m64n128k32.f32.e4m3.e4m3",
    "e5m2": "wgmma.m64n128k32.f32.e5m2.e5m2",
}
"""The instruction for which probe data is made, by format of the operands."""

PREDICTOR_SHAPES = (
    (100, 2560, 9728), (250, 2560, 9728), (1000, 2560, 9728), (4000, 2560, 9728),
    (100, 9728, 2560), (250, 9728, 2560), (1000, 9728, 2560), (4000, 9728, 2560),
)  # fmt: skip
"""The shapes for which golden/recipes.toml says what cuBLAS does on H100."""

SHAPES = (
    (64, 64, 16), (64, 64, 64), (128, 128, 128), (64, 64, 1024), (64, 64, 16384), (16, 4096, 4096), (1, 4096, 4096),
    (256, 256, 4096), (512, 512, 512), (1000, 1000, 1000), (2048, 2048, 2048), (4096, 4096, 4096), (128, 128, 32768),
)  # fmt: skip
"""M, N, K from single instructions to whole layers, with shapes that invite split-K."""

SCALED_SHAPES = ((128, 128, 128), (128, 128, 512), (256, 256, 4096), (2048, 2048, 2048), (64, 4096, 4096))

TILES = (Tile(16, 16, 32), Tile(64, 64, 64), Tile(128, 128, 128))


def cases() -> list[Case]:
    """Every case, in the order in which a machine whose time is short should record them."""
    found = [Case(route="mm", a="bf16", b="bf16", M=M, N=N, K=K) for M, N, K in PREDICTOR_SHAPES]
    eights = [shape for shape in SHAPES + PREDICTOR_SHAPES if shape[0] % 16 == 0]
    for route in ("scaled-fp32", "scaled-fast-fp32", "scaled", "scaled-fast"):
        found += [Case(route=route, a="e4m3", b="e4m3", M=M, N=N, K=K) for M, N, K in eights]
    for route in ("scaled-rows", "scaled-rows-fast", "scaled-blocks"):
        found += [Case(route=route, a="e4m3", b="e4m3", M=M, N=N, K=K) for M, N, K in SCALED_SHAPES]
    for form in ("bf16", "fp16"):
        found += [Case(route="mm-fp32", a=form, b=form, M=M, N=N, K=K) for M, N, K in SHAPES + PREDICTOR_SHAPES]
        found += [Case(route="mm", a=form, b=form, M=M, N=N, K=K) for M, N, K in SHAPES]
        for M, N, K in ((256, 256, 64), (256, 512, 1024)):
            found += [Case(route=route, a=form, b=form, c=form, M=M, N=N, K=K) for route in ("linear", "addmm")]
        found.append(Case(route="bmm", a=form, b=form, M=128, N=128, K=1024))
    found += probe_cases()
    found += [Case(route="mm-tf32", a="fp32", b="fp32", M=M, N=N, K=K) for M, N, K in SHAPES]
    found += triton_cases()
    for form in ("fp32", "fp64"):
        found += [Case(route="mm", a=form, b=form, M=M, N=N, K=K) for M, N, K in SHAPES if K < 9000]
    found += [Case(route="int", a="int8", b="int8", M=M, N=N, K=K) for M, N, K in ((64, 64, 64), (512, 512, 4096))]
    for a, b in (("e4m3", "e5m2"), ("e5m2", "e4m3")):
        for route in ("scaled-fp32", "scaled-fast-fp32", "scaled", "scaled-fast"):
            found += [Case(route=route, a=a, b=b, M=M, N=N, K=K) for M, N, K in eights[:4]]
    return found


def triton_cases() -> list[Case]:
    """Products by a kernel in Triton, of each format and tile."""
    return [
        Case(route=route, a=form, b=form, M=128, N=128, K=1024, tile=tile)
        for form in ("fp16", "bf16", "e4m3", "e5m2", "fp32")
        for route in ("triton", "triton-plus", "triton-imprecise")
        for tile in TILES
        if route != "triton-imprecise" or form in ("e4m3", "e5m2")
    ]


def probe_cases() -> list[Case]:
    """Products of probe data, for which every order gives the same bits."""
    shapes = ((64, 64, 512), (256, 256, 4096), (16, 2048, 4096), (128, 128, 16384))
    found = []
    for kind in ("dense", "precision"):
        for form in ("bf16", "fp16"):
            found += [Case(route="mm-fp32", a=form, b=form, M=M, N=N, K=K, operands=kind) for M, N, K in shapes]
            found += [Case(route="mm", a=form, b=form, M=M, N=N, K=K, operands=kind) for M, N, K in shapes]
    for route in ("scaled-fp32", "scaled-fast-fp32"):
        for kind in ("dense", "precision", "promotion"):
            found += [Case(route=route, a="e4m3", b="e4m3", M=M, N=N, K=K, operands=kind) for M, N, K in shapes]
    return found
