"""What a design space came to, for people and for programs: a table as Parquet and CSV, plots, and one page, report.html.

`write` takes the result records of the points, as `results.jsonl` holds them, and writes all of it into a folder.
"""

from explore.report.output import write

__all__ = ["write"]
