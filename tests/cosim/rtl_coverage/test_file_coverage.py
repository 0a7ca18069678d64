"""Points by source file: a line has the smallest count of its parts, a bit that of its rarer direction."""

from collections import Counter

from cosim.rtl_coverage.file_coverage import FileCoverage, Point, by_file, sums


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
