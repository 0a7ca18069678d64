"""The public MMA-Sim package (P. Xie et al., PyPI `mmasim`, with PyTorch), run as a peer: d of given operands, as bits.

It is called through its public classes and never imitated. Where it departs from numerics.md, a rule on the inputs alone
says which rows that concerns (`DEPARTURES`).
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

import golden
from golden.catalogue import marketing_names
from golden.stimulus import Operands
from tests.twin.twin_numbers import decode, two_to

VALIDATED_ON_N8 = ("wgmma.m64n8k", "tcgen05.m64n8k", "tcgen05.m128n8k")

Rows = npt.NDArray[np.bool_]


def known(instruction: golden.Instruction) -> bool:
    """The 326 of the vectors: N = 8, with M = 64 or, block-scaled, 128; no FP8 `mma.sync` that runs as fp16 work, and
    nothing of a processor, of CDNA4, of RDNA or on integers."""
    if instruction.arch in (*golden.PROCESSORS, "gfx950", "gfx1100", "gfx1151", "gfx1201") or instruction.d.name == "int32":
        return False
    if instruction.fp16_order is not None:
        return False
    if instruction.name.startswith(("wgmma", "tcgen05")):
        return instruction.name.startswith(VALIDATED_ON_N8[2] if instruction.scale else VALIDATED_ON_N8[:2])
    return True


def instructions() -> list[golden.Instruction]:
    """Every instruction of the catalogue that MMA-Sim has, too."""
    return [instruction for instruction in golden.instructions() if known(instruction)]


def operation(instruction: golden.Instruction) -> Any:
    """MMA-Sim's object for an instruction: its class by family, its name without the family."""
    from mmasim import amd, nv_ptx

    arch = marketing_names(instruction.arch)[0]
    if instruction.name.startswith("v_mfma_"):
        return amd.MFMA(arch, instruction.name.removeprefix("v_mfma_"))
    family, suffix = instruction.name.split(".", 1)
    classes = {
        ("mma", False): nv_ptx.MMA,
        ("mma", True): nv_ptx.MMABlockScale,
        ("wgmma", False): nv_ptx.WGMMA,
        ("tcgen05", False): nv_ptx.TCGen05MMA,
        ("tcgen05", True): nv_ptx.TCGen05MMABlockScale,
    }
    return classes[family, instruction.scale is not None](arch, suffix)


def tensor(codes: Any, dtype: Any) -> Any:
    """Bit patterns as a tensor of a float dtype."""
    import torch

    signed = np.array(codes, order="C").view(f"int{8 * codes.dtype.itemsize}")
    return torch.from_numpy(signed).view(dtype)


def in_container(codes: Any, operand: golden.Format, packing: int) -> Any:
    """FP4 as the hardware takes it: two codes a byte, or one in bits 5 to 2 of its byte (PTX ISA)."""
    if operand.name != "e2m1":
        return codes
    return codes << 2 if packing == 1 else codes[:, 0::2] << 4 | codes[:, 1::2]


def tensors(instruction: golden.Instruction, peer: Any, operands: Operands) -> list[Any]:
    """The operands as MMA-Sim takes them."""
    packing = getattr(peer, "packing", 1)
    found = [
        tensor(in_container(operands.a, instruction.a, packing), peer.a_type),
        tensor(in_container(operands.b, instruction.b, packing), peer.b_type),
        tensor(operands.c, peer.c_type),
    ]
    if instruction.scale is not None:
        found += [tensor(scale, peer.s_type) for scale in (operands.scale_a, operands.scale_b)]
    return found


def dot(instruction: golden.Instruction, operands: Operands) -> Any:
    """d [rows] by MMA-Sim, as bit patterns."""
    import torch

    peer = operation(instruction)
    d = peer.dpa(*tensors(instruction, peer, operands))
    signed = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[d.element_size()]
    return d.contiguous().view(signed).numpy().view(f"uint{8 * d.element_size()}")


def steps(instruction: golden.Instruction, operands: Operands) -> Iterator[tuple[int, Any]]:
    """For each step of the chain: its first k, and the accumulators [rows] that it starts from."""
    unit = golden.Unit(name="the steps before", operation=instruction.operation)
    for k in range(0, instruction.k, instruction.operation.length):
        before = unit.dot(operands.a[:, :k], operands.b[:, :k], operands.c, engine="reference") if k else operands.c
        yield k, before


def loses_accumulator(instruction: golden.Instruction, operands: Operands) -> Rows:
    """GTR-FDPA loses a NaN or an infinite accumulator beside large products (numerics.md, section 3, keeps it)."""
    rows = np.zeros(len(operands.c), bool)
    if instruction.operation.name == "GTR-FDPA":
        for _, before in steps(instruction, operands):
            rows |= ~np.isfinite(before.view(np.float32))
    return rows


def sums_to_overflow_in_double(instruction: golden.Instruction, operands: Operands) -> Rows:
    """E-FDPA finds overflow by a sum in double precision: it can err where that sum's error reaches across the boundary.

    The boundary is the tie above the largest fp32 number; numerics.md, section 5, has the exact sum decide.
    """
    rows = np.zeros(len(operands.c), bool)
    if instruction.operation.name != "E-FDPA":
        return rows
    boundary = two_to(128) - two_to(103)
    for k, before in steps(instruction, operands):
        end = k + instruction.operation.length
        for row, c in enumerate(before.tolist()):
            pairs = zip(operands.a[row, k:end].tolist(), operands.b[row, k:end].tolist(), strict=True)
            values = [decode(instruction.a.name, a).value * decode(instruction.b.name, b).value for a, b in pairs]
            values.append(decode("fp32", c).value)
            rows[row] |= abs(abs(sum(values, Fraction(0))) - boundary) <= max(map(abs, values)) * two_to(-50)
    return rows


def takes_negative_zero(instruction: golden.Instruction, operands: Operands) -> Rows:
    """FTZ-AddMul takes an input of −0 for +0 (numerics.md: subnormal inputs become +0, zeros follow IEEE 754)."""
    if instruction.operation.name != "FTZ-AddMul":
        return np.zeros(len(operands.c), bool)
    a, b = (operands.a == instruction.a.negative_zero, operands.b == instruction.b.negative_zero)
    found: Rows = a.any(axis=1) | b.any(axis=1) | (operands.c == instruction.c.negative_zero)
    return found


DEPARTURES: tuple[Callable[[golden.Instruction, Operands], Rows], ...] = (
    loses_accumulator,
    sums_to_overflow_in_double,
    takes_negative_zero,
)


def departs(instruction: golden.Instruction, operands: Operands) -> Rows:
    """Rows in which MMA-Sim may depart from numerics.md."""
    found: Rows = np.any([departure(instruction, operands) for departure in DEPARTURES], axis=0)
    return found
