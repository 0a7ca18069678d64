"""Line coverage as an lcov tracefile (man page geninfo(1), section FILES)."""

from collections.abc import Sequence

from cosim.rtl_coverage.file_coverage import FileCoverage


def lcov_info(files: Sequence[FileCoverage]) -> str:
    """The execution counts of the lines of each file. lcov has no toggle coverage."""
    records = []
    for file in files:
        if file.lines:
            records += ["TN:mmau", f"SF:{file.file}", *(f"DA:{line},{count}" for line, count in file.lines.items())]
            records += [f"LF:{len(file.lines)}", f"LH:{file.lines_hit}", "end_of_record"]
    return "".join(f"{record}\n" for record in records)
