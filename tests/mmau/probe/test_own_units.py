"""Units of formats of their own, and of a ρ that no published unit has, are recovered from their answers."""

import json
from pathlib import Path

import pytest

from golden import Unit, load_unit
from golden.arithmetic.conversion import Conversion
from golden.units.unit_file import unit_from_table
from mmau.cli.json_objects import text
from mmau.probe.device_under_test import dut_of
from mmau.probe.loop import probe
from mmau.probe.model import toml_of, values_of
from mmau.probe.probe_report import as_dict
from tests.mmau.probe.known_units import verdict

UNITS = Path(__file__).parents[3] / "examples" / "units"


def own(name: str) -> Unit:
    return load_unit(UNITS / f"{name}.toml")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hfp8", "e3m4", "hif8"])
def test_units_of_own_formats_are_recovered(name: str, tmp_path: Path) -> None:
    """The file that is written has the formats, as the device names them."""
    unit = own(name)
    device = dut_of(unit)
    found = probe(device, 2000)
    assert verdict(found, device, unit.chain_over(device.shape.K)) in ("same", "alike")
    assert found.model is not None
    assert json.loads(text("probe", as_dict(found, [])))["keys"]["rho"] == str(unit.operation.structure.rho)
    (tmp_path / "found.toml").write_text(toml_of(found.model, "found"))
    again = load_unit(tmp_path / "found.toml")
    assert again.operation == found.model.operation
    assert {again.a, again.b, again.c} == {unit.a, unit.b, unit.c}


@pytest.mark.long
def test_sums_of_22_bits_are_recovered() -> None:
    """RNE-E8M13 is a mode of one published unit with the format of another."""
    unit = unit_from_table({
        "name": "u", "operation": "T-FDPA", "L": 4, "F": 16, "rho": "RNE-E8M13", "e_zero": -133, "a": "e4m3", "b": "e4m3",
        "c": "fp32",
    })  # fmt: skip
    device = dut_of(unit)
    assert verdict(probe(device, 2000), device, unit.chain_over(device.shape.K)) in ("same", "alike")


def test_every_mode_to_the_formats_of_a_word_is_tried() -> None:
    found = {name: values_of("rho", "T-FDPA", dut_of(own(name)).shape) for name in ("fp22-sums", "hfp8", "e3m4")}
    assert found["fp22-sums"] == found["e3m4"]
    assert {"RZ-E8M13", "RNE-E8M13", "RO-E8M13", "RNA-FP32"} <= {*found["e3m4"]}
    assert [str(rho) for rho in found["hfp8"]] == [f"{mode}-dlfloat16" for mode in ("RZ", "RNE", "RD", "RU", "RO", "RNA")]
    assert all(isinstance(rho, Conversion) for rho in found["hfp8"])
