"""The model of sm_120 beside a public report of an RTX 5090, which is not held here: 48 runs, 192 words.

`MMAU_RTX5090_REPORT` names the report's file, or a clone of its repository; else it is fetched from its public address.
"""

import json
import os
import re
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.golden.catalogue.rtx5090 import ADDRESS, COMMIT, DRIVER, REPORT, SEED, differing_words, drawn_runs

VARIABLE = "MMAU_RTX5090_REPORT"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """The report's file, by the variable or from its public address."""
    path = tmp_path / "report.json"
    given = os.environ.get(VARIABLE)
    if given is not None and not Path(given).is_dir():
        return Path(given)
    if given is not None:
        path.write_bytes(subprocess.run(["git", "-C", given, "show", f"{COMMIT}:{REPORT}"], stdout=-1, check=True).stdout)
        return path
    try:
        with urllib.request.urlopen(ADDRESS, timeout=10) as answer:
            path.write_bytes(answer.read())
    except OSError as error:
        pytest.skip(f"{ADDRESS} is not reached ({error}); {VARIABLE} may name the report's file or a clone")
    return path


@pytest.mark.peer
def test_model_returns_every_word_of_the_card(report: Path) -> None:
    counts = differing_words(report)
    assert len(counts) == 48
    assert not any(counts.values()), {name: count for name, count in counts.items() if count}


def as_the_model_computes(**provenance: str) -> dict[str, Any]:
    """A report in which the card gave what the model gives."""
    of_card = {"seed": f"0x{SEED:X}", "driver_version": DRIVER, "gpu": ["GPU 0: NVIDIA GeForce RTX 5090"]}
    cases = [
        {"name": name, "gpu": [f"0x{word:08X}" for word in instruction.dot(a, b, c).tolist()]}
        for name, instruction, a, b, c in drawn_runs()
    ]
    return {"provenance": of_card | provenance, "cases": cases}


def written(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(json.dumps(content))
    return path


def test_runs_are_48_of_eight_instructions_with_special_operands_and_results() -> None:
    runs = list(drawn_runs())
    assert len(runs) == 48
    assert len({run.instruction for run in runs}) == 8
    d = np.concatenate([run.instruction.dot(run.a, run.b, run.c) for run in runs])
    assert len(d) == 192
    assert {0x7FFFFFFF, 0x7F800000, 0xFF800000} <= set(d.tolist())
    assert np.count_nonzero((d & 0x7F800000) != 0x7F800000) > 40


@pytest.mark.attack("a report of silicon, changed")
def test_one_changed_bit_of_any_word_is_seen(tmp_path: Path) -> None:
    content = as_the_model_computes()
    assert not any(differing_words(written(tmp_path / "sound.json", content)).values())
    for case in content["cases"][::7]:
        sound = case["gpu"][2]
        case["gpu"][2] = f"0x{int(sound, 16) ^ 1:08X}"
        counts = differing_words(written(tmp_path / "changed.json", content))
        assert {name for name, count in counts.items() if count} == {case["name"]}
        case["gpu"][2] = sound


@pytest.mark.attack("a report of silicon, changed")
def test_report_without_a_run_and_another_report_are_refused(tmp_path: Path) -> None:
    content = as_the_model_computes()
    del content["cases"][5]
    path = written(tmp_path / "short.json", content)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} must hold four words of the card for \\w+$"):
        differing_words(path)
    path = written(tmp_path / "other.json", as_the_model_computes(driver_version="1.0"))
    message = f"{path} must be the report of an RTX 5090 with driver {DRIVER} and seed 0x{SEED:X}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        differing_words(path)
