"""The loop: units that it has never seen are recovered from their answers, and what is no unit is said to be none."""

from typing import Any

import numpy as np
import pytest

import golden
from golden.chains.chain import Chain
from golden.device import Device
from golden.stimulus import generate
from golden.units.unit_file import operation_from_table
from mmau.probe.device_under_test import dut_of
from mmau.probe.loop import probe
from mmau.probe.model import toml_of
from tests.mmau.probe.devices import TINY, changed, dut, rarely_wrong
from tests.mmau.probe.known_units import verdict


def of(operation: str, **keys: object) -> golden.Operation:
    return operation_from_table({"operation": operation, **keys})


VECTORS = 4_000


def recovered(device: Device, chain: Chain) -> str:
    return verdict(probe(device, VECTORS), device, chain)


@pytest.mark.slow
def test_the_nan_of_a_device_is_found() -> None:
    operation = of("FMA", a="fp16", b="fp16", c="fp16", nan="first")
    assert recovered(dut(operation, K=1), Chain(operation)) == "same"


@pytest.mark.long
def test_a_floor_above_all_terms_is_recovered() -> None:
    """Nothing is left of a term but its sign, and every finite sum overflows."""
    keys: dict[str, object] = {"L": 4, "F": 30, "G": 2, "K_block": 4, "e_zero": 930, "rho": "RNE-FP32", "truncation": "RO"}
    operation = of("GST-FDPA", a="e2m1", b="e2m1", c="fp32", scale="ue8m0", **keys)
    assert recovered(dut(operation), Chain(operation)) in ("same", "alike")


@pytest.mark.long
def test_fp8_as_fp16_work_is_recovered() -> None:
    instruction = golden.instruction("sm_90", "mma.m16n8k32.f16.e4m3.e4m3.f16")
    found = probe(dut_of(instruction), VECTORS)
    assert found.model is not None
    assert found.model.keys["order"] == "pairs-of-four"
    assert verdict(found, dut_of(instruction), instruction.chain) in ("same", "alike")
    unit = found.model.unit("found")
    rows = generate(dut_of(instruction).shape, 2000, 3).operands
    assert np.array_equal(unit.dot(rows.a, rows.b, rows.c), instruction.dot(rows.a, rows.b, rows.c))
    assert 'order = "pairs-of-four"' in toml_of(found.model, "found")


def test_the_order_of_integers_that_saturate_is_found() -> None:
    """Nothing but a sum that leaves the range and comes back shows in which order the steps take the products."""
    instruction = golden.instruction("gfx1201", "v_wmma_i32_16x16x32_iu4_w32.s4.u4.clamp")
    found = probe(dut_of(instruction), VECTORS)
    assert found.model is not None
    assert {"L": 16, "overflow": "saturate", "order": "eights-of-sixteen"}.items() <= found.model.keys.items()
    assert verdict(found, dut_of(instruction), instruction.chain) == "same"


@pytest.mark.slow
def test_the_keys_that_show_are_the_units_own() -> None:
    found = probe(dut(TINY), VECTORS)
    assert found.is_whole()
    assert found.model is not None
    assert found.model.keys["F"] == TINY.parameters()["F"]
    assert (found.model.keys["rho"], found.model.keys["sticky"], found.model.keys["L"]) == ("RNE-FP16", True, 2)


@pytest.mark.long
def test_answers_that_fit_no_operation_are_reported() -> None:
    strange = rarely_wrong(
        dut(of("FMA", a="fp32", b="fp32", c="fp32", rho="RNE-FP32", overflow="by-mode", flush_inputs=True), K=1)
    )
    found = probe(strange, VECTORS)
    assert not found.is_whole()
    assert found.stopped is None
    assert found.missed > 0
    assert found.smallest is not None
    assert found.model is not None
    row, d = found.smallest
    assert d == int(strange.dot(row)[0])
    assert found.model.differs(row, np.array([d], np.uint32)).all()


@pytest.mark.costly
def test_a_fault_that_only_validation_meets_is_found() -> None:
    """One in about four thousand rows is wrong: too rare for the features' questions."""

    def wrong(operands: Any, d: Any) -> Any:
        return np.where(operands.c & np.uint32(4095) == 100, d ^ np.array(1, d.dtype), d)

    operation = of("FMA", a="fp32", b="fp32", c="fp32")
    found = probe(changed(dut(operation, K=1), wrong), 20_000)
    assert found.missed > 0
    assert not found.is_whole()


@pytest.mark.slow
def test_an_operation_with_the_boxs_nan_wins_over_one_that_leaves_it_open() -> None:
    """All of a wide T-FDPA but its NaN is an E-FDPA's too."""
    wide = of("T-FDPA", a="e2m1", b="e2m1", c="bf16", L=1, F=100, rho="RNE-BF16", e_zero=-200)
    found = probe(dut(wide), 2000)
    assert found.model is not None
    assert found.model.family == "T-FDPA"
    rows = generate(dut(wide).shape, 5000, 5).operands
    assert np.array_equal(found.model.run(rows), dut(wide).dot(rows))


@pytest.mark.slow
def test_a_validation_asks_as_many_vectors_as_it_says() -> None:
    honest, answered = dut(of("FMA", a="fp16", b="fp16", c="fp16"), K=1), [0]

    def count(operands: Any, d: Any) -> Any:
        answered[0] += len(d)
        return d

    found = probe(changed(honest, count), 80_000)
    assert found.validated == 80_000
    assert answered[0] == found.vectors >= 80_000 + found.evidence


@pytest.mark.parametrize(("vectors", "seed"), [(0, 0), (1, -1)])
def test_a_wrong_request_is_refused(vectors: int, seed: int) -> None:
    with pytest.raises(ValueError, match=f"vectors must be at least 1 and seed at least 0, got {vectors} and {seed}"):
        probe(dut(), vectors, seed)
