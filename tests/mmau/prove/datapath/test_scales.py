"""Proofs of step scale, of formats of one's own: a shared exponent, few exponents, exponents above or below zero, signs."""

import re
from typing import Any

import pytest

from golden import Unit
from golden.units.unit_file import unit_from_table
from mmau.prove.datapath.unit_questions import TOP, unit_questions
from mmau.prove.design_proof import prove
from mmau.prove.solvers.with_bitwuzla import solve
from mmau.prove.specification.numbers import Number
from rtl.designs.unit_design import as_design
from rtl.verilog.emit import to_verilog

SECONDS = 30.0

OWN: dict[str, dict[str, Any]] = {
    "bfp8": {"exp_bits": 1, "man_bits": 6, "bias": 1, "specials": "finite"},  # every exponent is 0
    "low": {"exp_bits": 1, "man_bits": 2, "bias": 2, "specials": "finite"},
    "high": {"exp_bits": 1, "man_bits": 2, "bias": -3, "specials": "finite"},
    "shared": {"exp_bits": 5, "man_bits": 0, "bias": 15, "specials": "finite", "signed": False},
    "ue5m3": {"exp_bits": 5, "man_bits": 3, "bias": 15, "specials": "fn", "signed": False},
    "signed": {"exp_bits": 2, "man_bits": 1, "bias": 1, "specials": "finite"},
    "p3109": {"exp_bits": 3, "man_bits": 2, "bias": 4, "specials": "p3109", "signed": False},
}

PAIRS = (("bfp8", "shared"), ("low", "ue5m3"), ("high", "signed"), ("e2m1", "ue4m3"), ("e2m1", "p3109"), ("high", "fp16"))
"""Formats of elements and of scales."""

OPERATIONS: dict[str, dict[str, Any]] = {
    "ST-FDPA": {"F": 12, "e_zero": -133, "rho": "RZ-FP32"},
    "GST-FDPA": {"F": 12, "e_zero": -133, "rho": "RZ-FP32", "G": 2},
    "TR-FDPA": {"F": 12, "F2": 10},
    "E-FDPA": {},
}


def unit(element: str = "bfp8", scale: str = "shared", operation: str = "ST-FDPA") -> Unit:
    formats = {name: OWN[name] for name in (element, scale) if name in OWN}
    return unit_from_table(
        {"name": "u", "operation": operation, "L": 2, "K_block": 2, "a": element, "b": element, "c": "fp32", "scale": scale,
         "formats": formats, **OPERATIONS[operation]}
    )  # fmt: skip


def not_proved(of: Unit, verilog: str | None = None) -> list[str]:
    """The obligations of step scale that are not proved."""
    questions = [each for each in unit_questions(of, verilog) if each.name.startswith("scale")]
    assert questions
    return [each.name for each in questions if solve(each.text, SECONDS).verdict != "never"]


@pytest.mark.slow
@pytest.mark.parametrize(("element", "scale"), PAIRS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_step_scale_is_proved(operation: str, element: str, scale: str) -> None:
    assert not_proved(unit(element, scale, operation)) == []


@pytest.mark.slow
def test_unit_of_one_exponent_is_proved() -> None:
    """No value but 0 has no sign, so that the one bit of an exponent that is always 0 must be shown to be 0."""
    assert prove(as_design(unit()), 300.0).verdict == "proved"


@pytest.mark.slow
@pytest.mark.attack("faults of a netlist or a specification, in prove")
@pytest.mark.parametrize(
    ("pattern", "becomes"),
    [(r"signed\(prod__exp\)", "signed(4'h0)"), (r"prod__sig \* ", "prod__sig + "), (r"9'h17b", "9'h17c")],
    ids=["the exponent of the product", "a factor", "the exponent of a zero"],
)
def test_a_wrong_step_scale_is_refuted(pattern: str, becomes: str) -> None:
    of = unit("e2m1", "ue5m3")
    verilog = to_verilog(as_design(of), TOP)
    start = verilog.index("module unit_scale(")
    end = verilog.index("endmodule", start)
    changed, count = re.subn(pattern, becomes, verilog[start:end], count=1)
    assert count, verilog[start:end]
    assert not_proved(of, verilog[:start] + changed + verilog[end:])


@pytest.mark.slow
@pytest.mark.attack("faults of a netlist or a specification, in prove")
def test_a_specification_without_room_for_what_is_not_finite_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    of = unit("e2m1", "ue5m3")
    to_verilog(as_design(of), TOP)
    monkeypatch.setattr(Number, "free", property(lambda number: number))
    assert not_proved(of)
