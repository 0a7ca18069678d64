"""Promises of a text to synthesis."""

from cosim.compile.complaints import promises


def test_promises_to_synthesis_are_found_outside_strings() -> None:
    text = 'unique  if (a) x = 1; unique0 if (b) x = 2; case (c) /*verilator full_case*/ (* parallel_case *) "unique if"'
    assert promises(text) == ["unique  if", "unique0 if", "full_case", "parallel_case"]
    assert promises("unique case (a) full_cases; if (unique_if) x = 1;") == []
