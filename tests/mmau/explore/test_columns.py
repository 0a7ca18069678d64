"""Names, units and better values of the columns."""

import pytest

from mmau.explore.columns import columns, described
from mmau.explore.records import is_number
from tests.mmau.explore import sample


@pytest.mark.parametrize(
    ("key", "title", "better"),
    [
        ("cost.area_um2", "area (µm²)", "low"),
        ("cost.area_by_component.align", "area of align (µm²)", "low"),
        ("cost.delay_by_stages.3", "delay with 3 stages (ns)", "low"),
        ("cost.fpga.ecp5.luts", "ecp5: LUTs", "low"),
        ("cost.fpga.ecp5.fmax_mhz", "ecp5: clock (MHz)", "high"),
        ("accuracy.normal.relative_error.p99", "normal: relative error, 99th percentile", "low"),
        ("accuracy.normal.bias.mean_ulp", "normal: bias (ulp of the magnitude)", "zero"),
        ("accuracy.normal.magnitude_bias.mean_ulp", "normal: bias of the magnitude (ulp of the magnitude)", "zero"),
        ("accuracy.my.data.snr_db", "my.data: signal to noise (dB)", "high"),
        ("accuracy.normal.agreement.sm_90:mma.m16n8k16", "normal: agreement with sm_90:mma.m16n8k16 (share)", "high"),
        ("accuracy.network.loss_fp32", "network: loss fp32", None),
        ("parameters.implementation.encoding", "encoding", None),
        ("cosimulation.mismatches", "mismatches", None),
        ("proof.proved", "proved for every input", None),
        ("seconds.cost", "time for cost (s)", None),
    ],
)
def test_column_has_a_title_and_a_better_value(key: str, title: str, better: str | None) -> None:
    column = described(key, True)
    assert (column.title, column.better) == (title, better)


def test_columns_are_those_with_a_value_in_a_fixed_order() -> None:
    keys = [column.key for column in columns(sample.records())]
    assert keys[:5] == [
        "parameters.operation",
        "parameters.L",
        "parameters.F",
        "parameters.implementation.encoding",
        "cost.cells",
    ]
    tops = [key.partition(".")[0] for key in keys]
    assert list(dict.fromkeys(tops)) == ["parameters", "cost", "accuracy", "cosimulation", "proof", "seconds"]
    assert not [key for key in keys if "missing" in key or "tools" in key or "histogram" in key]


def test_text_and_truth_values_are_no_numbers() -> None:
    numbers = {column.key: column.number for column in columns(sample.records())}
    assert not numbers["parameters.operation"]
    assert not numbers["proof.proved"]
    assert numbers["parameters.L"]
    assert not is_number(True)
