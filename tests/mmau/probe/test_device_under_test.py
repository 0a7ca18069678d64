"""A device under test that breaks a rule ends the probe with one message, and the results so far are stored."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from golden import Unit
from golden.chains.chain import ChainTable
from golden.chains.sum_chain import SumTable
from golden.device import Device
from golden.operations import FMA
from golden.stimulus import Operands, generate
from mmau.probe.device_under_test import DeviceUnderTestError, Questioner, dut_of
from mmau.probe.journal import Journal
from mmau.probe.loop import Finding, probe
from tests.mmau.probe.devices import TINY, changed, dies_after, dut, unit


def stopped(faulty: Device, **options: Any) -> Finding:
    finding = probe(faulty, vectors=2000, **options)
    assert finding.stopped is not None
    assert not finding.is_whole()
    return finding


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda d: d[:-1], "3 vectors with d of shape (3,), got (2,)"),
        (lambda d: d.astype(np.uint32), "with uint16, the bits of fp16, got uint32"),
        (lambda d: d.tolist(), "with a NumPy array of uint16, got list"),
    ],
    ids=["shape", "type", "list"],
)
def test_an_answer_that_is_none(fault: Any, message: str) -> None:
    assert stopped(changed(dut(), lambda _, d: fault(d))).stopped == f"box must answer {message}"


@pytest.mark.slow
def test_a_device_that_is_slow_ends_when_its_time_is_up() -> None:
    def slow(operands: Operands, d: Any) -> Any:
        time.sleep(0.02)
        return d

    finding = stopped(changed(dut(), slow), seconds=0.05)
    assert finding.stopped is not None
    assert "used up its limit of 0.05 s" in finding.stopped
    assert finding.vectors > 0


def late(fault: Any) -> Any:
    """A fault that begins after 100 rows."""
    answered = [0]

    def answer(operands: Operands, d: Any) -> Any:
        answered[0] += len(d)
        return fault(d) if answered[0] > 100 else d

    return answer


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (lambda d: d[:-1], "with d of shape"),
        (lambda d: d.astype(np.uint32), "must answer with uint16"),
        (lambda d: d.tolist(), "must answer with a NumPy array"),
    ],
    ids=["shape", "type", "list"],
)
def test_whatever_ends_a_probe_it_goes_on_from_there(tmp_path: Path, fault: Any, message: str) -> None:
    honest, path = dut(), tmp_path / "state.npz"
    first = stopped(changed(honest, late(fault)), journal=Journal("box", honest.shape, path))
    assert first.stopped is not None
    assert message in first.stopped
    kept = Journal("box", honest.shape, path)
    assert 60 <= len(kept.answers) <= 100
    said = len(kept.answers)
    assert first.model is not None  # the best one of what it had answered
    assert first.evidence > 0
    resumed, whole = probe(honest, 2000, journal=kept), probe(honest, 2000)
    assert resumed.is_whole()
    assert resumed.model == whole.model
    assert whole.vectors - resumed.vectors == said


def test_a_row_is_asked_once() -> None:
    honest = dut()
    questioner = Questioner(honest, Journal("box", honest.shape))
    rows = generate(honest.shape, 300, 0).operands
    first, again = questioner.ask(rows), questioner.ask(rows)
    assert np.array_equal(first, again)
    assert np.array_equal(first, honest.dot(rows))
    assert questioner.vectors <= 300


def test_questions_grow_with_the_speed_of_the_device() -> None:
    honest = dut()
    questioner = Questioner(honest, Journal("box", honest.shape))
    rows = generate(honest.shape, 5000, 0).operands
    assert np.array_equal(questioner.ask_unrecorded(rows), honest.dot(rows))
    assert questioner.vectors == 5000
    assert questioner.questions < 20


def test_a_unit_is_asked_over_two_steps_where_it_makes_them() -> None:
    assert dut_of(unit(TINY.changed(c="fp16"))).shape.K == 4
    assert dut_of(unit(TINY), 1).shape.K == 1


def test_a_chain_is_asked_over_products_that_show_its_order_and_a_program_over_whole_groups() -> None:
    fma = FMA(a="bf16", b="bf16", c="fp32")  # type: ignore[arg-type]
    for order, K in (("even-odd", 4), ("even-and-odd", 4), ("pairs-of-four", 8), ("fours-of-eight", 16), ("in-order", 4)):
        chained = Unit(name="chained", operation=fma, chain=ChainTable(order=order, add_c="last"))
        assert dut_of(chained).shape.K == K
        products = chained.chain_over(K).order_over(K)
        assert (products == list(range(K))) is (order == "in-order")
    summed = Unit(name="summed", operation=fma, sums=SumTable(group=4))
    assert dut_of(summed).shape.K == 8


def test_device_error_is_a_wrong_request() -> None:
    with pytest.raises(ValueError, match="box died after 0 vectors: ConnectionError"):
        Questioner(dies_after(dut(), 0), Journal("box", dut().shape)).ask(generate(dut().shape, 1, 0).operands)
    assert issubclass(DeviceUnderTestError, ValueError)
