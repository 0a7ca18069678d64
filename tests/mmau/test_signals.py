"""Signals that end a run: status 128 + n, one line, nothing left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mmau.cli import main
from mmau.signals import ENDING, Ended, raised_as_ended

pytestmark = pytest.mark.usefixtures("default_signals")

EVAL = ["eval", "--arch", "sm_90", "--instr", "mma.m16n8k16.f32.f16.f16.f32", "--engine", "reference"]


def start(*argv: str, preexec: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "mmau", *argv]
    if preexec:
        command = ["bash", "-c", f'{preexec}; exec "$@"', "bash", *command]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_work(run: subprocess.Popen[str]) -> None:
    """Until the models are imported, however busy the machine; then a moment more, in which it begins."""
    until = time.monotonic() + 120
    while "multiarray" not in Path(f"/proc/{run.pid}/maps").read_text():
        assert run.poll() is None, "it should run for long"
        assert time.monotonic() < until, "it does not begin"
        time.sleep(0.02)
    time.sleep(0.5)
    assert run.poll() is None, "it should run for long"


@pytest.fixture
def long_run(tmp_path: Path) -> list[str]:
    """An evaluation of many seconds, in an otherwise empty folder."""
    zeros = np.zeros((400_000, 16), np.uint16)
    np.savez(tmp_path / "v.npz", a=zeros, b=zeros, c=np.zeros(len(zeros), np.uint32))
    return [*EVAL, "--input", str(tmp_path / "v.npz"), "--output", str(tmp_path / "d.npz")]


@pytest.mark.slow
@pytest.mark.parametrize("signum", ENDING, ids=lambda signum: signum.name)
def test_status_is_128_and_the_signal(signum: signal.Signals, long_run: list[str], tmp_path: Path) -> None:
    run = start(*long_run)
    wait_for_work(run)
    run.send_signal(signum)
    out, err = run.communicate(timeout=30)
    assert run.returncode == 128 + signum
    assert (out, err) == ("", f"mmau: ended by {signum.name}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["v.npz"]


@pytest.mark.slow
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM], ids=lambda signum: signum.name)
def test_within_the_first_tenth_of_a_second(signum: signal.Signals) -> None:
    """From the moment on in which mmau is imported; before it, Python itself is starting."""
    program = "import mmau.cli.main, os; os.write(1, b'!'); import sys; sys.exit(mmau.cli.main.main(['list']))"
    statuses = set()
    for delay in np.linspace(0.004, 0.1, 12):
        run = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert run.stdout is not None
        assert os.read(run.stdout.fileno(), 1) == b"!"
        time.sleep(delay)
        run.send_signal(signum)
        _, err = run.communicate(timeout=30)
        statuses.add(run.returncode)
        if run.returncode not in (0, -signum):  # on a busy machine it may come before the handlers stand
            assert (run.returncode, err) == (128 + signum, f"mmau: ended by {signum.name}\n".encode())
    assert 128 + signum in statuses


def test_nothing_heavy_is_imported_before_the_handlers_stand() -> None:
    heavy = {"argparse", "numpy", "golden", "mmau.cli.parser", "json"}
    program = f"import sys, mmau.cli.main; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_ignored_signals_stay_ignored(long_run: list[str]) -> None:
    """As under nohup."""
    run = start(*long_run, preexec="trap '' HUP")
    wait_for_work(run)
    run.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert run.poll() is None
    run.terminate()
    run.communicate(timeout=30)
    assert run.returncode == 128 + signal.SIGTERM


def test_repeated_signal_does_not_interrupt_the_clean_up() -> None:
    cleaned = False
    with raised_as_ended() as signals:
        signals.leaves_nothing = False
        try:
            with pytest.raises(Ended, match=r"^ended by SIGHUP$"):
                signal.raise_signal(signal.SIGHUP)
        finally:
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGTERM)
            cleaned = True
    assert cleaned


def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(signum) for signum in ENDING]
    assert main.main(["list", "--arch", "nothing"]) == 2
    assert [signal.getsignal(signum) for signum in ENDING] == before


DROPPED = """
import os, signal, sys, time
from mmau.cli import main
from mmau.signals import raised_as_ended

class Removed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)

def run(arguments):
    Removed()
    {then}
    return 0

main.import_module = lambda name: sys.modules["__main__"] if name == "here" else __import__(name, fromlist=["_"])
parsed = __import__("argparse").Namespace(command="list", module="here", function="run")
parser = __import__("mmau.cli.parser", fromlist=["_"])
parser.parser = lambda: type("P", (), {{"parse_args": lambda self, argv: parsed}})()
set_alarm = signal.setitimer

def set_slowly(which, seconds):
    signal.setitimer = set_alarm
    set_alarm(which, seconds)
    time.sleep({busy})

signal.setitimer = set_slowly
sys.exit(main.main([]))
"""


@pytest.mark.parametrize("busy", [0, 0.2], ids=["", "busy machine"])
@pytest.mark.parametrize("then", ["time.sleep(600)", "pass"], ids=["work goes on", "work is done"])
@pytest.mark.attack("signals that might be dropped")
def test_signal_while_an_object_is_removed_ends_the_run(then: str, busy: float) -> None:
    """Python drops an exception that is raised in `__del__`, such as those of Amaranth's components, and one that is raised
    while it tells of the first: on a busy machine the alarm may come that early."""
    program = DROPPED.format(then=then, busy=busy)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "mmau: ended by SIGTERM\n")


@pytest.mark.slow
def test_parts_of_an_unfinished_design_are_not_told() -> None:
    """A request that ends while its design is built leaves components that nothing uses."""
    code = (
        "import sys, mmau.cli.list_catalogue as command\n"
        "from amaranth.hdl import Elaboratable, UnusedElaboratable\n"
        "UnusedElaboratable._MustUse__silence = False  # as soon as a design is elaborated\n"
        "from mmau.cli import main\n"
        "class Part(Elaboratable):\n    pass\n"
        "def refused(arguments):\n    part = Part()\n    raise ValueError('the design is refused')\n"
        "command.run_list = refused\n"
        "sys.exit(main.main(['list']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (2, "mmau list: the design is refused\n")
