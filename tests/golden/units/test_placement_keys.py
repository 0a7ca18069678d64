"""The keys of a unit that place pipeline registers: `registers` and `clock_ns`."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import golden
from golden import Implementation, Unit
from golden.operations import FMA
from golden.units.unit_file import unit_to_toml


def unit(**keys: Any) -> Unit:
    operation = FMA(a="fp16", b="fp16", c="fp16", rho="RNE-FP16")  # type: ignore[arg-type]
    return Unit(name="u", operation=operation, implementation=Implementation(**keys))


@pytest.mark.parametrize(
    "keys", [{}, {"stages": 2}, {"stages": 2, "registers": ("multiply", "encode")}, {"clock_ns": 2.5}, {"clock_ns": 3}]
)
def test_unit_with_placement_is_written_and_read_back(keys: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "u.toml").write_text(unit_to_toml(unit(**keys)))
    assert golden.load_unit(tmp_path / "u.toml") == unit(**keys)


def test_file_holds_the_keys_only_where_they_are_given() -> None:
    assert not {"registers", "clock_ns"} & tomllib.loads(unit_to_toml(unit(stages=2)))["implementation"].keys()
    given = tomllib.loads(unit_to_toml(unit(stages=1, registers=["encode"])))["implementation"]
    assert given["registers"] == ["encode"]


def test_combinational_has_neither_stages_nor_registers_nor_clock() -> None:
    for keys in ({"stages": 1, "registers": ("encode",)}, {"clock_ns": 2.0}, {"stages": 3}):
        assert Implementation(adder="sklansky", **keys).combinational == Implementation(adder="sklansky")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"registers": ("encode",)}, "stages must be the number of named registers, 1, got 0"),
        ({"registers": ("multiply", "encode"), "stages": 3}, "stages must be the number of named registers, 2, got 3"),
        ({"registers": "encode"}, "registers must be a list of names of steps, got 'encode'"),
        ({"registers": [1], "stages": 1}, "registers must be a list of names of steps, got [1]"),
        ({"clock_ns": 0}, "clock_ns must be a number from 0.001 to 1e+06, got 0"),
        ({"clock_ns": float("nan")}, "clock_ns must be a number from 0.001 to 1e+06, got nan"),
        ({"clock_ns": True}, "clock_ns must be a number from 0.001 to 1e+06, got True"),
        ({"clock_ns": "2"}, "clock_ns must be a number from 0.001 to 1e+06, got '2'"),
        (
            {"clock_ns": 2.0, "stages": 4},
            "clock_ns finds the stages and goes without stages and registers, got stages = 4 beside it",
        ),
        (
            {"clock_ns": 2.0, "registers": ["encode"]},
            "clock_ns finds the stages and goes without stages and registers, got registers = ['encode'] beside it",
        ),
    ],
)
def test_placement_that_cannot_be_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}$"):
        Implementation(**keys)
