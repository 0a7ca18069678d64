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


def test_inputs_that_choose_and_outputs_that_return_are_recognised(tmp_path: Path) -> None:
    source = tmp_path / "m.sv"
    source.touch()
    inputs = {
        "a_i": 16,
        "b_i": 16,
        "c_i": 16,
        "rnd_mode_i": 3,
        "op_i": 2,
        "op_mod_i": 1,
        "mask_i": 4,
        "tag_i": 8,
        "flush_i": 1,
    }
    outputs = {"result_o": 16, "tag_o": 8, "mask_o": 4, "flush_o": 2}
    ports = [Port(name, "input", (), (), width) for name, width in inputs.items()]
    ports += [Port(name, "output", (), (), width) for name, width in outputs.items()]
    table = tomllib.loads(template(Dut(top="m", sources=(source,)), ports, {}))
    assert {port: control["key"] for port, control in table["controls"].items()} == {
        "rnd_mode_i": "rho", "op_i": "operation", "op_mod_i": "operation", "mask_i": "mask",
    }  # fmt: skip
    assert table["controls"]["rnd_mode_i"]["values"]["4"] == "RNA-?"
    assert (table["echo"], table["tie"]) == ({"tag_o": "tag_i", "mask_o": "mask_i"}, {"flush_i": 0})


def test_marks_and_operands_are_told_apart_by_their_width(tmp_path: Path) -> None:
    """An accumulator whose operands, marks and outputs have other names than a, b and c."""
    source = tmp_path / "m.sv"
    source.touch()
    inputs = {"clk": 1, "op_x": 16, "op_y": 16, "acc_init": 32, "acc_first": 1, "acc_last": 1, "mode": 2, "id": 4}
    ports = [Port(name, "input", (), (), width) for name, width in inputs.items()]
    ports += [Port(name, "output", (), (), width) for name, width in {"acc": 32, "sum_id": 4}.items()]
    text = template(Dut(top="m", sources=(source,)), ports, {}).replace('latency = "?"', "latency = 1")
    table = tomllib.loads(text)
    assert table["ports"] == {"a": "op_x", "b": "op_y", "c": "acc_init", "d": "acc"}
    assert table["beats"] == {"count": {"from": 1, "to": 16}, "first": "acc_first", "last": "acc_last"}
    assert (table["echo"], table["controls"]["mode"]["key"]) == ({"sum_id": "id"}, "rho")
    assert "tie" not in table


def test_ports_of_two_bits_have_four_rounding_modes_and_of_four_bits_four_flags(tmp_path: Path) -> None:
    source = tmp_path / "m.sv"
    source.touch()
    named = (
        ("a", "input", 16), ("b", "input", 16), ("c", "input", 16), ("negp", "input", 1), ("negz", "input", 1),
        ("roundmode", "input", 2), ("result", "output", 16), ("flags", "output", 4),
    )  # fmt: skip
    ports = [Port(name, direction, (), (), width) for name, direction, width in named]
    table = tomllib.loads(template(Dut(top="m", sources=(source,)), ports, {}))
    assert table["controls"]["roundmode"]["values"] == {"0": "RNE-?", "1": "RZ-?", "2": "RD-?", "3": "RU-?"}
    assert table["flags"] == {"flags": ["NX", "UF", "OF", "NV"]}
    signs = {port: table["controls"][port]["values"]["1"] for port in ("negp", "negz")}
    assert signs == {"negp": {"a": "-a"}, "negz": {"c": "-c"}}


def test_converter_has_neither_b_nor_c(tmp_path: Path) -> None:
    """One input is left, and it is a: nothing is asked for in the place of b, nor said of c."""
    source = tmp_path / "convert.sv"
    source.touch()
    named = (("a_i", "input", 32), ("rnd_mode_i", "input", 3), ("d_o", "output", 8))
    ports = [Port(name, direction, (), (), width, False) for name, direction, width in named]
    text = template(Dut(top="convert", sources=(source,)), ports, {})
    assert 'a = "a_i"\nd = "d_o"\n' in text
    assert "[operands]" not in text
