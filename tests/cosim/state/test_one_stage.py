"""Designs that are wrong in what they keep, count or wait for: each is found, with any seed and in both modes."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import cosim
from cosim import Compare, Dut, Request
from cosim.bench.scoreboard import Outcome
from cosim.runner.in_volume import run_in_volume
from cosim.runner.simulate import run_in_cocotb
from rtl import UnitDesign, as_design, to_verilog
from tests.cosim.runner.test_misbehaving import CLOCKED, UNIT
from tests.volume import one_in

pytestmark = [pytest.mark.simulator, pytest.mark.slow]

SOURCE = Path(__file__).parent / "one_stage.sv"

NUMBERED = re.sub(r"//.*", "", SOURCE.read_text().partition("{")[2].partition("} bug_t;")[0])

BUGS = [name.strip() for name in NUMBERED.split(",")]
"""The faults by number; number 0 is none."""

LATE = ("AFTER_MANY_CYCLES", "AFTER_MANY_VECTORS", "AFTER_MANY_VECTORS_WITHOUT_RESET", "SAME_WEIGHTS_FOR_VERY_LONG")
"""Bugs that show after more cycles, or more of the same weights, than only volume mode simulates."""

FURTHER = BUGS[BUGS.index("SURPLUS_AFTER_A_LONG_GAP") : BUGS.index("INFINITIES_BACK_TO_BACK")]
"""Bugs whose runs in cocotb only `make attack` makes."""

KNOWN = ("ONE_PAIR_OF_OPERANDS", "AFTER_A_GAP_OF_ONE_LENGTH")
"""Bugs that a run meets by chance alone, as the guide says; the report says how many inputs there are, and names the
comparison and the counter (tests/cosim/lint/test_yosys_findings.py)."""

LONG = (
    "AFTER_THOUSANDS_WITHOUT_PAUSE", "FROM_ZEROS", "C_ISOLATED_AFTER_A_GAP", "SAME_WEIGHTS_FOR_LONG",
    "SUBNORMALS_BACK_TO_BACK",
)  # fmt: skip
"""The bugs of a stream that goes on for longer than runs of 5,000 vectors do, of a power-up that these do not have, and of
operands after a pause, of a long run of the same ones and of two results in a row that they have once or never."""

WAITS = BUGS[BUGS.index("C_AFTER_A_GAP_OF_FORTY") : BUGS.index("AFTER_THOUSANDS_WITHOUT_PAUSE")]
"""Bugs that show after a wait of one length, for results of one class."""

COCOTB = [bug for bug in BUGS if bug not in ("NONE", *LONG, *LATE, *KNOWN, *WAITS)]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Dut:
    """The design, which is built once: a file beside it says which bug it has."""
    folder = tmp_path_factory.mktemp("one_stage")
    core, source = folder / "core.v", folder / SOURCE.name
    core.write_text(to_verilog(as_design(UNIT), "core"))
    source.write_text(SOURCE.read_text().replace("BUG_FILE", str(folder / "bug.hex")))
    return cosim.dut_like(UnitDesign(CLOCKED), (core, source), "one_stage")


def run_with(bug: str, stage: Dut, vectors: int, seed: int, mode: str) -> Outcome:
    (stage.sources[0].parent / "bug.hex").write_text(f"{BUGS.index(bug):x}\n")
    dut = replace(stage, compare=Compare(nan="any")) if bug == "WAITING_NAN_TOGGLES" else stage
    request = Request(vectors=vectors, seed=seed, dut=dut, mode=mode)
    run = run_in_volume if mode == "volume" else run_in_cocotb
    return run(UnitDesign(CLOCKED), request, stage.sources[0].parent).outcome


@pytest.mark.parametrize("mode", ["volume", pytest.param("cocotb", marks=pytest.mark.long)])
def test_sound_design_passes(mode: str, stage: Dut) -> None:
    assert run_with("NONE", stage, 3000, 0, mode).failures == ()


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("bug", one_in(4, COCOTB))
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_bug_is_found_in_volume(bug: str, seed: int, stage: Dut) -> None:
    assert not run_with(bug, stage, 20_000, seed, "volume").passed


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.long), pytest.param(1, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("bug", [pytest.param(bug, marks=pytest.mark.campaign if bug in FURTHER else ()) for bug in COCOTB])
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_bug_is_found_in_cocotb(bug: str, seed: int, stage: Dut) -> None:
    assert not run_with(bug, stage, 5_000, seed, "cocotb").passed


@pytest.mark.long
@pytest.mark.parametrize("bug", LATE)
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_bug_is_found_in_a_long_run(bug: str, stage: Dut) -> None:
    assert not run_with(bug, stage, 2_000_000, 0, "volume").passed


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("mode", ["volume", pytest.param("cocotb", marks=pytest.mark.long)])
@pytest.mark.parametrize("bug", LONG)
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_bug_is_found_in_a_run_of_20_000_vectors(bug: str, mode: str, seed: int, stage: Dut) -> None:
    assert not run_with(bug, stage, 20_000, seed, mode).passed


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))])
@pytest.mark.parametrize("bug", WAITS)
@pytest.mark.attack("state and handshake of designs, in cosim")
def test_bug_of_one_length_and_one_class_is_found_with_every_seed(bug: str, seed: int, stage: Dut) -> None:
    assert run_with(bug, stage, 20_000, seed, "volume").mismatches > 0


@pytest.mark.parametrize("bug", KNOWN)
@pytest.mark.attack("state and handshake of designs, in cosim")
@pytest.mark.xfail(reason="vectors meet it by chance alone; mmau prove --dut considers every input and sequence")
def test_bug_that_a_proof_is_for_is_found_in_volume(bug: str, stage: Dut) -> None:
    assert not run_with(bug, stage, 20_000, 0, "volume").passed


def test_report_names_the_broken_rule(stage: Dut) -> None:
    failures = {bug: run_with(bug, stage, 300, 0, "volume").failures[0] for bug in ("VALID_IN_RESET", "VALID_WAITS")}
    assert failures == {
        "VALID_IN_RESET": "out_valid was high during a reset",
        "VALID_WAITS": "no result for 1000 cycles although vectors are inside: out_valid stayed low as long as out_ready, "
        "for which it must not wait",
    }
