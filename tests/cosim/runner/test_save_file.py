"""Requested waveforms: the save file names existing signals by step, and the waveform agrees with the results."""

import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import pywellen
from vcd.gtkw import decode_flags

import cosim
import golden
from cosim.bench.stimulus import specification_of
from cosim.build.sources import instance_ports
from cosim.runner.waves import STEPS, step_of
from golden import Implementation, Unit
from golden.arithmetic.formats import E4M3, E5M2, FP32
from golden.operations import TFDPA
from rtl import UnitDesign, to_verilog
from tests.rtl.random_units import random_unit

FP8 = TFDPA(a=E4M3, b=E5M2, c=FP32, L=3, F=13, rho="RZ-FP32", e_zero=-133)
CLOCKED = Unit(name="clocked", operation=FP8, implementation=Implementation(stages=3))
THIRD_PARTY = Path(__file__).parents[2] / "third_party"


def saved(save: Path) -> dict[str, list[tuple[str, str]]]:
    """The groups of a save file by name: path and format of each signal."""
    groups: dict[str, list[tuple[str, str]]] = {}
    open_groups: list[str] = []
    flags: list[str] = []
    for line in save.read_text().splitlines():
        if line.startswith("@"):
            flags = decode_flags(line)
        elif line.startswith("-") and "grp_begin" in flags:
            open_groups.append(line[1:])
            groups[line[1:]] = []
        elif line.startswith("-"):
            assert open_groups.pop() == line[1:]
        elif not line.startswith("["):
            (shown,) = set(flags) & {"hex", "bin", "signed"} if "signed" not in flags else {"signed"}
            groups[open_groups[-1]].append((line, shown))
    assert open_groups == []
    return groups


def widths(wave: Path) -> dict[str, int]:
    """The signals of a waveform, as Surfer's reader names them, with their widths (bits)."""
    return {name: variable.bitwidth for name, variable in read_back(wave).items()}


def read_back(wave: Path) -> dict[str, Any]:
    variables: Any = pywellen.Waveform(str(wave)).all_vars()
    return {variable.full_name.replace(".[", "["): variable for variable in variables}


def check_signals(save: Path, wave: Path) -> None:
    """Check that every signal of the save file is in the waveform with the same width."""
    there, named = widths(wave), [path for group in saved(save).values() for path, _ in group]
    assert named
    for path in named:
        name, left = re.sub(r"\[(\d+):0\]$", "", path), re.search(r"\[(\d+):0\]$", path)
        assert there.get(name) == (int(left[1]) + 1 if left else 1), path


def results_in(wave: Path) -> list[int]:
    """The values of d at the rising edges at which a result is taken."""
    variables = read_back(wave)
    clk, rst, valid, ready, d = (variables[f"unit.{name}"].signal for name in ("clk", "rst", "out_valid", "out_ready", "d"))
    before = [time - 1 for time, level in clk if level == 1]
    return [d.value_at(at) for at in before if (rst.value_at(at), valid.value_at(at), ready.value_at(at)) == (0, 1, 1)]


def expected(unit: Unit, count: int, seed: int) -> list[int]:
    chunks = specification_of(UnitDesign(unit)).chunks(count, seed)
    elements = [vector.elements[0] for chunk in chunks for vector in chunk.vectors]
    return [element.products.expected[element.row] for element in elements]


def in_order_of_the_port() -> list[int]:
    """The results of 60 vectors. Each of two resets drops three vectors, which are sent again behind a new one."""
    results = expected(CLOCKED, 60, 4)
    order = [*range(19), 22, 19, 20, 21, *range(23, 45), 48, 45, 46, 47, *range(49, 60)]
    return [results[number] for number in order]


@pytest.mark.long
@pytest.mark.simulator
def test_waves_of_a_generated_unit(tmp_path: Path) -> None:
    waves = tmp_path / "clocked.vcd"
    assert cosim.run(CLOCKED, vectors=60, seed=4, waves=waves).failures == ()
    groups = saved(tmp_path / "clocked.gtkw")
    assert list(groups) == [
        "control", "a", "b", "c", "d",
        "decode", "multiply", "max_exp", "align", "accumulate", "normalise", "round", "encode", "specials",
    ]  # fmt: skip
    assert ("unit.sum_max_exp.e_max[8:0]", "signed") in groups["max_exp"]
    assert ("unit.decode_x_0.code[7:0]", "hex") in groups["decode"]
    assert ("unit.sum_align_3.sign", "bin") in groups["align"]
    check_signals(tmp_path / "clocked.gtkw", waves)
    assert results_in(waves) == in_order_of_the_port()


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.needs("icarus")
def test_waves_of_icarus(tmp_path: Path) -> None:
    waves = tmp_path / "clocked.fst"
    assert cosim.run(CLOCKED, vectors=60, seed=4, waves=waves, simulator="icarus").failures == ()
    check_signals(tmp_path / "clocked.gtkw", waves)
    assert len(saved(tmp_path / "clocked.gtkw")) == 14
    assert results_in(waves) == in_order_of_the_port()


def check_foreign(waves: Path) -> None:
    """A waveform of a user design shows its ports and the operands element by element."""
    groups = saved(waves.with_suffix(".gtkw"))
    assert list(groups) == ["control", "a", "b", "c", "d", "ports of the design"]
    assert [path for path, _ in groups["a"]] == ["mmau_dut.a[31:0]", *(f"mmau_dut.a_{k}[7:0]" for k in range(4))]
    ports = [path for path, _ in groups["ports of the design"]]
    assert ports[:4] == ["mmau_dut.dut.clk", "mmau_dut.dut.reset", "mmau_dut.dut.en", "mmau_dut.dut.vec_a[0][7:0]"]
    assert ports[-2:] == ["mmau_dut.dut.acc[31:0]", "mmau_dut.dut.result[31:0]"]
    assert {shown for group in groups.values() for path, shown in group if "[" in path} == {"hex"}
    check_signals(waves.with_suffix(".gtkw"), waves)


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    waves = tmp_path_factory.mktemp("waves") / "arrays.vcd"
    folder = THIRD_PARTY / "arrays"
    dut = cosim.load_dut(folder / "dut.toml")
    assert cosim.run(golden.load_unit(folder / "unit.toml"), vectors=40, seed=4, dut=dut, waves=waves).failures == ()
    return waves


@pytest.mark.simulator
@pytest.mark.long
def test_waves_of_a_user_design(foreign: Path) -> None:
    check_foreign(foreign)


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.needs("gtkwave")
def test_gtkwave_shows_every_signal(foreign: Path, tmp_path: Path) -> None:
    script = tmp_path / "list.tcl"
    script.write_text(
        "for {set i 0} {$i < [gtkwave::getTotalNumTraces]} {incr i} {puts [gtkwave::getTraceNameFromIndex $i]}\n"
        "gtkwave::/File/Quit\n"
    )
    command = ["xvfb-run", "-a", "gtkwave", "-S", str(script), str(foreign.with_suffix(".gtkw"))]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout.splitlines()
    named = [path.split(".")[-1] for group in saved(foreign.with_suffix(".gtkw")).values() for path, _ in group]
    assert Counter(named) - Counter(shown) == Counter()


QUICK = ("T-FDPA", "GTR-FDPA")
EACH = [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in golden.OPERATIONS]


@pytest.mark.slow
@pytest.mark.parametrize("operation", EACH)
def test_every_component_of_a_datapath_belongs_to_a_step(operation: str) -> None:
    text = to_verilog(random_unit(operation, seed=1))
    instances = instance_ports(text)
    assert len(instances) > (2 if operation == "IDPA" else 5)
    assert [name for name in instances if step_of(name) is None] == []
    assert {step_of(name) for name in instances} <= set(STEPS)
    assert all(ports for ports in instances.values())
