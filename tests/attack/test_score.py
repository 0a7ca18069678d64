"""The score of the attack counts what passed, and a run in which anything passed fails."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mmau.jobs.provenance import ROOT
from tests.attack.score import UNKNOWN, Attack, score


def test_what_is_not_caught_is_counted_and_named() -> None:
    lines = score([
        Attack("a", "caught", "designs", "refuted"), Attack("b", "caught", "designs"), Attack("c", "passed", "designs"),
        Attack("d", "not tried", "designs", reason="no tool"), Attack("e", "passed"),
        Attack("f", "caught", "faults", "no effect"), Attack("g", "known", "faults", reason="one of 2^64"),
    ])  # fmt: skip
    assert lines == [
        "designs: 3 attempted, 1 not tried, 1 passed; caught: refuted 1, its check 1",
        "faults: 1 attempted, 1 without effect, 0 passed and 1 for a known reason; caught: no effect 1",
        f"{UNKNOWN}: 1 attempted, 1 passed; caught: none",
        "attack: 5 attempted, 1 not tried, 1 without effect, 2 passed and 1 for a known reason; caught: 2",
        "NOT TRIED: d: no tool",
        "PASSED, as is known: g: one of 2^64",
        "PASSED: c",
        "PASSED: e",
    ]


def test_nothing_attempted_is_said() -> None:
    assert score([]) == ["attack: 0 attempted, 0 passed; caught: 0"]


TESTS = {
    "caught": "def test_it(record_property): record_property('caught', 'a solver')",
    "passed": "def test_it(): assert False",
    "error": "@pytest.fixture\ndef broken(): raise ValueError\n{mark}\ndef test_it(broken): pass",
    "skipped": "def test_it(): pytest.skip('no tool')",
    "crashed": "def test_it(): os.abort()",
    "known": "@pytest.mark.xfail(reason='one of 2^64')\ndef test_it(): assert False",
    "known and caught": "@pytest.mark.xfail(reason='one of 2^64')\ndef test_it(): pass",
}
"""Attacks, each a file of its own."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "status", "line"),
    [
        (["caught", "known", "skipped"], 0, "2 attempted, 1 not tried, 0 passed and 1 for a known reason; caught: 1"),
        (["caught", "passed", "error", "crashed", "known and caught"], 1, "5 attempted, 4 passed; caught: 1"),
        (["skipped"], 1, "0 attempted, 1 not tried, 0 passed; caught: 0"),
    ],
    ids=["none passes", "some pass", "none is tried"],
)
def test_run_fails_where_an_attack_passes_or_none_is_tried(names: list[str], status: int, line: str, tmp_path: Path) -> None:
    for number, name in enumerate(names):
        mark = "@pytest.mark.attack('things')"
        body = TESTS[name].format(mark=mark) if "{mark}" in TESTS[name] else f"{mark}\n{TESTS[name]}"
        (tmp_path / f"test_{number}.py").write_text(f"import os\nimport pytest\n{body}\n")
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), "-n", "1"]
    options = ["-p", "tests.attack.score", "-p", "no:cacheprovider", "-m", "attack", str(tmp_path)]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=False)
    assert f"attack: {line}" in done.stdout.splitlines(), done.stdout
    assert bool(done.returncode) == bool(status)
    named = re.findall(r"^(NOT TRIED|PASSED, as is known|PASSED): test_\d\.py::test_it", done.stdout, re.MULTILINE)
    said = {"skipped": "NOT TRIED", "known": "PASSED, as is known"}
    assert sorted(named) == sorted(said.get(name, "PASSED") for name in names if name != "caught")
