"""The table of all points: Parquet, with a type for each column, and CSV."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from mmau.explore.report.flat_records import Cell, Record, flattened


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
        metadata: of the file, stored beside the table.

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
