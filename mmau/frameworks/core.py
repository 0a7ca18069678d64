"""The product that every framework's module computes: `golden.gemm` on the native engine, and never on another one."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

import golden
from golden.arrays import is_device_array, is_gpu_tensor
from golden.checks import check_choice, check_int
from golden.engines.engine import fastest_engine
from golden.units.instruction import Instruction
from golden.units.unit import Unit


def multiply(model: Instruction | Unit, a: Any, b: Any, c: Any = None, **keys: Any) -> Any:
    """`golden.gemm`, on the native engine for arrays in CPU memory, on the cuda engine for those on a GPU.

    Raises:
        RuntimeError: the native engine is not installed, whose place the reference would take, minutes for a product of 512.
        TypeError, ValueError: as `golden.gemm`.
    """
    if fastest_engine(is_device_array(a) or is_gpu_tensor(a)) == "reference" and keys.get("engine") is None:
        raise RuntimeError(
            "the native engine is not installed, and the reference engine would take minutes: install mmau with "
            "pip, which compiles it"
        )
    return golden.gemm(model, a, b, c, **keys)


@cache
def instruction_of(arch: str, a: str, b: str, d: str = "fp32") -> Instruction:
    """The instruction with which an architecture multiplies two formats without scales, and accumulates in a third.

    Where several do, the one that a library would take: `wgmma` or `tcgen05` before `mma`, and the largest k.

    Raises:
        ValueError: none does.
    """
    found = [i for i in golden.instructions(arch) if (i.a.name, i.b.name, i.c.name, i.d.name, i.scale) == (a, b, d, d, None)]
    if not found:
        pairs = sorted({f"{i.a} by {i.b}" for i in golden.instructions(arch) if i.scale is None and i.d.name == d})
        raise ValueError(
            f"{arch} has no instruction that multiplies {a} by {b} into {d}; it has {', '.join(pairs) or 'none'}"
        )
    return max(found, key=lambda i: (i.name.startswith(("wgmma.m64n128", "tcgen05.m128n128")), i.k, -len(i.name)))


Value = TypeVar("Value")

TF32_ROUNDINGS = {
    "rne": "rounded to tf32, to nearest even",
    "rna": "rounded to tf32, ties away from zero",
    "rz": "cut to tf32",
}
"""How operands of fp32 become tf32 before an instruction; the instruction itself drops what tf32 does not hold."""

RESULT_SCALES = ("applied", "ignored")
"""What a version of PyTorch does with `scale_result` of a product whose result is FP8."""


class Known(NamedTuple, Generic[Value]):
    """What a part's library does, and who has seen it."""

    value: Value
    source: str


TF32: Mapping[str, Known[str]] = {
    "sm_90": Known("rne", "recorded: cuBLAS 13.1 on an H100, docs/evidence/library-products.md"),
    "gfx942": Known("rz", "reported: hipBLASLt hands fp32 to the instruction, which drops bits (ROCm/rocm-libraries#9176)"),
}
"""The rounding to tf32 of an architecture's library, where it is known."""

FP8_PROMOTED: Mapping[str, Known[int]] = {
    "sm_90": Known(128, "recorded: cuBLAS 13.1 on an H100, docs/evidence/library-products.md"),
    "sm_100": Known(0, "reported: one accumulator of cuBLAS on a GB300 (facebookexperimental/triton#2752)"),
}
"""Products of FP8 after which an architecture's library promotes a sum, where it is known; 0: never."""


@dataclass(frozen=True)
class Part:
    """A named part: an architecture, and how its libraries spend K.

    Attributes:
        arch: an architecture of the catalogue, also by the name of a part. order: the order of every product, without an
            instruction and an output.
        fp8_promote: products of FP8 after which a sum is promoted to fp32, unless fast accumulation is asked for; 0: never;
            None: as the architecture's library is known to do (`FP8_PROMOTED`).
        tf32: how operands of fp32 are read as tf32, one of `TF32_ROUNDINGS`; True: as the architecture's library is known
            to do (`TF32`). False: they are multiplied in fp32 where the part has such an instruction (AMD), and refused
            where it has none.
        scale_result: one of `RESULT_SCALES`; None: a call that depends on it is refused.
    """

    arch: str
    order: golden.GemmOrder = golden.GemmOrder()  # noqa: RUF009  # it is frozen
    fp8_promote: int | None = None
    tf32: bool | str = False
    scale_result: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "arch", golden.architecture(self.arch))
        if self.order.model is not None or self.order.output is not None or self.order.epilogue:
            raise ValueError(
                "order of a part must have no instruction, no epilogue and no output: the framework's calls say them"
            )
        if self.fp8_promote is not None:
            check_int("fp8_promote", self.fp8_promote, 0, 1 << 30)
        if not isinstance(self.tf32, bool):
            check_choice("tf32", self.tf32, TF32_ROUNDINGS)
        if self.scale_result is not None:
            check_choice("scale_result", self.scale_result, RESULT_SCALES)
        if self.tf32 is True and self.arch not in TF32:
            raise ValueError(
                f"tf32 = True asks for what the library of {self.arch} does, which nobody has recorded, and which differs "
                f"from library to library: give tf32 = 'rne' (cuBLAS 13.1 on an H100), 'rna' (1024.5 becomes 1025, as on "
                f"an RTX 3090 under CUDA 11.1, pytorch/pytorch#53635) or 'rz' (Triton)"
            )

    def instruction(self, a: str, b: str, d: str = "fp32") -> Instruction:
        """The instruction for two formats, with tf32 for fp32 where the part is asked to."""
        if self.tf32 and a == b == "fp32":
            a = b = "tf32"
        return instruction_of(self.arch, a, b, d)

    @property
    def tf32_rounding(self) -> Known[str]:
        """How fp32 becomes tf32, and who says so."""
        if isinstance(self.tf32, str):
            return Known(self.tf32, "the caller")
        return TF32[self.arch]

    def promotion(self, fast: bool) -> Known[int]:
        """Products of FP8 after which a sum is promoted, and who says so.

        Args:
            fast: whether the call asks for fast accumulation, which promotes nothing.

        Raises:
            ValueError: neither the caller nor a recording says it.
        """
        if fast:
            return Known(0, "use_fast_accum")
        if self.fp8_promote is not None:
            return Known(self.fp8_promote, "the caller")
        if self.arch not in FP8_PROMOTED:
            raise ValueError(
                f"nobody has recorded after how many products of FP8 the library of {self.arch} promotes a sum to fp32: "
                f"give fp8_promote, 0 for never or 128 as cuBLAS on an H100, or use_fast_accum=True"
            )
        return FP8_PROMOTED[self.arch]


@cache
def scaled_instruction_of(arch: str, a: str, b: str, block: int, scale: str) -> Instruction:
    """The instruction with which an architecture multiplies two formats under scales of blocks, into fp32.

    Raises:
        ValueError: none does.
    """
    found = [
        i
        for i in golden.instructions(arch)
        if i.scale is not None and (i.a.name, i.b.name, i.block_size, i.scale.name) == (a, b, block, scale)
    ]
    if not found:
        raise ValueError(f"{arch} has no instruction that multiplies {a} by {b} under scales {scale} of blocks of {block}")
    return max(found, key=lambda i: (i.k, i.name.startswith("tcgen05.m128n128"), -len(i.name)))
