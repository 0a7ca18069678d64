"""cuBLASLt through ctypes: the algorithm that its heuristic chooses for a product, and the product by that algorithm.

Numbers of enumerations and the layout of the heuristic's result: cuBLAS's documentation of cublasLt, 13.0.
"""

import ctypes
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from hwtests.device import DeviceError

SONAME = "libcublasLt.so.13"

DATA_TYPES = {"fp32": 0, "fp16": 2, "bf16": 14, "e4m3": 28, "e5m2": 29}
"""Format to value of cudaDataType_t."""

COMPUTE_32F, COMPUTE_32F_FAST_TF32 = 68, 77
"""Values of cublasComputeType_t."""

TRANSA, TRANSB, A_SCALE_POINTER, B_SCALE_POINTER, FAST_ACCUM = 3, 4, 17, 18, 25
"""Values of cublasLtMatmulDescAttributes_t."""

MAX_WORKSPACE_BYTES = 1
"""Value of cublasLtMatmulPreferenceAttributes_t."""

FIELDS = {
    "ALGO_ID": 0, "TILE_ID": 1, "SPLITK_NUM": 2, "REDUCTION_SCHEME": 3, "CTA_SWIZZLING": 4, "CUSTOM_OPTION": 5,
    "STAGES_ID": 6, "INNER_SHAPE_ID": 7, "CLUSTER_SHAPE_ID": 8,
}  # fmt: skip
"""Names and values of cublasLtMatmulAlgoConfigAttributes_t that are read of the algorithm."""

SMALL_FIELDS = ("INNER_SHAPE_ID", "CLUSTER_SHAPE_ID")
"""The fields with 16 bits; the others have 32."""

WORKSPACE_BYTES = 32 << 20
"""The size that cuBLAS recommends on Hopper, and that PyTorch gives it there."""


REFUSALS = (7, 8, 15)
"""cublasStatus_t of a problem that the library does not take: INVALID_VALUE, ARCH_MISMATCH, NOT_SUPPORTED. Every other
one, such as EXECUTION_FAILED, is no answer."""


class Refused(DeviceError):
    """The library does not take the problem."""


class Heuristic(ctypes.Structure):
    """The structure cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algorithm", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int),
        ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4),
    )  # fmt: skip


class Problem(NamedTuple):
    """D = A·B of row-major matrices: A [M, K]; B [K, N], or [N, K] where `transposed`.

    Attributes:
        a, b, d: names of formats. tf32: whether fp32 operands are multiplied as tf32. fast: FP8 without promotion.
    """

    a: str
    b: str
    d: str
    M: int
    N: int
    K: int
    transposed: bool
    tf32: bool = False
    fast: bool = False


class CublasLt:
    """The library on the current device.

    Args:
        xp: cupy.

    Raises:
        DeviceError: the library is missing, or does not start.
    """

    def __init__(self, xp: Any) -> None:
        self._library, self._handle = _loaded(), ctypes.c_void_p()
        self._check("cublasLtCreate", ctypes.byref(self._handle))
        self._workspace = xp.empty(WORKSPACE_BYTES, xp.uint8)
        self.version = int(self._library.cublasLtGetVersion())

    def _check(self, function: str, *arguments: Any) -> None:
        status = getattr(self._library, function)(*arguments)
        if status:
            raise (Refused if status in REFUSALS else DeviceError)(f"{function} failed with status {status}")

    def multiply(self, problem: Problem, a: Any, b: Any, d: Any, scale_a: Any = None, scale_b: Any = None) -> dict[str, int]:
        """Compute D by the algorithm that the heuristic names first, and return the fields of that algorithm.

        Args:
            a, b, d: arrays of codes on the device. scale_a, scale_b: fp32 arrays of one element, of FP8; None for 1.

        Raises:
            Refused: the library does not take the problem. DeviceError: it fails.
        """
        p, made = problem, list[tuple[str, ctypes.c_void_p]]()
        try:
            compute = COMPUTE_32F_FAST_TF32 if p.tf32 else COMPUTE_32F
            description = self._created(made, "MatmulDesc", ctypes.c_int(compute), ctypes.c_int(DATA_TYPES["fp32"]))
            # It reads by columns: Dᵀ = Bᵀ·Aᵀ. A row-major [N, K] is a K×N by columns, which is transposed.
            for attribute, value in ((TRANSA, int(p.transposed)), (TRANSB, 0)):
                self._describe(description, attribute, ctypes.c_int32(value))
            if p.fast:
                self._describe(description, FAST_ACCUM, ctypes.c_int8(1))
            for attribute, scale in ((A_SCALE_POINTER, scale_b), (B_SCALE_POINTER, scale_a)):
                if scale is not None:
                    self._describe(description, attribute, ctypes.c_void_p(pointer(scale)))
            of_b = (p.K, p.N) if p.transposed else (p.N, p.K)
            layouts = [
                self._layout(made, name, rows, columns)
                for name, rows, columns in ((p.b, *of_b), (p.a, p.K, p.M), (p.d, p.N, p.M))
            ]
            preference = self._created(made, "MatmulPreference")
            size = ctypes.c_size_t(WORKSPACE_BYTES)
            self._check(
                "cublasLtMatmulPreferenceSetAttribute",
                preference,
                MAX_WORKSPACE_BYTES,
                ctypes.byref(size),
                ctypes.c_size_t(ctypes.sizeof(size)),
            )
            found, count = Heuristic(), ctypes.c_int()
            self._check(
                "cublasLtMatmulAlgoGetHeuristic", self._handle, description, *layouts, layouts[2], preference, 1,
                ctypes.byref(found), ctypes.byref(count),
            )  # fmt: skip
            if not count.value or found.state:
                raise Refused("cublasLtMatmulAlgoGetHeuristic knows no algorithm")
            one, zero = ctypes.c_float(1.0), ctypes.c_float(0.0)
            pointers = [ctypes.c_void_p(pointer(array)) for array in (b, a, d, self._workspace)]
            self._check(
                "cublasLtMatmul", self._handle, description, ctypes.byref(one), pointers[0], layouts[0], pointers[1],
                layouts[1], ctypes.byref(zero), pointers[2], layouts[2], pointers[2], layouts[2],
                ctypes.byref(found.algorithm), pointers[3], size, None,
            )  # fmt: skip
            return self._fields(found) | {"workspace": int(found.workspace)}
        finally:
            for kind, handle in reversed(made):
                getattr(self._library, f"cublasLt{kind}Destroy")(handle)

    def _created(self, made: list[tuple[str, ctypes.c_void_p]], kind: str, *arguments: Any) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        self._check(f"cublasLt{kind}Create", ctypes.byref(handle), *arguments)
        made.append((kind, handle))
        return handle

    def _layout(self, made: list[tuple[str, ctypes.c_void_p]], name: str, rows: int, columns: int) -> ctypes.c_void_p:
        sizes = ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(rows)
        return self._created(made, "MatrixLayout", ctypes.c_int(DATA_TYPES[name]), *sizes)

    def _describe(self, description: ctypes.c_void_p, attribute: int, value: Any) -> None:
        size = ctypes.c_size_t(ctypes.sizeof(value))
        self._check("cublasLtMatmulDescSetAttribute", description, ctypes.c_int(attribute), ctypes.byref(value), size)

    def _fields(self, found: Heuristic) -> dict[str, int]:
        fields = {}
        for name, attribute in FIELDS.items():
            value = ctypes.c_uint16() if name in SMALL_FIELDS else ctypes.c_uint32()
            self._check(
                "cublasLtMatmulAlgoConfigGetAttribute", ctypes.byref(found.algorithm), ctypes.c_int(attribute),
                ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(value)), None,
            )  # fmt: skip
            fields[name] = int(value.value)
        return fields


def pointer(array: Any) -> int:
    """The address of an array's memory on the device."""
    return int(array.data.ptr)


@cache
def _loaded() -> Any:
    for path in (*_candidates(), SONAME):
        try:
            library = ctypes.CDLL(str(path))
        except OSError:
            continue
        library.cublasLtGetVersion.restype = ctypes.c_size_t
        return library
    raise DeviceError(f"cuBLASLt ({SONAME}) was not found; it comes with PyTorch and with the wheel nvidia-cublas")


def _candidates() -> Iterator[Path]:
    spec = find_spec("nvidia")
    for folder in () if spec is None else spec.submodule_search_locations or ():
        yield from (Path(folder) / place / SONAME for place in ("cu13/lib", "cublas/lib"))
    yield Path("/usr/local/cuda/lib64") / SONAME
