"""Verilator's coverage files: parsed, added, refused where they are damaged; and points by source file, as a tracefile."""

from collections import Counter
from pathlib import Path

import pytest

from cosim import SimulationError
from cosim.rtl_coverage.file_coverage import (
    HEADER,
    CoverageFiles,
    FileCoverage,
    Point,
    by_file,
    lcov_info,
    merged_points,
    read_points,
    sums,
)


def line(count: int = 3, **changed: str) -> str:
    """A line as Verilator writes it."""
    place = {"f": "unit.v", "l": "12", "n": "7", "t": "line"}
    values = place | {"page": "v_line/unit", "o": "if", "S": "12-14,16", "h": "top.unit"}
    pairs = "".join(f"\x01{key}\x02{value}" for key, value in (values | changed).items() if value)
    return f"C '{pairs}' {count}"


def written(folder: Path, *lines: str, name: str = "coverage-0.dat") -> Path:
    path = folder / name
    path.write_text("\n".join([HEADER, *lines, ""]))
    return path


def test_lines_and_bits(tmp_path: Path) -> None:
    bit = line(0, page="v_toggle/unit", t="toggle", o="sum[3]:0->1", S="", l="5", n="16")
    assert read_points(written(tmp_path, line(), bit)) == {
        Point("unit.v", 12, 7, "line", "if", (12, 13, 14, 16)): 3,
        Point("unit.v", 5, 16, "toggle", "sum[3]:0->1", ()): 0,
    }


def test_instances_and_variants_of_a_module_count_together(tmp_path: Path) -> None:
    others = [line(5, h="top.other"), line(7, page="v_line/unit__F9")]
    assert list(read_points(written(tmp_path, line(), *others)).values()) == [15]


def test_characters_that_verilator_escapes(tmp_path: Path) -> None:
    (point,) = read_points(written(tmp_path, line(f="50%25 %FFFFFFC3%FFFFFFA9%22.v")))
    assert point.file == '50% é".v'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must begin with '# SystemC::Coverage-3', got ''"),
        ("# SystemC::Coverage-4\n", "got '# SystemC::Coverage-4'"),
        (f"{HEADER}\n{line()}\n{line()[:40]}", "the last line has no end"),
        (f"{HEADER}\n{line()[:-1]}\n", "line 2: not a point of Verilator's coverage: got"),
        (f"{HEADER}\n{line()}\n\n", "line 3: not a point"),
        (f"{HEADER}\n{line(-1)}\n", "line 2: not a point"),
        (f"{HEADER}\n{line(f='')}\n", "line 2: .*no f"),
        (f"{HEADER}\n{line(l='x')}\n", "line 2: .*'x'"),
        (f"{HEADER}\n{line(S='1-')[:-2]}x\n", "line 2: not a point"),
        (f"{HEADER}\n{line(page='line/unit')}\n", "line 2: .*got page 'line'"),
        (HEADER, "the last line has no end"),
        (f"{HEADER}\n{line(page='v_toggle/unit')}\n", "line 2: .*without its direction: 'if'"),
    ],
)
def test_damaged_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "coverage-0.dat"
    path.write_text(text)
    with pytest.raises(SimulationError, match=message):
        read_points(path)


def test_file_that_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "coverage-0.dat"
    with pytest.raises(SimulationError, match="must be a coverage file that Verilator wrote"):
        read_points(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SimulationError, match="must be a coverage file that Verilator wrote"):
        read_points(path)


def test_files_of_an_earlier_run_are_removed(tmp_path: Path) -> None:
    written(tmp_path, line(9))
    files = CoverageFiles(tmp_path)
    with pytest.raises(SimulationError, match=r"coverage-0\.dat: must be a coverage file that Verilator wrote: "):
        files.executed(1, broke_off=False)


def test_simulation_that_broke_off_leaves_what_the_others_counted(tmp_path: Path) -> None:
    files = CoverageFiles(tmp_path)
    assert files.executed(1, broke_off=True) is None
    written(tmp_path, line(9))
    executed = files.executed(2, broke_off=True)
    assert executed is not None
    assert executed[0].lines == {12: 9, 13: 9, 14: 9, 16: 9}
    with pytest.raises(SimulationError, match=r"coverage-1\.dat: must be a coverage file that Verilator wrote: "):
        files.executed(2, broke_off=False)


def test_nothing_counted_is_no_full_coverage(tmp_path: Path) -> None:
    files = CoverageFiles(tmp_path)
    written(tmp_path)
    with pytest.raises(SimulationError, match="has counted nothing"):
        files.executed(1, broke_off=False)


def test_counts_of_two_simulations_are_added(tmp_path: Path) -> None:
    first = written(tmp_path, line(0), line(1, n="9"))
    second = written(tmp_path, line(4), line(0, n="9"), name="coverage-1.dat")
    read = [(path, read_points(path)) for path in (first, second)]
    assert sorted(merged_points(read).values()) == [1, 4]
    assert sorted(read[0][1].values()) == [0, 1]  # which are as they were


@pytest.mark.parametrize("shorter", [0, 1])
def test_file_cut_off_between_lines_is_refused_beside_a_whole_one(shorter: int, tmp_path: Path) -> None:
    whole, cut = [line(), line(n="9")], [line()]
    files = [written(tmp_path, *(cut if n == shorter else whole), name=f"coverage-{n}.dat") for n in (0, 1)]
    with pytest.raises(SimulationError, match=r"coverage-1\.dat and .*coverage-0\.dat: must have the same points"):
        merged_points([(path, read_points(path)) for path in files])


def bit(name: str, up: int, down: int, line: int = 5) -> dict[Point, int]:
    return {
        Point("unit.v", line, 3, "toggle", f"{name}:{edge}", ()): count for edge, count in (("0->1", up), ("1->0", down))
    }


def test_line_counts_with_its_part_that_ran_least() -> None:
    block = {Point("unit.v", 7, 1, "line", "block", (7, 8, 9)): 20}
    both = {Point("unit.v", 8, 5, "line", "cond_then", (8,)): 20, Point("unit.v", 8, 6, "line", "cond_else", (8,)): 0}
    (file,) = by_file(Counter(block | both))
    assert file.lines == {7: 20, 8: 0, 9: 20}
    assert file.lines_hit == 2


def test_bit_that_changed_one_way_alone_has_not_toggled() -> None:
    (file,) = by_file(Counter(bit("x[0]", 4, 3) | bit("x[1]", 1, 0) | bit("x[2]", 0, 0)))
    assert file.bits == {(5, "x[0]"): 3, (5, "x[1]"): 0, (5, "x[2]"): 0}
    assert file.bits_toggled == 1


def test_other_points_are_no_lines_of_the_design() -> None:
    cover = {Point("unit.v", 9, 1, "other", "cover", ()): 0, Point("cover.v", 9, 1, "other", "cover", ()): 0}
    (file,) = by_file(Counter(bit("x", 1, 1) | cover))
    assert (file.file, file.lines) == ("unit.v", {})


def test_bits_of_one_name_on_other_lines_are_others() -> None:
    (file,) = by_file(Counter(bit("x", 1, 1, line=4) | bit("x", 0, 0, line=9)))
    assert file.bits == {(4, "x"): 1, (9, "x"): 0}


def test_files_in_order_and_missed_points() -> None:
    points = {Point(name, 2, 1, "line", "block", (2, 3)): count for name, count in (("b.v", 0), ("a.v", 1))}
    files = by_file(Counter(points | bit("x", 0, 1)))
    assert [file.file for file in files] == ["a.v", "b.v", "unit.v"]
    assert sums(files) == "2 of 4 lines hit, 0 of 1 bits toggled"
    assert FileCoverage("b.v", {2: 0, 3: 0}, {(5, "x"): 0}).as_dict() == {
        "file": "b.v", "lines": 2, "lines_hit": 0, "missed_lines": [2, 3],
        "bits": 1, "bits_toggled": 0, "missed_bits": [{"line": 5, "bit": "x"}],
    }  # fmt: skip


def test_lcov_has_a_record_for_each_file_with_lines() -> None:
    files = [FileCoverage("/a.v", {2: 31, 4: 0}, {(1, "x"): 0}), FileCoverage("/bits.v", {}, {(1, "x"): 2})]
    assert lcov_info(files) == "TN:mmau\nSF:/a.v\nDA:2,31\nDA:4,0\nLF:2\nLH:1\nend_of_record\n"
