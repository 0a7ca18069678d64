"""`[controls]` and `[echo]` of a dut.toml: inputs that choose the arithmetic, outputs that return an input."""

import re
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.build.sources import sources_of
from cosim.dut.connection import PortMismatch
from cosim.dut.description import dut_from_table
from cosim.dut.reference import reference_of
from golden import Unit
from golden.operations import FMA
from mmau.prove.decision import PROVED, REFUTED, WrongResult
from mmau.prove.user_design.proof import decided_by_solvers, prove_user_design
from rtl import UnitDesign, as_design
from tests.cosim.dut.controlled_designs import BASE, LANES, PAIR, SMALL, VHDL, WRONG, WRONG_LANES, chosen, in_vhdl, masked


@pytest.mark.simulator
@pytest.mark.long
def test_native_vectors_choose_the_operation(tmp_path: Path) -> None:
    """Those after the first 20,000. The same macro makes the same operation wrong in both modes."""
    assert cosim.run(BASE, dut=chosen(tmp_path), vectors=30_000, mode="volume").failures == ()
    report = cosim.run(BASE, dut=chosen(tmp_path, "NOT_NEGATED"), vectors=30_000, mode="volume")
    late = {row.products for row in report.differing if row.vector >= 20_000} - {"flags status_o"}
    assert late
    assert all("1 (-c)" in name for name in late)


@pytest.mark.simulator
@pytest.mark.slow
def test_each_vector_chooses_its_arithmetic(tmp_path: Path) -> None:
    report = cosim.run(BASE, dut=chosen(tmp_path), vectors=1200)
    assert report.failures == ()
    assert (report.not_compared, dict(report.held)) == ((), {"op_i[2:2]": 0})
    rho, operation, formats = (report.controls[port] for port in ("rm_i", "op_i_1_0", "fmt_i"))
    assert list(rho["values"]) == ["0 (RNE-FP16)", "modes::TO_ZERO (RZ-FP16)"]
    assert list(operation["values"]) == ["0 (FMA)", "1 (-c)", "2 (ADD, a = b, b = c)", "0b11 (MUL)"]
    for control in (rho, operation, formats):
        share = 1200 // len(control["values"])
        assert all(abs(sum(met.values()) - share) <= 16 for met in control["values"].values())
        assert control["missed"] == []
        assert sum(control["pairs"].values()) >= 1200 - 3


@pytest.mark.simulator
@pytest.mark.costly
@pytest.mark.attack("dut")
@pytest.mark.parametrize("macro", WRONG)
def test_wrong_choice_is_noticed(tmp_path: Path, macro: str) -> None:
    report = cosim.run(BASE, dut=chosen(tmp_path, macro), vectors=1200)
    assert re.fullmatch(r"[\d,]+ of 1,200 results differ from the golden model", report.failures[0])
    made = {row.products for row in report.differing}
    if macro == "TAG_OF_THE_NEXT":
        assert made == {"tag_o returns tag_i"}
        assert (len(report.groups), report.groups[0].distance) == (1, "another value")
    elif macro == "FLAGS_OF_A_SUM":
        assert made == {"flags status_o"}
    else:
        made.discard("flags status_o")
        where = {
            "NOT_NEGATED": "1 (-c)",
            "PLUS_ZERO": "0b11 (MUL)",
            "FORMAT_HELD": "fmt_i = 1 (bf16)",
            "MODE_OF_THE_NEXT": "rm_i",
        }
        assert all(where[macro] in name for name in made)


@pytest.mark.simulator
@pytest.mark.long
def test_addition_and_multiplication_are_proved(tmp_path: Path) -> None:
    """By a multiply-add of 8 bits, each with its flags."""
    table = {"key": "operation", "values": {"2": {"operation": "ADD", "a": "b", "b": "c"}, "3": "MUL"}}
    tie = {"op_i[2:2]": 0, "rm_i": 0, "fmt_i": 0}
    found = decided_by_solvers(SMALL, chosen(tmp_path, small=True, controls={"op_i[1:0]": table}, tie=tie), 1800.0)
    assert (found.verdict, found.reason) == (PROVED, "")


@pytest.mark.simulator
@pytest.mark.costly
@pytest.mark.parametrize("mode", ["cocotb", "volume"])
def test_idle_products_count_as_zero(tmp_path: Path, mode: str) -> None:
    report = cosim.run(LANES, dut=masked(tmp_path), vectors=600 if mode == "cocotb" else 30_000, mode=mode)
    assert report.failures == ()
    assert [report.controls[port]["missed"] for port in ("rm_i", "neg_i")] == [[], []]


@pytest.mark.simulator
@pytest.mark.costly
@pytest.mark.attack("dut")
@pytest.mark.parametrize("mode", ["cocotb", "volume"])
@pytest.mark.parametrize("macro", WRONG_LANES)
def test_wrong_lane_is_noticed(tmp_path: Path, macro: str, mode: str) -> None:
    """Native code draws the vectors after the first 20,000."""
    report = cosim.run(LANES, dut=masked(tmp_path, macro), vectors=600 if mode == "cocotb" else 26_000, mode=mode)
    assert not report.passed
    if mode == "volume":
        assert any(row.vector >= 20_000 for row in report.differing)
    if macro == "MASK_UNREAD":
        assert all(0 in row.ports["mask_i"] for row in report.differing)
        assert report.minimised is not None
        assert report.minimised.reproduced
    if macro == "NEVER_NEGATED":
        assert all("neg_i = 1" in row.products for row in report.differing)


@pytest.mark.simulator
@pytest.mark.costly
@pytest.mark.needs("ghdl")
@pytest.mark.parametrize("mode", ["cocotb", "volume"])
def test_design_in_vhdl_is_masked_and_returns_its_tag(tmp_path: Path, mode: str) -> None:
    assert cosim.run(PAIR, dut=in_vhdl(tmp_path), vectors=300, mode=mode).failures == ()
    swapped = in_vhdl(tmp_path, VHDL.replace("Mask_i(0), A", "Mask_i(1), A"))
    assert not cosim.run(PAIR, dut=swapped, vectors=300, mode=mode).passed
    tag_lost = in_vhdl(tmp_path, VHDL.replace("Tag_o <= tag_i", "Tag_o <= '0'"))
    assert {row.place for row in cosim.run(PAIR, dut=tag_lost, vectors=300, mode=mode).differing} == {"tag_o"}


@pytest.mark.simulator
@pytest.mark.long
def test_every_choice_is_proved(tmp_path: Path) -> None:
    found = decided_by_solvers(LANES, masked(tmp_path), 600.0)
    assert (found.verdict, found.reason) == (PROVED, "")
    assert {line.partition(": ")[0] for line in found.decided[1:]} == {
        f"rm_i = {mode}, neg_i = {sign}"
        for mode in ("0 (RZ-FP16)", "1 (RNE-FP16)")
        for sign in ("0 (as the unit)", "1 (-c)")
    } | {"mask_o"}


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.attack("proof")
@pytest.mark.parametrize("macro", WRONG_LANES)
def test_wrong_lane_is_refuted(tmp_path: Path, macro: str) -> None:
    assert prove_user_design(LANES, masked(tmp_path, macro), 300.0).verdict == REFUTED


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.attack("proof")
def test_operands_that_no_vector_has_are_shown_with_their_choice(tmp_path: Path) -> None:
    """Wrong for one c, which is negated, in one rounding mode."""
    controls = {
        "mask_i": {"key": "mask"}, "rm_i": {"key": "rho", "values": {"1": "RNE-FP16", "0": "RZ-FP16"}},
        "neg_i": {"key": "operation", "values": {"1": {"c": "-c"}, "0": {}}},
    }  # fmt: skip
    found = decided_by_solvers(LANES, masked(tmp_path, "RARE", controls=controls), 300.0)
    assert (found.verdict, found.reason) == (REFUTED, "")
    assert isinstance(found.counterexample, WrongResult)
    wrong = {"a": 0x35, "b": 0x52, "c": 0x3A5C, "mask_i": 3, "rm_i": 1, "neg_i": 1}
    assert found.counterexample.inputs == wrong


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"controls": {"a+": {}}}, '[controls] must name inputs like "op_i" or "mode_i[1:0]", got \'a+\''),
        (
            {"controls": {"op_i": "rho"}},
            '[controls] op_i must be like {key = "rho", values = {0 = "RNE-FP16"}}, got \'rho\'',
        ),
        (
            {"controls": {"op_i": {"key": "rho", "value": {}}}},
            "[controls] op_i: key must be one of key, values; got 'value' (did you mean 'values'?)",
        ),
        ({"controls": {"r": {"key": "rho"}}}, '[controls] r must have values, like values = {0 = "RNE-FP16"}; got None'),
        (
            {"controls": {"m": {"key": "mask", "values": {"0": 1}}}},
            "[controls] m: a mask has no values, one bit for each product; got {'0': 1}",
        ),
        (
            {"controls": {"m": {"key": "mask"}, "n": {"key": "mask"}}},
            '[controls] has one input with key = "mask", got m, n',
        ),
        (
            {"controls": {"r": {"key": "rho", "values": {"-1": "RZ-FP16"}}}},
            '[controls] r: a value must be a number from 0 on, or a constant like "pkg::NAME"; got \'-1\'',
        ),
        (
            {"controls": {"r": {"key": "rho", "values": {"1": "RZ-FP16", "0b1": "RNE-FP16"}}}},
            "[controls] r must have each value once, got 1, 0b1",
        ),
        (
            {"controls": {"r": {"key": "rho", "values": {"0": {"rho": "RZ-FP16"}}}}},
            "[controls] r = 0 must be a value of rho, got {'rho': 'RZ-FP16'}: only operation and formats take a table",
        ),
        ({"echo": {"tag_o": 3}}, '[echo] must be like tag_o = "tag_i", an output and the input that it returns; got 3'),
    ],
)  # fmt: skip
def test_wrong_table_refused(tmp_path: Path, keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        chosen(tmp_path, **keys)


@pytest.mark.parametrize(
    ("controls", "message"),
    [
        (
            {"rm_i": {"key": "rho", "values": {"0": "RNE-FP99"}}},
            r"\[controls\] rm_i = 0 \(RNE-FP99\): rho must be one of .*; got 'RNE-FP99'.*",
        ),
        (
            {"op_i": {"key": "operation", "values": {"0": "FNA"}}},
            r"\[controls\] op_i = 0 \(FNA\): operation .*'FNA'.*",
        ),
        (
            {"fmt_i": {"key": "formats", "values": {"1": "fp32"}}},
            r"\[controls\] fmt_i = 1 \(fp32\): a needs 32 bits, and a of the unit has 16",
        ),
        ({"rm_i": {"key": "F", "values": {"0": 3}}}, r"\[controls\] rm_i = 0 \(F = 3\): FMA key must be one of .*; got 'F'"),
    ],
)  # fmt: skip
def test_unit_that_cannot_be_refused(tmp_path: Path, controls: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        reference_of(UnitDesign(BASE), chosen(tmp_path, controls=controls, echo={}))


@pytest.mark.simulator
@pytest.mark.slow
def test_every_reason_why_ports_do_not_fit(tmp_path: Path) -> None:
    controls = {
        "rm_i": {"key": "rho", "values": {"2": "RNE-FP16"}},
        "mode": {"key": "nan", "values": {"0": "quiet"}},
        "fmt_i": {"key": "mask"},
        "d": {"key": "flush_inputs", "values": {"0": False}},
    }
    dut = chosen(tmp_path, controls=controls, echo={"tag_o": "op_i", "out": "tag_i"})
    with pytest.raises(PortMismatch) as error:
        cosim.run(BASE, dut=dut)
    assert str(error.value).splitlines() == [
        "design chosen does not fit its description:",
        "- [controls] rm_i has 1 bits, too few for 2",
        "- [controls] mode: a port of chosen must be one of clk, rst_n, in_valid, a, b, c, rm_i, op_i, fmt_i, tag_i, "
        "out_valid, d, tag_o, status_o; got 'mode'",
        "- [controls] d_ must be an input of chosen, d is an output",
        "- [echo] tag_o must have the width of op_i, 3 bits, and at most 64; it has 8",
        "- [echo] out: a port of chosen must be one of clk, rst_n, in_valid, a, b, c, rm_i, op_i, fmt_i, tag_i, "
        "out_valid, d, tag_o, status_o; got 'out' (did you mean 'out_valid'?)",
    ]


def test_fewer_vectors_than_choices_refused(tmp_path: Path) -> None:
    message = r"vectors must be at least the 16 combinations of values of rm_i, op_i_1_0, fmt_i, got 15"
    with pytest.raises(ValueError, match=f"^{message}$"):
        cosim.run(BASE, dut=chosen(tmp_path), vectors=15)


def test_bits_above_a_narrower_result_are_named(tmp_path: Path) -> None:
    (tmp_path / "wide.v").write_text("module wide(input [31:0] a, b, c, input [1:0] fmt_i, output [31:0] d);\nendmodule\n")
    formats = {"fmt_i": {"key": "formats", "values": {"0": "fp32", "1": "fp16", "2": "bf16"}}}
    table = {"top": "wide", "sources": ["wide.v"], "controls": formats}
    unit = Unit(name="wide", operation=FMA(a="fp32", b="fp32", c="fp32"))  # type: ignore[arg-type]
    named = ("d[31:16] of results in bf16", "d[31:16] of results in fp16")
    for ignored in ([], [named[0]], ["d"]):
        dut = dut_from_table(table | {"compare": {"ignore_outputs": ignored}}, tmp_path)
        assert sources_of(reference_of(as_design(unit), dut), dut, tmp_path).not_compared == named
