"""The files of a cell library: by name, by path, in several parts, packed."""

import gzip
import re
from pathlib import Path

import pytest

from rtl.cost.liberty import library
from rtl.cost.library_files import SOURCES, check_library, files_of, groups, joined
from rtl.tools import MissingTool
from tests.rtl.cost.test_liberty import SMALL

HEAD = SMALL[: SMALL.index("  cell (")]
CELLS = dict(groups(SMALL, "cell"))


def part(names: list[str], head: str = HEAD, table: str = "") -> str:
    """A library of some cells of `SMALL`."""
    return head + table + "".join(f"cell ({name}) {{{CELLS[name]}}}\n" for name in names) + "}\n"


@pytest.mark.parametrize(("given", "near"), [("asap", "'asap7'"), ("osu18", "'osu018' or 'osu035'")])
def test_a_misspelt_library_is_told_what_is_near(given: str, near: str) -> None:
    with pytest.raises(ValueError, match=rf"got '{given}' \(did you mean {near}\?\)$"):
        check_library(given)


def test_several_files_are_one_library(tmp_path: Path) -> None:
    """Cells and tables of all, each once, whichever file states them; the figures of one file with all of them."""
    table, other = (f'lu_table_template (T{n}) {{ variable_1 : input_net_transition; index_1 ("{n}"); }}\n' for n in (1, 2))
    (tmp_path / "a_part.lib").write_text(part(["INV", "NAND2"], table=table))
    with gzip.open(tmp_path / "b_part.lib.gz", "wt") as stream:
        stream.write(part(["DFF", "INV2"], table=table + other))
    (tmp_path / "whole.lib").write_text(part(["INV", "NAND2", "DFF", "INV2"]))
    text = joined(files_of(f"{tmp_path}/*_part.lib*"))
    assert [name for name, _ in groups(text, "cell")] == ["INV", "NAND2", "DFF", "INV2"]
    assert [name for name, _ in groups(text, "lu_table_template")] == ["T2", "T1"]
    assert text.count("{") == text.count("}")
    ours, whole = library(f"{tmp_path}/*_part.lib*"), library(f"{tmp_path}/whole.lib")
    assert ours.output_load == whole.output_load
    assert {name: cell.area for name, cell in ours.cells.items()} == {name: cell.area for name, cell in whole.cells.items()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (part(["INV"]), r"b\.lib: cell INV is in another part of the library, too"),
        (part(["DFF"], HEAD.replace('"1ns"', '"1ps"')), r"must have the same time_unit; .*a\.lib has 1ns, .*b\.lib has 1ps"),
        (part(["DFF"], HEAD.replace("(1,pf)", "(1, ff)")), r"the same capacitive_load_unit; .* has 1,pf, .* has 1,ff"),
    ],
)
def test_parts_that_do_not_fit_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.lib").write_text(part(["INV", "NAND2"]))
    (tmp_path / "b.lib").write_text(text)
    with pytest.raises(ValueError, match=message):
        library(f"{tmp_path}/*.lib")


def test_a_damaged_packed_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.lib.gz").write_bytes(gzip.compress(SMALL.encode())[:-20])
    with pytest.raises(ValueError, match=r"a\.lib\.gz must be a file that gzip packed"):
        library(f"{tmp_path}/a.lib.gz")


def test_a_named_library_is_found_in_a_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somewhere below it, all parts of it; else it is said where to get it, and under which licence."""
    monkeypatch.setenv("MMAU_CELLS", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    names = [each.replace("*.lib*", "_1.lib") for each in SOURCES["asap7"].files]
    (tmp_path / "below").mkdir()
    for name in names[1:]:
        (tmp_path / "below" / name).write_text("library(x) {}")
    told = f"{SOURCES['asap7'].files[0]} is not there. It is published under: BSD 3-Clause. Get it with\n  git clone "
    with pytest.raises(MissingTool, match=re.escape(told)) as raised:
        files_of("asap7")
    assert str(raised.value).endswith(f"or name a folder that has it in MMAU_CELLS, which is {tmp_path} and has none")
    (tmp_path / names[0]).write_text("library(x) {}")
    assert [path.name for path in files_of("asap7")] == names
    (tmp_path / names[0].replace("_1", "_2")).write_text("library(x) {}")
    assert files_of("asap7")[0].name == names[0].replace("_1", "_2")  # the later version
