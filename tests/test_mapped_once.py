"""Only an equal run of Yosys is taken from an earlier one."""

from functools import partial
from typing import Any

import pytest

from rtl import YosysError, yosys
from rtl.cost.flow import watched
from tests.mapped_once import mapped_once


def test_only_the_same_run_is_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one of another command, file, result or time limit, nor one that failed or that somebody watches."""
    ran: list[str] = []

    def run(name: str, command: list[str], *_: object) -> dict[str, str]:
        ran.append(name)
        if command == ["wrong"]:
            raise YosysError("wrong")
        return {"gates.json": str(len(ran))}

    mapped = mapped_once(run)
    assert mapped("yosys", ["synth"], ["gates.json"], {}) == {"gates.json": "1"}
    mapped("yosys", ["synth"], ["gates.json"], {}).clear()
    assert mapped("yosys", ["synth"], ["gates.json"], {}, None, partial(watched, progress=None)) == {"gates.json": "1"}
    others: tuple[Any, ...] = (
        ("another", ["synth"], ["gates.json"], {}, None), ("yosys", ["abc"], ["gates.json"], {}, None),
        ("yosys", ["synth"], ["a.v"], {}, None), ("yosys", ["synth"], ["gates.json"], {"cells.lib": "x"}, None),
        ("yosys", ["synth"], ["gates.json"], {}, 5.0),
        ("yosys", ["synth"], ["gates.json"], {}, None, partial(watched, progress=print)),
    )  # fmt: skip
    for number, other in enumerate(others, 2):
        assert mapped(*other) == {"gates.json": str(number)}
    for _ in range(2):
        with pytest.raises(YosysError):
            mapped("yosys", ["wrong"], ["gates.json"], {})
    monkeypatch.setattr(yosys, "run_tool", print)
    for number in (10, 11):
        assert mapped("yosys", ["synth"], ["gates.json"], {}) == {"gates.json": str(number)}
