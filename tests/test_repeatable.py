"""Generated inputs depend on the test alone: not on the modules that other tests have loaded."""

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def drawn() -> list[tuple[int, float]]:
    """The examples of one test, in their order."""
    examples: list[tuple[int, float]] = []

    @settings(max_examples=300)
    @given(st.integers(0, 10**6), st.floats(0, 1e6))
    def test(number: int, real: float) -> None:
        examples.append((number, real))

    test()
    return examples


def test_a_module_that_was_loaded_changes_no_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn()
    path = tmp_path / "module_of_numbers.py"
    path.write_text("NUMBERS = 654321, 54321.125, 123456\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    monkeypatch.setitem(sys.modules, path.stem, importlib.util.module_from_spec(spec))
    assert len(before) == 300
    assert drawn() == before
