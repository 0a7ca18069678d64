"""Table 8 of paper 000."""

import dataclasses
from pathlib import Path

import pytest

import golden
from golden.chain import Chain
from mmau.analysis.side_by_side import compare
from studies.analysis.discrepancy import COLUMNS, EQUATION_10, PAPER_FP64_FP32, PAPER_TABLE_8, beyond_paper, cell, page


@pytest.mark.parametrize("arch", PAPER_TABLE_8)
def test_every_value_of_the_table_is_found(arch: str) -> None:
    for column, published in zip(COLUMNS, PAPER_TABLE_8[arch], strict=False):
        assert set(published) <= set(cell(arch, column)), (arch, column)
    assert set(cell(arch, "FP64/FP32")) <= {PAPER_FP64_FP32}


def test_what_the_table_lacks_is_what_its_authors_left_out() -> None:
    beyond = {
        (arch, column, value): {result.instruction.name for result in results}
        for arch, row in PAPER_TABLE_8.items()
        for column, published in zip(COLUMNS, row, strict=False)
        for value, results in beyond_paper(arch, column, published).items()
    }
    assert beyond == {
        ("sm_75", "FP16", 0.0): {"mma.m8n8k4.f32.f16.f16.f32"},
        ("sm_100", "FP8", 0.0): {"mma.m16n8k32.f32.e5m2.e5m2.f32"},
    }


def test_one_fraction_bit_fewer_changes_the_table() -> None:
    """The comparison sees a model that is wrong by one bit."""
    right = golden.instruction("sm_80", "mma.m16n8k8.f32.f16.f16.f32")
    fewer = right.operation.changed(F=23)
    wrong = dataclasses.replace(right, operation=fewer, chain=Chain(fewer))
    assert [r.value for r in compare(EQUATION_10, [right, wrong]).results] == [-0.5, 0.0]


@pytest.mark.slow
def test_page_is_what_is_written_now() -> None:
    written = (Path(__file__).parents[3] / "docs/evidence/analysis/discrepancy.md").read_bytes()
    assert page(0)["discrepancy.md"] == written, "run make analysis-discrepancy"
