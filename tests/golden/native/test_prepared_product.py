"""An instruction's call with prepared buffers: the bits of the general path, for any arrays, threads and copies."""

import copy
import pickle
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import golden
from golden.engines.batched_dot import matrix_product
from golden.native import engine
from golden.native.library import library
from tests.golden.native.native_rows import needs_native

pytestmark = needs_native

NAMES = [
    ("sm_80", "mma.m16n8k16.f32.f16.f16.f32"),
    ("sm_80", "mma.m16n8k16.f16.f16.f16.f16"),
    ("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3"),
    ("sm_90", "mma.m16n8k32.f32.e4m3.e4m3.f32"),  # converts to fp16
    ("sm_80", "mma.m16n8k8.f32.tf32.tf32.f32"),
    ("sm_80", "mma.m16n8k16.s32.s8.s8.s32"),
    ("sm_80", "mma.m8n8k4.f64.f64.f64.f64"),
    ("gfx942", "v_mfma_f32_16x16x16_bf16"),
]


def operands(model: golden.Instruction, seed: int) -> tuple[Any, Any, Any]:
    """Any codes: infinities, NaN and subnormal numbers among them."""
    rng = np.random.default_rng(seed)

    def codes(operand: Any, shape: tuple[int, int]) -> Any:
        return rng.integers(0, operand.codes, shape, np.uint64, endpoint=False).astype(f"uint{operand.storage_bits}")

    m, n, k = model.m, model.n, model.k
    return codes(model.a, (m, k)), codes(model.b, (k, n)), codes(model.c, (m, n))


def general(model: Any, a: Any, b: Any, c: Any) -> Any:
    return matrix_product(model, (model.m, model.n, model.k), (a, b, c, None, None), None)


def kinds(codes: Any, operand: Any) -> list[Any]:
    """The same codes in arrays of every kind."""
    floats = golden.arrays.float_dtype(operand)
    wide = np.repeat(codes, 2, 1)[:, ::2]
    fixed = codes.copy()
    fixed.flags.writeable = False
    return [codes, np.asfortranarray(codes), wide, fixed, *([] if floats is None else [codes.view(floats)])]


def same(x: Any, y: Any) -> bool:
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


@pytest.mark.parametrize(("arch", "name"), NAMES)
def test_call_has_the_bits_of_the_general_path(arch: str, name: str) -> None:
    model = golden.instruction(arch, name)
    assert model._prepared is not None
    for seed in range(20):
        a, b, c = operands(model, seed)
        assert same(model(a, b, c), general(model, a, b, c))
    for x, y, z in zip(kinds(a, model.a), kinds(b, model.b), kinds(c, model.c), strict=False):
        assert same(model(x, y, z), general(model, x, y, z))


def test_results_are_the_callers_own() -> None:
    model = golden.instruction(*NAMES[0])
    first, second = operands(model, 1), operands(model, 2)
    d = model(*first)
    kept = d.copy()
    model(*second)
    assert same(d, kept)
    d[:] = 0
    assert same(model(*first), kept)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@pytest.mark.attack("buffers that two products share")
def test_copy_of_an_instruction_computes_by_itself(copied: Any) -> None:
    """An address in a pickle would be another process's."""
    model = golden.instruction(*NAMES[0])
    x = operands(model, 1)
    d, other = model(*x), copied(model)
    assert same(other(*x), d)
    mine, others = model._prepared, other._prepared
    assert mine is not None
    assert copied is copy.copy or not {id(b) for b in others._free} & {id(b) for b in mine._free}
    assert b"batch" not in pickle.dumps(model)


@pytest.mark.attack("buffers that two products share")
def test_call_within_a_call_has_other_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another thread calls while the library computes, which runs without the interpreter's lock."""
    model = golden.instruction(*NAMES[0])
    first, second = operands(model, 1), operands(model, 2)
    expected = model(*first), model(*second)
    lib = library()
    inner: list[Any] = []

    def interrupted(*arguments: Any) -> Any:
        if not inner:
            inner.append(None)
            inner[0] = model(*second)
        return lib.mmau_dot_batch(*arguments)  # type: ignore[union-attr]  # the tests here need it

    monkeypatch.setattr(engine, "library", lambda: SimpleNamespace(mmau_dot_batch=interrupted))
    assert same(model(*first), expected[0])
    assert same(inner[0], expected[1])


def test_what_is_not_prepared_takes_the_general_path() -> None:
    models = golden.instructions("sm_120")
    scaled = next(model for model in models if model.scale is not None)
    narrow = next(model for model in models if model.scale is None and model.a.width < 8)
    assert scaled._prepared is None
    assert narrow._prepared is None
    a, b = np.full((narrow.m, narrow.k), 255, np.uint8), np.zeros((narrow.k, narrow.n), np.uint8)
    with pytest.raises(ValueError, match=r"^A: .* codes are 0 …"):
        narrow(a, b, np.zeros((narrow.m, narrow.n), golden.arrays.bits_dtype(narrow.c)))


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"A": np.zeros((16, 8), np.float16)}, ValueError, r"^A must have shape \(16, 16\)"),
        ({"B": np.zeros((8, 16), np.float16)}, ValueError, r"^B must have shape \(16, 8\)"),
        ({"C": np.zeros((16, 8), np.float16)}, TypeError, "^C must have dtype uint32 or float32 for fp32, got float16"),
        ({"A": np.zeros((16, 16), ">f2")}, TypeError, "^A must have dtype uint16 or float16 for fp16, got >f2"),
        ({"B": np.zeros((16, 8), ml_dtypes.bfloat16)}, TypeError, "^B must have dtype uint16 or float16 for fp16"),
        ({"A": np.ma.zeros((16, 16), np.float16)}, TypeError, "^A must be an array without a mask"),
        ({"scale_a": np.zeros((16, 1), np.uint8)}, ValueError, "^scale_a must be absent"),
        ({"engine": "fast"}, ValueError, "^engine must be"),
    ],
)
def test_refusals_are_those_of_the_general_path(change: dict[str, Any], error: type[Exception], text: str) -> None:
    good: dict[str, Any] = {
        "A": np.zeros((16, 16), np.float16),
        "B": np.zeros((16, 8), np.float16),
        "C": np.zeros((16, 8), np.float32),
    }
    with pytest.raises(error, match=text):
        golden.instruction(*NAMES[0])(**(good | change))
