"""The files of a report: the table as Parquet and CSV, plots, and one page, each written whole or not at all."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from mmau.explore.answers import answers, arrays
from mmau.explore.design_space import NOTHING_ASKED, Asked
from mmau.explore.figures import NAMES, figures
from mmau.explore.html_report import page
from mmau.explore.records import Cell, Record, check_records, flattened

PLOTS = "plots"
"""The folder of the plots, within the folder of the report."""


def write(
    records: Sequence[Record],
    folder: str | Path,
    *,
    title: str,
    space: str = "",
    asked: Asked = NOTHING_ASKED,
    estimates: Sequence[str] = (),
) -> list[Path]:
    """Write results.parquet, results.csv, answers.md, report.html and plots/*.svg, plots/*.png into a folder, arrays.json if
    a point has an array; files of these names are replaced.

    Everything is made before the first file is written, and each file is replaced at once, so that a report that is there
    stays whole. A plot for which no point has values is not written, and one of an earlier report is removed.

    Args:
        records: the points' result records, in the order of the table.
        title: the name of the space. space: the text of its TOML file, which the page shows. asked: its limits, questions
            and objectives. estimates: sentences about those of other points.

    Returns:
        The files, in the order in which they were written.

    Raises:
        ValueError: no record, or something that is none. OSError: a file cannot be written.
        ModuleNotFoundError: a package of the extra `explore` is not installed.
    """
    check_records(records)
    folder = Path(folder)
    content = {
        "results.csv": csv_bytes(records),
        "results.parquet": parquet_bytes(records, {"title": title, "space": space}),
        **{f"{PLOTS}/{name}": image for name, image in figures(records, title, asked).items()},
        "answers.md": answers(records, title, asked, estimates).encode(),
        "report.html": page(records, title, space, asked, estimates).encode(),
    }
    if found := arrays(records):
        content["arrays.json"] = json.dumps(found, indent=1, ensure_ascii=False).encode() + b"\n"
    (folder / PLOTS).mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        if f"{PLOTS}/{name}" not in content:
            (folder / PLOTS / name).unlink(missing_ok=True)
    written = []
    for name, data in content.items():
        write_atomically(folder / name, data)
        written.append(folder / name)
    return written


def rows(records: Sequence[Record]) -> tuple[list[str], list[dict[str, Cell]]]:
    """The flat names that any record has, in order of appearance, and a row for each record."""
    found = [flattened(record) for record in records]
    names = dict.fromkeys(name for row in found for name in row)
    tables = {name[:end] for name in names for end, letter in enumerate(name) if letter == "."}
    empty = {name for name in tables & {*names} if all(row.get(name) is None for row in found)}  # null instead of a table
    return [name for name in names if name not in empty], found


def csv_bytes(records: Sequence[Record]) -> bytes:
    """The table as CSV (RFC 4180, UTF-8). A missing value is empty, a list is JSON, truth values are true and false."""
    names, found = rows(records)
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows([_text(row.get(name)) for name in names] for row in found)
    return text.getvalue().encode()


def _text(value: Cell) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def parquet_bytes(records: Sequence[Record], metadata: Mapping[str, str]) -> bytes:
    """The table as Parquet. A column of several types that no number holds is text.

    Args:
        metadata: the metadata of the file, stored beside the table.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
    """
    import pyarrow
    import pyarrow.parquet

    names, found = rows(records)
    arrays = {name: _array([row.get(name) for row in found]) for name in names}
    table = pyarrow.table(arrays).replace_schema_metadata(dict(metadata))
    written = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, written, compression="zstd")
    return bytes(written.getvalue())


def _array(values: list[Cell]) -> Any:
    """A column with the narrowest type that holds all values."""
    import pyarrow

    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return pyarrow.array([None if value is None else float(value) for value in values], pyarrow.float64())  # type: ignore[arg-type]
    if len(kinds) <= 1:
        try:
            return pyarrow.array(values, from_pandas=False)
        except (
            pyarrow.ArrowInvalid,
            pyarrow.ArrowTypeError,
            OverflowError,
        ):  # a list of mixed types, an integer beyond 64 bits
            pass
    return pyarrow.array([None if value is None else _text(value) for value in values], pyarrow.string())
