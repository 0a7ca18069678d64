"""User designs with the ports of a generated design, and the renaming of these ports."""

import re
from pathlib import Path

import pytest

from cosim import Reset, dut_like, load_ports
from golden import Implementation, Unit
from golden.arithmetic.formats import E2M1, E3M2, FP16, FP32, UE4M3
from golden.operations import GSTFDPA, TFDPA
from rtl import Design, UnitDesign

UNIT = Unit(name="u", operation=TFDPA(a=E3M2, b=E2M1, c=FP16, L=8, F=25, rho="RZ-FP32", e_zero=-133))
HANDSHAKE = {"clk", "rst", "in_valid", "in_ready", "out_valid", "out_ready"}


def widths(design: Design) -> dict[str, int]:
    return {port.name: port.width for port in design.ports}


def test_widths_are_lanes_times_code_width() -> None:
    assert widths(UnitDesign(UNIT)) == {"a": 48, "b": 32, "c": 16, "d": 32}


def test_stages_add_the_handshake() -> None:
    clocked = Unit(name="u", operation=UNIT.operation, implementation=Implementation(stages=1))
    assert set(widths(UnitDesign(clocked))) - set(widths(UnitDesign(UNIT))) == HANDSHAKE


def test_scales_are_ports() -> None:
    operation = GSTFDPA(a=E2M1, b=E2M1, c=FP32, L=64, G=16, K_block=16, scale=UE4M3, F=35, rho="RZ-FP32", e_zero=-139)
    found = widths(UnitDesign(Unit(name="u", operation=operation)))
    assert (found["scale_a"], found["scale_b"]) == (32, 32)


@pytest.mark.parametrize("ports", [{"aa": "x"}, {"in_valid": "x"}])
def test_bad_names_refused(ports: dict[str, str], tmp_path: Path) -> None:
    name = next(iter(ports))
    with pytest.raises(ValueError, match=rf"^\[ports\] of u: port must be one of a, b, c, d; got '{name}'"):
        dut_like(UnitDesign(UNIT), [tmp_path / "x.v"], "top", ports)


def test_clocked_unit_with_renamed_ports(tmp_path: Path) -> None:
    clocked = UnitDesign(Unit(name="u", operation=UNIT.operation, implementation=Implementation(stages=1)))
    (tmp_path / "x.v").touch()
    dut = dut_like(clocked, [tmp_path / "x.v"], "top", {"clk": "clock", "a": "vec_a", "in_valid": "v"})
    assert (dut.clock, dut.reset, dut.protocol) == ("clock", Reset("rst"), "valid-ready")
    assert [dut.name_of(port) for port in ("a", "b", "in_valid")] == [("vec_a",), ("b",), ("v",)]


def test_ports_file(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('[ports]\na = "vec_a"\nd = "result"\n')
    assert load_ports(tmp_path / "p.toml") == {"a": "vec_a", "d": "result"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "not a TOML file: "),
        ("\udcff", "not a TOML file: "),
        ('a = "x"', "must hold one table [ports] and nothing else, got ['a']"),
        ("ports = 3", "must hold one table [ports] and nothing else, got ['ports']"),
        ("[ports]\na = 3", '[ports] a must be the name of a port, like "vec_a"; got 3'),
        ('[ports]\na = ""', "[ports] a must be the name of a port, like \"vec_a\"; got ''"),
    ],
)
def test_bad_ports_file_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: {message}')}"):
        load_ports(path)


def test_sources_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^a design needs at least one Verilog file, got none$"):
        dut_like(UnitDesign(UNIT), (), "top")
    missing = tmp_path / "none.v"
    with pytest.raises(
        ValueError, match=f"^{re.escape(f'sources must be Verilog files that exist; not found: {missing}')}$"
    ):
        dut_like(UnitDesign(UNIT), [missing], "top")
