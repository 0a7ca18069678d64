"""Runs in native code: they find and report the same mismatches as runs in cocotb."""

import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
import golden
from cosim import dut_like
from cosim.runner import in_volume
from cosim.volume import segments
from golden import Implementation, Unit
from golden.arithmetic.formats import E2M1, E2M3, E3M2, E4M3, E5M2, FP16, FP32
from golden.operations import TFDPA
from golden.units.unit import Array
from rtl import Design, TileDesign, to_verilog
from rtl.designs.sample_units import multi_format_designs
from tests.cosim.designs import Wrapped
from tests.cosim.dut.test_third_party import DESIGNS, DIAGNOSES, bugs, check_bug, check_sound, parts
from tests.golden.units.own_formats import own_unit

pytestmark = pytest.mark.simulator

FP8 = Unit(name="fp8", operation=TFDPA(a=E4M3, b=E5M2, c=FP32, L=2, F=13, rho="RZ-FP32", e_zero=-133))
FP4 = TFDPA(a=E2M1, b=E2M1, c=FP16, L=1, F=5, rho="RZ-FP16", e_zero=-20)
FP6 = TFDPA(a=E3M2, b=E2M3, c=FP32, L=2, F=25, rho="RZ-FP32", e_zero=-133)
CLOCKED = Unit(name="clocked", operation=FP6, implementation=Implementation(stages=2))


def facts(report: cosim.Report) -> dict[str, Any]:
    """The report without durations."""
    return {**report.as_dict(), "seconds": 0, "vectors_per_second": 0}


@pytest.mark.core
def test_sound_pipeline_passes_with_any_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """FP6 lanes are packed bit by bit; 20,000 vectors of a file precede the native ones in segments."""
    monkeypatch.setattr(segments, "SEGMENT", 3000)
    monkeypatch.setattr(segments, "LONG_SEGMENT", 5000)
    alone = cosim.run(CLOCKED, vectors=31_234, seed=4, mode="volume", processes=1)
    assert alone.failures == ()
    assert (alone.sent, alone.received, sum(alone.classes.values())) == (31_234,) * 3
    assert alone.dropped > 0
    assert alone.checked > 500  # of the file's two power-ups 200 each, of the native ones 200
    assert all(alone.classes.values())
    assert facts(cosim.run(CLOCKED, vectors=31_234, seed=4, mode="volume", processes=3)) == facts(alone)


BOTH_WAYS = [(name, bug) for name, bug in bugs() if name in ("lanes", "stream") or bug not in DIAGNOSES]
"""Bugs that are tested in volume mode too: of a combinational design and of a pipeline, and every protocol bug."""


@pytest.mark.long
@pytest.mark.parametrize(("name", "bug"), BOTH_WAYS)
@pytest.mark.attack("designs by hand, in cosim")
def test_bug_is_found(name: str, bug: str) -> None:
    check_bug(name, bug, mode="volume")


@pytest.mark.long
def test_report_is_that_of_a_run_in_cocotb() -> None:
    unit, dut = parts("simd")
    broken = replace(dut, defines={"BUG_SUBNORMALS_FLUSHED": ""})
    by_volume, by_cocotb = (
        cosim.run(unit, vectors=1000, seed=7, dut=broken, mode=mode).as_dict() for mode in ("volume", "cocotb")
    )
    assert by_volume["mismatches"] > 0
    # In volume mode the coverage of a simulation counts only if all of it agrees; the first mismatch was sent again, alone.
    for report in (by_volume, by_cocotb):
        for key in ("seconds", "vectors_per_second", "mode", "coverage"):
            del report[key]
        del report["explanation"]["first"]["row"]["time"]
    assert by_volume == by_cocotb


@pytest.mark.long
@pytest.mark.parametrize("name", DESIGNS)
def test_sound_design_passes(name: str) -> None:
    check_sound(name, 40_000, mode="volume")


@pytest.mark.long
@pytest.mark.parametrize("name", ["FTZ-FMA", "IDPA"])
def test_vectors_of_a_file_and_native_ones_are_counted(name: str) -> None:
    """Integers are included; 500 vectors are native. `make coverage` runs every operation in this mode."""
    unit = next(unit for unit in cosim.coverage_units() if unit.operation.name == name)
    report = cosim.run(unit, vectors=20_500, seed=9, mode="volume")
    assert (report.failures, report.received) == ((), 20_500)
    assert sum(report.result_classes.values()) == 20_500


SCALED = golden.instruction("sm_100", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3")
TILES = [
    TileDesign(replace(golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32"), m=2, n=3), Implementation(stages=1)),
    TileDesign(replace(SCALED, m=1, n=2), Implementation(stages=1)),
]


@pytest.mark.long
@pytest.mark.parametrize("design", [multi_format_designs()[1], *TILES], ids=lambda design: design.name)
def test_formats_and_tiles_pass(design: Design) -> None:
    """`make coverage` runs tiles of every kind in this mode."""
    report = cosim.run(design, vectors=20_500, seed=1, mode="volume")
    assert report.failures == ()
    assert report.received == 20_500


@pytest.mark.slow
@pytest.mark.costly(2)
@pytest.mark.attack("cosim")
@pytest.mark.parametrize(("counter", "mode"), [("step", "volume"), ("step", "cocotb"), ("in_step", "volume")])
def test_counter_that_a_reset_within_a_tile_leaves_is_seen(counter: str, mode: str, tmp_path: Path) -> None:
    stays: dict[str, Any] = {"stationary": "weights", "depth": 3} if counter == "step" else {}
    array = Array(rows=2, columns=1, steps=4, **stays)
    tile = TileDesign.of_unit(Unit(name="array", operation=FP4, implementation=Implementation(stages=1), array=array))
    right, source = to_verilog(tile, "array"), tmp_path / "array.v"
    found = re.search(rf"^ +{counter} <= (\S+)", right, re.M)
    assert found is not None
    kept = re.sub(rf"(assign {re.escape(found[1])} += rst \? )\S+ :", rf"\1{counter} :", right)
    wrong = re.sub(rf"^  reg (\[\d:0\] )?{counter};$", rf"\g<0>\n  initial {counter} = 0;", kept, flags=re.M)
    assert len({right, kept, wrong}) == 3
    for text, passes in ((right, True), (wrong, False)):
        source.write_text(text)
        report = cosim.run(tile, vectors=1000, dut=dut_like(tile, (source,), "array"), mode=mode)
        assert report.passed is passes, report.failures


@pytest.mark.long
def test_element_of_a_tile_that_is_wrong_is_shown(wrapped: Wrapped) -> None:
    tile = TILES[0]
    width = tile.operation.d.width
    report = cosim.run(
        tile, vectors=20_100, seed=2, dut=wrapped(tile, {"d": f"d_inside ^ ({6 * width}'d1 << {4 * width})"}), mode="volume"
    )
    assert report.mismatches > 20_000
    assert {row.place for row in report.differing} == {"element [1][1]"}
    assert report.explanation is not None
    assert report.explanation.shown.note == "not minimised: only vectors of a unit can be minimised"


@pytest.mark.slow
def test_error_for_one_code_without_fields_is_seen(wrapped: Wrapped, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a design that errs for one code of an integer, native vectors that have it are seen, and no others."""
    for module in (segments, in_volume):
        monkeypatch.setattr(module, "DIRECTED", 100)
    unit = own_unit("weights under fp16")
    wrong = wrapped(unit, {"d": "d_inside ^ (b[3:0] == 6)"})
    report = cosim.run(unit, vectors=10_000, seed=2, dut=wrong, mode="volume")
    assert {row.b[0] for row in report.differing} == {6}
    assert report.mismatches > 50


def test_choice_of_vectors_holds_for_native_ones() -> None:
    """A number selects the same vector in every run of the seed, and names select classes."""
    some = cosim.run(CLOCKED, vectors=24_000, seed=3, mode="volume", selection=cosim.Selection(only=("ties",)))
    assert some.failures == ()
    assert set(some.classes) == {"ties"}
    assert 0 < some.sent == some.received == some.vectors - some.left_out < 24_000
    one = cosim.run(CLOCKED, vectors=24_000, seed=3, mode="volume", selection=cosim.Selection(vector=23_456))
    assert (one.failures, one.sent, one.left_out) == ((), 1, 23_999)


@pytest.mark.long
def test_mismatch_among_native_vectors(wrapped: Wrapped, tmp_path: Path) -> None:
    """A mismatch is found, shown with its operands, sent again by its number, and replayed in cocotb with a waveform."""
    wrong = wrapped(FP8, {"d": "d_inside ^ (a == 16'h3838)"})
    report = cosim.run(FP8, vectors=300_000, seed=8, dut=wrong, mode="volume", fail_fast=True, processes=2)
    assert report.stopped is not None
    row = report.differing[-1]
    assert row.a == (0x38, 0x38)
    a, b, c = np.array(row.a, np.uint8), np.array(row.b, np.uint8), np.array(row.c, np.uint32)
    assert row.got == row.expected ^ 1 == FP8.dot(a, b, c) ^ 1
    again = cosim.run(
        FP8, vectors=300_000, seed=8, dut=wrong, mode="volume", waves=tmp_path / "wave.vcd",
        selection=cosim.Selection(vector=row.vector),
    )  # fmt: skip
    assert (again.sent, again.mismatches) == (1, 1)
    assert asdict(again.differing[0]) == {**asdict(row), "cycle": None, "time": again.differing[0].time}
    assert again.explanation is not None
    assert again.explanation.shown.reproduced
    assert (tmp_path / "wave.vcd").stat().st_size > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "native"}, "mode must be one of"),
        ({"mode": "volume", "simulator": "icarus"}, "mode 'volume' runs what Verilator compiles"),
    ],
)
def test_request_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cosim.run(FP8, vectors=10, **options)
