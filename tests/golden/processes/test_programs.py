"""Running programs: their output, limits, and the end of all their descendants for every cause."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from golden.processes import Child, Interrupted, ending, in_parallel, kill_marked, run_tool, supervised
from golden.processes.child import FIRST, LAST, MARK, _environment, marked
from golden.text import BYTES
from tests.golden.processes.running import alive, ended_soon, written

CHILD_IN_A_SESSION = """
import subprocess, sys, time
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
open(sys.argv[1], "w").write(f"{child.pid}\\n")
print("it goes on", flush=True)
time.sleep(600)
"""


def command(pids: Path) -> list[str]:
    """A program that hangs, and starts another one in a session of its own that holds its pipes."""
    return [sys.executable, "-c", CHILD_IN_A_SESSION, str(pids)]


def test_status_and_both_streams_come_back() -> None:
    done = run_tool(["sh", "-c", "cat; echo error >&2; exit 3"], input="text")
    assert (done.returncode, done.stdout, done.stderr) == (3, "text", "error\n")


@pytest.mark.attack("inputs without an end, or hostile text")
def test_bytes_that_are_no_text_are_replaced_or_kept() -> None:
    assert run_tool(["printf", "Gr\\366\\337e"]).stdout == "Gr\ufffd\ufffde"
    assert run_tool(["printf", "\\366"], errors=BYTES).stdout.encode(errors=BYTES) == b"\xf6"
    assert run_tool(["cat"], input="Gr\u00f6\u00dfe", env={**os.environ, "LC_ALL": "C"}).stdout == "Gr\u00f6\u00dfe"


def test_standard_input_is_empty_and_streams_go_where_they_are_sent(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        done = run_tool(["sh", "-c", "cat; echo out; echo error >&2"], stdout=log, stderr=subprocess.STDOUT)
    assert done.returncode == 0
    assert [done.stdout, done.stderr] == [None, None]
    assert (tmp_path / "log").read_text() == "out\nerror\n"


def test_more_input_than_a_pipe_holds_is_written_although_the_program_is_watched() -> None:
    text = "x" * (1 << 20)
    done = run_tool(["sh", "-c", "sleep 1.5; wc -c"], input=text, give_up=lambda: False)
    assert done.stdout.strip() == str(1 << 20)


def test_program_that_is_missing_is_an_error_of_the_system() -> None:
    with pytest.raises(FileNotFoundError):
        run_tool(["/no/such/program"])


def test_timeout_ends_a_program_with_what_it_started(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired, match=r"timed out after 1\.5 seconds$") as caught:
        run_tool(command(tmp_path / "pids"), timeout=1.5)
    assert 1.5 <= time.monotonic() - began < 30
    assert caught.value.output == "it goes on\n"
    assert not any(map(alive, written(tmp_path / "pids")))


def test_program_is_ended_where_it_is_given_up(tmp_path: Path) -> None:
    done = run_tool(command(tmp_path / "pids"), give_up=(tmp_path / "pids").exists)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "it goes on\n")
    assert not any(map(alive, written(tmp_path / "pids")))


def test_what_a_killed_program_started_is_ended_too(tmp_path: Path) -> None:
    """By somebody else: as where memory runs out."""
    script = 'sleep 600 > /dev/null 2>&1 & echo $! > "$1"; kill -KILL $$'
    assert run_tool(["sh", "-c", script, "sh", str(tmp_path / "pids")]).returncode == -signal.SIGKILL
    assert not any(map(alive, written(tmp_path / "pids")))


def test_results_are_in_the_order_of_the_functions() -> None:
    def told(number: int) -> Callable[[], str]:
        return lambda: run_tool(["sh", "-c", f"sleep 0.{3 - number}; echo {number}"]).stdout.strip()

    assert in_parallel([told(number) for number in range(3)], 3) == ["0", "1", "2"]


def test_error_ends_the_other_programs(tmp_path: Path) -> None:
    """The first error is raised once the others have ended; functions not yet started are not started."""
    told: list[str] = []

    def hang() -> None:
        try:
            run_tool(command(tmp_path / "pids"))
        except Interrupted as error:
            told.append(str(error))
            raise

    def fail() -> None:
        written(tmp_path / "pids")
        raise LookupError("no such unit")

    def start() -> None:
        run_tool(["touch", str(tmp_path / "started")])

    began = time.monotonic()
    with pytest.raises(LookupError, match=r"^no such unit$"):
        in_parallel([fail, hang, start], 2)
    assert time.monotonic() - began < 60
    assert told == [f"{sys.executable} was ended: interrupted"]
    assert not any(map(alive, written(tmp_path / "pids")))


INTERRUPTED = """
import sys, tempfile
from pathlib import Path
from golden.processes import in_parallel, run_tool, supervised

def hang():
    with tempfile.TemporaryDirectory(dir=sys.argv[1]) as folder:
        run_tool([sys.executable, "-c", sys.argv[3], sys.argv[2]], cwd=folder)

try:
    supervised(CALL)
except KeyboardInterrupt:
    sys.exit(5)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize("call", ["hang", "lambda: in_parallel([hang], 2)", "lambda: in_parallel([hang, hang, hang], 1)"])
def test_signal_leaves_neither_programs_nor_folders(call: str, tmp_path: Path) -> None:
    """A request within a request ends too, and starts nothing more."""
    pids, folder = tmp_path / "pids", tmp_path / "temporary"
    folder.mkdir()
    words = [sys.executable, "-c", INTERRUPTED.replace("CALL", call), str(folder), str(pids), CHILD_IN_A_SESSION]
    with subprocess.Popen(words, start_new_session=True) as running:
        children = written(pids)
        assert list(folder.iterdir())
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 5
    assert not any(map(alive, children))
    assert list(folder.iterdir()) == []


BOUND = """
import os, sys, time
from golden.processes import end_with_parent
end_with_parent(os.getppid())
open(sys.argv[1], "w").write(f"{os.getpid()}\\n")
time.sleep(600)
"""


def test_process_that_asks_for_it_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]])"
    with subprocess.Popen([sys.executable, "-c", script, BOUND, str(tmp_path / "pids")]) as parent:
        children = written(tmp_path / "pids")
        assert all(map(alive, children))
        parent.kill()
    assert ended_soon(children)


@pytest.mark.slow
def test_process_whose_parent_is_gone_already_ends_at_once() -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    script = f"from golden.processes import end_with_parent; end_with_parent({gone.pid}); print('on')"
    done = run_tool([sys.executable, "-c", script], env=os.environ)
    assert (done.returncode, done.stdout) == (1, "")


def test_supervised_calls_do_not_nest_threads() -> None:
    assert supervised(lambda: supervised(lambda: run_tool(["echo", "once"]).stdout)) == "once\n"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (2, "make exited with status 2"),
        (-11, "make was ended by SIGSEGV"),
        (-9, "make was ended by SIGKILL; is there too little memory?"),
        (-25, "make was ended by SIGXFSZ, for a file grew beyond the limit (ulimit -f)"),
        (-120, "make was ended by signal 120"),
    ],
)
def test_ending_in_words(status: int, words: str) -> None:
    assert ending("make", status) == words


@pytest.mark.parametrize(("length", "left_out"), [(100, 0), (FIRST + LAST, 0), (FIRST + LAST + 7, 7)])
def test_endless_messages_are_kept_within_bounds(length: int, left_out: int) -> None:
    program = f"import sys; sys.stderr.write('first' + '.' * ({length} - 9) + 'last'); print('out')"
    done = run_tool([sys.executable, "-c", program])
    assert (done.returncode, done.stdout) == (0, "out\n")
    assert done.stderr.startswith("first")
    assert done.stderr.endswith("last")
    assert done.stderr.count(".") == length - 9 - left_out
    assert ("[7 characters left out]" in done.stderr) == (left_out == 7)


def test_descendant_that_holds_the_messages_alone_ends_with_the_time(tmp_path: Path) -> None:
    program = f"sleep 600 >{tmp_path}/out & exit 0"
    began = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        run_tool(["sh", "-c", program], timeout=1)
    assert time.monotonic() - began < 60


def test_number_of_a_program_that_was_waited_for_is_not_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process, and its group, may have it by then; what the program started is found by its mark."""
    program = Child(["sh", "-c", "sleep 600 & echo $!"], stdout=subprocess.PIPE)
    assert program.process.stdout is not None
    with program.process.stdout as numbers:
        left = int(numbers.readline())
    program.process.wait()
    killed: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, signum: killed.append(group))
    program.kill()
    assert killed == []
    assert not alive(left)


def test_process_whose_program_is_just_being_replaced_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Between two programs a process has an empty environment: here the new one starts while it is looked at."""
    (tmp_path / "exe").symlink_to("sleep")
    (tmp_path / "environ").write_bytes(b"")
    stat = tmp_path / "stat"
    stat.write_text(f"7 (sleep) R {' '.join(['0'] * 49)}")

    def start(seconds: float) -> None:
        (tmp_path / "environ").write_bytes(b"A=1\0B=2")
        stat.write_text(f"7 (sleep) R {' '.join(['4096'] * 49)}")

    monkeypatch.setattr(time, "sleep", start)
    assert _environment(tmp_path) == [b"A=1", b"B=2"]
    (tmp_path / "environ").write_bytes(b"")  # no program ever gave it one
    assert _environment(tmp_path) == [b""]


def sleeping(mark: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["sleep", "600"], env=os.environ | {MARK: mark}, start_new_session=True)


def test_processes_with_the_mark_are_killed_and_no_others() -> None:
    mark = f"test-{os.getpid()}"
    mine, others = [sleeping(f"{mark}/1."), sleeping(f"{mark}/1.")], [sleeping(f"{mark}/10."), sleeping("another")]
    try:
        assert set(marked(f"{mark}/1.")) == {child.pid for child in mine}
        assert kill_marked(f"{mark}/1.") == 2
        assert [child.wait(timeout=10) for child in mine] == [-9, -9]
        assert [child.poll() for child in others] == [None, None]
    finally:
        for child in (*mine, *others):
            child.kill()
            child.wait()
    assert kill_marked(mark) == 0
