"""Units whose rounding mode an input chooses: their Verilog, in co-simulation and in proofs."""

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cosim
from golden import Implementation, Unit
from golden.operations import ADD, EFDPA, FMA, MUL, TFDPA, Operation
from golden.units.controls import controls_from_table
from mmau.prove import prove
from mmau.prove.decision import PROVED, REFUTED
from mmau.prove.design_proof import answered, verdict_of
from mmau.prove.pipeline.pipeline_replay import expected
from mmau.prove.pipeline.questions import multiply_add_question, pipeline_questions
from rtl import ControlledDesign, to_verilog
from rtl.verilog.lint import readers, write_and_lint

MODES = ("RNE", "RZ", "RD", "RU", "RNA")


def unit(operation: Operation, stages: int = 0, modes: tuple[str, ...] = MODES, **keys: Any) -> Unit:
    """The unit of an operation whose port `rm` chooses among rounding modes, by their numbers in `MODES`."""
    fmt = operation.d.name.upper()
    values = {str(MODES.index(mode)): f"{mode}-{fmt}" for mode in modes}
    controls = controls_from_table({"rm": {"key": "rho", "values": values}} | keys)
    return Unit(name="moded", operation=operation, implementation=Implementation(stages=stages), controls=controls)


def fma(fmt: str, **keys: Any) -> FMA:
    return FMA(a=fmt, b=fmt, c=fmt, overflow="by-mode", **keys)  # type: ignore[arg-type]


HALF = unit(fma("fp16"), stages=2)
FLAGGED = unit(fma("fp16", flags=True), stages=2)
SMALL = unit(fma("e5m2", flags=True))
OPERATIONS = {"0": "FMA", "1": {"operation": "FMA", "c": "-c"}, "2": {"operation": "ADD", "a": "b", "b": "c"}, "3": "MUL"}


def with_operations(
    fmt: str, stages: int = 0, modes: tuple[str, ...] = ("RNE", "RD"), more: dict[str, Any] | None = None, **keys: Any
) -> Unit:
    """A unit whose port `op` chooses FMA, FMA of −c, ADD or MUL, as CVFPU's does. `more`: further controls."""
    return unit(fma(fmt, **keys), stages, modes, op={"key": "operation", "values": OPERATIONS}, **(more or {}))


PRODUCTS = unit(
    MUL(a="fp16", b="fp16", nan="b-c-a", flags=True, overflow="by-mode"), 1, ("RNA", "RD"),  # type: ignore[arg-type]
    op={"key": "operation", "values": {"0": {"a": "-a"}, "1": {"operation": "ADD", "b": "-b"}}},
)  # fmt: skip
"""A unit of MUL, which has no c, with ADD as a choice."""

SMALL_FORMATS = {"fmt": {"key": "formats", "values": {"0": "e5m2", "1": "e4m3ieee"}}}
TWO_FORMATS = unit(fma("e5m2"), 1, ("RNE", "RD"), **SMALL_FORMATS)
HALVES = unit(
    fma("fp16", flags=True), 2, ("RNE", "RU"), fmt={"key": "formats", "values": {"0": "fp16", "1": "bf16", "3": "fp16"}}
)

DOTS = unit(EFDPA(a="e5m2", b="e5m2", c="e5m2", L=2, rho="RNE-E5M2", overflow="by-mode", zero="ieee", flags=True))  # type: ignore[arg-type]
SUM = unit(ADD(a="fp16", b="fp16", overflow="by-mode"), modes=("RNE", "RD"))  # type: ignore[arg-type]


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        HALF,
        SUM,
        unit(fma("bf16", flush_results=True)),
        FLAGGED,
        unit(fma("bf16", flags=True, tininess="before", flush_results=True)),
        unit(MUL(a="fp16", b="fp16", flags=True, tininess="before")),  # type: ignore[arg-type]
        with_operations("fp16", 2, flags=True, nan="first"),
        PRODUCTS,
        HALVES,
        DOTS,
    ],
    ids=[
        "FMA",
        "ADD",
        "flushed",
        "flags",
        "flags, flushed",
        "flags of MUL",
        "operations",
        "operations of MUL",
        "formats",
        "E-FDPA",
    ],
)
def test_unit_computes_as_its_inputs_say(chosen: Unit) -> None:
    report = cosim.run(chosen, vectors=1000)
    assert report.failures == ()
    assert all(not control["missed"] for control in report.controls.values())


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.attack("generator")
def test_circuit_with_flags_of_another_mode_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """In UF alone: whether a tiny sum rounds up to a normal number is decided downwards where it is to be upwards."""
    wrong = flags_of_another_mode(to_verilog(ControlledDesign.of(SMALL), "unit"))
    monkeypatch.setattr("cosim.dut.generated.to_verilog", lambda *of: wrong)
    report = cosim.run(SMALL, vectors=2000)
    assert {row.products for row in report.differing} == {"flags flags"}
    assert {group.distance for group in report.groups} <= {"without UF", "UF too many"}


def flags_of_another_mode(verilog: str) -> str:
    """A circuit whose step encode takes RD for RU, and RU for RD."""
    wrong, count = re.subn(
        r"(sum_encode_chosen\[\d\] = rm == 2'h)([23])", lambda found: f"{found[1]}{5 - int(found[2])}", verilog
    )
    assert count == 2
    return wrong


def lanes(value: str = "-c", stages: int = 0) -> ControlledDesign:
    """Three products that a mask leaves out, and an input that changes the sign or the port of an operand."""
    operation = TFDPA(a="e2m1", b="e3m2", c="fp16", L=3, F=9, rho="RNE-FP16", e_zero=-20)  # type: ignore[arg-type]
    table = {
        "mask_i": {"key": "mask"},
        "op_i": {"key": "operation", "values": {"0": {}, "1": {value[-1]: value}}},
    }
    controls = controls_from_table(table)
    return ControlledDesign.of(
        Unit(name="lanes", operation=operation, implementation=Implementation(stages=stages), controls=controls)
    )


MAPS = {
    "neg": {"key": "operation", "values": {"0": {}, "1": {"a": "-a"}, "2": {"a": "c", "c": "a"}}},
    "sub": {"key": "operation", "values": {"0": {}, "1": {"c": "-c"}}},
}


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.parametrize(
    "chosen",
    [
        lanes(),
        lanes(stages=2),
        ControlledDesign.of(unit(fma("e5m2", flags=True, nan="first"), 1, MODES[:3], **MAPS)),
        ControlledDesign.of(with_operations("e5m2", 1, flags=True, nan="b-c-a", tininess="before")),
        ControlledDesign.of(with_operations("fp16", 2, MODES, flags=True)),
        ControlledDesign.of(PRODUCTS),
        ControlledDesign.of(TWO_FORMATS),
        ControlledDesign.of(with_operations("e5m2", 2, flags=True, more=SMALL_FORMATS)),
    ],
    ids=[
        "mask",
        "registers",
        "FMA",
        "operations",
        "operations in fp16",
        "operations of MUL",
        "formats",
        "operations, formats",
    ],
)
def test_operands_are_those_that_inputs_choose(chosen: ControlledDesign) -> None:
    report = cosim.run(chosen, vectors=900)
    assert report.failures == ()
    assert all(not control["missed"] for control in report.controls.values())
    found = prove(chosen, 3600.0)
    assert (found.verdict, found.reason) == (PROVED, "")


WRONG_LANES = {
    "a lane has the bit of another": (r"mask_i\[1\]", "mask_i[0]"),
    "a lane counts though it is idle": (r"mask_i\[2\]", "1'b1"),
    "c is never negated": (r"op_i \?", "1'b0 ?"),
}
"""What is wrong with a circuit of `lanes`: a text and what stands in its place."""


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.attack("generator")
@pytest.mark.parametrize("wrong", WRONG_LANES)
def test_wrong_operands_are_noticed_and_refuted(tmp_path: Path, wrong: str) -> None:
    design = lanes()
    verilog, count = re.subn(*WRONG_LANES[wrong], to_verilog(design, "unit"))
    assert count
    (tmp_path / "wrong.v").write_text(verilog)
    report = cosim.run(design, vectors=600, dut=cosim.dut_like(design, [tmp_path / "wrong.v"], "unit"))
    assert re.fullmatch(r"\d[\d,]* of 600 results differ from the golden model", report.failures[0])
    assert REFUTED in dict(answered(pipeline_questions(design, verilog), time.monotonic() + 3600)).values()


WRONG_FORMATS = {
    "the format of the next operands": (r"encode_choice \? of_1", "fmt ? of_1"),
    "one format always": (r"encode_choice \? of_1_encode_d", "encode_choice ? of_0_encode_d"),
    "b stands for c in one format": (r"(of_1_decode_z \(\n +\.code\()c\)", r"\1b)"),
}
"""What is wrong with a circuit of `TWO_FORMATS`: a text and what stands in its place."""


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.attack("generator")
@pytest.mark.parametrize("wrong", WRONG_FORMATS)
def test_wrong_format_is_noticed_and_refuted(tmp_path: Path, wrong: str) -> None:
    design = ControlledDesign.of(TWO_FORMATS)
    verilog, count = re.subn(*WRONG_FORMATS[wrong], to_verilog(design, "unit"))
    assert count
    (tmp_path / "wrong.v").write_text(verilog)
    assert not cosim.run(design, vectors=1000, dut=cosim.dut_like(design, [tmp_path / "wrong.v"], "unit")).passed
    assert REFUTED in dict(answered(pipeline_questions(design, verilog), time.monotonic() + 3600)).values()


WRONG_OPERATIONS = {
    "MUL adds +0": (r"\? \{ \\\$\d+ , 7'h00 \}", "? 8'h00"),
    "ADD multiplies by 2": ("8'h3c", "8'h40"),
    "ADD takes the ports of FMA": (r"2'h2;(\n.*decode_x_0_code = .*) \? b : a", r"2'h2;\1 ? a : a"),
    "ADD negates c": (r"op == 1'h1", "op != 0"),
}
"""What is wrong with a circuit of `with_operations`: a text and what stands in its place."""


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.attack("generator")
@pytest.mark.parametrize("wrong", WRONG_OPERATIONS)
def test_wrong_operation_is_noticed_and_refuted(tmp_path: Path, wrong: str) -> None:
    design = ControlledDesign.of(with_operations("e5m2"))
    verilog, count = re.subn(*WRONG_OPERATIONS[wrong], to_verilog(design, "unit"))
    assert count
    (tmp_path / "wrong.v").write_text(verilog)
    report = cosim.run(design, vectors=1000, dut=cosim.dut_like(design, [tmp_path / "wrong.v"], "unit"))
    assert any(re.fullmatch(r"\d[\d,]* of 1,000 results differ from the golden model", each) for each in report.failures)
    assert REFUTED in dict(answered(pipeline_questions(design, verilog), time.monotonic() + 3600)).values()


@pytest.mark.parametrize("operation", [ADD, MUL])
@pytest.mark.parametrize("nan", ["quiet", "first", "b-c-a"])
@pytest.mark.parametrize("fmt", ["fp16", "fp32"])
def test_a_multiply_add_gives_the_result_of_each_operation(operation: type[MUL], nan: str, fmt: str) -> None:
    chosen = operation(a=fmt, b=fmt, nan=nan, flags=True, rho=f"RD-{fmt.upper()}", overflow="by-mode")  # type: ignore[arg-type]
    assert verdict_of(multiply_add_question(chosen).text, time.monotonic() + 60) == PROVED


@pytest.mark.attack("proof")
def test_another_constant_in_a_multiply_add_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number above 1; and +0 for every product, or −0, which are wrong in some modes alone."""
    adds, mode = ADD(a="fp16", b="fp16"), {"RNE": 0, "RD": 0x8000}  # type: ignore[arg-type]
    monkeypatch.setattr("mmau.prove.datapath.chosen_operands.one", lambda fmt: 0x3C01)
    assert verdict_of(multiply_add_question(adds).text, time.monotonic() + 60) == REFUTED
    for rho, zero in mode.items():
        multiplies = MUL(a="fp16", b="fp16", rho=f"{rho}-FP16")  # type: ignore[arg-type]
        monkeypatch.setattr(
            "mmau.prove.pipeline.questions.operands_in_fma",
            lambda terms, operation, own, zero=zero: {**own, "c": terms.number(zero, 16)},
        )
        assert verdict_of(multiply_add_question(multiplies).text, time.monotonic() + 60) == REFUTED


@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.attack("generator")
def test_circuit_with_a_mode_too_late_is_noticed(tmp_path: Path) -> None:
    """Behind the last register in front of rounding, the mode of the next operands stands in the place of the own one."""
    text = to_verilog(ControlledDesign.of(HALF), "late")
    wrong, count = re.subn(r"(sum_round_chosen\[\d\] = .*?)\w+_code", r"\1rm", text)
    assert count == len(MODES) - 1  # that of code 0 has a wire in between
    (tmp_path / "late.v").write_text(wrong)
    dut = cosim.dut_like(ControlledDesign.of(HALF), [tmp_path / "late.v"], "late")
    assert not cosim.run(HALF, vectors=1000, dut=dut).passed
    (tmp_path / "late.v").write_text(text)
    assert cosim.run(HALF, vectors=1000, dut=dut).passed


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [SUM, DOTS], ids=["ADD", "E-FDPA"])
def test_sum_is_proved_for_each_mode(chosen: Unit) -> None:
    found = prove(ControlledDesign.of(chosen), 300.0)
    assert (found.verdict, found.reason) == (PROVED, "")


@pytest.mark.long
def test_flags_are_proved_for_each_mode() -> None:
    found = prove(ControlledDesign.of(SMALL), 300.0)
    assert (found.verdict, found.reason) == (PROVED, "")


@pytest.mark.long
@pytest.mark.parametrize("flags", [False, True], ids=["d", "flags"])
@pytest.mark.parametrize("fmt", ["fp16", "fp32"])
def test_multiply_add_is_proved_for_each_mode(fmt: str, flags: bool) -> None:
    found = prove(ControlledDesign.of(unit(fma(fmt, flags=flags), stages=2)), 3600.0)
    assert (found.verdict, found.reason) == (PROVED, "")


@pytest.mark.slow
@pytest.mark.attack("proof")
@pytest.mark.parametrize("chosen", [SUM, unit(DOTS.operation, modes=("RNE", "RD"))], ids=["ADD", "E-FDPA"])
def test_circuit_of_another_mode_is_refuted(chosen: Unit) -> None:
    """Upwards in the place of downwards."""
    upwards = to_verilog(ControlledDesign.of(unit(chosen.operation, modes=("RNE", "RU"))), "unit")
    verilog, count = re.subn(r"== 2'h3", "== 2'h2", upwards)
    assert count
    questions = [each for each in pipeline_questions(ControlledDesign.of(chosen), verilog) if "rm = 2 (RD-" in each.name]
    assert REFUTED in dict(answered(questions, time.monotonic() + 3600)).values()


@pytest.mark.long
@pytest.mark.attack("proof")
def test_circuit_with_flags_of_another_mode_is_refuted() -> None:
    verilog = flags_of_another_mode(to_verilog(ControlledDesign.of(SMALL), "unit"))
    questions = [each for each in pipeline_questions(ControlledDesign.of(SMALL), verilog) if "(RU-E5M2)" in each.name]
    assert REFUTED in dict(answered(questions, time.monotonic() + 3600)).values()


@pytest.mark.simulator
@pytest.mark.slow
def test_verilator_has_no_warning_of_the_written_text(tmp_path: Path) -> None:
    assert write_and_lint(ControlledDesign.of(FLAGGED), tmp_path, {"verilator": readers()["verilator"]}) == {}


def test_expected_result_is_that_of_the_chosen_mode() -> None:
    design = ControlledDesign.of(HALF)
    inputs = {"a": 0x3C00, "b": 0x3C00, "c": 0x0001}
    assert [expected(design, [inputs | {"rm": code}]) for code in range(5)] == [0x3C00, 0x3C00, 0x3C00, 0x3C01, 0x3C00]


def test_expected_result_is_that_of_the_chosen_operands() -> None:
    """1·1 + 1·1 + 1·1 ± 1 in e2m1, e3m2 and fp16, with and without the first product."""
    inputs = {"a": 0x222, "b": 0xC | 0xC << 6 | 0xC << 12, "c": 0x3C00}
    found = [expected(lanes(), [inputs | {"mask_i": mask, "op_i": code}]) for mask in (7, 6) for code in (0, 1)]
    assert found == [0x4400, 0x4000, 0x4200, 0x3C00]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            unit(TFDPA(a="fp16", b="fp16", c="fp32", L=1, F=24, rho="RZ-FP32", e_zero=-132), modes=("RZ",)),  # type: ignore[arg-type]
            "got T-FDPA with rm (rho)",
        ),
        (unit(fma("fp16"), again={"key": "rho", "values": {"0": "RZ-FP16"}}), "got FMA with rm (rho), again (rho)"),
        (unit(fma("fp16"), modes=("RNE",), rm={"key": "rho", "values": {"m::RNE": "RNE-FP16"}}), "got FMA with rm (rho)"),
    ],
    ids=["operation", "two", "constant"],
)  # fmt: skip
def test_other_controls_have_no_datapath(wrong: Unit, message: str) -> None:
    start = (
        "moded: [controls] of a datapath have numbers as values, and choose the rounding mode (one port) of FMA, MUL, ADD "
        "and E-FDPA, the format (one port) or the operation of FMA, MUL and ADD, signs and ports of operands, a mask, "
        "metadata or zero points; or are one input of random bits; "
    )
    with pytest.raises(ValueError, match=f"^{re.escape(start + message)}: give a design that has them with --dut$"):
        ControlledDesign.of(wrong).component()
    rule = (
        "an input of a datapath chooses no other key, a format only of the width of d, and no operation but FMA, MUL and "
        "ADD in one format"
    )
    values = {"0": {}, "1": {"operation": "ADD", "flush_inputs": True}}
    flushed = unit(fma("fp16"), op={"key": "operation", "values": values})
    narrow = unit(fma("fp16"), fmt={"key": "formats", "values": {"1": "e5m2"}})
    for wrong, where in ((flushed, "op = 1 (ADD, flush_inputs = True)"), (narrow, "fmt = 1 (e5m2)")):
        start = re.escape(f"moded: rm = 0 (RNE-FP16), {where}: ")
        with pytest.raises(ValueError, match=f"^{start}{rule}: give a design that has them with --dut$"):
            ControlledDesign.of(wrong).component()
    own: dict[str, Any] = {"0": "FMA", "1": {"operation": "MUL", "a": "bf16", "b": "bf16", "rho": "RNE-BF16"}}
    controls = {"fmt": {"key": "formats", "values": {"0": "fp16"}}, "op": {"key": "operation", "values": own}}
    both = replace(unit(fma("fp16")), controls=controls_from_table(controls))
    with pytest.raises(ValueError, match=r"^moded: .* fmt alone must choose the format, as each has a datapath$"):
        ControlledDesign.of(both).component()
    odd = unit(fma("fp16"), rm={"key": "rho", "values": {"0": "RO-FP16"}})
    rule = r"^moded: rm = 0 \(RO-FP16\): an input chooses RNE, RZ, RD, RU or RNA of one format$"
    with pytest.raises(ValueError, match=rule):
        ControlledDesign.of(odd).component()
