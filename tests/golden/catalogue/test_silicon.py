"""Every row that others recorded on NVIDIA's GPUs, every bit, NaN included: 42 recordings of seven devices by
MATLAB-tensor-core, whose rows are benign, and five by Tensorscope with special operands. 0 differences."""

from dataclasses import replace

import numpy as np
import pytest

from golden.arithmetic.formats import FP32
from golden.chains.chain import ORDERS, Chain, DotProduct
from golden.comparison import is_nan
from tests.data.load import MATLAB, TENSORSCOPE, Case, cases
from tests.golden.differences import differing_rows, first_difference

BENIGN = cases(MATLAB)
SPECIAL = cases(TENSORSCOPE)


@pytest.mark.slow
def test_recordings_are_42_of_seven_devices_and_five_of_three_generations() -> None:
    assert (len(BENIGN), len({case.device for case in BENIGN})) == (42, 7)
    assert {case.rows for case in BENIGN} == {2000}
    assert all(case.recording.header.licence == "BSD-2-Clause" for case in BENIGN)
    assert [(case.arch, case.rows) for case in SPECIAL] == [
        ("sm_70", 89),
        ("sm_80", 89),
        ("sm_80", 89),
        ("sm_90", 89),
        ("sm_90", 89),
    ]


def check(case: Case, engine: str | None, every: int) -> None:
    """The model's d of every so manyth row, computed by an engine, against the recorded one."""
    recording = replace(case.recording, operands=case.operands().rows(slice(None, None, every)))
    got, expected = recording.dot(engine=engine), case.expected()[::every]
    rows = differing_rows(got, expected, any_nan=False)
    assert len(got) == len(expected) == len(range(0, case.rows, every))
    assert rows.size == 0, first_difference(rows, got, expected, case.instruction.d.describe)


@pytest.mark.slow
@pytest.mark.parametrize("case", BENIGN, ids=str)
def test_model_equals_benign_recording(case: Case) -> None:
    check(case, None, 1)
    check(case, "reference", 4)


@pytest.mark.long
@pytest.mark.parametrize("case", BENIGN, ids=str)
def test_reference_equals_benign_recording(case: Case) -> None:
    check(case, "reference", 1)


@pytest.mark.parametrize("case", SPECIAL, ids=str)
def test_model_equals_recording_of_special_operands(case: Case) -> None:
    check(case, None, 1)
    check(case, "reference", 1)


@pytest.mark.parametrize("case", SPECIAL, ids=str)
def test_recorded_nan_results_have_one_code_whatever_the_operands_code(case: Case) -> None:
    """The statements of numerics.md, section 3, about NVIDIA's units, where operands are NaN of several codes."""
    d = case.expected()
    nan = is_nan(d, FP32)
    assert np.count_nonzero(nan) == 19
    assert set(d[nan].tolist()) == {0x7FFFFFFF}
    assert case.recording.header.kind == "silicon"


@pytest.mark.slow
def test_c_counts_everywhere_but_in_the_wgmma_recordings() -> None:
    """Were c taken as 0 in every recording, the other rows would differ: the comparison sees the accumulator."""
    for case in BENIGN:
        operands = case.operands().rows(slice(20))
        if case.instruction.name.startswith("wgmma"):
            assert not case.operands().c.any()
        else:
            without_c = case.instruction.dot(*operands._replace(c=np.zeros_like(operands.c)))
            assert (without_c != case.expected()[:20]).any()


def fp8_as_fp16_work(d: str) -> list[Case]:
    return [case for case in BENIGN if case.instruction.d.name == d and case.instruction.fp16_order is not None]


EVERY = [4, pytest.param(1, marks=pytest.mark.long)]
"""Which rows tell: every fourth, or all."""


def differing(case: Case, dot: DotProduct, every: int) -> int:
    """How many of every so manyth row of a recording another way to compute it gets wrong."""
    a, b, c, _, _ = case.operands()
    rows = zip(*(array[::every].tolist() for array in (a, b, c, case.expected())), strict=True)
    return sum(dot(a, b, c, (), ()) != d for a, b, c, d in rows)


@pytest.mark.slow
@pytest.mark.parametrize("every", EVERY)
def test_fp8_to_fp16_recordings_tell_the_order_of_the_products(every: int) -> None:
    found = fp8_as_fp16_work("fp16")
    assert {case.device for case in found} == {"NVIDIA H100", "NVIDIA H200", "NVIDIA B200"}
    for case in found:
        chain = case.instruction.chain
        assert chain.fp16_order is not None
        assert chain.order == "pairs-of-four"
        assert differing(case, replace(chain, order="in-order"), every) > 400 // every
        assert differing(case, replace(chain, order="even-odd"), every) > 400 // every


@pytest.mark.slow
@pytest.mark.parametrize("every", EVERY)
def test_fp8_to_fp32_recordings_tell_that_c_is_added_last_but_not_the_order(every: int) -> None:
    """A limit of the evidence: all but one of the sums are exact in fp32, so that every order and F = 23 give the same d."""
    found = fp8_as_fp16_work("fp32")
    assert {case.device for case in found} == {"NVIDIA B200"}
    for case in found:
        chain = case.instruction.chain
        assert chain.fp16_order is not None
        from_c = Chain(chain.operation.changed(a=chain.a, b=chain.b))
        assert differing(case, from_c, every) > 800 // every
        for order in ORDERS:
            assert differing(case, replace(chain, order=order), every) == 0
        assert differing(case, replace(chain, operation=chain.operation.changed(F=23)), every) == 0
