"""The commands and options of 1.0.0 are taken as then, and commands end with the same statuses. Status 3, not decided, is in
tests/mmau/cli/test_prove.py; those of signals are in tests/mmau/cli/test_interrupts.py."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from mmau.cli import main
from tests.promises.command_line import broken, options
from tests.promises.old_files import FILES

PROMISED = json.loads((FILES / "command-line.json").read_text(encoding="utf-8"))


def test_every_promised_option_is_taken_as_before() -> None:
    assert set(PROMISED) >= {"", "list", "eval", "cosim", "prove"}
    assert broken(PROMISED, options()) == []


@pytest.mark.attack("promise")
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda here: here.pop("compare"), "mmau compare: is gone"),
        (lambda here: here["cosim"].pop("--seed"), "mmau cosim --seed: is gone"),
        (lambda here: here["rtl"]["-o"].update(also=[]), "mmau rtl -o: --output is gone"),
        (lambda here: here["cosim"]["--json"].update(values=1), "mmau cosim --json: takes values 1, took 0"),
        (lambda here: here["cosim"]["--sim"].update(choices=["icarus"]), "mmau cosim --sim: takes icarus alone"),
        (lambda here: here["eval"]["--unit"].update(required=True), "mmau eval --unit: is required"),
        (
            lambda here: here["eval"].update({"--new": {"also": [], "values": None, "choices": None, "required": True}}),
            "mmau eval --new: is new and required",
        ),
    ],
)
def test_broken_promise_is_noticed(change: Any, complaint: str) -> None:
    today = deepcopy(options())
    change(today)
    assert broken(PROMISED, today) == [complaint]


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("eval --unit unit.toml --input vectors.npz --output d.npz", 0),
        ("distinguish unit.toml unit.toml", 0),
        ("distinguish unit.toml spec.toml", 1),
        ("eval --unit gone.toml --input vectors.npz --output d.npz", 2),
        ("eval --unit unit.toml --input vectors.npz --output gone/d.npz", 2),
        ("eval --nothing", 2),
        ("list --arch", 2),
        ("nothing", 2),
        ("", 2),
    ],
)
def test_command_ends_with_the_status_of_then(
    line: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("unit.toml", "spec.toml", "vectors.npz"):
        (tmp_path / name).write_bytes((FILES / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    assert main.main(line.split()) == status, capsys.readouterr().err
