"""The first description of a design is TOML, whatever its files and macros are called."""

import tomllib
from pathlib import Path

import pytest

from cosim.dut.description import Dut
from cosim.dut.elaborate import Port
from cosim.dut.template import template


@pytest.mark.attack("inputs without an end, or hostile text")
def test_names_with_any_character_are_read_back(tmp_path: Path) -> None:
    source, folder = tmp_path / 'a"b\\cé\x1b\x7f.sv', tmp_path / "x\ny"
    source.touch()
    folder.mkdir()
    given = {"defines": {"A": '"q"', "B": "\\x"}, "parameters": {"F": "8'd3", "S": '"t"'}}
    dut = Dut(top="m", sources=(source,), include=(folder,), **given)  # type: ignore[arg-type]
    ports = [
        Port(name, direction, (), (), 8, False) for name, direction in (("a", "input"), ("d", "output"), ("k.y", "input"))
    ]
    table = tomllib.loads(template(dut, ports, {}))
    assert {key: table[key] for key in given} == given
    assert (table["sources"], table["include"], table["tie"]) == ([str(source)], [str(folder)], {"k.y": 0})
