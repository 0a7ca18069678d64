"""The files of a report."""

import os
from pathlib import Path

import pytest

from mmau.explore.report import report_files, write
from tests.mmau.explore.report import sample

WITHOUT_PLOTS = [sample.without_result("F=0", "invalid", "no", 0)]


@pytest.mark.slow
def test_all_files_are_written(tmp_path: Path) -> None:
    found = write(sample.records()[:6], tmp_path / "new" / "out", title="t", space=sample.SPACE)
    names = [path.relative_to(tmp_path / "new" / "out").as_posix() for path in found]
    plots = [f"plots/{name}.{kind}" for name in PLOTS for kind in ("svg", "png")]
    assert names == ["results.csv", "results.parquet", *plots, "report.html"]
    assert sorted(path for path in (tmp_path / "new" / "out").rglob("*") if path.is_file()) == sorted(found)
    assert all(path.stat().st_size > 0 for path in found)


PLOTS = ("accuracy-area", "accuracy-delay", "accuracy-energy", "error-distributions", "area-by-component")


def test_plot_of_an_earlier_report_is_removed_and_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    for name in ("accuracy-area.svg", "mine.svg"):
        (tmp_path / "plots" / name).write_text("old")
    write(WITHOUT_PLOTS, tmp_path, title="t")
    assert os.listdir(tmp_path / "plots") == ["mine.svg"]


def test_report_that_is_there_stays_whole_where_a_new_one_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "results.csv").write_text("old")

    def broken(*_: object) -> str:
        raise RuntimeError("no page")

    monkeypatch.setattr(report_files, "page", broken)
    with pytest.raises(RuntimeError, match=r"^no page$"):
        write(WITHOUT_PLOTS, tmp_path, title="t")
    assert os.listdir(tmp_path) == ["results.csv"]
    assert (tmp_path / "results.csv").read_text() == "old"


def test_record_that_is_none_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^a report needs at least one result record, got none$"):
        write([], tmp_path / "out", title="t")
    assert not (tmp_path / "out").exists()
