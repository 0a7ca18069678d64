"""Rounded sums: broken Verilog, datapaths that retain too few bits, broken specifications, each refuted."""

import re
from dataclasses import replace
from typing import Any

import pytest

from golden import Operation
from golden.operations import FTZFMA, FTZAddMul
from mmau.prove.counterexample import vector
from mmau.prove.datapath import stepwise, tied_sums
from mmau.prove.datapath.kernel import Fact, Proof
from mmau.prove.datapath.unit_questions import NotProvable, unit_questions
from mmau.prove.solvers.with_bitwuzla import solve
from mmau.prove.specification import fma
from mmau.prove.specification.rounded_sums import RoundedSum, Rounding
from rtl.datapath.fused_sum import Precision
from rtl.verilog.emit import to_verilog
from tests.mmau.prove.provable_units import SMALL_FMA, unit_of, verilog_of
from tests.volume import one_in

SECONDS = 30.0

FLUSHED_FMA = FTZFMA(a="bf16", b="bf16", c="fp32", L=1)  # type: ignore[arg-type]

ADD_MUL = FTZAddMul(a="bf16", b="bf16", c="fp32", P=1)  # type: ignore[arg-type]


def first_refuted(operation: Operation, verilog: str | None = None) -> str | None:
    """The first obligation that is refuted, in one encoding."""
    questions = unit_questions(unit_of(operation), verilog_of(operation) if verilog is None else verilog)
    return next((each.name for each in questions if solve(each.text, SECONDS).verdict == "sometimes"), None)


def changed(verilog: str, module: str, pattern: str, becomes: str) -> str:
    """The Verilog with a fault in the first place of a module that is like the pattern."""
    start = re.search(rf"^module {module}\(", verilog, re.MULTILINE)
    assert start is not None
    end = verilog.index("endmodule", start.start())
    found, count = re.subn(pattern, becomes, verilog[start.start() : end], count=1)
    assert count == 1, f"{module} has nothing like {pattern}"
    return verilog[: start.start()] + found + verilog[end:]


FAULTS = {
    "the sticky bit of c": (SMALL_FMA, "unit_align_2", r"shifted_5 \| ", "shifted_5 & "),
    "how far c may lie above a product": (SMALL_FMA, "unit", r"5'h0e", "5'h0d"),
    "the sign of a zero": (SMALL_FMA, "unit", r"(\$5  = multiply_0_prod__sign) &", r"\1 |"),
    "the order of NaNs": (SMALL_FMA, "unit", r"decode_x_0_x__nan \?", "decode_y_0_x__nan ?"),
    "the NaN of an invalid operation": (SMALL_FMA, "unit", r"16'hfe00", "16'h7e00"),
    "what rounding sees below": (SMALL_FMA, "unit_round", r"\| norm\[26:0\]", "| norm[26:8]"),
    "a tiny result": (FLUSHED_FMA, "unit_encode", r"10'h381", "10'h380"),
    "a NaN that is widened": (FLUSHED_FMA, "unit", r"9'h1ff, a\[5:0\]", "9'h1fe, a[5:0]"),
    "a subnormal product": (ADD_MUL, "unit_encode", r"24'h800000", "24'h400000"),
}
"""An operation, a module, a pattern of its Verilog, and what it becomes."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [*list(FAULTS)[:2], *(pytest.param(each, marks=pytest.mark.long) for each in list(FAULTS)[2:])]
)
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_fault_of_the_netlist_is_refuted_and_replayed(fault: str) -> None:
    operation, *change = FAULTS[fault]
    verilog = changed(verilog_of(operation), *change)
    name = first_refuted(operation, verilog)
    assert name is not None
    found = vector(unit_of(operation), verilog, name, SECONDS)
    assert found is not None, name
    assert found.got != found.expected


def less_precise(F: int, truncation: Any) -> Precision:
    return Precision(F - 1, truncation)


@pytest.mark.long
@pytest.mark.parametrize("module", ["rtl.operations.fma", "rtl.datapath.rounded_adder"])
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_datapath_that_keeps_a_bit_less_is_refuted(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    operation = SMALL_FMA if module.endswith("fma") else ADD_MUL
    unit, sound = unit_of(operation), verilog_of(operation)
    monkeypatch.setattr(f"{module}.Precision", less_precise)
    verilog = to_verilog(unit, "unit")
    assert verilog != sound
    name = first_refuted(operation, verilog)
    assert name is not None
    assert vector(unit, verilog, name, SECONDS) is not None


def _sum_less_exact(sound: property) -> property:
    return property(lambda summed: sound.__get__(summed) - 1)


SPECIFICATION_FAULTS: dict[str, tuple[Operation, Any, str, Any]] = {
    "a bit of the exact sum": (SMALL_FMA, RoundedSum, "F", _sum_less_exact(RoundedSum.F)),  # type: ignore[arg-type]
    "the sign of a zero": (SMALL_FMA, RoundedSum, "signed", lambda summed, total: total),
    "the order of NaNs": (
        SMALL_FMA, fma, "first_nan", lambda nans, fmt, nan, sound=fma.first_nan: sound([*reversed(nans)], fmt, nan)
    ),
    "subnormal results": (
        ADD_MUL, Rounding, "code",
        lambda rounding, total, lsb, sound=Rounding.code: sound(replace(rounding, underflow="gradual"), total, lsb),
    ),
}  # fmt: skip
"""An operation, and what of its specification becomes what."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", one_in(2, SPECIFICATION_FAULTS))
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_fault_of_the_specification_is_refuted(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    operation, owner, name, becomes = SPECIFICATION_FAULTS[fault]
    monkeypatch.setattr(owner, name, becomes)
    assert first_refuted(operation) is not None


@pytest.mark.slow
def test_a_gap_that_is_left_out_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = tied_sums.TiedSums._reach
    monkeypatch.setattr(tied_sums.TiedSums, "_reach", lambda self, k: sound(self, k) - 1)
    assert first_refuted(SMALL_FMA) == "sum_encode gaps 0 cases"


@pytest.mark.slow
def test_a_sum_that_may_be_small_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding cuts above what is lost since the sum is large then: without that fact it must not be provable."""
    sound = tied_sums.TiedSums.rounded_to_odd
    monkeypatch.setattr(
        tied_sums.TiedSums, "rounded_to_odd", lambda self, exact, guard: replace(sound(self, exact, guard), large=[])
    )
    assert first_refuted(SMALL_FMA) == "sum_encode place near"


@pytest.mark.slow
def test_codes_that_are_not_shown_to_be_alike_end_the_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The netlist's code is not the specification's without the proof about rounding."""
    monkeypatch.setattr(stepwise.RoundedSumProof, "_cases", lambda self, exact, alike: list[Fact]())
    assert first_refuted(SMALL_FMA) == "sum_encode cases"


def test_a_code_without_a_meaning_ends_the_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Proof.means

    def no_codes(proof: Proof, reading: Any, specified: Any, fact: Fact) -> None:
        if "encode" not in str(reading.symbol()):
            sound(proof, reading, specified, fact)

    monkeypatch.setattr(Proof, "means", no_codes)
    with pytest.raises(NotProvable, match=r"^no fact states the value of sum_encode.d, on which d depends$"):
        unit_questions(unit_of(SMALL_FMA), verilog_of(SMALL_FMA))
