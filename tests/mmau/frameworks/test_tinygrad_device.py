"""Everything that tinygrad's Python device computes: a part's tile, scalars, or what moves numbers; no other sums."""

import ast
import inspect
import re
from typing import Any

import pytest

pytestmark = pytest.mark.peer

pytest.importorskip("tinygrad", reason="tinygrad (extra `tinygrad`) is not installed")

from tinygrad.runtime import ops_python  # noqa: E402
from tinygrad.uop import ops  # noqa: E402

from mmau.frameworks import tinygrad_wmma  # noqa: E402

OURS = "generic_wmma_helper"
"""The function that `tinygrad_wmma.on` replaces."""

SCALARS = {
    "LOG2", "EXP2", "SQRT", "RECIPROCAL", "SIN", "POW", "TRUNC", "NEG", "ADD", "SUB", "MUL", "CMPNE", "CMPLT", "CMPEQ",
    "XOR", "OR", "AND", "SHR", "SHL", "MAX", "CMOD", "CDIV", "FLOORDIV", "FLOORMOD", "WHERE", "MULACC",
}  # fmt: skip
"""Operations on one number of each operand. MULACC is one multiply-add, as on a GPU without its matrix unit."""

STEPS = {
    "END", "IF", "ENDIF", "BARRIER", "SINK", "NOOP", "GROUP", "RANGE", "STORE", "AFTER", "BITCAST", "PARAM", "BUFFER",
    "SPECIAL", "CONST", "INDEX", "SHRINK", "STACK", "CAST", "LOAD", "CALL", "WMMA", "WHERE",
}  # fmt: skip
"""The steps of a program that the device names: control, addresses, memory, conversions, a call of a function, the tile."""

FUNCTIONS = {"_load", "load", "_store", OURS}
"""The device's own functions: memory, and the tile."""

ADDERS = {"sum", "fsum", "sumprod", "dot", "matmul", "einsum", "reduce", "tensordot", "inner", "accumulate"}
"""Names of functions that add many numbers."""


def adds(tree: ast.AST) -> bool:
    """Whether code adds many numbers: by a function of such a name, a matrix product, or in place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in ADDERS:
                return True
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.MatMult):
            return True
        if isinstance(node, ast.AugAssign) and not isinstance(node.value, ast.Constant):
            return True
    return False


def unknown(source: str, scalars: set[str]) -> list[str]:
    """Functions, steps and scalars of the device that are not listed here, and sums outside of the tile."""
    tree = ast.parse(source)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    of_programs = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "PythonProgram"]
    found = [f"the function {f.name}" for f in functions if f.name not in FUNCTIONS]
    found += [f"a sum in {f.name}" for f in functions if f.name != OURS and adds(f)]
    found += [f"a sum in {program.name}" for program in of_programs if adds(program)]
    steps = {name for node in of_programs for name in re.findall(r"\bOps\.(\w+)", ast.unparse(node))}
    return (
        found
        + [f"the step {name}" for name in sorted(steps - STEPS)]
        + [f"the scalar {n}" for n in sorted(scalars - SCALARS)]
    )


def scalars_of_device() -> set[str]:
    return {operation.name for operation in ops.python_alu}


SOURCE = inspect.getsource(ops_python)


def test_the_device_sums_products_in_the_tile_alone() -> None:
    assert unknown(SOURCE, scalars_of_device()) == []
    tile = next(node for node in ast.parse(SOURCE).body if getattr(node, "name", "") == OURS)
    assert adds(tile)  # what the search finds


def test_the_context_replaces_the_tile() -> None:
    own = getattr(ops_python, OURS)
    with tinygrad_wmma.on("sm_80", "bf16"):
        assert getattr(ops_python, OURS) is not own
    assert getattr(ops_python, OURS) is own


BRANCH = "        elif u.op is Ops.WMMA:\n"

NEW: dict[str, tuple[str, list[str]]] = {
    "a step": (
        SOURCE.replace(BRANCH, f"        elif u.op is Ops.MATVEC: values[u] = src_values[0]\n{BRANCH}"), ["the step MATVEC"],
    ),
    "a function": (f"{SOURCE}\ndef mfma(a, b): return a\n", ["the function mfma"]),
    "a sum": (
        SOURCE.replace("elif u.op is Ops.CONST: values[u] = [u.val]", "elif u.op is Ops.CONST: values[u] = [sum(u.val)]"),
        ["a sum in PythonProgram"],
    ),
}  # fmt: skip


@pytest.mark.attack("a later tinygrad whose Python device sums products elsewhere than in the tile that is replaced")
@pytest.mark.parametrize("kind", NEW)
def test_what_a_later_device_adds_is_found(kind: str) -> None:
    source, expected = NEW[kind]
    assert source != SOURCE
    assert unknown(source, scalars_of_device()) == expected


@pytest.mark.attack("a later tinygrad with an operation on numbers that sums products")
def test_a_new_operation_on_numbers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Made:
        name = "DOT4"

    operation: Any = Made()
    monkeypatch.setitem(ops.python_alu, operation, lambda *numbers: 0)
    assert unknown(SOURCE, scalars_of_device()) == ["the scalar DOT4"]
