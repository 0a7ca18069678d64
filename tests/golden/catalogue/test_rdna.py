"""OC-FDPA and PS-FDPA, RDNA3 and RDNA4: every recorded row on the path of one row at a time, and checks of their rules."""

import re
from typing import Any

import numpy as np
import pytest

import golden
from golden.native.observe import observe
from tests.data.load import RDNA, Case
from tests.data.load import cases as recordings_of
from tests.golden.differences import differing_rows
from tests.golden.native.native_rows import needs_native

OPERATIONS: dict[str, Any] = dict(golden.OPERATIONS)
"""The operations by name; each takes its own parameters, which only the running program knows."""

RECORDINGS = recordings_of(*RDNA)
FLOATS = [recording for recording in RECORDINGS if "i32" not in recording.instruction_name]


def test_recordings_are_of_two_cards() -> None:
    assert sum(recording.rows for recording in RECORDINGS) == 29_200
    assert sum(recording.rows for recording in FLOATS) == 10_768
    assert {recording.arch for recording in RECORDINGS} == {"gfx1100", "gfx1201"}
    assert {r.instruction.evidence for r in RECORDINGS} == {"third-party"}


@needs_native
@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_general_path_equals_recording(recording: Case) -> None:
    """The path that computes one row at a time, which is the cuda engine's source too."""
    operands, expected = recording.operands(), recording.expected()
    seen = observe(recording.instruction.chain, operands.a, operands.b, operands.c)
    rows = differing_rows(seen.d[:, -1].astype(expected.dtype), expected, any_nan=False)
    assert rows.size == 0


@pytest.mark.parametrize(
    ("a", "b", "c", "d"),
    [
        # −2^-133 + 2^-150 + 2^-155: floored, a tie, which goes to −2^-133; else −2^-133 + 2^-149, which drops to −0
        ((0x9E00, 0x1A04), (0x1E80, 0x1A00), 0x0000, 0x8001),
        # 2^-104 and −2^-133, which counts as −2^-128
        ((0x0B80, 0), (0x3F80, 0), 0x8001, 0x0B7F),
    ],
    ids=["c has a floor of e_max", "c is dropped by its exponent"],
)
def test_bf16_results_tell_the_exponent_of_a_zero_and_of_a_small_c(a: Any, b: Any, c: int, d: int) -> None:
    """Two statements of RDNA4 that few operands show, for a sum is rounded to fp32 and loses its lower half."""
    assert golden.instruction("gfx1201", "v_dot2_bf16_bf16").operation.step(a, b, c) == d


def dot2(arch: str, a: tuple[float, float], b: tuple[float, float], c: int) -> int:
    """One dot product of fp16."""
    x, y = np.array(a, np.float16), np.array(b, np.float16)
    return int(golden.instruction(arch, "v_dot2_f32_f16").dot(x, y, np.uint32(c)))


@pytest.mark.parametrize(
    ("a", "b", "c", "rdna3", "rdna4"),
    [
        ((1, 1), (1, 1), 0xC0000000, 0x34000000, 0x00000000),  # 1 + 1 − 2
        ((-1, 1), (0, 1), 0x00000000, 0x3F7FFFFF, 0x3F800000),  # −0 counts as −1
        ((-1, 1), (0, 1), 0x80000000, 0x3F800000, 0x3F800000),  # in the other frame 1 does: 1 + 2^-24, a tie
        ((0, 0), (1, 1), 0xBF800001, 0xBF800001, 0xBF800001),  # products of zero leave a normal c
    ],
)
def test_checks_that_come_with_the_rules(a: Any, b: Any, c: int, rdna3: int, rdna4: int) -> None:
    assert [dot2(arch, a, b, c) for arch in ("gfx1100", "gfx1151", "gfx1201")] == [rdna3, rdna3, rdna4]


def test_four_small_products_beside_one() -> None:
    """RDNA3 is monotonic here, RDNA4 gives one number for both c."""
    a, b = np.zeros(16, np.float16), np.zeros(16, np.float16)
    a[:4], b[:4] = 2.0**-12, 2.0**-12
    c = np.array([0x3F7FFFFF, 0x3F800000], np.uint32)
    expected = {"gfx1100": [0x3F800001, 0x3F800002], "gfx1201": [0x3F800002, 0x3F800002]}
    for arch, d in expected.items():
        instruction = golden.instruction(arch, "v_wmma_f32_16x16x16_f16_w64")
        assert instruction.dot(np.tile(a, (2, 1)), np.tile(b, (2, 1)), c).tolist() == d


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
def test_fp16_ovfl_saturates_at_every_step(arch: str) -> None:
    """MODE.FP16_OVFL = 1 is the key `overflow`: a finite sum stays finite, an infinite operand does not."""
    instruction = golden.instruction(arch, "v_wmma_f16_16x16x16_f16_w64")
    unit = golden.Unit(name="ovfl", operation=instruction.operation.changed(overflow="saturate"))
    a, b = np.full(16, 256, np.float16), np.full(16, 256, np.float16)
    assert [int(x.dot(a, b, np.uint16(0))) for x in (instruction, unit)] == [0x7C00, 0x7BFF]
    assert int(unit.dot(a, b, np.uint16(0x7C00))) == 0x7C00


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"P": 3}, "L must be a multiple of P=3, got 4"),
        ({"P": 5}, "P must be an integer from 1 to 4, got 5"),
        ({"h": 9}, "h must be an integer from 0 to 8, got 9"),
        ({"c": "fp16"}, "c of PS-FDPA must be fp32, the format of rho=RNE-FP32; got c=fp16"),
        ({"flush_inputs": 1}, "flush_inputs must be true or false, without quotes, got 1"),
    ],
)
def test_keys_refused(keys: dict[str, Any], message: str) -> None:
    table = {"a": "fp16", "b": "fp16", "c": "fp32", "L": 4, "P": 2, "F": 26, "h": 2, "rho": "RNE-FP32", "e_zero": -126}
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}$"):
        OPERATIONS["PS-FDPA"](**(table | keys))
