"""Datapaths proved in every encoding; broken Verilog, broken specifications and broken chains refuted."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from golden import Operation, instructions
from golden.arithmetic.rounding import Mode
from golden.operations import IDPA
from golden.units.unit import ENCODINGS
from mmau.prove.counterexample import replayed
from mmau.prove.datapath import max_exp, step_facts
from mmau.prove.datapath import stepwise as proof_steps
from mmau.prove.datapath.ranges import in_range
from mmau.prove.datapath.unit_questions import NotProvable, unit_questions
from mmau.prove.specification import fused, headroom
from mmau.prove.specification.numbers import Number
from mmau.prove.specification.step_results import Aligned, Exponent, Special, Total
from rtl.operations.lengths import L_RANGE
from tests.mmau.prove.provable_units import (
    OPERATIONS,
    SMALL,
    SMALL_IDPA,
    SMALL_TR,
    STICKY,
    check_refuted,
    not_proved,
    unit_of,
    verilog_of,
)
from tests.volume import one_in


def refuted(operation: Operation, verilog: str | None = None) -> list[str]:
    """The obligations that are not proved, in one encoding."""
    return not_proved(unit_of(operation), verilog)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", one_in(3, ENCODINGS))
def test_a_small_unit_is_proved(encoding: str) -> None:
    questions = unit_questions(unit_of(SMALL, encoding), verilog_of(SMALL, encoding))
    steps = {re.split(r"[ _]\d*", each.name)[0] for each in questions}
    assert {"decode", "multiply", "addend", "specials", "sum", "d"} <= steps
    assert not_proved(unit_of(SMALL, encoding)) == []


@pytest.mark.slow
@pytest.mark.parametrize("key", [{"reduction": "adder-tree"}, {"result_exp": "parallel"}], ids=str)
def test_a_small_unit_that_is_built_otherwise_is_proved(key: dict[str, str]) -> None:
    assert not_proved(unit_of(SMALL, "sign-magnitude", **key)) == []


@pytest.mark.long
@pytest.mark.parametrize("operation", OPERATIONS[1:], ids=lambda operation: f"{operation.name} {operation.a} {operation.b}")
def test_units_are_proved(operation: Operation) -> None:
    assert refuted(operation) == []


FAULTS = {
    "a product of significands": (r"x__sig \* y__sig", "x__sig + y__sig", "multiply"),
    "the sign of a product": (r"x__sign \^ y__sign", "x__sign & y__sign", "multiply"),
    "the largest exponent": (r"(\$signed\(\S+\)|\S+) > ", r"\1 < ", "max_exp"),
    "a shift at alignment": (r" >> ", " << ", "align"),
    "a compressor": (r"(assign sum_1_0 = .*) \^ ", r"\1 & ", "accumulate"),
    "an increment": (r"(assign sum_1_1\[0\] = .*) & ", r"\1 | ", "accumulate"),
    "a carry": (r"(assign carry_up_1_3 = .*) \| ", r"\1 & ", "accumulate"),
    "an infinity": (r"(assign result__pos_inf = .*) & ", r"\1 | ", "specials"),
}
"""A pattern of the Verilog, what it becomes in the first place where it stands, and the module."""


def faulty(verilog: str, pattern: str, becomes: str, module: str) -> str:
    """The Verilog with a fault in a module."""
    start = verilog.index(f"module unit_{module}")
    end = verilog.index("endmodule", start)
    changed, count = re.subn(pattern, becomes, verilog[start:end], count=1)
    assert count == 1, f"{module} has nothing like {pattern}"
    return verilog[:start] + changed + verilog[end:]


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_fault_of_the_netlist_is_refuted_and_replayed(fault: str) -> None:
    check_refuted(unit_of(SMALL), faulty(verilog_of(SMALL), *FAULTS[fault]))


def _mode(name: str) -> Callable[..., Any]:
    sound = getattr(fused, name)
    return lambda term, e_max, F, mode: sound(term, e_max, F, "RD")


STEPS = {name: getattr(fused, name) for name in ("addend", "combine", "accumulate", "converted")}

BROKEN: dict[str, Callable[..., Any]] = {
    "align": _mode("align"),
    "addend": lambda z, c, zero_exp, sound=STEPS["addend"]: sound(z, c, zero_exp + 1),
    "combine": lambda specials, sound=STEPS["combine"]: _without_nan(sound(specials)),
    "accumulate": lambda aligned, sound=STEPS["accumulate"]: sound(
        [replace(aligned[0], sign=~aligned[0].sign), *aligned[1:]]
    ),
    "converted": lambda total, lsb, *rest, sound=STEPS["converted"], **keys: sound(
        replace(total, total=total.total.within(0, total.total.high)), lsb + 1, *rest, **keys
    ),
}
"""Steps of the specification, each broken."""


def _without_nan(special: Special) -> Special:
    return replace(special, nan=special.pos_inf & special.neg_inf)


@pytest.mark.slow
@pytest.mark.parametrize("step", BROKEN)
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_fault_of_the_specification_is_refuted(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused, step, BROKEN[step])
    assert refuted(SMALL)


@pytest.mark.slow
def test_a_step_that_is_not_proved_ends_the_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = proof_steps.ProvedSteps.value

    def without_align(self: proof_steps.ProvedSteps, name: str, value: Any) -> Any:
        if not isinstance(value, Aligned):
            return sound(self, name, value)
        return self._read(value, {part: f"{name}.{part}" for part, _ in value.parts()})

    monkeypatch.setattr(proof_steps.ProvedSteps, "value", without_align)
    with pytest.raises(NotProvable, match=r"^no fact states the value of sum_align_0.sign, on which d depends$"):
        unit_questions(unit_of(SMALL), verilog_of(SMALL))


@pytest.mark.slow
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_operands_that_are_swapped_between_steps_are_refuted() -> None:
    verilog = verilog_of(SMALL)
    swapped = verilog.replace(".exp_0(multiply_0_prod__exp)", ".exp_0(multiply_1_prod__exp)")
    assert swapped != verilog
    assert refuted(SMALL, swapped)


@pytest.mark.slow
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_an_assumption_without_a_guarantee_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alignment rests on every exponent being at most the largest: without that fact it must not be provable."""
    monkeypatch.setitem(step_facts.STEPS, Exponent, (max_exp.PORT, in_range))
    assert refuted(SMALL)


@pytest.mark.slow
def test_an_operation_without_a_specification() -> None:
    unit = unit_of(SMALL.with_steps(accumulate=sum))
    with pytest.raises(NotProvable, match=r"^there is no specification of T-FDPA yet$"):
        unit_questions(unit, verilog_of(SMALL))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"F": 8}, "the Verilog has wires of other widths than the steps of unit give"),
        ({"L": 2}, r"port a must have the 12 bits of 3 x e2m1 \(w = 4\), got 8"),
        ({"c": "fp32", "rho": "RZ-FP32"}, r"port c must have the 16 bits of 1 x fp16 \(w = 16\), got 32"),
    ],
)
def test_the_verilog_of_another_unit(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(NotProvable, match=f"^{message}$"):
        unit_questions(unit_of(SMALL), verilog_of(SMALL.changed(**changed)))


@pytest.mark.slow
def test_verilog_that_is_not_a_datapath() -> None:
    verilog = verilog_of(SMALL)
    with pytest.raises(NotProvable, match=r"^the Verilog must have a module unit, got other, unit_accumulate, "):
        unit_questions(unit_of(SMALL), verilog.replace("module unit(", "module other("))
    with pytest.raises(NotProvable, match=r"^the Verilog must have an input c, got a, b, z, d$"):
        unit_questions(unit_of(SMALL), re.sub(r"\bc\b", "z", verilog))
    with pytest.raises(NotProvable, match=r"^line \d+: "):
        unit_questions(unit_of(SMALL), verilog[:3000])


FURTHER_FAULTS = {
    "what TR-FDPA's truncation loses": (SMALL_TR, r"\| norm\[\d+:0\]", "| norm[3:0]", "truncate"),
    "a product of integers": (SMALL_IDPA, r" \* ", " + ", "multiply"),
    "a compressor of integers": (SMALL_IDPA, r"(assign rows_1_0 = .*) \^ ", r"\1 & ", "accumulate"),
    "what alignment loses": (STICKY[0], r"(assign lost = .*) \| ", r"\1 & ", "align"),
}
"""By operation; else as `FAULTS`."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", one_in(2, FURTHER_FAULTS))
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_faults_of_further_operations_are_refuted(fault: str) -> None:
    operation, *change = FURTHER_FAULTS[fault]
    verilog, unit = faulty(verilog_of(operation), *change), unit_of(operation)
    check_refuted(unit, verilog)


OF_BITS: dict[str, IDPA] = {
    e.operation.combination: e.operation
    for e in instructions()
    if isinstance(e.operation, IDPA) and e.operation.a.width == e.operation.b.width == 1
}
"""The IDPA of the catalogue whose operands are bits, by what it adds of a pair."""


@pytest.mark.slow
@pytest.mark.parametrize("combination", one_in(2, ["multiply", "xor"]))
@pytest.mark.parametrize("reduction", ["carry-save", "adder-tree"])
@pytest.mark.parametrize("lengths", one_in(2, [[1, 3, 12], [2, 4, 7, OF_BITS["xor"].L, L_RANGE[-1]]]))
def test_sums_of_bits_are_proved_at_every_length(lengths: list[int], combination: str, reduction: str) -> None:
    operation = OF_BITS[combination]
    for L in lengths:
        for overflow in ("wrap", "saturate"):
            unit = unit_of(replace(operation, L=L, overflow=overflow), reduction=reduction)
            assert not_proved(unit) == [], f"L = {L}, {overflow}"


FAULTS_OF_BITS = {
    "or for xor": ("xor", r"x \^ y", "x | y", "multiply"),
    "another sign of a differing pair": ("xor", r"(assign prod\[2:1\] = )2'h0", r"\1{ x, y }", "multiply"),
    "or for and": ("multiply", r"x \* y", "x | y", "multiply"),
    "another sign of a product": ("multiply", r"(assign prod\[2\] = )1'h0", r"\1x & y", "multiply"),
    "a compressor": ("xor", r"(assign rows_1_0 = .*) \^ ", r"\1 | ", "accumulate"),
}
"""By combination; else as `FAULTS`."""


@pytest.mark.long
@pytest.mark.simulator
@pytest.mark.parametrize("fault", FAULTS_OF_BITS)
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_faults_of_sums_of_bits_are_refuted_and_replayed(fault: str) -> None:
    combination, *change = FAULTS_OF_BITS[fault]
    operation = replace(OF_BITS[combination], L=4)
    verilog, unit = faulty(verilog_of(operation), *change), unit_of(operation)
    found = check_refuted(unit, verilog)
    assert replayed(unit, found.inputs, verilog).differing


@pytest.mark.slow
def test_a_sticky_bit_that_is_forgotten_is_refuted() -> None:
    """The specification without the key, against a netlist that has it."""
    assert refuted(STICKY[0].changed(sticky=False), verilog_of(STICKY[0])) == ["d"]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["flush_inputs", "flush_results"])
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_key_that_the_netlist_has_not_is_refuted(key: str) -> None:
    names = refuted(SMALL.changed(**{key: True}), verilog_of(SMALL))
    assert any(name.startswith("decode" if key == "flush_inputs" else "d") for name in names)


@pytest.mark.slow
def test_another_truncation_of_a_rounded_sum_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = headroom.normalised_truncated

    def toward_zero(total: Total, lsb: Number, e_min: int, F2: int, mode: Mode) -> tuple[Total, Number]:
        return sound(total, lsb, e_min, F2, "RZ")

    monkeypatch.setattr(headroom, "normalised_truncated", toward_zero)
    assert refuted(SMALL_TR) == ["d"]


def test_a_sum_of_integers_that_is_not_proved_ends_the_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof_steps.ProvedSteps, "_hold", lambda self, read, value, facts: None)
    with pytest.raises(NotProvable, match=r"^no fact states the value of sum_accumulate.total, on which d depends$"):
        unit_questions(unit_of(SMALL_IDPA), verilog_of(SMALL_IDPA))


@pytest.mark.slow
def test_a_proof_has_its_obligations_in_order() -> None:
    names = [each.name for each in unit_questions(unit_of(SMALL), verilog_of(SMALL))]
    assert names[0].startswith("decode_x_0")
    assert names[-1] == "d"


INPUTS = {"a": 0x777, "b": 0x3CF3CF & (1 << 3 * SMALL.b.width) - 1, "c": 0x3C00}


@pytest.mark.simulator
@pytest.mark.parametrize("is_faulty", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_vector_is_compared_with_golden(is_faulty: bool) -> None:
    verilog = verilog_of(SMALL)
    report = replayed(
        unit_of(SMALL), INPUTS, faulty(verilog, *FAULTS["a product of significands"]) if is_faulty else verilog
    )
    assert report.received == 1
    assert bool(report.differing) == is_faulty == (report.explanation is not None)
