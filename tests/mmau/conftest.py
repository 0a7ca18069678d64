"""Commands that run beside a test."""

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.mmau.started import Started
from tests.mmau.units import TINY


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Started]]:
    mark, temporary = f"MARK={uuid.uuid4()}", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv(*mark.split("="))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # nothing is compiled yet
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(TINY)
    started: list[Started] = []

    def run(*argv: str) -> Started:
        command = [sys.executable, "-m", "mmau", *argv]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        started.append(Started(process, mark, temporary))
        return started[-1]

    yield run
    for one in started:  # where a test has failed, the command has not ended what it started
        for number in one.by_number():
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        one.process.communicate()
