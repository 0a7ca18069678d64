"""`mmau distinguish --prove`: a solver on the Verilog of two units."""

from dataclasses import replace
from pathlib import Path

import pytest

import golden
from golden.stimulus import Operands
from golden.units.unit_file import unit_to_toml
from mmau.cli import main
from mmau.cli.distinguish import proved
from mmau.probe.distinguish import differs, sides
from tests.mmau.cli.wrong_request import wrong
from tests.mmau.probe.devices import TINY, unit


def written(path: Path, operation: golden.Operation) -> str:
    path.write_text(unit_to_toml(unit(operation)))
    return str(path)


@pytest.mark.slow
def test_a_solver_says_equal_of_what_no_input_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Below the exponents of all terms an e_zero never counts."""
    low = written(tmp_path / "low.toml", TINY.changed(e_zero=-200))
    lower = written(tmp_path / "lower.toml", TINY.changed(e_zero=-300))
    assert main.main(["distinguish", low, lower, "--vectors", "500", "--prove", "60"]) == 0
    assert capsys.readouterr().out.startswith("equal: the specifications are proved equal for every input; ")


@pytest.mark.slow
def test_a_solver_gives_an_input_on_which_the_models_differ() -> None:
    both = sides(unit(TINY), unit(TINY.changed(sticky=False)))
    x, y = (replace(side, shape=replace(side.shape, K=TINY.length)) for side in both)
    row = proved(x, y, 60)
    assert isinstance(row, Operands)
    assert differs(x, y, row).all()


def test_a_time_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "unit.toml", TINY)
    assert wrong(capsys, "distinguish", path, path, "--prove", "0") == (
        "mmau distinguish: --prove must be a number of seconds above 0, got 0.0"
    )
