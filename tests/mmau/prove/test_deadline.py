"""A proof that is cut short: its verdicts until then are reported, and nothing else is claimed."""

from pathlib import Path
from typing import Any

import pytest

from golden.operations import FMA
from mmau.prove import deadline
from mmau.prove.deadline import Seen, equality_in_time, prove
from mmau.prove.decision import DATAPATH, OPEN, PROVED, REFUTED, SPECIFICATION, UNDECIDED, WrongCycles, WrongResult
from rtl.designs.unit_design import UnitDesign
from tests.mmau.prove.provable_units import SMALL, unit_of

DESIGN = UnitDesign(unit_of(SMALL))

LATE = "it did not end in 2 s (--seconds)"

BEGUN: list[dict[str, Any]] = [
    {"assumed": ["rst is high in the first cycle"], "verilog": "digest"},
    {"obligations": [["decode_x_0", OPEN], ["multiply_0", OPEN], ["d", OPEN]]},
]


def seen(monkeypatch: pytest.MonkeyPatch, *told: dict[str, Any], result: Any = None, ending: str = "") -> None:
    monkeypatch.setattr(deadline, "watched", lambda work, content, seconds, report=None: Seen(list(told), result, ending))


def decided(*verdicts: str) -> list[dict[str, Any]]:
    return [{"decided": [number, verdict]} for number, verdict in enumerate(verdicts)]


@pytest.mark.parametrize(
    ("told", "verdict", "not_proved", "reason"),
    [
        ([], OPEN, [], f"its obligations were not all generated: {LATE}"),
        (BEGUN[:1], OPEN, [], f"its obligations were not all generated: {LATE}"),
        (BEGUN, OPEN, ["decode_x_0: open", "multiply_0: open", "d: open"],
         f"{LATE}, and 3 of 3 obligations remain undecided"),
        ([*BEGUN, *decided(PROVED, PROVED)], OPEN, ["d: open"], f"{LATE}, and 1 of 3 obligations remain undecided"),
        ([*BEGUN, *decided(PROVED, REFUTED)], OPEN, ["multiply_0: refuted", "d: open"],
         f"a step is refuted on its own, but no simulation showed operands that make d wrong: {LATE}"),
        ([*BEGUN, *decided(PROVED, PROVED, PROVED)], PROVED, [], ""),
    ],
    ids=["nothing told", "no obligations", "no verdicts", "some verdicts", "one refuted", "all but the result"],
)  # fmt: skip
def test_verdicts_until_the_deadline_are_reported(
    told: list[dict[str, Any]], verdict: str, not_proved: list[str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen(monkeypatch, *told, ending=LATE)
    found = prove(DESIGN, 2.0)
    assert (found.verdict, found.not_proved, found.reason) == (verdict, not_proved, reason)
    assert found.assumed == (("rst is high in the first cycle",) if told else ())


@pytest.mark.slow
def test_a_child_that_is_killed_leaves_its_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "DESIGN", "tests.mmau.prove.killable_works:proves_in_part")
    found = prove(DESIGN, 2.0)
    assert (found.verdict, found.obligations) == (OPEN, (("decode_x_0", PROVED), ("d", OPEN)))
    assert found.reason == "it did not end in 2 s (--seconds), and 1 of 2 obligations remain undecided"


@pytest.mark.slow
def test_a_proof_through_a_child_is_the_same_proof() -> None:
    found = prove(DESIGN, 120.0)
    assert (found.verdict, found.reason, found.not_proved) == (PROVED, "", [])
    assert found.steps["accumulate"][0] == found.steps["accumulate"][1] > 0


@pytest.mark.parametrize(
    "shown", [WrongResult({"a": 1 << 70}, "x", 3, ("a line",)), WrongCycles(("cycle 0: rst", "d is wrong"))]
)
def test_counter_examples_come_through(shown: WrongResult | WrongCycles, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"verdict": REFUTED, "reason": "", "assumed": [], "counterexample": plain(shown)}
    seen(monkeypatch, result={**keys, "obligations": [["d", REFUTED]], "verilog": "digest"})
    found = prove(DESIGN, 2.0)
    assert (found.verdict, found.obligations) == (REFUTED, (("d", REFUTED),))
    assert found.counterexample is not None
    assert found.counterexample.lines() == shown.lines()
    seen(monkeypatch, result={**keys, "equal_to": DATAPATH, "decided": ["zeros alone"], "decided_by": "simulation"})
    of_user = prove(DESIGN, 2.0, Path("dut.toml"))
    assert (of_user.verdict, of_user.decided, of_user.equal_to) == (REFUTED, ("zeros alone",), DATAPATH)
    assert of_user.counterexample is not None
    assert of_user.counterexample.as_table() == shown.as_table()


def plain(shown: WrongResult | WrongCycles) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in vars(shown).items()}


def test_decided_cases_of_a_user_design_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    seen(monkeypatch, {"assumed": ["rst is not active"], "equal_to": DATAPATH}, {"decided": ["3 states"]},
         {"decided": ["zeros alone", "special values"], "cases": {"name": "RZ: ", "decided": 2, "open": ["others"]}},
         ending=LATE)  # fmt: skip
    found = prove(DESIGN, 2.0, Path("dut.toml"))
    assert (found.verdict, found.decided) == (OPEN, ("3 states", "zeros alone", "special values"))
    assert (found.assumed, found.equal_to, found.open) == (("rst is not active",), DATAPATH, ("RZ: others",))
    not_simulated = f"sample vectors were not simulated: {LATE}"
    assert found.reason == f"the proof ended early: {LATE}; not decided: RZ: others; {not_simulated}"
    seen(monkeypatch, ending="its process was ended by SIGSEGV")
    found = prove(DESIGN, 2.0, Path("dut.toml"))
    assert (found.verdict, found.equal_to) == (OPEN, SPECIFICATION)
    crashed = "its process was ended by SIGSEGV"
    assert found.reason == f"the proof ended early: {crashed}; sample vectors were not simulated: {crashed}"


def test_a_comparison_that_is_cut_short_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    fma = FMA(a="fp16", b="fp16", c="fp16")  # type: ignore[arg-type]
    seen(monkeypatch, ending=LATE)
    found = equality_in_time(fma, fma, (1, 1), 2.0)
    assert (found.verdict, found.reason) == (UNDECIDED, LATE)
