"""docs/evidence/papers.md holds the papers' values beside what the models answer now, and every difference is explained."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import golden
from golden.chain import Chain
from mmau.probe.papers import FASI, KHATTAK
from studies.microbenchmarks.published import Point
from studies.papers import __main__, microbenchmark_cells, model_cells
from studies.papers.cells import Cell, checked
from studies.papers.feature_cells import agrees, read, same_cell
from studies.papers.published_values import (
    FASI_CLAIMS,
    GPU_COLUMNS,
    KHATTAK_COLUMNS,
    PORTING,
    RECORDED_A100_TF32,
    REMARKS,
    TABLE_I,
    TABLE_III,
)
from tests.data.load import MATLAB, cases

WRITTEN = Path(__file__).resolve().parents[3] / "docs" / "evidence" / "papers.md"


@pytest.mark.slow
def test_tables_of_the_papers() -> None:
    assert WRITTEN.read_text(encoding="utf-8").startswith(__main__.head()), "run make papers"


@pytest.mark.long
def test_whole_page() -> None:
    assert WRITTEN.read_text(encoding="utf-8") == __main__.page(), "run make papers"


@pytest.mark.parametrize("arch", ["sm_70", "gfx90a"])
def test_rows_of_the_catalogue(arch: str) -> None:
    rows = __main__.catalogue_table(golden.instructions(arch)).splitlines()
    written = WRITTEN.read_text(encoding="utf-8").splitlines()
    assert len(rows) > 3
    assert set(rows) <= set(written)


def test_findings_of_fasi_et_al_are_the_models() -> None:
    for claim in FASI_CLAIMS:
        for device in claim.devices:
            answer = read(FASI, device.instruction).answer(claim.test)
            assert agrees(claim.answer, answer), (claim, device, answer)


def test_a_finding_that_is_another_is_seen() -> None:
    assert not agrees("RZ", "RN")
    assert not agrees("1", "13")
    assert not same_cell("≥ 16", "8")
    assert same_cell("≥ 2", "2")


@pytest.mark.slow
def test_every_cell_is_the_papers_or_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m studies.papers --check`."""
    found = list(__main__.cells())
    assert checked(found) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "567 cells the same, 29 cells explained, 0 cells not explained"
    assert {cell.where[:3] for cell in found} == {"000", "001", "002", "003", "004"}
    assert len({cell.where for cell in found}) == len(found)


@pytest.mark.attack("pages of evidence")
def test_a_cell_that_is_another_without_a_reason_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = Cell("002, table I, x", "RZ", "RN", agrees=False)
    assert checked([wrong, wrong._replace(reason="the text is lost")]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "002, table I, x: paper RZ, model RN: NOT EXPLAINED",
        "002, table I, x: paper RZ, model RN: the text is lost",
        "0 cells the same, 1 cells explained, 1 cells not explained",
    ]


@pytest.mark.slow
@pytest.mark.attack("cells of papers and models, changed")
def test_a_model_with_other_keys_is_seen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A100's fp16 with one fraction bit more, and with steps of four: tables 4, 8 and 12 to 15 disagree."""
    real, name = golden.instruction, "mma.m16n8k8.f32.bf16.bf16.f32"
    entry = real("sm_80", name)
    changed = entry.operation.changed(F=25)
    wrong = dataclasses.replace(entry, operation=changed, chain=Chain(changed))
    others = [wrong if i.name == name else i for i in golden.instructions("sm_80")]
    real_all = golden.instructions
    monkeypatch.setattr(golden, "instruction", lambda a, n: wrong if (a, n) == ("sm_80", name) else real(a, n))
    monkeypatch.setattr(golden, "instructions", lambda arch=None: others if arch == "sm_80" else real_all(arch))
    model_cells.nvidia.cache_clear()
    try:
        assert checked([*model_cells.model_cells(), *microbenchmark_cells.profile_cells()]) == 1
    finally:
        model_cells.nvidia.cache_clear()
    lines = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines() if "NOT EXPLAINED" in line]
    assert lines == ["000, table 4, sm_80 bf16 → fp32, T-FDPA", "000, table 8, sm_80 bf16"]


@pytest.mark.attack("cells of papers and models, changed")
def test_a_throughput_that_is_another_is_seen() -> None:
    point = Point(8, 2, 32.6, 1004.2)
    name = "mma.m16n8k16.f32.f16.f16.f32"
    assert microbenchmark_cells.throughput_cell(3, "A100", name, point).agrees
    wrong = microbenchmark_cells.throughput_cell(3, "A100", name, point._replace(throughput=1040.2))
    assert not wrong.agrees
    assert not wrong.reason


def test_every_misprint_is_a_cell() -> None:
    off = {
        (number, name, point.warps)
        for number, (gpu, table) in microbenchmark_cells.PERFORMANCE.items()
        for name, figures in table.items()
        for point in figures[1:]
        if not (cell := microbenchmark_cells.throughput_cell(number, gpu, name, point)).agrees
        and "one per cent" not in cell.reason
    }
    assert off == microbenchmark_cells.MISPRINTS.keys()


@pytest.mark.parametrize(
    ("arch", "name", "answer"),
    [
        ("gfx90a", "v_mfma_f32_16x16x16f16", "yes"),
        ("gfx90a", "v_mfma_f32_16x16x8bf16", "yes"),
        ("x86-amx", "tdpbf16ps.m16n16k32", "yes"),
        ("x86-amx", "tdpfp16ps.m16n16k2", "yes"),
        ("gfx908", "v_mfma_f32_16x16x16f16", "no"),
        ("gfx942", "v_mfma_f32_16x16x16_f16", "no"),
        ("sm_90", "mma.m16n8k16.f32.f16.f16.f32", "no"),
        ("sm_90", "wgmma.m64n8k32.f32.e4m3.e4m3", "no"),
    ],
)
def test_units_that_normalise_after_each_addition_are_told(arch: str, name: str, answer: str) -> None:
    """I.Norm, which the paper's vectors alone do not show where products are added before c."""
    assert read(KHATTAK, (arch, name)).answer("I.Norm") == answer


def test_every_difference_from_table_iii_is_explained_and_nothing_else() -> None:
    assert __main__.differences().keys() == REMARKS.keys()
    assert all(len(row.values) == len(GPU_COLUMNS) for row in TABLE_III)


def test_the_porting_example_gives_all_five_answers() -> None:
    found = re.findall(r"^\| (\w+) \| [\w.]+ \| ([\d.]+) \| ([\d.]+) \|$", __main__.porting_part(), re.MULTILINE)
    assert {gpu: float(model) for gpu, _, model in found} == {gpu: answer for gpu, (_, answer) in PORTING.items()}
    assert sorted(answer for _, answer in PORTING.values()) == [0, 0, 0, 191.875, 255.875]


def test_table_i_is_the_models() -> None:
    assert "model: **" not in __main__.khattak_part()
    assert all(len(values) == len(KHATTAK_COLUMNS) for _, _, values, _ in TABLE_I)


def test_the_recorded_rows_of_an_a100_truncate() -> None:
    """Which evidence wins over FTTN's RTN-TE for TF32."""
    (case,) = (r for r in cases(MATLAB) if (r.device, r.instruction.a.name) == ("NVIDIA A100", "tf32"))
    model = case.instruction.operation
    a, b, c, _, _ = case.operands()
    d = case.expected()
    missed = []
    for rho in ("RZ-FP32", "RNE-FP32"):
        unit = golden.Unit(name="rounded", operation=model.changed(rho=rho))
        missed.append(int(np.count_nonzero(unit.dot(a, b, c) != d)))
    assert (len(d), *missed) == RECORDED_A100_TF32
