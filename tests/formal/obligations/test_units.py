"""Datapaths proved in every encoding; broken Verilog, broken specifications and broken chains refuted."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from formal.counterexample import golden_result, vector
from formal.obligations import steps as proof_steps
from formal.obligations.units import NotProvable, unit_questions
from formal.solvers.with_bitwuzla import solve
from formal.specification import fused
from formal.specification.values import Aligned, Special
from golden import Implementation, Operation, Unit
from golden.operations import FMA
from golden.unit import ENCODINGS
from tests.formal.units import OPERATIONS, SMALL, unit_of, verilog_of

SECONDS = 30.0


def refuted(operation: Operation, verilog: str | None = None) -> list[str]:
    """The obligations that are not proved, in one encoding."""
    text = verilog_of(operation) if verilog is None else verilog
    questions = unit_questions(unit_of(operation), text)
    return [each.name for each in questions if solve(each.text, SECONDS).verdict != "never"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_small_unit_is_proved(encoding: str) -> None:
    questions = unit_questions(unit_of(SMALL, encoding), verilog_of(SMALL, encoding))
    steps = {re.split(r"[ _]\d*", each.name)[0] for each in questions}
    assert {"decode", "multiply", "addend", "specials", "sum", "d"} <= steps
    assert [each.name for each in questions if solve(each.text, SECONDS).verdict != "never"] == []


@pytest.mark.parametrize("key", [{"reduction": "adder-tree"}, {"result_exp": "parallel"}], ids=str)
def test_a_small_unit_that_is_built_otherwise_is_proved(key: dict[str, str]) -> None:
    unit = Unit(name="unit", operation=SMALL, implementation=Implementation(encoding="sign-magnitude", **key))  # type: ignore[arg-type]
    questions = unit_questions(unit)
    assert questions
    assert [each.name for each in questions if solve(each.text, SECONDS).verdict != "never"] == []


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
def test_a_fault_of_the_netlist_is_refuted_and_replayed(fault: str) -> None:
    verilog, unit = faulty(verilog_of(SMALL), *FAULTS[fault]), unit_of(SMALL)
    names = refuted(SMALL, verilog)
    assert names
    found = next(filter(None, (vector(unit, verilog, name, SECONDS) for name in dict.fromkeys(names))), None)
    assert found is not None, names
    assert found.expected == golden_result(unit, found.inputs)
    assert found.got != found.expected


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


@pytest.mark.parametrize("step", BROKEN)
def test_a_fault_of_the_specification_is_refuted(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused, step, BROKEN[step])
    assert refuted(SMALL)


def test_a_step_that_is_not_proved_ends_the_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = proof_steps.ProvedSteps.value

    def without_align(self: proof_steps.ProvedSteps, name: str, value: Any) -> Any:
        if not isinstance(value, Aligned):
            return sound(self, name, value)
        ports = {part: f"{name}.{part}" for part, _ in value.parts()}
        read = self._read(value, ports)
        self._summed.append(read)
        return read

    monkeypatch.setattr(proof_steps.ProvedSteps, "value", without_align)
    with pytest.raises(NotProvable, match=r"^nothing says what sum_align_0.sign is, on which d depends$"):
        unit_questions(unit_of(SMALL), verilog_of(SMALL))


def test_operands_that_are_swapped_between_steps_are_refuted() -> None:
    verilog = verilog_of(SMALL)
    swapped = verilog.replace(".exp_0(multiply_0_prod__exp)", ".exp_0(multiply_1_prod__exp)")
    assert swapped != verilog
    assert refuted(SMALL, swapped)


def test_an_assumption_without_a_guarantee_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alignment rests on every exponent being at most the largest: without that fact it must not be provable."""
    sound = proof_steps.ProvedSteps._promises
    monkeypatch.setattr(proof_steps.ProvedSteps, "_promises", lambda self, value, read: sound(self, value, read)[:1])
    assert refuted(SMALL)


def test_an_operation_without_a_specification() -> None:
    unit = unit_of(FMA(a="fp16", b="fp16", c="fp16"))  # type: ignore[arg-type]
    with pytest.raises(NotProvable, match=r"^there is no specification of FMA yet$"):
        unit_questions(unit, verilog_of(SMALL))


@pytest.mark.parametrize("key", ["sticky", "flush_inputs", "flush_results"])
def test_keys_without_a_specification(key: str) -> None:
    with pytest.raises(NotProvable, match=rf"^there is no specification of the key {key} yet$"):
        unit_questions(unit_of(SMALL.changed(**{key: True})), verilog_of(SMALL))


def test_a_proof_has_its_obligations_in_order() -> None:
    names = [each.name for each in unit_questions(unit_of(SMALL), verilog_of(SMALL))]
    assert names[0].startswith("decode_x_0")
    assert names[-1] == "d"
