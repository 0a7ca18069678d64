"""Texts of one circuit under other names."""

import re

import pytest

from golden.units.unit_file import unit_from_table
from rtl.cost.synthesis import TOP
from rtl.verilog.emit import to_verilog
from studies.mapping_spread import SHARED, UNITS, rewritten, spread


@pytest.mark.slow
def test_text_has_other_names_and_the_same_ports_and_statements() -> None:
    text = to_verilog(unit_from_table({"name": "x", **SHARED, **UNITS["e4m3 L = 4, F = 13"]}), TOP)
    once, other = rewritten(text, 1), rewritten(text, 2)
    assert len({text, once, other}) == 3
    assert rewritten(text, 1) == once

    def plain(given: str) -> list[str]:
        return sorted(re.sub(r"\b[a-j]\d{1,6}_(?=\w)", "", given).splitlines())

    assert plain(once) == plain(other) == plain(text)
    heads = [re.findall(r"^module .*$", given, re.MULTILINE) for given in (text, once)]
    assert heads[0] == heads[1]


@pytest.mark.costly
@pytest.mark.uses("cells", "opensta")
def test_same_circuit_under_other_names_has_other_costs() -> None:
    """Each netlist is checked with vectors; costs differ by some per cent."""
    assert all(0 < share < 0.1 for share in spread("e4m3 L = 4, F = 13", "osu018", 2))
