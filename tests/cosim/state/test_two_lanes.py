"""Designs with two results at once and an enable, of fixed latency and with valid signals, that are wrong in what they keep
or share: each is found, with any seed and in both modes."""

import re
from pathlib import Path

import pytest

from cosim import Dut, Request
from cosim.bench.scoreboard import Outcome
from cosim.dut.description import Reset
from cosim.runner.in_volume import run_in_volume
from cosim.runner.simulate import run_in_cocotb
from rtl import UnitDesign, as_design, to_verilog
from tests.cosim.runner.test_misbehaving import UNIT
from tests.volume import one_in

pytestmark = [pytest.mark.simulator, pytest.mark.slow]

SOURCE = Path(__file__).parent / "two_lanes.sv"

NUMBERED = SOURCE.read_text().partition("{")[2].partition("} bug_t;")[0]

FIXED, VALID = ("fixed-latency", "valid")

OF_BOTH, OF_VALID = (
    [name.strip() for name in re.sub(r"//.*", "", part).split(",") if name.strip()]
    for part in NUMBERED.split("// valid and reset, which a fixed latency does without")
)
"""The bugs by number; number 0 is none."""

CASES = [(bug, VALID) for bug in [*OF_BOTH[1:], *OF_VALID]] + [(bug, FIXED) for bug in OF_BOTH[1:]]


@pytest.fixture(scope="module")
def lanes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Dut]:
    """The design under each protocol, which is built once: a file beside it says which bug it has."""
    found = {}
    for number, protocol in enumerate((FIXED, VALID)):
        folder = tmp_path_factory.mktemp("two_lanes")
        core, source = folder / "core.v", folder / SOURCE.name
        core.write_text(to_verilog(as_design(UNIT), "core"))
        source.write_text(SOURCE.read_text().replace("BUG_FILE", str(folder / "bug.hex")))
        found[protocol] = Dut(
            top="two_lanes",
            sources=(core, source),
            parameters={"PROTOCOL": str(number)},
            protocol=protocol,
            latency=2 if protocol == FIXED else 0,
            tie={"in_valid": 0} if protocol == FIXED else {},
            clock="clk",
            enable="en",
            reset=Reset("rst_n", "low", asynchronous=True),
            results=2,
        )
    return found


def run_with(bug: str, dut: Dut, vectors: int, seed: int, mode: str) -> Outcome:
    folder = dut.sources[0].parent
    (folder / "bug.hex").write_text(f"{[*OF_BOTH, *OF_VALID].index(bug):x}\n")
    run = run_in_volume if mode == "volume" else run_in_cocotb
    return run(UnitDesign(UNIT), Request(vectors=vectors, seed=seed, dut=dut, mode=mode), folder).outcome


@pytest.mark.parametrize("protocol", [pytest.param(FIXED, marks=pytest.mark.long), VALID])
@pytest.mark.parametrize("mode", ["volume", pytest.param("cocotb", marks=pytest.mark.long)])
def test_sound_design_passes(mode: str, protocol: str, lanes: dict[str, Dut]) -> None:
    assert run_with("NONE", lanes[protocol], 3000, 0, mode).failures == ()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.campaign)])
@pytest.mark.parametrize(
    ("bug", "protocol"),
    [
        *one_in(4, [case for case in CASES if case[1] == VALID]),
        *(pytest.param(*case, marks=pytest.mark.campaign) for case in CASES if case[1] == FIXED),
    ],
)
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_bug_is_found_in_volume(bug: str, protocol: str, seed: int, lanes: dict[str, Dut]) -> None:
    assert not run_with(bug, lanes[protocol], 10_000, seed, "volume").passed


@pytest.mark.parametrize("mode", ["volume", pytest.param("cocotb", marks=pytest.mark.long)])
@pytest.mark.parametrize("bug", ["ENABLE_NEEDED_FOR_RESET", "ENABLE_ABOVE_RESET"])
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_reset_that_acts_at_one_level_of_the_enable_alone_is_found_in_a_short_run(
    bug: str, mode: str, lanes: dict[str, Dut]
) -> None:
    assert not run_with(bug, lanes[VALID], 500, 0, mode).passed


@pytest.mark.campaign
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("bug", "protocol"), CASES)
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_bug_is_found_in_cocotb(bug: str, protocol: str, seed: int, lanes: dict[str, Dut]) -> None:
    assert not run_with(bug, lanes[protocol], 5_000, seed, "cocotb").passed
