"""The lcov tracefile: a record for each file with lines."""

from cosim.rtl_coverage.file_coverage import FileCoverage
from cosim.rtl_coverage.lcov import lcov_info


def test_records() -> None:
    files = [FileCoverage("/a.v", {2: 31, 4: 0}, {(1, "x"): 0}), FileCoverage("/bits.v", {}, {(1, "x"): 2})]
    assert lcov_info(files) == "TN:mmau\nSF:/a.v\nDA:2,31\nDA:4,0\nLF:2\nLH:1\nend_of_record\n"
