"""Item 2: products by cuBLASLt: which algorithm its heuristic chooses for a shape and types, a digest of the product, and
some of its elements, on which orders are tried afterwards; and how tf32 is rounded to."""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

import golden
from golden.arrays import bits_dtype
from hwtests.device import first_line
from hwtests.nvidia.cupy_device import CudaDevice
from studies.lent_minutes.cublaslt import CublasLt, Problem, Refused
from studies.lent_minutes.work import Entry, Progress
from studies.library_products.drawn_codes import STREAMS, A, B, codes

SHAPES = 100
"""Number of shapes of each kind of product."""

LARGEST_OPERAND, LARGEST_RESULT = 1 << 24, 1 << 20
"""Largest numbers of elements of A and of B, and of D."""

M_OF = (1, 1, 8, 16, 64, 100, 128, 256, 512, 1000, 1024, 2048, 4096)
N_OF = (16, 48, 64, 128, 256, 512, 1008, 1024, 2048, 4096)
K_OF = (16, 48, 64, 80, 128, 144, 512, 784, 1008, 1024, 2048, 4096, 4112, 8192, 9728, 16384)
"""Sizes that are drawn from: rows, shapes of layers, K that no tile divides. All of N and K are multiples of 16, which FP8
takes alone."""

SIDE = 8
"""Number of rows whose elements of D are kept, and of columns: where D has fewer rows, of so many more that the elements are
as many."""

SCALES = (0.7, 1.3)
"""The fp32 scales of A and of B where a product has scales; neither is a power of two."""

KINDS = {
    "fp16-nn": ("fp16", "fp16", "fp16", {"transposed": False}), "fp16": ("fp16", "fp16", "fp16", {}),
    "fp16-fp32-nn": ("fp16", "fp16", "fp32", {"transposed": False}), "fp16-fp32": ("fp16", "fp16", "fp32", {}),
    "bf16-nn": ("bf16", "bf16", "bf16", {"transposed": False}), "bf16": ("bf16", "bf16", "bf16", {}),
    "bf16-fp32-nn": ("bf16", "bf16", "fp32", {"transposed": False}), "bf16-fp32": ("bf16", "bf16", "fp32", {}),
    "tf32-nn": ("fp32", "fp32", "fp32", {"transposed": False, "tf32": True}),
    "tf32": ("fp32", "fp32", "fp32", {"tf32": True}),
    **{
        f"{a}-{b}-{d}{'-fast' * fast}": (a, b, d, {"fast": fast})
        for a, b, d in (
            ("e4m3", "e4m3", "bf16"), ("e4m3", "e4m3", "fp32"), ("e4m3", "e5m2", "bf16"), ("e5m2", "e4m3", "fp32"),
        )
        for fast in (False, True)
    },
    "e4m3-e4m3-bf16-scaled": ("e4m3", "e4m3", "bf16", {}),
    "e4m3-e4m3-fp32-scaled-fast": ("e4m3", "e4m3", "fp32", {"fast": True}),
}  # fmt: skip
"""Kinds of product: formats of A, B and D, and keys of `Problem`. Unless they say otherwise B is stored by columns;
FP8 has no other form."""

TIES, TORCH_TIES = "ties of tf32", "ties of tf32 by PyTorch"

TIE_VALUES = (1024.5, 1025.5, 1026.5, -1024.5, -1025.5)
"""fp32 numbers half-way between two of tf32: 1024.5 and 1026.5 go down to even and up away from zero, 1025.5 goes up in
both modes
and down where bits are cut."""


class Shape(NamedTuple):
    """M, N, K of a product."""

    M: int
    N: int
    K: int


@cache
def shapes() -> tuple[Shape, ...]:
    """The shapes, drawn once for all kinds: none twice, and none larger than is allowed."""
    rng, found = np.random.default_rng(40), dict[Shape, None]()
    while len(found) < SHAPES:
        shape = Shape(*(int(rng.choice(sizes)) for sizes in (M_OF, N_OF, K_OF)))
        if max(shape.M, shape.N) * shape.K <= LARGEST_OPERAND and shape.M * shape.N <= LARGEST_RESULT:
            found[shape] = None
    return tuple(found)


def units() -> Sequence[str]:
    """The names of the units: first the ties, then every shape of all kinds, so that a short run gives some of each."""
    return [TIES, TORCH_TIES, *(f"{kind} {s.M}x{s.N}x{s.K}" for s in shapes() for kind in KINDS)]


def problem_of(unit: str) -> Problem:
    """The product that a unit names."""
    kind, _, sizes = unit.partition(" ")
    a, b, d, keys = KINDS[kind]
    M, N, K = map(int, sizes.split("x"))
    return Problem(a, b, d, M, N, K, **{"transposed": True} | keys)


def sampled(problem: Problem) -> tuple[Any, Any]:
    """The rows and columns whose elements of D are kept, ascending."""
    rng, rows = np.random.default_rng([40, problem.M, problem.N]), min(problem.M, SIDE)
    sizes = ((problem.M, rows), (problem.N, SIDE * SIDE // rows))
    return tuple(np.sort(rng.permutation(size)[:kept]) for size, kept in sizes)  # type: ignore[return-value]


def operand(form: str, stream: int, index: Any) -> Any:
    """The codes of an operand at the places of its memory, [M, K] of A, [K, N] or [N, K] of B: int64 of NumPy or CuPy."""
    return codes(form, stream, index)


class Products:
    """The item on a device."""

    def __init__(self, device: CudaDevice) -> None:
        self._xp, self._to_host = device.xp, device.to_host
        self._lt = CublasLt(self._xp)
        self._drawn = cache(self._operand)

    def _operand(self, form: str, stream: int) -> Any:
        """The first elements of an operand, of which every shape takes as many as it needs."""
        index = self._xp.arange(LARGEST_OPERAND, dtype=self._xp.int64)
        return operand(form, stream, index).astype(bits_dtype(golden.FORMATS[form]))

    def do(self, unit: str, entry: Entry, progress: Progress) -> Entry:
        """A product, or the ties."""
        if unit == TIES:
            return self._ties()
        if unit == TORCH_TIES:
            return torch_ties()
        p = problem_of(unit)
        a, b = (
            self._drawn(form, STREAMS + stream)[:size] for form, stream, size in ((p.a, A, p.M * p.K), (p.b, B, p.K * p.N))
        )
        d = self._xp.full((p.M, p.N), -1, f"int{golden.FORMATS[p.d].storage_bits}")
        scales = [self._xp.full(1, scale, self._xp.float32) for scale in SCALES] if "scaled" in unit else []
        try:
            fields = self._lt.multiply(p, a, b, d, *scales)
        except Refused as error:  # a finding
            return {"status": "done", "refused": first_line(error)}
        bits = self._to_host(d).view(bits_dtype(golden.FORMATS[p.d]))
        rows, columns = sampled(p)
        return {
            "status": "done", "algorithm": fields, "library": self._lt.version,
            "digest": hashlib.sha256(bits.tobytes()).hexdigest(),
            "elements": bits[np.ix_(rows, columns)].astype("<u4").tobytes().hex(),
        }  # fmt: skip

    def _ties(self) -> Entry:
        """The ties after a product by one, on either side."""
        found = {}
        for side in ("a", "b"):
            size = 256
            p = Problem("fp32", "fp32", "fp32", size, size, size, transposed=True, tf32=True)
            of_ties, one = tie_matrices(size)
            given = {"a": of_ties, "b": one} if side == "a" else {"a": one, "b": of_ties}
            a, b = (self._xp.asarray(given[key]) for key in "ab")
            d = self._xp.full((size, size), -1, self._xp.float32)
            fields = self._lt.multiply(p, a, b, d)
            products = self._to_host(d)
            row = products[0] if side == "a" else products[:, 0]
            found[side] = {"algorithm": fields, "products": [float(x) for x in row[: len(TIE_VALUES)]]}
        return {"status": "done", "ties": list(TIE_VALUES), "found": found}


def tie_matrices(size: int) -> tuple[Any, Any]:
    """A matrix whose rows begin with the ties, and one that leaves every element as it is."""
    ties = np.zeros((size, size), np.float32)
    ties[:, : len(TIE_VALUES)] = TIE_VALUES
    return ties, np.eye(size, dtype=np.float32)


def torch_ties() -> Entry:
    """The products of ties by `torch.mm` with allow_tf32, where PyTorch is installed."""
    try:
        torch: Any = import_module("torch")
    except ImportError as error:
        return {"status": "done", "refused": first_line(error)}
    torch.backends.cuda.matmul.allow_tf32 = True
    found = {}
    for size in (64, 256, 1024):
        ties, one = (torch.from_numpy(matrix).to("cuda") for matrix in tie_matrices(size))
        for side, d in (("a", torch.mm(ties, one)[0]), ("b", torch.mm(one, ties)[0])):
            found[f"{side} {size}"] = [float(x) for x in d[: len(TIE_VALUES)].cpu()]
    return {"status": "done", "ties": list(TIE_VALUES), "found": found, "torch": str(torch.__version__)}
