"""How often nets change, on netlists whose changes are counted by hand, and the power that follows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from golden.stimulus import Operands
from golden.units.unit import Array
from golden.units.unit_file import unit_from_table
from rtl.cost.activity import changes, power
from rtl.cost.cost_columns import measure
from rtl.cost.liberty import library
from rtl.cost.mapped_netlist import Netlist, Placed
from tests.rtl.cost.needs import needs_library, needs_sta, needs_yosys, small_unit
from tests.rtl.cost.test_liberty import SMALL

UNIT = unit_from_table({"name": "bits", "operation": "MUL", "a": "fp16", "b": "fp16", "rho": "RNE-FP16"})


def rows(a: list[int]) -> Operands:
    """Rows in which bit 0 of a has these values, and b is 0."""
    codes = np.array(a, np.uint16)[:, None]
    return Operands(codes, np.zeros_like(codes), np.zeros(len(a), np.uint16))


def netlist(*cells: Placed) -> Netlist:
    """A circuit of bit 0 of a, net 1; the other bits and those of b are not read."""
    a, b = (tuple(range(start, start + 16)) for start in (1, 101))
    return Netlist({"a": a, "b": b}, {"d": (60,)}, cells)


def test_a_hazard_counts_as_a_glitch_alone(tmp_path: Path) -> None:
    """NAND of a and its inverse stays 1, but for a time unit after a rises: two changes each time, one in the inverse."""
    (tmp_path / "small.lib").write_text(SMALL)
    cells = library(f"{tmp_path}/small.lib")
    circuit = netlist(Placed("i", "INV", {"A": 1, "Y": 50}), Placed("n", "NAND2", {"A": 1, "B": 50, "Y": 60}))
    found = changes(circuit, cells, UNIT, 0, rows([0, 1, 0, 1, 1, 0]))  # it rises twice, and falls twice
    assert found.settled[1] == found.settled[50] == found.all[50] == 4 / 5
    assert found.settled[60] == 0
    assert found.all[60] == 4 / 5
    powers = {"i": (1.0, 10.0), "n": (2.0, 100.0)}
    assert power(powers, circuit, cells, found.settled) == 1 + 2 + 10 * 4 / 5
    assert power(powers, circuit, cells, found.all) == 1 + 2 + 10 * 4 / 5 + 100 * 4 / 5


def test_one_row_has_no_changes(tmp_path: Path) -> None:
    (tmp_path / "small.lib").write_text(SMALL)
    with pytest.raises(ValueError, match=r"take two rows; got 1$"):
        changes(netlist(), library(f"{tmp_path}/small.lib"), UNIT, 0, rows([1]))


@pytest.mark.slow
@needs_yosys
@needs_library
@needs_sta
@pytest.mark.parametrize("stages", [0, 2])
def test_energy_is_that_of_the_rows(stages: int) -> None:
    """Rows that stay take no more than an idle circuit; half as many that change take less."""
    unit, rng = small_unit(stages=stages), np.random.default_rng(0)
    K = unit.operation.length
    a, b = (rng.integers(0, 1 << x.width, (200, K)).astype(np.uint8) for x in (unit.a, unit.b))
    c = rng.integers(0, 1 << unit.operation.c.width, 200).astype(f"u{unit.operation.c.storage_bits // 8}")
    drawn = Operands(a, b, c)
    usual = measure(unit, {"activity": 0.001})
    still = measure(unit, {}, None, drawn.rows(np.zeros(200, int)))
    busy = measure(unit, {}, None, drawn)
    half = measure(unit, {}, None, drawn.rows(np.arange(200) // 2))
    assert still["changes_per_net"] == 0
    assert still["energy_pj"] <= usual["energy_pj"]
    assert still["energy_pj"] < half["energy_pj"] < busy["energy_pj"] < busy["energy_unit_delay_pj"]
    assert half["changes_per_net"] == pytest.approx(busy["changes_per_net"] / 2, rel=0.1)


@pytest.mark.slow
@needs_yosys
@needs_library
@needs_sta
def test_the_nets_of_an_array_change_as_often_as_those_of_its_datapath() -> None:
    unit, rng = replace(small_unit(stages=1), array=Array(rows=1, columns=2, steps=2)), np.random.default_rng(0)
    a, b = (rng.integers(0, 1 << x.width, (200, 1)).astype(np.uint8) for x in (unit.a, unit.b))
    of_rows = measure(unit, {}, None, Operands(a, b, np.zeros(200, np.uint16)))
    told = measure(unit, {"activity": of_rows["changes_per_net"]})
    assert of_rows["array_energy_pj"] == told["array_energy_pj"] != measure(unit)["array_energy_pj"]
