"""Every recording of GPUs in tests/data, all rows: 42 recordings of eight devices, 0 differences.

The rules that say how each was made are those of the data's README: one `mma.sync` each, but FP8 to fp32 on H100 and
H200 is a `wgmma` whose accumulator was zero, whatever the recorded c.
"""

from dataclasses import replace

import numpy as np
import pytest

import golden
from golden.chain import ORDERS, Chain, ConvertedChain, DotProduct
from tests.data.load import Recording, recordings
from tests.golden.differences import differing_rows, first_difference

ARCH_WITH_THE_SAME_UNIT = {"sm_86": "sm_80"}
"""The A2's compute capability has no table of its own: its tensor cores are Ampere's."""


def is_wgmma(recording: Recording) -> bool:
    return recording.arch == "sm_90" and recording.a in ("e4m3", "e5m2") and recording.d == "f32"


def instruction_of(recording: Recording) -> golden.Instruction:
    arch = ARCH_WITH_THE_SAME_UNIT.get(recording.arch, recording.arch)
    if is_wgmma(recording):
        return golden.instruction(arch, f"wgmma.m64n8k{recording.k}.{recording.d}.{recording.a}.{recording.b}")
    shape = "m8n8k4" if arch == "sm_70" else f"m16n8k{recording.k}"
    return golden.instruction(arch, f"mma.{shape}.{recording.d}.{recording.a}.{recording.b}.{recording.c}")


def distinct() -> list[Recording]:
    """The recordings whose data no earlier device gave."""
    return list({recording.data: recording for recording in reversed(recordings())}.values())[::-1]


def test_recordings_are_42_of_eight_devices_and_six_identical_ones() -> None:
    found = recordings()
    assert {r.device for r in found} == {"V100", "A100", "A2", "Ada", "L40S", "H100", "H200", "B200"}
    assert (len(distinct()), len(found) - len(distinct())) == (42, 6)


@pytest.mark.parametrize("recording", distinct(), ids=str)
def test_model_equals_recording(recording: Recording) -> None:
    instruction = instruction_of(recording)
    c, expected = recording.array("c"), recording.array("d")
    c_taken = np.zeros_like(c) if is_wgmma(recording) else c
    got = instruction.dot(recording.array("a"), recording.array("b"), c_taken, engine="reference")
    rows = differing_rows(got, expected, any_nan=False)
    assert len(expected) == recording.rows == 2000
    assert rows.size == 0, first_difference(rows, got, expected, instruction.d.describe)


def test_identical_recordings_were_made_with_the_same_model() -> None:
    by_data: dict[int, list[Recording]] = {}
    for recording in recordings():
        by_data.setdefault(recording.data, []).append(recording)
    for same in by_data.values():
        assert len({instruction_of(recording) for recording in same}) == 1


def test_c_counts_everywhere_but_in_the_wgmma_recordings() -> None:
    """Were c taken as 0 in every recording, the other rows would differ: the comparison sees the accumulator."""
    for recording in distinct():
        if not is_wgmma(recording):
            without_c = instruction_of(recording).dot(
                recording.array("a")[:20], recording.array("b")[:20], np.zeros_like(recording.array("c")[:20])
            )
            assert (without_c != recording.array("d")[:20]).any()


def fp8_as_fp16_work(d: str) -> list[Recording]:
    return [r for r in distinct() if r.d == d and isinstance(instruction_of(r).chain, ConvertedChain)]


def differing(recording: Recording, dot: DotProduct) -> int:
    """How many rows of a recording another way to compute it gets wrong."""
    rows = zip(*(recording.array(key).tolist() for key in ("a", "b", "c", "d")), strict=True)
    return sum(dot(a, b, c, (), ()) != d for a, b, c, d in rows)


@pytest.mark.slow
def test_fp8_to_fp16_recordings_tell_the_order_of_the_products() -> None:
    recordings = fp8_as_fp16_work("f16")
    assert {recording.device for recording in recordings} == {"H100", "H200", "B200"}
    for recording in recordings:
        chain = instruction_of(recording).chain
        assert isinstance(chain, ConvertedChain)
        assert chain.order == "pairs-of-four"
        assert differing(recording, replace(chain, order="in-order")) > 400
        assert differing(recording, replace(chain, order="even-odd")) > 400


@pytest.mark.slow
def test_fp8_to_fp32_recordings_tell_that_c_is_added_last_but_not_the_order() -> None:
    """A limit of the evidence: all but one of the sums are exact in fp32, so that every order and F = 23 give the same d."""
    recordings = fp8_as_fp16_work("f32")
    assert {recording.device for recording in recordings} == {"B200"}
    for recording in recordings:
        chain = instruction_of(recording).chain
        assert isinstance(chain, ConvertedChain)
        from_c = Chain(chain.operation.changed(a=chain.a, b=chain.b))
        assert differing(recording, from_c) > 800
        for order in ORDERS:
            assert differing(recording, replace(chain, order=order)) == 0
        assert differing(recording, replace(chain, operation=chain.operation.changed(F=23))) == 0
