"""The models beside the public MMA-Sim package, on fresh random inputs, for all 326 instructions that it has.

MMA-Sim (P. Xie et al., PyPI `mmasim`, with PyTorch) is run through its public classes and never imitated: where it departs
from numerics.md, rows are left out by a rule on the inputs alone (`DEPARTURES`), and a test shows that the rule is needed.

`MMAU_PEER_SEED` repeats or varies a run (default 1), `MMAU_PEER_ROWS` lengthens it.
"""

import os
from collections.abc import Iterator
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import golden
from golden.catalogue import marketing_names
from golden.chain import Chain
from golden.stimulus import Operands, OperandShape, generate
from tests.golden.twin_numbers import decode, two_to
from tests.shared_data import differing_rows, first_difference

SEED = int(os.environ.get("MMAU_PEER_SEED", "1"))
ROWS = int(os.environ.get("MMAU_PEER_ROWS", "400"))
VALIDATED_ON_N8 = ("wgmma.m64n8k", "tcgen05.m64n8k", "tcgen05.m128n8k")

pytestmark = pytest.mark.peer


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    """PyTorch, where MMA-Sim is installed too."""
    pytest.importorskip("mmasim", reason="MMA-Sim is not installed (extra `peer`)")
    module: ModuleType = pytest.importorskip("torch", reason="PyTorch is not installed (extra `peer`)")
    return module


def known_to_peer(instruction: golden.Instruction) -> bool:
    """Those of the shared vectors: N = 8, with M = 64 or, block-scaled, 128; no FP8 `mma.sync` that runs as fp16 work."""
    if not isinstance(instruction.chain, Chain):
        return False
    if instruction.name.startswith(("wgmma", "tcgen05")):
        return instruction.name.startswith(VALIDATED_ON_N8[2] if instruction.scale else VALIDATED_ON_N8[:2])
    return True


INSTRUCTIONS = [i for i in golden.instructions() if known_to_peer(i)]


def peer_operation(instruction: golden.Instruction) -> Any:
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


def tensor(torch: ModuleType, codes: Any, dtype: Any) -> Any:
    """Bit patterns as a tensor of a float dtype."""
    signed = np.ascontiguousarray(codes).view(f"int{8 * codes.dtype.itemsize}")
    return torch.from_numpy(signed.copy()).view(dtype)


def in_container(codes: Any, operand: golden.Format, packing: int) -> Any:
    """FP4 as the hardware takes it: two codes a byte, or one in bits 5 to 2 of its byte (PTX ISA)."""
    if operand.name != "e2m1":
        return codes
    return codes << 2 if packing == 1 else codes[:, 0::2] << 4 | codes[:, 1::2]


def peer_dot(torch: ModuleType, instruction: golden.Instruction, operands: Operands) -> Any:
    """d by MMA-Sim, as bit patterns."""
    peer = peer_operation(instruction)
    packing = getattr(peer, "packing", 1)
    tensors = [
        tensor(torch, in_container(operands.a, instruction.a, packing), peer.a_type),
        tensor(torch, in_container(operands.b, instruction.b, packing), peer.b_type),
        tensor(torch, operands.c, peer.c_type),
    ]
    if instruction.scale is not None:
        tensors += [tensor(torch, scale, peer.s_type) for scale in (operands.scale_a, operands.scale_b)]
    d = peer.dpa(*tensors)
    signed = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[d.element_size()]
    return d.contiguous().view(signed).numpy().view(f"uint{8 * d.element_size()}")


def steps(instruction: golden.Instruction, operands: Operands) -> Iterator[tuple[int, Any]]:
    """For each step of the chain: its first k, and the accumulators [rows] that it starts from."""
    unit = golden.Unit(name="the steps before", operation=instruction.operation)
    for k in range(0, instruction.k, instruction.operation.length):
        before = unit.dot(operands.a[:, :k], operands.b[:, :k], operands.c, engine="reference") if k else operands.c
        yield k, before


def loses_accumulator(instruction: golden.Instruction, operands: Operands) -> Any:
    """GTR-FDPA loses a NaN or an infinite accumulator beside large products (numerics.md, section 3, keeps it)."""
    rows = np.zeros(len(operands.c), bool)
    if instruction.operation.name == "GTR-FDPA":
        for _, before in steps(instruction, operands):
            rows |= ~np.isfinite(before.view(np.float32))
    return rows


def sums_to_overflow_in_double(instruction: golden.Instruction, operands: Operands) -> Any:
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


def takes_negative_zero(instruction: golden.Instruction, operands: Operands) -> Any:
    """FTZ-AddMul takes an input of −0 for +0 (numerics.md: subnormal inputs become +0, zeros follow IEEE 754)."""
    if instruction.operation.name != "FTZ-AddMul":
        return np.zeros(len(operands.c), bool)
    a, b = (operands.a == instruction.a.negative_zero, operands.b == instruction.b.negative_zero)
    return a.any(axis=1) | b.any(axis=1) | (operands.c == instruction.c.negative_zero)


DEPARTURES = (loses_accumulator, sums_to_overflow_in_double, takes_negative_zero)


def stimulus(instruction: golden.Instruction) -> Operands:
    return generate(OperandShape.of_instruction(instruction), ROWS, SEED).operands


def test_peer_has_326_instructions() -> None:
    assert len(INSTRUCTIONS) == 326


@pytest.mark.parametrize("instruction", [pytest.param(i, id=f"{i.arch}:{i.name}") for i in INSTRUCTIONS])
def test_model_equals_peer(torch: ModuleType, instruction: golden.Instruction) -> None:
    torch.set_num_threads(1)
    operands = stimulus(instruction)
    left_out = np.any([departs(instruction, operands) for departs in DEPARTURES], axis=0)
    operands = operands.rows(np.flatnonzero(~left_out))
    assert len(operands.c) > ROWS // 2
    got = instruction.dot(*operands, engine="reference")
    expected = peer_dot(torch, instruction, operands)
    rows = differing_rows(got, expected, any_nan=not instruction.operation.nan_is_fixed())
    assert rows.size == 0, f"seed {SEED}: {first_difference(rows, got, expected, instruction.d.describe)}"


def directed(instruction: golden.Instruction, a: float, b: float, c: float) -> Operands:
    """One row: a·b in place 0, zeros elsewhere, and c."""
    x, y = np.zeros((2, 1, instruction.k), f"uint{instruction.a.storage_bits}")
    x[0, 0], y[0, 0] = instruction.a.encode(a), instruction.b.encode(b)
    return Operands(x, y, np.array([c], np.float32).view(np.uint32), None, None)


@pytest.mark.parametrize("c", [np.inf, -np.inf, np.nan])
def test_peer_loses_an_accumulator_that_is_not_finite(torch: ModuleType, c: float) -> None:
    """Beside a product of 2^26 it counts as too small a c, so the rows that are left out differ."""
    instruction = golden.instruction("gfx942", "v_mfma_f32_32x32x16_bf8_bf8")
    row = directed(instruction, 2.0**13, 2.0**13, c)
    assert loses_accumulator(instruction, row).all()
    got = instruction.dot(*row, engine="reference").view(np.float32)
    np.testing.assert_array_equal(got, np.array([c], np.float32))
    assert peer_dot(torch, instruction, row).view(np.float32) == 2.0**26


def test_peer_sums_to_overflow_in_double(torch: ModuleType) -> None:
    """The largest number and half its last bit, less next to nothing: still that number, but not in double."""
    instruction = golden.instruction("gfx908", "v_mfma_f32_4x4x2bf16")
    row = directed(instruction, 2.0**103, 1.0, float(np.finfo(np.float32).max))
    row.a[0, 1], row.b[0, 1] = instruction.a.encode(-1), instruction.b.encode(1)
    assert sums_to_overflow_in_double(instruction, row).all()
    assert instruction.dot(*row, engine="reference") == 0x7F7F_FFFF
    assert peer_dot(torch, instruction, row) == 0x7F80_0000


def test_peer_takes_negative_zero_for_zero_in_ftz_addmul(torch: ModuleType) -> None:
    """−0 and products that underflow to −0: −0 by IEEE 754, +0 there, so the rows that are left out differ."""
    instruction = golden.instruction("gfx90a", "v_mfma_f32_4x4x2bf16")
    row = directed(instruction, -(2.0**-100), 2.0**-100, -0.0)
    row.b[0, 1], row.a[0, 1] = instruction.b.negative_zero, instruction.a.encode(1)
    assert takes_negative_zero(instruction, row).all()
    assert instruction.dot(*row, engine="reference") == 0x8000_0000
    assert peer_dot(torch, instruction, row) == 0
