"""The files of a report, each written whole or not at all."""

from collections.abc import Sequence
from pathlib import Path

from golden.files import write_atomically
from mmau.explore.report.figures import NAMES, figures
from mmau.explore.report.flat_records import Record, check_records
from mmau.explore.report.html_report import page
from mmau.explore.report.table import csv_bytes, parquet_bytes

PLOTS = "plots"
"""The folder of the plots, within that of the report."""


def write(records: Sequence[Record], folder: str | Path, *, title: str, space: str = "") -> list[Path]:
    """Write results.parquet, results.csv, report.html and plots/*.svg, plots/*.png into a folder; files of these names are
    replaced.

    Everything is made before the first file is written, and each file is replaced at once, so that a report that is there
    stays whole. A plot for which no point has values is not written, and one of an earlier report is removed.

    Args:
        records: the points' result records, in the order of the table.
        title: the name of the space. space: the text of its TOML file, which the page shows.

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
        **{f"{PLOTS}/{name}": image for name, image in figures(records, title).items()},
        "report.html": page(records, title, space).encode(),
    }
    (folder / PLOTS).mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        if f"{PLOTS}/{name}" not in content:
            (folder / PLOTS / name).unlink(missing_ok=True)
    written = []
    for name, data in content.items():
        write_atomically(folder / name, data)
        written.append(folder / name)
    return written
