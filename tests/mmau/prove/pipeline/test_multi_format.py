"""Datapaths of several formats proved, and faults of them refuted."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from golden import Implementation, Unit
from golden.operations import TFDPA
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS, LATER_KEYS
from mmau.prove.pipeline import multi_format
from mmau.prove.pipeline.multi_format import format_questions, questions_of_format
from mmau.prove.solvers.installed import solver
from rtl.designs.multi_format_design import MultiFormatDesign
from rtl.designs.sample_units import multi_format_designs
from rtl.verilog.emit import to_verilog
from tests.mmau.prove.pipeline.designs import faulty

KEYS: dict[str, Any] = {"c": "fp16", "F": 9, "rho": "RNE-FP16", "e_zero": -20}


@cache
def small() -> MultiFormatDesign:
    """Two words of eight bits: two products of e4m3, or four of e2m1."""
    operations = [TFDPA(**{"a": name, "b": name, "L": L, **KEYS}) for name, L in (("e4m3", 2), ("e2m1", 4))]
    built = Implementation(encoding="sign-magnitude")
    return MultiFormatDesign(tuple(Unit(name=f"{o.a}", operation=o, implementation=built) for o in operations))


@cache
def verilog() -> str:
    return to_verilog(small(), "unit")


def refuted(text: str, number: int) -> list[str]:
    """The questions of a format that are not answered with never."""
    questions = questions_of_format(small(), text, number)
    return [each.name for each in questions if solver("bitwuzla")(each.text, 10).verdict != "never"]


@pytest.mark.slow
def test_each_format_is_proved() -> None:
    questions = format_questions(small(), verilog())
    assert any(question.name == "multiply_0_0 where format = 0" for question in questions)
    assert any(question.name == "multiply_0_1 where format = 1" for question in questions)
    assert not refuted(verilog(), 0)
    assert not refuted(verilog(), 1)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_datapath_with_the_last_choice_of_every_key_is_proved_though_its_multipliers_have_one_form(encoding: str) -> None:
    ways: dict[str, Any] = {key: choices[-1] for key, choices in {**CIRCUIT_CHOICES, **LATER_KEYS}.items()}
    built = Implementation(encoding=encoding, **ways)
    design = MultiFormatDesign(tuple(replace(unit, implementation=built) for unit in small().units))
    questions = format_questions(design, to_verilog(design, "unit"))
    assert not [each.name for each in questions if solver("bitwuzla")(each.text, 10).verdict != "never"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("there", "instead", "step"),
    [
        ("\\$8  = selected[0] ? y_0__sig[3:2]", "\\$8  = selected[0] ? y_0__sig[1:0]", "multiply_0_0 where format = 0"),
        ("{ block_1, 4'h0 } : 8'h00", "{ block_1, 4'h0 } : 8'h01", "multiply_0_0 where format = 1"),
        ("__exp = selected[1] ? \\$43  : 6'h2c", "__exp = selected[1] ? \\$43  : 6'h00", "multiply_0_1 where format = 0"),
        ("\\$28  = selected[1] ? decode_y_0_0_e2m1_1_x__exp", "\\$28  = selected[0] ? decode_y_0_0_e2m1_1_x__exp",
         "multiply_0_0 where format = 0"),
    ],
    ids=["a block of other halves", "a packed product changed", "an idle lane that counts", "another format's exponent"],
)  # fmt: skip
@pytest.mark.attack("generated pipelines and tiles, in prove")
def test_a_fault_is_refuted(there: str, instead: str, step: str) -> None:
    assert step in refuted(faulty(verilog(), there, instead), int(step[-1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "steps"),
    [
        ((), []),
        (
            ("\\$8  = selected[0] ? y_0__sig[3:2]", "\\$8  = selected[0] ? y_0__sig[1:0]"),
            ["block_2"],
        ),
        (("\\$16  = block_0 + \\$15", "\\$16  = block_0 - \\$15"), ["sig_0"]),
    ],
    ids=["sound", "a block of other halves", "a sum that subtracts"],
)  # fmt: skip
def test_wide_products_are_proved_in_parts(
    fault: tuple[str, ...], steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multi_format, "WIDE", 3)  # products of e4m3, which a solver can do as a whole too
    named = refuted(faulty(verilog(), *fault) if fault else verilog(), 0)
    assert list(dict.fromkeys(name.split()[1] for name in named)) == steps


@pytest.mark.long
def test_every_format_of_a_word_of_16_bits_is_proved() -> None:
    design = multi_format_designs()[0]
    for question in format_questions(design, to_verilog(design, "unit")):
        assert solver("bitwuzla")(question.text, 10).verdict == "never", question.name
