"""The commands and options of 1.0.0 are taken as then, and the page of promises names the exit statuses that there are."""

import json
from copy import deepcopy
from typing import Any

import pytest

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
