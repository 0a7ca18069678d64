"""The product that every framework's module computes: `golden.gemm` on the native engine, and never on another one."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import golden
from golden.arrays import is_device_array
from golden.engines.engine import fastest_engine
from golden.units.instruction import Instruction
from golden.units.unit import Unit


def multiply(model: Instruction | Unit, a: Any, b: Any, c: Any = None, **keys: Any) -> Any:
    """`golden.gemm`, on the native engine for arrays in CPU memory.

    Raises:
        RuntimeError: the native engine is not installed, whose place the reference would take, minutes for a product of 512.
        TypeError, ValueError: as `golden.gemm`.
    """
    if fastest_engine(is_device_array(a)) == "reference" and keys.get("engine") is None:
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


@dataclass(frozen=True)
class Part:
    """A named part: an architecture, and how its libraries spend K.

    Attributes:
        arch: an architecture of the catalogue. order: the order of every product, without an instruction and an output.
        fp8_promote: products of FP8 after which a sum is promoted to fp32, unless fast accumulation is asked for; 0: never.
        tf32: whether operands of fp32 are read as tf32; else they are multiplied in fp32 where the part has such an
            instruction (AMD), and refused where it has none.
    """

    arch: str
    order: golden.GemmOrder = golden.GemmOrder()  # noqa: RUF009  # it is frozen
    fp8_promote: int = 128
    tf32: bool = False

    def __post_init__(self) -> None:
        golden.instructions(self.arch)
        if self.order.model is not None or self.order.output is not None or self.order.epilogue:
            raise ValueError(
                "order of a part must have no instruction, no epilogue and no output: the framework's calls say them"
            )

    def instruction(self, a: str, b: str, d: str = "fp32") -> Instruction:
        """The instruction for two formats, with tf32 for fp32 where the part is asked to."""
        if self.tf32 and a == b == "fp32":
            a = b = "tf32"
        return instruction_of(self.arch, a, b, d)


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
