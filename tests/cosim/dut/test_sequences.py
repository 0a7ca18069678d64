"""Designs whose protocol the wrapper adapts: right ones pass in both modes, and each wrong one fails."""

import re
from pathlib import Path

import pytest

import cosim
from cosim.dut.description import load_dut
from cosim.dut.tool_log import ElaborationError
from golden import Unit, load_unit
from golden.arithmetic.formats import FP32
from golden.operations import ADD, MUL
from mmau.prove.user_design.proof import prove_user_design
from rtl.designs.product_design import ProductDesign
from rtl.verilog.emit import to_verilog
from tests.cosim.dut.sequence_designs import SEQUENCES
from tests.cosim.dut.vhdl_sequences import VHDL_SEQUENCES

DESIGNS = {**SEQUENCES, **{f"{name}, in VHDL": design for name, design in VHDL_SEQUENCES.items()}}

FAULTS = [
    (name, fault, mode)
    for name, design in SEQUENCES.items()
    for fault in design.faults
    for mode in (("cocotb", "volume") if design.vectors == 1000 else ("volume",))
]


def report_of(folder: Path, name: str, fault: str | None = None, **request: object) -> cosim.Report:
    """The report on a design, or on a copy of it with a fault. The wrapper's text must be clear to other tools too."""
    for file, text in DESIGNS[name].files(fault).items():
        (folder / file).write_text(text, encoding="utf-8")
    unit, dut = load_unit(folder / "unit.toml"), load_dut(folder / "dut.toml")
    return cosim.run(unit, dut=dut, **{"vectors": 1000, **request})  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["cocotb", pytest.param("volume", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", SEQUENCES)
def test_right_design_passes(name: str, mode: str, tmp_path: Path) -> None:
    report = report_of(tmp_path, name, mode=mode, vectors=1000 if mode == "cocotb" else 30_000)
    assert report.failures == ()
    assert report.received == report.vectors
    assert [line for line in report.other_readings if "mmau_dut" in line] == []


@pytest.mark.slow
@pytest.mark.needs("ghdl")
@pytest.mark.parametrize("mode", ["cocotb", pytest.param("volume", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", VHDL_SEQUENCES)
def test_right_design_in_vhdl_passes(name: str, mode: str, tmp_path: Path) -> None:
    report = report_of(tmp_path, f"{name}, in VHDL", mode=mode, vectors=500 if mode == "cocotb" else 30_000)
    assert report.failures == ()
    assert report.received == report.vectors


@pytest.mark.costly
@pytest.mark.needs("ghdl")
@pytest.mark.attack("wrong designs of one's own")
@pytest.mark.parametrize("mode", ["cocotb", pytest.param("volume", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("name", "fault"), [(name, fault) for name, design in VHDL_SEQUENCES.items() for fault in design.faults]
)
def test_wrong_design_in_vhdl_fails(name: str, fault: str, mode: str, tmp_path: Path) -> None:
    said: list[str] = []
    try:
        said += report_of(tmp_path, f"{name}, in VHDL", fault, mode=mode, vectors=500 if mode == "cocotb" else 2000).failures
    except ElaborationError as error:  # a circuit has numbers where its source has undefined values
        said += re.findall(r"is not its source: .* gives [01UX]*[UX][01UX]* in GHDL", str(error))
    assert said


@pytest.mark.needs("ghdl")
def test_protocol_in_vhdl_is_not_proved(tmp_path: Path) -> None:
    for file, text in DESIGNS["accumulator, in VHDL"].files().items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"^proofs take \[beats\], \[matrix\] by parts and protocols"):
        prove_user_design(load_unit(tmp_path / "unit.toml"), load_dut(tmp_path / "dut.toml"), 60.0)


ICARUS = [name for name, design in SEQUENCES.items() if "for (int" not in design.text]
"""The designs that Icarus 11 reads: without loops over packed arrays of several dimensions."""


@pytest.mark.costly
@pytest.mark.needs("icarus")
@pytest.mark.parametrize("name", ICARUS)
def test_right_design_passes_in_icarus(name: str, tmp_path: Path) -> None:
    assert report_of(tmp_path, name, vectors=200, simulator="icarus").passed


@pytest.mark.costly
@pytest.mark.attack("wrong designs of one's own")
@pytest.mark.parametrize(("name", "fault", "mode"), FAULTS)
def test_wrong_design_fails(name: str, fault: str, mode: str, tmp_path: Path) -> None:
    assert report_of(tmp_path, name, fault, mode=mode, vectors=SEQUENCES[name].vectors).failures


ADDER_TREE = """module tree(input [1:0][31:0] a, b, input [31:0] c, output [31:0] d);
  wire [31:0] p0, p1, s;
  mul m0(.a(a[0]), .b(b[0]), .d(p0));
  mul m1(.a(a[1]), .b(b[1]), .d(p1));
  add s0(.a(p0), .b({}), .d(s));
  add s1(.a(s), .b({}), .d(d));
endmodule
"""

SUMS = """name = "tree"
operation = "FMA"
a = "fp32"
b = "fp32"
c = "fp32"
rho = "RNE-FP32"

[sums]
product = "RNE-e8m23"
tree = [["p0", "p1"], "c"]
"""


@pytest.mark.slow
@pytest.mark.parametrize(("order", "is_right"), [(("p1", "c"), True), (("c", "p1"), False)])
def test_adder_tree_equals_its_program_of_additions(order: tuple[str, str], is_right: bool, tmp_path: Path) -> None:
    (tmp_path / "unit.toml").write_text(SUMS, encoding="utf-8")
    circuits = (to_verilog(Unit(name=name, operation=of(a=FP32, b=FP32)), name) for name, of in (("mul", MUL), ("add", ADD)))
    (tmp_path / "tree.sv").write_text("".join([*circuits, ADDER_TREE.format(*order)]), encoding="utf-8")
    dut = cosim.dut_from_table({"top": "tree", "sources": ["tree.sv"], "products": 2}, tmp_path)
    report = cosim.run(ProductDesign(load_unit(tmp_path / "unit.toml"), lengths=(2,)), dut=dut, vectors=500)
    assert report.passed is is_right
