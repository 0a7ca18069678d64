"""A proof drives designs as any legal master may: what another one than the wrapper of simulations breaks is not proved."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from cosim.bench.protocol import HANDSHAKES
from cosim.dut.description import Dut, dut_from_table
from golden import Unit
from golden.operations import IDPA
from mmau.prove.decision import PROVED
from mmau.prove.user_design.proof import decided_by_solvers

DESIGNS = Path(__file__).parent / "designs" / "other_masters"

PRODUCT = Unit(name="product", operation=IDPA(a="int8", b="int8", c="int32", L=1))  # type: ignore[arg-type]


ROWS = {"rows": 2, "columns": 1, "d": "rows"}

STREAMS: Mapping[str, Mapping[str, object]] = {
    "waiting_rows": {"protocol": "valid-ready", "matrix": ROWS},
    "marked": {"protocol": "valid-ready", "beats": {"count": 2, "first": "first", "last": "last"}},
    "sums": {"protocol": "valid-ready", "beats": {"count": 2, "first": "first", "results": "each"}},
    "chain": {"protocol": "valid"},
    "enabled": {"protocol": "valid-ready", "enable": "en"},
}
"""The designs with in_valid, and what is in their descriptions."""


def described(folder: Path, top: str, found: str = "", put: str = "", **keys: object) -> Dut:
    """One of the designs, or a copy with another text in the place of one in it."""
    text, source = (DESIGNS / f"{top}.sv").read_text(encoding="utf-8"), folder / f"{top}.sv"
    assert not found or text.count(found) == 1
    source.write_text(text.replace(found, put) if found else text, encoding="utf-8")
    ports = {"a": "a", "b": "b", "d": "d"}
    if "each" in top:
        ports |= {"out_valid": "d_valid", "out_ready": "d_ready"}
        ports |= {f"{name}_{end}": f"{name}_{end}" for name in "ab" for end in ("valid", "ready")}
    elif top in STREAMS:
        ports |= {name: name for name in HANDSHAKES["valid-ready"] if name in text}
    else:
        ports |= {"start": "start", "done": "done"} | ({"busy": "busy"} if "output logic busy" in text else {})
    protocol = "operand-handshakes" if "each" in top else "start-done"
    table = {
        "top": top, "sources": [str(source)], "protocol": protocol, "clock": "clk", "reset": {"name": "rst"},
        "ports": ports, "operands": {"c": "none"}, **({"matrix": ROWS} if top == "rows" else {}),
        **STREAMS.get(top, {}), **keys,
    }  # fmt: skip
    return dut_from_table(table, folder)


RIGHT = {
    "each": ("{2{!d_valid}}", "{!has_a, !has_b}"),
    "each_queue": ("", ""),
    "deaf": ("!done && !rest", "!done"),
    "level": ("was ? 32'd0 : ", ""),
    "first": ("&& !fresh", ""),
    "again": ("", ""),
    "rows": ("", ""),
    **dict.fromkeys(STREAMS, ("", "")),
}
"""Each design that is right, as it is or with another text in the place of one in it."""


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.usefixtures("unsampled")
@pytest.mark.parametrize("top", RIGHT)
def test_right_designs_are_proved(top: str, tmp_path: Path) -> None:
    found = decided_by_solvers(PRODUCT, described(tmp_path, top, *RIGHT[top]), 100)
    assert (found.verdict, found.reason) == (PROVED, "")


OTHERS = "a result depends on other operands than its own"

SPILT = "if (taken || first && in_ready) d <= (first ? 32'd0 : d) + (taken ? product : 32'd0)"

PAUSED = "if (in_ready) d <= (first || !in_valid ? 32'd0 : d)"

WRONG = {
    "a second operand in the place of the first": ("each", "", "", "more than 64 operands are under way"),
    "a queue that is one longer than its places": ("each_queue", "n_a != 2'd2", "n_a != 2'd3", OTHERS),
    "a start that is lost after done": ("deaf", "", "", "operands were taken whose result never comes"),
    "a start that is lost in the cycle of done": ("again", "start && !busy", "start && !busy && !done", OTHERS),
    "no more starts": ("again", "{busy, done} <= 2'b01", "{busy, done} <= 2'b11", "operands are not taken any more"),
    "a result that falls before done": ("level", "", "", "operands were found for which d differs"),
    "a start that is lost after a reset": ("first", "", "", "operands were taken whose result never comes"),
    "one row of two": ("rows", "second <= done", "{done, second} <= 2'b0", "operands were taken whose result never comes"),
    "a second row that falls before done": ("rows", "second <= done", "second <= done && !second", "d differs"),
    "a start that is lost after the second row": ("rows", "if (start)", "if (start && !second)", OTHERS),
    "a bus that has to change": ("bus", "", "", OTHERS),
    "a bus of one operand that has to change": ("each_bus", "", "", OTHERS),
    "a row that does not wait": ("waiting_rows", "if (out_ready)", "if (out_ready || !second)", "d changes while"),
    "a row that waits for ready": (
        "waiting_rows",
        "valid = full",
        "valid = full && (second || out_ready)",
        "depends on out_ready",
    ),
    "last without valid": ("marked", "taken && last", "in_ready && last", "out_valid depends on data"),
    "first without valid": ("marked", "if (taken) d <= (first ? 32'd0 : d) + product", SPILT, OTHERS),
    "a pause that counts": ("marked", "if (taken) d <= (first ? 32'd0 : d)", PAUSED, OTHERS),
    "a sum that does not wait": ("sums", "= !out_valid || out_ready", "= 1'b1", "d changes while"),
    "a sum that is shown alone": ("sums", "out_valid <= in_valid", "out_valid <= in_valid && first", OTHERS),
}
"""What is wrong: the design, a text in it and the one in its place, and a part of the reason."""


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.usefixtures("unsampled")
@pytest.mark.attack("dut")
@pytest.mark.parametrize("name", WRONG)
def test_a_design_that_another_master_breaks_is_not_proved(name: str, tmp_path: Path) -> None:
    """Ports that offer nothing may hold anything, the last operand too."""
    top, found, put, reason = WRONG[name]
    decision = decided_by_solvers(PRODUCT, described(tmp_path, top, found, put), 100)
    assert decision.verdict != PROVED
    assert reason in decision.reason


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.usefixtures("unsampled")
def test_the_verdict_says_when_a_start_may_come(tmp_path: Path) -> None:
    later, free = (decided_by_solvers(PRODUCT, described(tmp_path, top), 100).assumed[-1] for top in ("first", "again"))
    assert later == "start comes in a later cycle than done, and d is read while done is 1"
    assert free == "start comes while busy is 0, in the cycle of done or later, and d is read while done is 1"
    held = decided_by_solvers(PRODUCT, described(tmp_path, "again", hold_operands=True), 100).assumed[-1]
    later = "while busy is 0, in a later cycle than done, until which the ports hold the operands"
    assert held == f"start comes {later}, and d is read while done is 1"


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.usefixtures("unsampled")
def test_the_verdict_says_that_no_operand_is_held_back_for_another(tmp_path: Path) -> None:
    ready = ("{2{!d_valid}}", "{!has_a && b_valid, !has_b && a_valid}")
    found = decided_by_solvers(PRODUCT, described(tmp_path, "each", *ready), 100)
    assert (found.verdict, found.assumed[-1]) == (PROVED, "no operand is held back until another one of its result is taken")
