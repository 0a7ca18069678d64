"""The files of a report."""

import csv
import io
import json
import math
import os
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from mmau.explore import report_files
from mmau.explore.records import flattened
from mmau.explore.report_files import csv_bytes, parquet_bytes, write
from tests.mmau.explore import sample

WITHOUT_PLOTS = [sample.without_result("F=0", "invalid", "no", 0)]


@pytest.mark.slow
def test_all_files_are_written(tmp_path: Path) -> None:
    found = write(sample.records()[:6], tmp_path / "new" / "out", title="t", space=sample.SPACE)
    names = [path.relative_to(tmp_path / "new" / "out").as_posix() for path in found]
    plots = [f"plots/{name}.{kind}" for name in PLOTS for kind in ("svg", "png")]
    assert names == ["results.csv", "results.parquet", *plots, "answers.md", "report.html"]
    assert sorted(path for path in (tmp_path / "new" / "out").rglob("*") if path.is_file()) == sorted(found)
    assert all(path.stat().st_size > 0 for path in found)


PLOTS = ("accuracy-area_um2", "accuracy-delay_ns", "accuracy-energy_pj", "error-distributions", "area-by-component")


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


def read_parquet(records: list[dict[str, Any]]) -> Any:
    return pyarrow.parquet.read_table(pyarrow.BufferReader(parquet_bytes(records, {"title": "sample"})))


def test_parquet_holds_every_value() -> None:
    records = sample.records()
    read = read_parquet(records).to_pylist()
    assert [{key: value for key, value in row.items() if value is not None} for row in read] == [
        {key: value for key, value in flattened(record).items() if value is not None} for record in records
    ]


def test_parquet_columns_have_types() -> None:
    read = read_parquet(sample.records())
    found = {name: str(read.schema.field(name).type) for name in read.column_names}
    assert found["parameters.L"] == "int64"
    assert found["cost.area_um2"] == "double"
    assert found["proof.proved"] == "bool"
    assert found["toml"] == "string"
    assert found["accuracy.normal.ulp.histogram"] == "list<element: list<element: double>>"
    assert read.schema.metadata[b"title"] == b"sample"


def test_csv_holds_every_value() -> None:
    records = sample.records()
    read = list(csv.DictReader(io.StringIO(csv_bytes(records).decode(), newline="")))
    assert len(read) == len(records)
    for row, record in zip(read, records, strict=True):
        flat = flattened(record)
        for key, text in row.items():
            value = flat.get(key)
            want = "" if value is None else value if isinstance(value, str) else json.dumps(value)
            assert text == want, key


@pytest.mark.parametrize(
    ("values", "kind", "read"),
    [
        ([1, 2.5, None], "double", [1.0, 2.5, None]),
        ([1, "by-mode"], "string", ["1", "by-mode"]),
        ([2**70, 1], "string", [str(2**70), "1"]),
        ([[1, "a"], None], "string", ['[1, "a"]', None]),
        ([True, None], "bool", [True, None]),
        ([math.inf, 1.0], "double", [math.inf, 1.0]),
    ],
)
def test_mixed_column_has_one_type(values: list[Any], kind: str, read: list[Any]) -> None:
    records = [{"name": str(n), "parameters": {"x": value}} for n, value in enumerate(values)]
    column = read_parquet(records).column("parameters.x")
    assert str(column.type) == kind
    assert column.to_pylist() == read
