"""Verilator's coverage files: parsed, added, and refused where they are damaged."""

from pathlib import Path

import pytest

from cosim import SimulationError
from cosim.rtl_coverage.file_coverage import HEADER, Point, merged_points, read_points


def line(count: int = 3, **changed: str) -> str:
    """A line as Verilator writes it."""
    values = {
        "f": "unit.v",
        "l": "12",
        "n": "7",
        "t": "line",
        "page": "v_line/unit",
        "o": "if",
        "S": "12-14,16",
        "h": "top.unit",
    }
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


def test_point_of_0_is_there(tmp_path: Path) -> None:
    assert list(read_points(written(tmp_path, line(0))).values()) == [0]


def test_instances_and_variants_of_a_module_count_together(tmp_path: Path) -> None:
    others = [line(5, h="top.other"), line(7, page="v_line/unit__F9")]
    assert list(read_points(written(tmp_path, line(), *others)).values()) == [15]


def test_characters_that_verilator_escapes(tmp_path: Path) -> None:
    name = "50%25 %FFFFFFC3%FFFFFFA9%22.v"
    (point,) = read_points(written(tmp_path, line(f=name)))
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
