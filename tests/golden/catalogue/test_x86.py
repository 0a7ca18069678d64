"""Every recorded row of x86 processors, by the twin of numerics.md, section 11: 0 differences, NaN payloads included."""

from collections.abc import Callable

import numpy as np
import pytest

import golden
from tests.data.load import X86, Bits, Case, cases
from tests.golden.differences import differing_rows, first_difference
from tests.twin import x86_twin
from tests.twin.x86_twin import Arithmetic, Number

RECORDINGS = cases(*X86)
INTEGERS = ("TDPBSSD", "TDPBSUD", "TDPBUSD", "TDPBUUD", "VPDPBUSD", "VPDPBUSDS")

Rule = Callable[[list[int], list[int], int], int]


def columns(recording: Case, rows: slice) -> tuple[Bits, Bits, Bits, Bits]:
    """a, b, c and d of some rows."""
    a, b, c, _, _ = recording.operands().rows(rows)
    return a, b, c, recording.expected()[rows]


def twin_name(recording: Case) -> str:
    """The name of its instruction in the twin."""
    return recording.instruction_name.partition(".")[0].upper()


def differing(recording: Case, rule: Rule, rows: slice) -> tuple[np.ndarray, Bits, Bits]:
    """The rows on which a rule differs from the recording, with its results and the recorded ones."""
    a, b, c, d = columns(recording, rows)
    got = np.array([rule(*row) for row in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)], d.dtype)
    return differing_rows(got, d, any_nan=False), got, d


def check(recording: Case, rows: slice) -> None:
    found, got, d = differing(recording, x86_twin.RULES[twin_name(recording)], rows)
    assert len(d) > 0
    assert found.size == 0, first_difference(found, got, d, hex)


@pytest.mark.slow
@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_every_fourth_row(recording: Case) -> None:
    check(recording, slice(None, None, 4))


@pytest.mark.long
@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_every_row(recording: Case) -> None:
    check(recording, slice(None))


def replayed(recording: Case, engine: str, rows: slice) -> np.ndarray:
    """Which of the rows an engine gets wrong, NaN payloads counted."""
    a, b, c, d = columns(recording, rows)
    got = recording.instruction.dot(a, b, c, engine=engine)
    assert len(got) == len(d) > 0
    return differing_rows(got, d, any_nan=False)


@pytest.mark.slow
@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_catalogue_gives_every_row(recording: Case) -> None:
    assert replayed(recording, "native", slice(None)).size == 0
    assert replayed(recording, "reference", slice(None, None, 32)).size == 0
    assert recording.instruction.evidence == "recorded"


@pytest.mark.long
@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_reference_gives_every_row(recording: Case) -> None:
    assert replayed(recording, "reference", slice(None)).size == 0


def test_every_entry_that_says_recorded_has_rows() -> None:
    entries = [*golden.instructions("x86-amx"), *golden.instructions("x86-avx512")]
    recorded = {i.name for i in entries if i.evidence == "recorded"}
    assert recorded == {recording.instruction.name for recording in RECORDINGS}


def recordings_of(instruction: str) -> list[Case]:
    return [recording for recording in RECORDINGS if twin_name(recording) == instruction]


def differing_anywhere(instruction: str, rule: Rule) -> int:
    """How many of every eighth rows of an instruction another rule gets wrong."""
    return sum(differing(recording, rule, slice(None, None, 8))[0].size for recording in recordings_of(instruction))


def odd_sum_first(a: list[int], b: list[int], c: int) -> int:
    """The accumulator joins one chain before the two meet."""
    x, y, to = x86_twin.bf16(a), x86_twin.bf16(b), x86_twin.FP32_FLUSHED
    even, odd = x86_twin.PLUS_ZERO, x86_twin.decode(c, 23, 8)
    for k in range(0, len(a), 2):
        even, odd = x86_twin.fma(x[k], y[k], even, to), x86_twin.fma(x[k + 1], y[k + 1], odd, to)
    return x86_twin.encode(x86_twin.add(even, odd, to), 23, 8)


def in_order_from_c(a: list[int], b: list[int], c: int) -> int:
    d = x86_twin.decode(c, 23, 8)
    for p, q in zip(x86_twin.bf16(a), x86_twin.bf16(b), strict=True):
        d = x86_twin.fma(p, q, d, x86_twin.FP32_FLUSHED)
    return x86_twin.encode(d, 23, 8)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [odd_sum_first, in_order_from_c])
def test_rows_tell_the_order_of_tdpbf16ps(rule: Rule) -> None:
    assert differing_anywhere("TDPBF16PS", rule) > 100


@pytest.mark.slow
def test_rows_tell_the_order_of_vdpbf16ps() -> None:
    assert differing_anywhere("VDPBF16PS", in_order_from_c) > 50
    assert differing_anywhere("VDPBF16PS", x86_twin.tdpbf16ps) > 50


def c_last(a: list[int], b: list[int], c: int) -> int:
    """The same sum, its operands the other way round: of two NaNs the other one is kept."""
    x, y, to = x86_twin.bf16(a), x86_twin.bf16(b), x86_twin.FP32_FLUSHED
    even = odd = x86_twin.PLUS_ZERO
    for k in range(0, len(a), 2):
        even, odd = x86_twin.fma(x[k], y[k], even, to), x86_twin.fma(x[k + 1], y[k + 1], odd, to)
    return x86_twin.encode(x86_twin.add(x86_twin.add(even, odd, to), x86_twin.decode(c, 23, 8), to), 23, 8)


@pytest.mark.slow
def test_rows_tell_which_nan_is_kept() -> None:
    assert differing_anywhere("TDPBF16PS", c_last) > 10


def flushed_before_rounding(x: Number, to: Arithmetic) -> Number:
    """A value below 2^e_min before rounding becomes a zero, even if it would round up to 2^e_min."""
    return x._replace(magnitude=0) if x86_twin.is_subnormal(x, to) else ROUNDED(x, to)


def rounded_at_e_min(x: Number, to: Arithmetic) -> Number:
    """The rounding keeps no bit below the last of the subnormals."""
    z = ROUNDED(x, to._replace(flush=False))
    return z._replace(magnitude=0) if x86_twin.is_subnormal(z, to) else z


def not_flushed(x: Number, to: Arithmetic) -> Number:
    return ROUNDED(x, to._replace(flush=False))


ROUNDED = x86_twin.rounded


@pytest.mark.slow
@pytest.mark.parametrize("other", [flushed_before_rounding, rounded_at_e_min, not_flushed])
def test_flush_rows_tell_when_a_result_is_flushed(
    other: Callable[[Number, Arithmetic], Number], monkeypatch: pytest.MonkeyPatch
) -> None:
    (flushing,) = [recording for recording in RECORDINGS if "flush" in recording.recording.header.names]
    last = slice(-4096, None)
    assert {flushing.recording.header.names[label] for label in flushing.recording.label[last].tolist()} == {"flush"}
    check(flushing, last)
    monkeypatch.setattr(x86_twin, "rounded", other)
    assert differing(flushing, x86_twin.tdpbf16ps, last)[0].size > 10


@pytest.mark.slow
def test_rows_tell_the_signs_of_integers_and_saturation() -> None:
    for recording in RECORDINGS:
        if twin_name(recording) in INTEGERS:
            own = x86_twin.RULES[twin_name(recording)]
            agreeing = {
                name
                for name in INTEGERS
                if x86_twin.RULES[name] is own or not differing(recording, x86_twin.RULES[name], slice(0, 1000))[0].size
            }
            same = {"TDPBUSD", "VPDPBUSD"}  # wrapped, a unsigned, b signed
            assert agreeing == (same if twin_name(recording) in same else {twin_name(recording)})
