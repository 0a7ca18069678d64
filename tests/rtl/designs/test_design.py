"""Designs: ports, headers, tables of every kind, and what is refused."""

import dataclasses
import json
import re
from typing import Any

import pytest
from amaranth.lib.wiring import In, Out, Signature

import golden
from golden import Implementation, Unit
from golden.arithmetic.formats import BF16, E2M1, E4M3, FP32
from golden.operations import TFDPA
from rtl import Design, MultiFormatDesign, TileDesign, UnitDesign, to_verilog
from rtl.designs.from_table import design_from_table
from rtl.designs.ports import Elements, ports_of

VOLTA_ENTRY = golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")
SCALED_ENTRY = golden.instruction("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0")
HANDSHAKE = ["clk", "rst", "in_valid", "in_ready", "out_valid", "out_ready"]


def formats(stages: int = 1) -> MultiFormatDesign:
    keys: dict[str, Any] = {"c": FP32, "F": 13, "rho": "RZ-E8M13", "e_zero": -132}
    operations = [TFDPA(a=a, b=a, L=L, **keys) for a, L in ((BF16, 1), (E4M3, 2), (E2M1, 4))]
    built = Implementation(stages=stages)
    return MultiFormatDesign(tuple(Unit(name=f"of {o.a}", operation=o, implementation=built) for o in operations))


def tile(instruction: golden.Instruction, m: int, n: int, stages: int = 1) -> TileDesign:
    return TileDesign(dataclasses.replace(instruction, m=m, n=n), Implementation(stages=stages))


def unit(stages: int, name: str = '"x"') -> UnitDesign:
    operation = SCALED_ENTRY.operation
    return UnitDesign(Unit(name=name, operation=operation, implementation=Implementation(stages=stages)))


DESIGNS: list[Design] = [unit(3), formats(0), formats(2), tile(VOLTA_ENTRY, 2, 3), unit(0), tile(SCALED_ENTRY, 1, 2, 2)]
"""Those of the scaled entry have 32 products, which take seconds to elaborate."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "design",
    [
        pytest.param(one, id=one.name, marks=[] if one in (DESIGNS[0], DESIGNS[2], DESIGNS[3]) else [pytest.mark.long])
        for one in DESIGNS
    ],
)
def test_ports_are_those_of_the_verilog_and_of_its_header(design: Design) -> None:
    text = to_verilog(design, "top")
    header, module = text.split("\nmodule top(")
    body = module.split("endmodule")[0]
    assert set(body.split(");")[0].split(", ")) == {port.name for port in design.ports}
    for port in design.ports:
        width = f"[{port.width - 1}:0] " if port.width > 1 else ""
        assert f"\n  {port.direction} {width}{port.name};" in body
        assert re.search(rf"^//   {port.direction:<6} {port.name:<9} {port.width:>4}  \S", header, flags=re.MULTILINE)
    assert [port.name for port in design.ports][-6:] == HANDSHAKE or design.latency == 0
    assert (design.implementation.stages == 0) == (design.latency == 0)


def test_ports_without_meaning_and_meanings_without_port_are_refused() -> None:
    signature = Signature({"a": In(3), "d": Out(4)})
    assert [(port.direction, port.name, port.width) for port in ports_of(signature, {"d": "", "a": ""})] == [
        ("output", "d", 4),
        ("input", "a", 3),
    ]
    for meanings in ({"a": ""}, {"a": "", "d": "", "e": ""}):
        with pytest.raises(ValueError, match=r"^ports \['a', 'd'\] must each have a meaning; there are meanings of \['a'"):
            list(ports_of(signature, meanings))


def test_ports_hold_as_many_elements_as_the_operation_says() -> None:
    def counts(design: Design) -> dict[str, int]:
        return {port.name: port.count for port in design.ports if port.count > 1}

    assert counts(UnitDesign(Unit(name="v", operation=VOLTA_ENTRY.operation))) == {"a": 4, "b": 4}
    assert counts(unit(0)) == {"a": 32, "b": 32}
    assert counts(formats(0)) == {}, "the elements of a and b differ from format to format"
    assert counts(tile(VOLTA_ENTRY, 2, 3)) == {"a": 8, "b": 12, "c": 6, "d": 6}


def test_port_of_another_width_than_its_elements_is_refused() -> None:
    signature = Signature({"a": In(31)})
    with pytest.raises(ValueError, match=r"^port a must have the 32 bits of 2 x bf16 \(w = 16\), got 31$"):
        list(ports_of(signature, {"a": ""}, {"a": Elements(BF16, 2)}))


@pytest.mark.slow
def test_unit_is_a_design_wherever_one_is_taken() -> None:
    made = UnitDesign(Unit(name="v", operation=VOLTA_ENTRY.operation, implementation=Implementation(stages=2)))
    assert to_verilog(made.unit, "top") == to_verilog(made, "top")


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_design_survives_its_table(design: Design) -> None:
    assert design_from_table(json.loads(json.dumps(design.as_table()))) == design
