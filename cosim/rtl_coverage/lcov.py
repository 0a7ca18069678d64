"""Line coverage as a tracefile of lcov (man page geninfo(1), section FILES)."""

from collections.abc import Sequence

from cosim.rtl_coverage.files import FileCoverage


def lcov_info(files: Sequence[FileCoverage]) -> str:
    """The lines of each file that has any, how often each ran. lcov knows no bits."""
    records = []
    for file in files:
        if file.lines:
            records += ["TN:", f"SF:{file.file}", *(f"DA:{line},{count}" for line, count in file.lines.items())]
            records += [f"LF:{len(file.lines)}", f"LH:{file.lines_hit}", "end_of_record"]
    return "".join(f"{record}\n" for record in records)
