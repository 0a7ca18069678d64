"""Commands that run beside a test."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mmau.cli import json_objects
from tests.mmau.cli.schemas import check_object
from tests.mmau.cli.started import Started
from tests.mmau.cli.unit_texts import TINY


@pytest.fixture(autouse=True)
def _objects_have_their_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every object that a command prints in this process has exactly the keys that its schema describes."""
    text = json_objects.text

    def checked(name: str, found: Mapping[str, Any]) -> str:
        line = text(name, found)
        check_object(json.loads(line))
        return line

    monkeypatch.setattr(json_objects, "text", checked)


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
