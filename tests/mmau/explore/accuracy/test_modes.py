"""The accuracy of a unit in several modes: that of each mode, and the worst of all."""

import json
from typing import Any

import pytest

from golden.units.unit import Unit
from golden.units.unit_file import unit_from_table
from mmau.explore.accuracy import check_measurable, check_workload, measure
from mmau.explore.accuracy.modes import COUNTS, LEAST, WHOLE, modes_of, worst_of
from mmau.explore.columns import MEASURES, value_of

FP16 = "sm_70:mma.m8n8k4.f32.f16.f16.f32"


def unit(controls: dict[str, Any], **keys: Any) -> Unit:
    base = {"name": "modes", "operation": "T-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "F": 20}
    return unit_from_table({**base, "rho": "RZ-FP32", "e_zero": -133, "controls": controls, **keys})


FORMATS = {
    "format": {
        "key": "formats",
        "values": {"0": "fp16", "1": {"a": "e4m3", "b": "e4m3", "L": 4}, "2": {"a": "e2m1", "b": "e2m1", "L": 8}},
    }
}
ROUNDINGS = {"rm[1:0]": {"key": "rho", "values": {"0": "RNE-FP16", "1": "RZ-FP16", "3": "RNE-FP16"}}}
FMA = {"operation": "FMA", "a": "fp16", "b": "fp16", "c": "fp16", "rho": "RNE-FP16"}


@pytest.mark.parametrize("workload", ["normal", "chain-64", "specials"])
def test_each_mode_is_measured_as_a_unit_of_its_own(workload: str) -> None:
    found = measure(unit(FORMATS), workload, 1000, 0, [FP16])
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    alone = {f"format={c.codes['format']}": measure(c.unit, workload, 1000, 0, [FP16]) for c in unit(FORMATS).choices}
    assert found["modes"] == alone
    assert found["rows"] == sum(each["rows"] for each in alone.values())
    assert found["ulp"]["max"] == max(each["ulp"]["max"] for each in alone.values())
    assert found["agreement"] == alone["format=0"]["agreement"]  # which alone has the reference's formats
    assert found["agreement"][FP16] is not None
    assert sum(count for _, count in found["ulp"]["histogram"]) == found["finite_rows"]
    assert found["bias"] in [each["bias"] for each in alone.values()]


@pytest.mark.slow
def test_properties_are_those_of_the_worst_mode() -> None:
    found = measure(unit(FORMATS), "properties", 1, 0)
    modes = list(found["modes"].values())
    assert found["worst"] == max((each["worst"] for each in modes), key=lambda each: each["share"])
    assert found["monotonicity"]["of"] == sum(each["monotonicity"]["of"] for each in modes)


def test_modes_of_one_arithmetic_are_counted_once() -> None:
    controlled = unit_from_table({"name": "fma", **FMA, "controls": ROUNDINGS})
    found = measure(controlled, "normal", 1000, 0)
    assert list(found["modes"]) == ["rm[1:0]=0", "rm[1:0]=1", "rm[1:0]=3"]
    assert found["rows"] == 2000
    assert found["modes"]["rm[1:0]=0"] == found["modes"]["rm[1:0]=3"] != found["modes"]["rm[1:0]=1"]


def table(**changes: Any) -> dict[str, Any]:
    """The measures of one mode."""
    errors = {"mean": 1e-3, "median": 1e-4, "p99": 2e-3, "max": 3e-3, "unbounded": 0}
    found = {"rows": 10, "finite_rows": 10, "relative_error": errors, "bias": {"mean_ulp": 0.5, "low95": 0.4, "high95": 0.6}}
    return {**found, "arithmetic_snr_db": 60.0, **changes}


EXACT = table(relative_error={"mean": 0.0, "median": 0.0, "p99": 0.0, "max": 0.0, "unbounded": 0}, arithmetic_snr_db=None)
NOTHING = table(
    finite_rows=0,
    relative_error={"mean": None, "median": None, "p99": None, "max": None, "unbounded": 0},
    bias={"mean_ulp": None, "low95": None, "high95": None},
    arithmetic_snr_db=None,
)


@pytest.mark.attack("measures of a unit, from those of its modes")
@pytest.mark.parametrize(
    ("modes", "key", "said"),
    [
        ([table(), table(arithmetic_snr_db=20.0)], "arithmetic_snr_db", 20.0),
        ([table(), EXACT], "arithmetic_snr_db", 60.0),  # a mode without an error is above all others
        ([EXACT, EXACT], "arithmetic_snr_db", float("inf")),
        ([table(), NOTHING], "arithmetic_snr_db", None),  # and one without a finite row is no mode without an error
        ([table(), NOTHING], "relative_error.max", None),
        ([table(), NOTHING], "bias.mean_ulp", None),
        ([table(), table(bias={"mean_ulp": -0.9, "low95": -1.0, "high95": -0.8})], "bias.high95", -0.8),
        ([table(), NOTHING], "finite_rows", 10),
        ([table(), table()], "rows", 20),
    ],
)
def test_a_mode_is_not_hidden_by_others(modes: list[dict[str, Any]], key: str, said: float | None) -> None:
    for order in (modes, modes[::-1]):
        found = {"accuracy": {"w": {**worst_of(order), "modes": {"m=0": order[0], "m=1": order[1]}}}}
        assert value_of(f"accuracy.w.{key}", found) == said
        alone = {"accuracy": {"w": order[1]}}
        assert value_of(f"accuracy.w.modes.m=1.{key}", found) == value_of(f"accuracy.w.{key}", alone)
        assert value_of(f"accuracy.w.modes.m=2.{key}", found) is None


def test_the_worst_of_a_measure_is_what_columns_call_worse() -> None:
    for name, figure in MEASURES.items():
        *tables, key = name.split(".")
        if key in COUNTS or {*tables} & {*WHOLE}:
            continue
        assert (figure.better == "high") == key.endswith(LEAST), name
        assert figure.better in ("high", "low") or key in ("condition_median", "quantisation_error"), name


def test_inputs_that_are_operands_are_refused() -> None:
    random = unit({"r": {"key": "random", "bits": 4}}, a="e4m3", b="e4m3", rho="RZ-FP32")
    message = (
        r"^modes: accuracy goes with \[controls\] that choose the arithmetic, and not with operands; got r \(random\): "
        r"leave them out of \[controls\]$"
    )
    for ask in (modes_of, lambda one: check_measurable(one, check_workload("normal"), 10)):
        with pytest.raises(ValueError, match=message):
            ask(random)


def test_a_workload_that_one_mode_does_not_take_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^workload chain-100 has rows of 100 products, which modes, format = 2 "):
        check_measurable(unit(FORMATS), check_workload({"kind": "chain", "K": 100}), 10)
