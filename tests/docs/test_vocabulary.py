"""docs/reference/vocabulary.md: the steps and the names in Verilog are real."""

import re

import pytest

from golden import Implementation, Unit
from golden.operations import TFDPA
from rtl import to_verilog
from rtl.steps.component import SharedComponent
from tests.docs.documents import ROOT

VOCABULARY = (ROOT / "docs" / "reference" / "vocabulary.md").read_text(encoding="utf-8")


def examples_in_verilog() -> list[str]:
    """The names that the document gives as examples of Verilog."""
    table = VOCABULARY[VOCABULARY.index("In the Verilog of a pipelined unit:") :]
    cells = [line.split("|")[-2] for line in table.splitlines() if line.startswith("| `")]
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


@pytest.mark.slow
def test_names_in_verilog_are_there() -> None:
    operation = TFDPA(a="fp16", b="fp16", c="fp32", L=4, F=25, rho="RZ-FP32", e_zero=-133)  # type: ignore[arg-type]
    text = to_verilog(Unit(name="named", operation=operation, implementation=Implementation(stages=8)))
    names = examples_in_verilog()
    assert len(names) >= 6
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


def test_every_step_of_the_datapaths_is_named() -> None:
    section = VOCABULARY[VOCABULARY.index("## Steps") : VOCABULARY.index("## Verbs")]
    files = [
        path for path in (ROOT / "rtl" / "steps").glob("*.py") if f"({SharedComponent.__name__})" in path.read_text("utf-8")
    ]
    assert len(files) >= 12
    assert [path.stem for path in files if f"`{path.stem}`" not in section] == []
