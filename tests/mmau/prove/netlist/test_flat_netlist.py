"""Netlists flattened."""

import pytest

from mmau.prove.netlist.expressions import NoTerm
from mmau.prove.netlist.flat_netlist import FlatNetlist, has_registers
from mmau.prove.netlist.terms import Terms, deep_stack
from mmau.prove.netlist.verilog_text import read_netlist
from tests.mmau.prove.pipeline.designs import faulty, piped, small_tile, verilog_of


@pytest.mark.slow
def test_boxes_are_not_looked_into_and_what_they_depend_on_is_known() -> None:
    modules = read_netlist(verilog_of(small_tile()))
    assert has_registers(modules, "unit.datapath_0_0".join(["\\", ""]))
    with deep_stack() as manager:
        netlist = FlatNetlist(Terms(manager), modules, "unit")
        assert "datapath_1_0.multiply_3" in netlist.opaque
        assert "datapath_1_1.out_valid" in netlist.registers
        (box,) = (
            v for v, source in netlist.source.items() if source.name == "datapath_1_0.multiply_3" and source.kind == "opaque"
        )
        reached = {netlist.source[variable].name for variable in netlist.reached(box)}
        del netlist, box
    assert reached == {"a", "b"}


@pytest.mark.slow
def test_a_loop_through_opaque_modules_is_reported() -> None:
    verilog = faulty(verilog_of(piped(3)), ".e_max(accumulate_sum_exp)", ".e_max(sum_encode_d[5:0])")
    told = ""
    with deep_stack() as manager:
        netlist = FlatNetlist(Terms(manager), read_netlist(verilog), "unit")
        try:
            netlist.reached(netlist.after["d"].term)
        except NoTerm as error:
            told = str(error)
        del netlist
    assert told == "a loop through sum_encode"


def test_an_input_that_is_not_there() -> None:
    with deep_stack() as manager, pytest.raises(KeyError):
        FlatNetlist(Terms(manager), read_netlist(verilog_of(piped(3))), "another")
