"""Each length of a gap and of a stall meets each class of results, whatever the seed, and both modes keep one schedule."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cosim
import golden
from cosim import Dut
from cosim.bench import user_rows
from cosim.bench.products import Bits
from cosim.bench.schedule import WAITS, waits
from cosim.bench.stimulus import specification_of
from cosim.bench.waits import FLOAT_CLASSES, as_ranges, class_numbers, in_ranges, lacking
from cosim.runner.text_report import missed_waits
from golden import Implementation, Unit
from golden.arithmetic.formats import FP16, FP32, INT8, INT32
from golden.operations import IDPA, TFDPA
from rtl import UnitDesign, as_design, to_verilog

UNIT = Unit(name="wide", operation=TFDPA(a=FP16, b=FP16, c=FP32, L=1, F=25, rho="RZ-FP32", e_zero=-133))

CLOCKED = replace(UNIT, implementation=Implementation(stages=1))

FIFO = Path(__file__).parents[1] / "state" / "fifo.sv"

EVERY = f"1-{WAITS}"


@pytest.fixture(scope="module")
def fifo(tmp_path_factory: pytest.TempPathFactory) -> Dut:
    """The design with its datapath."""
    core = tmp_path_factory.mktemp("fifo") / "core.v"
    core.write_text(to_verilog(as_design(UNIT), "core"))
    return cosim.dut_like(UnitDesign(CLOCKED), (core, FIFO), "fifo")


@pytest.mark.parametrize(("lengths", "text"), [([], ""), ([7], "7"), ([3, 1, 2, 9, 11, 10, 64], "1-3, 9-11, 64")])
def test_lengths_are_read_as_they_are_written(lengths: list[int], text: str) -> None:
    assert as_ranges(lengths) == text
    assert in_ranges(text) == set(lengths)


def test_waits_that_are_lacking_are_named() -> None:
    met = {"gap, zero": EVERY, "stall, NaN": "1-40, 42"}
    assert lacking(met) == ["stall, NaN: 41, 43-64"]


def test_every_seed_has_every_length_once_in_another_order() -> None:
    orders = {waits(seed) for seed in range(20)}
    assert len(orders) == 20
    assert all(sorted(order) == list(range(1, WAITS + 1)) for order in orders)


def test_classes_of_results_are_those_of_ieee_754() -> None:
    """Every code of fp16, by NumPy's own functions."""
    codes = np.arange(1 << 16, dtype=np.uint16)
    rows = user_rows({"a": (codes, FP16)}, FP16, lambda ports, engine: ports["a"])
    numbers = codes.view(np.float16)
    size, info = np.abs(numbers), np.finfo(np.float16)
    expected = np.select(
        [size == 0, size < info.smallest_normal, size < info.max, size == info.max, np.isinf(numbers)],
        ["zero", "subnormal", "normal", "largest", "infinity"],
        "NaN",
    )
    assert [FLOAT_CLASSES[number] for number in class_numbers(rows)] == expected.tolist()


def test_other_results_are_zero_or_not() -> None:
    codes = np.array([0, 1, 255], np.uint8)
    for kind in (Bits(8), INT8):
        assert class_numbers(user_rows({"a": (codes, kind)}, kind, lambda ports, engine: ports["a"])) == [0, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("unit", golden.catalogue_units()[::12], ids=lambda unit: unit.name)
def test_rare_classes_of_results_come_often_enough(unit: Unit) -> None:
    """Of the vectors that may meet waits, each class has more than there are lengths, if it has any."""
    chunks = list(specification_of(UnitDesign(unit)).chunks(20_000, 0))[2:]
    numbers = np.concatenate([class_numbers(products) for chunk in chunks for products in chunk.products])
    counts = np.bincount(numbers)
    assert min(counts[counts > 0]) >= WAITS


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))])
def test_every_length_meets_every_class(seed: int, fifo: Dut) -> None:
    report = cosim.run(CLOCKED, seed=seed, dut=fifo, mode="volume")
    assert report.passed
    assert report.waits == {f"{kind}, {name}": EVERY for kind in ("gap", "stall") for name in FLOAT_CLASSES}
    assert missed_waits(report) == []


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))])
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_entry_lost_after_a_long_stall_before_a_rare_result_is_found(seed: int, fifo: Dut) -> None:
    report = cosim.run(CLOCKED, seed=seed, dut=replace(fifo, defines={"FAULTY": ""}), mode="volume")
    assert report.mismatches > 0


@pytest.mark.simulator
@pytest.mark.slow
def test_both_modes_keep_one_schedule(fifo: Dut) -> None:
    """Results come in the same cycles, after the same resets, gaps and stalls."""
    faulty = replace(fifo, defines={"FAULTY": ""})
    python, native = (cosim.run(CLOCKED, seed=5, dut=faulty, mode=mode) for mode in ("cocotb", "volume"))
    assert [(row.vector, row.cycle, row.time) for row in python.differing] == [
        (row.vector, row.cycle, row.time) for row in native.differing
    ]
    assert (python.dropped, python.waits) == (native.dropped, native.waits)
    assert python.mismatches == native.mismatches > 0


@pytest.mark.simulator
@pytest.mark.slow
def test_short_run_names_what_it_lacks() -> None:
    unit = Unit(name="sum", operation=IDPA(a=INT8, b=INT8, c=INT32, L=1), implementation=Implementation(stages=1))
    report = cosim.run(unit, vectors=500, mode="volume")
    (line,) = missed_waits(report)
    assert line.startswith("sum: lengths of waits not met (cycles): gap, zero: ")
    assert set(report.waits) == {"gap, zero", "gap, nonzero", "stall, zero", "stall, nonzero"}
