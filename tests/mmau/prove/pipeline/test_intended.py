"""Comparison of modules, and what opaque modules are given."""

from dataclasses import replace

import pytest

from mmau.prove.datapath.unit_questions import NotProvable
from mmau.prove.netlist.flat_netlist import FlatNetlist
from mmau.prove.netlist.terms import Terms, deep_stack
from mmau.prove.netlist.verilog_text import read_netlist
from mmau.prove.pipeline.intended import Intended, Reference, alike
from mmau.prove.pipeline.pipeline import TOP, elements_of
from tests.mmau.prove.pipeline.designs import datapath_of, faulty, piped, verilog_of
from tests.mmau.prove.pipeline.test_converted_tiles import converting


def test_modules_are_alike_where_only_their_places_differ() -> None:
    verilog = verilog_of(piped(3))
    modules, moved = read_netlist(verilog), read_netlist("\n\n" + verilog.replace("unit_round", "unit_round_2"))
    assert alike(modules, "unit_round", moved, "unit_round_2")
    other = read_netlist(faulty(verilog, "propagate[11] & generated[10]", "propagate[11] | generated[10]"))
    assert not alike(modules, "unit_accumulate", other, "unit_accumulate")
    assert not alike(modules, "unit_accumulate", modules, "unit_round")


@pytest.mark.slow
@pytest.mark.attack("forged compositions, in the checker of proofs")
def test_a_converter_that_is_to_convert_two_codes_at_once_is_refused() -> None:
    tile = converting()
    datapath = read_netlist(datapath_of(tile))
    with deep_stack() as manager:
        terms = Terms(manager)
        modules = read_netlist(verilog_of(tile))
        netlist = FlatNetlist(terms, modules, TOP)
        first, second = (replace(each, addend=None) for each in elements_of(tile, terms, netlist))
        swapped = dict(zip(first.converters, reversed(list(first.converters.values())), strict=True))
        reference = Reference(FlatNetlist(terms, datapath, TOP), datapath)
        with pytest.raises(NotProvable, match=r"^convert_a_0 is to have two inputs at once in step 1$"):
            Intended(terms, netlist, modules, [replace(first, converters=swapped), second], reference, 2)
        del netlist, reference, first, second, terms
