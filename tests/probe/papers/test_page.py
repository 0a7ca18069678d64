"""docs/papers.md holds the papers' values beside what the models answer now, and every difference is explained."""

import re
from pathlib import Path

import numpy as np
import pytest

import golden
from probe.papers import FASI, page
from probe.papers.published import (
    FASI_CLAIMS,
    GPU_COLUMNS,
    KHATTAK_COLUMNS,
    PORTING,
    RECORDED_A100_TF32,
    REMARKS,
    TABLE_I,
    TABLE_III,
)
from tests.data.load import recordings

WRITTEN = Path(__file__).resolve().parents[3] / "docs" / "papers.md"


def test_tables_of_the_papers() -> None:
    assert WRITTEN.read_text(encoding="utf-8").startswith(page.head()), "run make papers"


@pytest.mark.long
def test_whole_page() -> None:
    assert WRITTEN.read_text(encoding="utf-8") == page.page(), "run make papers"


@pytest.mark.parametrize("arch", ["sm_70", "gfx90a"])
def test_rows_of_the_catalogue(arch: str) -> None:
    rows = page.catalogue_table(golden.instructions(arch))
    written = WRITTEN.read_text(encoding="utf-8").splitlines()
    assert len(rows) > 3
    assert set(rows) <= set(written)


def test_findings_of_fasi_et_al_are_the_models() -> None:
    for claim in FASI_CLAIMS:
        for device in claim.devices:
            answer = page.read(FASI, device.instruction).answer(claim.test)
            assert page.agrees(claim.answer, answer), (claim, device, answer)


def test_a_finding_that_is_another_is_seen() -> None:
    assert not page.agrees("RZ", "RN")
    assert not page.agrees("1", "13")
    assert not page.same_cell("≥ 16", "8")
    assert page.same_cell("≥ 2", "2")


def test_every_difference_from_table_iii_is_explained_and_nothing_else() -> None:
    assert page.differences().keys() == REMARKS.keys()
    assert all(len(row.values) == len(GPU_COLUMNS) for row in TABLE_III)


def test_the_porting_example_gives_all_five_answers() -> None:
    found = re.findall(r"^\| (\w+) \| [\w.]+ \| ([\d.]+) \| ([\d.]+) \|$", page.porting_part(), re.MULTILINE)
    assert {gpu: float(model) for gpu, _, model in found} == {gpu: answer for gpu, (_, answer) in PORTING.items()}
    assert sorted(answer for _, answer in PORTING.values()) == [0, 0, 0, 191.875, 255.875]


def test_table_i_is_the_models() -> None:
    assert "model: **" not in page.khattak_part()
    assert all(len(values) == len(KHATTAK_COLUMNS) for _, _, values, _ in TABLE_I)


def test_the_recorded_rows_of_an_a100_truncate() -> None:
    """Which evidence wins over FTTN's RTN-TE for TF32."""
    (recording,) = (r for r in recordings() if (r.device, r.a) == ("A100", "tf32"))
    model = golden.instruction("sm_80", "mma.m16n8k4.f32.tf32.tf32.f32").operation
    a, b, c, d = (recording.array(key) for key in "abcd")
    missed = []
    for rho in ("RZ-FP32", "RNE-FP32"):
        unit = golden.Unit(name="rounded", operation=model.changed(rho=rho))
        missed.append(int(np.count_nonzero(unit.dot(a, b, c) != d)))
    assert (len(d), *missed) == RECORDED_A100_TF32
