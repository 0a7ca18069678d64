"""Every signal is named by a statement of its own: Amaranth reads names from bytecode, and Pythons differ in theirs where
several names are assigned at once."""

import ast

import pytest

from mmau.jobs.provenance import ROOT, sources


def unnamed(text: str) -> list[int]:
    """Lines that assign a Signal without a name to one of several names."""
    return [
        value.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
        for value in node.value.elts
        if isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id == "Signal"
        and not any(keyword.arg == "name" for keyword in value.keywords)
    ]


def test_a_signal_that_python_may_call_otherwise_is_found() -> None:
    assert unnamed("x = Signal()\ny, z = Signal(), 1\na, b = Signal(name='a'), Signal(name='b')") == [2]


@pytest.mark.slow
def test_no_signal_is_assigned_beside_another() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): unnamed(path.read_text(encoding="utf-8")) for path in sources(("rtl/**/*.py",))
    }
    assert {name: lines for name, lines in found.items() if lines} == {}
