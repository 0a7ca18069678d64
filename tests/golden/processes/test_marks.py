"""Marks: marked processes in any session are found and killed, and no others."""

import os
import subprocess

from golden.processes.marks import MARK, kill_marked, marked


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
