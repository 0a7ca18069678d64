"""The report of a design space: a table as Parquet and CSV, plots, and one page, report.html.

`write` takes the result records of the points, as `results.jsonl` holds them, and writes all of it into a folder.
"""

from mmau.explore.report.report_files import write

__all__ = ["write"]
