"""Every operation of Triton's interpreter: a part's dot product, one that no element of a result sums in, or listed."""

import os
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.peer

pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")
os.environ["TRITON_INTERPRET"] = "1"
pytest.importorskip("triton", reason="Triton (extra `triton`) is not installed")

from triton import language as tl  # noqa: E402
from triton.runtime import interpreter  # noqa: E402

from mmau.frameworks import triton_dot  # noqa: E402

OURS = {"create_dot", "create_dot_scaled"}
"""The operations that `triton_dot.on` replaces."""

MEMORY = ("load", "store", "atomic", "descriptor")
"""Parts of the names of operations that move numbers, which are not tried: they would read any address."""

LISTED = {
    "create_assume": "it computes nothing",
    "create_barrier": "it computes nothing",
    "create_print": "it computes nothing",
    "create_assert": "it computes nothing",
    "create_get_program_id": "a number of the grid",
    "create_get_num_programs": "a number of the grid",
    "create_make_range": "whole numbers in order",
    "create_histogram": "it counts",
    "create_clampf": "element by element, with a choice of NaN",
    "create_bitcast": "a conversion to a type",
    "create_int_to_ptr": "a conversion to a type",
    "create_ptr_to_int": "a conversion to a type",
    "create_si_to_fp": "a conversion to a type",
    "create_ui_to_fp": "a conversion to a type",
    "create_fp_to_si": "a conversion to a type",
    "create_fp_to_ui": "a conversion to a type",
    "create_fp_to_fp": "a conversion to a type",
    "create_fp_ext": "a conversion to a type",
    "create_fp_trunc": "a conversion to a type",
    "create_int_cast": "a conversion to a type",
    "create_reshape": "elements in another order",
    "create_trans": "elements in another order",
    "create_gather": "elements in another order",
    "create_broadcast": "elements repeated",
    "create_expand_dims": "elements in another order",
    "create_splat": "elements repeated",
    "create_unsplat": "one element",
    "create_addptr": "an address",
    "create_extern_elementwise": "the interpreter refuses it",
    "create_inline_asm": "the interpreter refuses it",
}
"""Operations that cannot be tried on one to three tensors of one shape, with what they are; none sums products."""

SHAPE = (3, 4)

Operands = tuple[np.ndarray[Any, Any], ...]


def operations() -> set[str]:
    """The names of everything that a kernel can ask of the interpreter."""
    return {name for name in dir(interpreter.InterpreterBuilder) if name.startswith("create_")}


def operands() -> Iterator[Operands]:
    """One to three tensors of floats, or of integers, and with a mask in front."""
    rng = np.random.default_rng(1)
    floats = tuple(rng.uniform(1, 2, SHAPE).astype(np.float32) for _ in range(3))
    integers = tuple(rng.integers(1, 9, SHAPE, np.int32) for _ in range(3))
    for kind, count in product((floats, integers), (1, 2, 3)):
        yield kind[:count]
    yield (integers[0] % 2 == 0, *floats[:2])


def answer(operation: Callable[..., Any], tensors: Operands) -> list[np.ndarray[Any, Any]] | None:
    """The results of an operation on tensors; None where it does not take them."""
    kinds = {"float32": tl.float32, "int32": tl.int32, "bool": tl.int1}
    try:
        made = operation(*(interpreter.TensorHandle(x.copy(), kinds[str(x.dtype)]) for x in tensors))
        return [np.asarray(d.data) for d in (made if isinstance(made, (list, tuple)) else [made])]
    except Exception:  # of many kinds: another number or type of operands
        return None


def is_tried(operation: Callable[..., Any]) -> bool:
    return any(answer(operation, tensors) is not None for tensors in operands())


def sums(operation: Callable[..., Any]) -> bool:
    """Whether an element of a result depends on two elements of one operand, as every element of a matrix product does."""
    for tensors in operands():
        before = answer(operation, tensors)
        if before is None:
            continue
        for place, x in enumerate(tensors):
            seen = [np.zeros(d.shape, int) for d in before]
            for element in np.ndindex(x.shape):
                changed = x.copy()
                changed[element] = not x[element] if x.dtype == bool else x[element] + 1
                after = answer(operation, (*tensors[:place], changed, *tensors[place + 1 :]))
                assert after is not None
                for count, d, old in zip(seen, after, before, strict=True):
                    count += d != old
            if any((count > 1).any() for count in seen):
                return True
    return False


def unknown() -> dict[str, str]:
    """The operations that are none of ours, sum, or are neither tried nor listed."""
    found: dict[str, str] = {}
    for name in operations() - OURS - set(LISTED):
        operation = getattr(interpreter.interpreter_builder, name)
        if any(word in name for word in MEMORY):
            continue
        if not is_tried(operation):
            found[name] = "not listed"
        elif sums(operation):
            found[name] = "sums"
    return found


def test_no_operation_of_the_interpreter_sums_products_but_ours() -> None:
    assert unknown() == {}
    assert operations() >= OURS


def test_the_context_replaces_the_operations_of_products() -> None:
    builder = interpreter.interpreter_builder
    with triton_dot.on("sm_90"):
        assert {name for name in operations() if name in vars(builder)} == OURS
    assert not OURS & set(vars(builder))


def handles_product(*handles: Any) -> Any:
    a, b = handles
    return interpreter.TensorHandle((a.data @ b.data.T).astype(np.float32), tl.float32)


@pytest.mark.attack("an operation of a later Triton that sums products, tried or not, and a known one that begins to")
@pytest.mark.parametrize(
    ("name", "found"), [("create_blend", "sums"), ("create_fmul", "sums"), ("create_mix", "not listed")]
)
def test_a_new_operation_that_sums_products_is_found(name: str, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_more_operands(self: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        return handles_product(a, b)

    made = with_more_operands if name == "create_mix" else lambda self, a, b: handles_product(a, b)
    monkeypatch.setattr(interpreter.InterpreterBuilder, name, made, raising=False)
    assert unknown() == {name: found}
