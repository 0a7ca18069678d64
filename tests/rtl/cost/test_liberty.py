"""Cell libraries as they are read: cells, areas of outlines, functions of pins."""

import re
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import pytest

from rtl.cost.liberty import (
    OUTLINED,
    attribute,
    function_of,
    library,
    nand2_area,
    outline_areas,
    outlined_library,
    read_library,
    smallest_gate,
)
from rtl.cost.library_files import files_of
from rtl.tools import MissingTool
from tests.rtl.cost.needs import needs_library

SMALL = """
library(small) {
  time_unit : "1ns"; voltage_unit : "1V"; leakage_power_unit : "1nW"; capacitive_load_unit (1,pf);
  cell ("INV") { area : 16; pin("A") { direction : "input"; capacitance : 0.008; }
    pin("Y") { direction : "output"; function : "(!A)"; } }
  cell (INV2) { area : 16; pin(A) { direction : input; capacitance : 0.016; } pin(Y) { function : "A'"; } }
  cell (NAND2) { area : 24; pin(A) { direction : input; } pin(B) { direction : input; }
    pin(Y) { direction : output; function : "(!(A B))"; timing() { related_pin : "A"; } } }
  cell (DFF) { area : 96; ff (IQ,IQN) { next_state : "D"; clocked_on : "CLK"; } pin(Q) { function : "IQ"; } }
  cell (DFFQ) { area : 96; ff ("IQ","IQN") { next_state : "D"; clocked_on : "CLK"; }
    pin(Q) { function : "IQ"; } pin(QN) { function : "IQN"; } }
  cell (DFFN) { area : 96; ff (IQ,IQN) { next_state : "D"; clocked_on : "(!CLK)"; } pin(Q) { function : "IQ"; } }
  cell (DFFR) { area : 96; ff (IQ,IQN) { next_state : "D"; clocked_on : "CLK"; clear : "R"; } pin(Q) { function : "IQ"; } }
  cell (LATCH) { area : 72; latch (IQ,IQN) { data_in : "D"; enable : "G"; } pin(Q) { function : "IQ"; } }
  cell (TBUF) { area : 40; pin(Y) { function : "(!A)"; three_state : "(!EN)"; } }
}
"""


CELLS = ("INV", "INV2", "NAND2", "DFF", "DFFQ", "DFFN", "DFFR", "LATCH", "TBUF")


def written(folder: Path, text: str, outlined: Sequence[str] = CELLS) -> Path:
    """The library in a file, beside a LEF file that gives every cell 25 µm²."""
    path = folder / "small.lib"
    path.write_text(text)
    outlines = "".join(f"MACRO {name}\n  CLASS CORE ;\n  SIZE 2.5 BY 10.0 ;\nEND {name}\n" for name in outlined)
    path.with_suffix(".lef").write_text(outlines)
    return path


def test_cells_without_what_no_unit_has(tmp_path: Path) -> None:
    cells = read_library(written(tmp_path, SMALL)).cells
    assert set(cells) == {"INV", "INV2", "NAND2", "DFF", "DFFQ"}
    assert cells["NAND2"].area == 25
    assert cells["NAND2"].functions["Y"]({"A": 0b0011, "B": 0b0101}, 0b1111) == 0b1110
    assert cells["DFF"].register is not None
    assert (cells["DFF"].register.clock, cells["DFF"].register.names) == ("CLK", ("IQ", "IQN"))


def test_missing_library_is_one_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path))
    message = (
        "area, delay and power need the cell library osu018, which is not there; install Debian's package qflow-tech-osu018"
    )
    with pytest.raises(MissingTool, match=f"^{re.escape(message)}$"):
        library("osu018")


def test_area_of_an_outlined_cell_is_width_times_height(tmp_path: Path) -> None:
    """The areas of cells alone, not those of pins, and of cells that have an outline."""
    path = tmp_path / "small.lib"
    path.with_suffix(".lef").write_text(
        "MACRO PAD\n  CLASS PAD ;\nEND PAD\nMACRO NAND2\n  SIZE 2.4 BY 10.0 ;\nEND NAND2\n"
        "MACRO OAI21\n  CLASS CORE ;\n  SIZE 3.2 BY 10.0 ;\nEND OAI21\n"
    )
    text = "cell (NAND2) {\narea : 24;\n} cell (OAI21) { area : 23; } cell (LATCH) { area : 72; pin(D) { area : 5; } }"
    path.write_text(text)
    assert outline_areas(path) == {"NAND2": 24.0, "OAI21": 32.0}
    assert outlined_library(path) == text.replace("23", "32")


def test_cell_without_an_outline_is_left_out(tmp_path: Path) -> None:
    assert set(read_library(written(tmp_path, SMALL, ["DFF", "INV"])).cells) == {"DFF", "INV"}


@pytest.mark.parametrize(
    ("unit", "load"),
    [
        ("(1,pf)", 0.024),
        ('(1.0000, "pf")', 0.024),
        ("(10,ff)", 0.00024),
        ("/* capacitive_load_unit (1,pf); */ (1,ff)", 0.000024),
    ],
)
def test_an_output_drives_three_of_the_smallest_inverters(tmp_path: Path, unit: str, load: float) -> None:
    assert round(library(str(written(tmp_path, SMALL.replace("(1,pf)", unit)))).output_load, 9) == load


@pytest.mark.parametrize(
    "unusable", ["dont_use : true;", 'dont_use : "true";', 'pin(Z) { function : "A"; three_state : "EN"; }']
)
def test_an_inverter_that_no_unit_gets_is_none(tmp_path: Path, unusable: str) -> None:
    text = SMALL.replace('cell ("INV") {', f'cell ("INV") {{ {unusable}')
    assert round(library(str(written(tmp_path, text))).output_load, 9) == 0.048


def test_an_attribute_ends_with_its_line_where_it_has_no_semicolon(tmp_path: Path) -> None:
    text = re.sub(r";\s*", "\n", SMALL.replace('"(!(A B))"', '"!(A B)"'))
    assert library(str(written(tmp_path, text))).cells.keys() == library(str(written(tmp_path, SMALL))).cells.keys()
    assert attribute(text, "area") == "16"
    assert attribute(text, "clocked_on") == '"CLK"'


def test_a_file_of_ones_own_has_the_areas_that_it_states(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL)  # beside a LEF file, which is not looked at
    found = library(str(path))
    assert (found.cells["INV"].area, found.cells["NAND2"].area) == (16, 24)
    assert found.text == SMALL
    path.write_bytes(SMALL.replace("area : 24", "area : 20 /* \xb5m\xb2 */").encode("latin-1"))
    assert library(str(path)).cells["NAND2"].area == 20, "a changed file is another library"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(1,pf)", "(1,nf)", "capacitive_load_unit must be (number, pf) or (number, ff), got capacitive_load_unit (1,nf)"),
        ("capacitive_load_unit (1,pf)", "", "capacitive_load_unit must be (number, pf) or (number, ff), got None"),
        (
            "capacitance", "no_capacitance",
            "a library must have an inverter whose input has a capacitance, and none was found",
        ),
        ("capacitance : 0.008", "capacitance : low", "a capacitance must be a number, got low"),
        ("area : 24", "area : ten", "the area of cell NAND2 must be a number, got ten"),
        ("area : 24", "area : inf", "cell NAND2 must have an area, got inf"),
        ("area : 24;", "", "cell NAND2 must have an area, got None"),
        ("}\n}\n", "", "group cell (TBUF) must be closed by a brace, and is not"),
        ("ff (IQ,IQN)", "ff (IQ)", "flip-flop DFF must name its state and the inverse, got (IQ)"),
        ("cell (", "no_cell (", "a library must have cells, and none was found"),
        (
            "(!(A B))", "(!(A[0] B))",
            "cell NAND2: a pin's function must consist of names, !, ', ^, &, *, |, + and parentheses, got '(!(A[0] B))'",
        ),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_one_message(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = written(tmp_path, SMALL.replace(old, new))
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: {message}')}$"):
        library(str(path))


def test_the_smallest_gate_of_a_function_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.lib").write_text(SMALL)
    cells = library(f"{tmp_path}/a.lib")
    assert nand2_area(cells) == 24
    assert smallest_gate(cells, 1, 0b01)[0] == "INV"
    with pytest.raises(ValueError, match="must have a gate of 2 inputs with the truth table 0b1, and has none"):
        smallest_gate(cells, 2, 0b0001)


RULE = (
    "osu018, osu035, asap7, nangate45, sky130, ihp130, or the path of a Liberty file, NAME.lib or NAME.lib.gz, with * for "
    "the parts of one library;"
)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        *((name, RULE) for name in ("osu050", "cells.lef")),
        *((name, "a Liberty file that exists,") for name in ("none.lib", "/nowhere/cells.lib")),
    ],
)
def test_no_such_library_is_refused(name: str, rule: str) -> None:
    near = re.escape(" (did you mean 'osu035' or 'osu018'?)") if name == "osu050" else ""
    with pytest.raises(ValueError, match=f"^library must be {re.escape(rule)} got {name!r}{near}$"):
        library(name)


@needs_library
@pytest.mark.parametrize("name", OUTLINED)
def test_areas_are_those_of_the_layout(name: str) -> None:
    """A NAND gate of three inputs is as wide as an AND gate of two, in OSU's layouts; their Liberty files say otherwise."""
    cells, scale = library(name).cells, {"osu018": 1, "osu035": 4}[name]
    areas = {"INVX1": 16, "NAND2X1": 24, "NAND3X1": 32, "OAI21X1": 32, "AOI21X1": 32, "XOR2X1": 56, "DFFPOSX1": 96}
    assert {cell: cells[cell].area for cell in areas} == {cell: scale * area for cell, area in areas.items()}
    stated = files_of(name)[0].read_text()
    assert re.search(rf"cell \(OAI21X1\) \{{\s*area : {23 * scale};", stated), (
        "the Liberty file is mended: see rtl.cost.liberty"
    )
    assert re.search(rf"cell \(OAI21X1\) \{{\s*area : {32 * scale};", library(name).text)


CASES: dict[str, Callable[[int, int, int], int]] = {
    "A": lambda a, b, c: a,
    "(!A)": lambda a, b, c: 1 - a,
    "A'": lambda a, b, c: 1 - a,
    "(A B)'": lambda a, b, c: 1 - a * b,
    "A B C": lambda a, b, c: a * b * c,
    "A&B*C": lambda a, b, c: a * b * c,
    "A+B C": lambda a, b, c: max(a, b * c),
    "(A+B) C": lambda a, b, c: max(a, b) * c,
    "A|B": lambda a, b, c: max(a, b),
    "A^B C": lambda a, b, c: (a + b) % 2 * c,
    "A^B^C": lambda a, b, c: (a + b + c) % 2,
    "!A^B": lambda a, b, c: (1 - a + b) % 2,
    "(!((A B)+C))": lambda a, b, c: 1 - max(a * b, c),
    "(!((C A) + (!C B)))": lambda a, b, c: 1 - (a if c else b),
    "(((A B)+(B C))+(C A))": lambda a, b, c: int(a + b + c >= 2),
    "A 0 + 1 B": lambda a, b, c: b,
}


@pytest.mark.parametrize("text", CASES)
def test_function_has_its_truth_table(text: str) -> None:
    rows = list(product((0, 1), repeat=3))
    planes = {name: sum(row[k] << i for i, row in enumerate(rows)) for k, name in enumerate("ABC")}
    expected = sum(CASES[text](*row) << i for i, row in enumerate(rows))
    assert function_of(text)(planes, (1 << len(rows)) - 1) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A ? B", "a pin's function must consist of names, !, ', ^, &, *, |, + and parentheses, got 'A ? B'"),
        ("(A B", "a pin's function ends too early: '(A B'"),
        ("", "a pin's function ends too early: ''"),
        ("A) B", "a pin's function must be one expression, ')' remains in 'A) B'"),
        ("A + * B", "a pin's function must have an operand where it has '*'"),
        ("(A ' ! )", "a pin's function must have an operand where it has ')'"),
    ],
)
def test_expression_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        function_of(text)
