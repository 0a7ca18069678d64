"""Modules compared."""

from formal.pipelines.values import alike
from rtl.verilog.netlist import read_netlist
from tests.formal.pipelines.designs import faulty, piped, verilog_of


def test_modules_are_alike_where_only_their_places_differ() -> None:
    verilog = verilog_of(piped(3))
    modules, moved = read_netlist(verilog), read_netlist("\n\n" + verilog.replace("unit_round", "unit_round_2"))
    assert alike(modules, "unit_round", moved, "unit_round_2")
    other = read_netlist(faulty(verilog, "propagate[11] & generated[10]", "propagate[11] | generated[10]"))
    assert not alike(modules, "unit_accumulate", other, "unit_accumulate")
    assert not alike(modules, "unit_accumulate", modules, "unit_round")
