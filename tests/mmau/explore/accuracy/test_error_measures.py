"""Measured accuracy of whole units: units that must come out better or worse do."""

import json
from dataclasses import replace
from typing import Any

import pytest

import golden
from golden.units.unit import Unit
from mmau.explore.accuracy import measure
from mmau.explore.accuracy.error_measures import properties
from tests.mmau.explore.accuracy.measured_units import FP16, UNITS

HOPPER = "sm_90:mma.m16n8k16.f32.f16.f16.f32"
AMPERE = "sm_80:mma.m16n8k16.f32.f16.f16.f32"


def changed(**keys: Any) -> Unit:
    """The fp16 unit with other keys."""
    return replace(FP16, operation=FP16.operation.changed(**keys))


def of_instruction(name: str) -> Unit:
    arch, _, instruction = name.partition(":")
    return Unit(name=instruction, operation=golden.instruction(arch, instruction).operation)


def test_measures_are_plain_json_and_follow_from_the_seed() -> None:
    first, again, other = (measure(FP16, "normal", 2000, seed, [HOPPER]) for seed in (1, 1, 2))
    assert json.dumps(first) == json.dumps(again)
    assert first != other
    assert json.loads(json.dumps(first, allow_nan=False)) == first


@pytest.mark.parametrize("workload", ["normal", "outliers", "ill-conditioned-1e6", "chain-512"])
def test_fewer_fraction_bits_are_worse(workload: str) -> None:
    coarse, fine = (measure(changed(F=F), workload, 4000, 3) for F in (8, 25))
    for key in ("mean", "median", "p99"):
        assert coarse["relative_error"][key] > 10 * fine["relative_error"][key]
    assert coarse["ulp"]["p99"] > fine["ulp"]["p99"]
    assert coarse["arithmetic_snr_db"] < fine["arithmetic_snr_db"]


@pytest.mark.slow
def test_rounding_down_is_biased_and_to_nearest_is_not() -> None:
    down, nearest = (measure(changed(F=60, rho=rho), "normal", 20_000, 4)["bias"] for rho in ("RD-FP32", "RNE-FP32"))
    assert down["high95"] < -0.1
    assert nearest["low95"] <= 0 <= nearest["high95"]
    aligned = measure(changed(F=23, truncation="RD", rho="RNE-FP32"), "normal", 20_000, 4)["bias"]
    assert aligned["high95"] < -0.3  # each of 17 terms loses half a unit of the largest one


def test_rounding_toward_zero_makes_results_small_but_is_not_biased() -> None:
    found = measure(changed(F=60, rho="RZ-FP32"), "normal", 20_000, 4)
    assert found["bias"]["low95"] <= 0 <= found["bias"]["high95"]
    assert found["magnitude_bias"]["high95"] < -0.1


@pytest.mark.parametrize("name", ["MUL fp64 fp64", "ADD fp16 fp16"])
def test_operations_without_c_err_by_half_a_unit_at_most(name: str) -> None:
    found = [measure(UNITS[name], workload, 2000, 5) for workload in ("normal", "specials")]
    assert all(one["special_mismatch"] == 0 for one in found)
    assert 0.4 < found[0]["ulp"]["max"] <= 0.5
    searched = properties(UNITS[name], 0)
    assert 0.4 < searched["worst"]["ulp"] <= searched["worst"]["bound_ulp"] == 0.5
    assert searched["worst"]["row"]["c"] == searched["monotonicity"]["violations"] == searched["symmetry"]["violations"] == 0


def test_a_correctly_rounded_result_errs_by_half_a_unit_at_most() -> None:
    found = measure(changed(F=128, rho="RNE-FP32"), "normal", 4000, 5)
    assert 0.4 < found["ulp"]["max"] <= 0.5
    assert found["special_mismatch"] == 0


@pytest.mark.slow
def test_a_chain_has_fewer_rows_and_loses_more() -> None:
    step, chain = (measure(FP16, workload, 40_000, 6) for workload in ("normal", "chain-2048"))
    assert chain["rows"] == 1000
    assert chain["arithmetic_snr_db"] < step["arithmetic_snr_db"] - 20


def test_a_unit_agrees_with_the_instruction_that_it_is_and_an_altered_one_less() -> None:
    hopper, ampere = (name.replace("k16", "k8") for name in (HOPPER, AMPERE))
    same = of_instruction(hopper)
    found = measure(same, "normal", 4000, 7, [hopper, ampere])["agreement"]
    assert found[hopper] == 1
    assert 0.3 < found[ampere] < 0.9
    altered = replace(same, operation=same.operation.changed(F=24, e_zero=-132))
    assert measure(altered, "normal", 4000, 7, [hopper, ampere])["agreement"] == {hopper: found[ampere], ampere: 1.0}


def test_special_results_of_published_units_are_right_and_of_a_flushing_one_not() -> None:
    assert measure(of_instruction(HOPPER), "specials", 8000, 8)["special_mismatch"] == 0
    flushing = changed(flush_inputs=True)  # a subnormal times infinity is NaN there
    assert measure(flushing, "specials", 8000, 8)["special_mismatch"] > 0


@pytest.mark.parametrize("unit", UNITS.values(), ids=lambda unit: unit.name)
def test_every_unit_is_measured(unit: Unit) -> None:
    for workload in ("normal", "specials"):
        found = measure(unit, workload, 200, 9, [HOPPER])
        assert found["rows"] == 200
        assert found["finite_rows"] > 20
        assert found["agreement"][HOPPER] is None or unit is FP16


def test_exact_units_do_not_err() -> None:
    found = measure(UNITS["IDPA int8 uint8"], "normal", 500, 0)
    assert found["exact_rows"] == 500
    assert found["arithmetic_snr_db"] is None


@pytest.mark.slow
def test_promotion_keeps_what_a_long_chain_loses() -> None:
    """8 fraction bits: sums of four steps, added in fp32, err less than one chain."""
    coarse = changed(F=8)
    chain = {"kind": "chain", "K": 1024}
    plain, promoted, split = (
        measure(coarse, chain | {"order": order}, 4000, 2, [HOPPER])
        for order in ({"promote_every": 0}, {"promote_every": 4}, {"split_k": 4})
    )
    assert promoted["arithmetic_snr_db"] > plain["arithmetic_snr_db"] + 6
    assert split["arithmetic_snr_db"] > plain["arithmetic_snr_db"] + 3
    assert plain == measure(coarse, "chain-1024", 4000, 2, [HOPPER])


def test_stream_k_of_pieces_in_one_is_a_chain() -> None:
    order = {"k_order": "stream-k", "tile": [8, 8], "workers": 1}
    ordered = measure(FP16, {"kind": "chain", "K": 64, "order": order}, 64, 2)
    assert ordered == measure(FP16, "chain-64", 64, 2)


@pytest.mark.parametrize(
    ("name", "workload", "options", "message"),
    [
        (FP16.name, "chain-24", {},
         "workload chain-24 has rows of 24 products, which T-FDPA fp16 fp16 does not take"),
        (FP16.name, "normal", {"seed": -1}, "seed must be at least 0"),
        (FP16.name, "normal", {"rows": 0}, "rows must be an integer from 1 to"),
        (FP16.name, "normal", {"references": ["sm_90"]}, "a reference must be ARCH:NAME"),
        (FP16.name, "normal", {"references": [f"{HOPPER[:-1]}3"]}, "did you mean"),
        (FP16.name, {"kind": "chain", "K": 8, "order": {"split_k": 2}}, {},
         "K must be a multiple of the 16 products of one instruction of T-FDPA fp16 fp16, got 8"),
        ("IDPA int8 uint8", {"kind": "chain", "K": 1024, "order": {"promote_every": 2}}, {},
         "chain-1024 promote_every=2 has rows of 1024 products, which IDPA int8 uint8"),
    ],
)  # fmt: skip
def test_wrong_requests_are_refused(name: str, workload: Any, options: dict[str, Any], message: str) -> None:
    rows, seed = options.get("rows", 100), options.get("seed", 0)
    with pytest.raises(ValueError, match=message):
        measure(UNITS[name], workload, rows, seed, options.get("references", ()))
