"""PyTorch tensors as operands: by their bits, without a copy, and a tensor out."""

from typing import Any

import numpy as np
import pytest

import golden
from golden.arrays import from_tensor
from golden.stimulus import CLASSES, GeneratorDraws, OperandShape

pytestmark = pytest.mark.peer

HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")

INSTRUCTIONS = [
    HOPPER,
    golden.instruction("sm_90", "mma.m16n8k4.f64.f64.f64.f64"),
    golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f16"),
    golden.instruction("sm_80", "mma.m16n8k8.f32.bf16.bf16.f32"),
    golden.instruction("sm_80", "mma.m16n8k4.f32.tf32.tf32.f32"),
    golden.instruction("sm_90", "wgmma.m64n8k32.f32.e4m3.e5m2"),
    golden.instruction("gfx942", "v_mfma_f32_16x16x32_fp8_bf8"),
    golden.instruction("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0"),
]


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="PyTorch (extra `peer`) is not installed")


def as_tensor(torch: Any, codes: Any, dtype: str) -> Any:
    """Bit patterns as a tensor of that dtype."""
    return torch.from_numpy(codes.view(f"int{8 * codes.itemsize}")).view(getattr(torch, dtype))


def bits(tensor: Any) -> Any:
    """A tensor's bit patterns, by another way than golden's."""
    signed = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}[tensor.element_size()]
    return np.array(tensor.view(getattr(__import__("torch"), signed)).tolist()).astype(signed).view(f"u{signed}")


def operand_codes(instruction: golden.Instruction) -> list[Any]:
    """Rows of every class: a, b, c and the scales, if any."""
    shape = OperandShape.of(instruction)
    made = [make(shape, GeneratorDraws(np.random.default_rng(31)), 20, ()) for make in CLASSES.values()]
    return [np.concatenate(column) for column in zip(*made, strict=True) if column[0] is not None]


def reference(instruction: Any, codes: list[Any]) -> Any:
    return instruction.dot(*codes, engine="reference")


def operand_formats(instruction: golden.Instruction) -> list[golden.Format]:
    scales = [] if instruction.scale is None else [instruction.scale] * 2
    return [instruction.a, instruction.b, instruction.c, *scales]


@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda i: f"{i.arch}-{i.name}")
def test_float_tensors_are_taken_and_given_by_their_bits(torch: Any, instruction: golden.Instruction) -> None:
    codes = operand_codes(instruction)
    formats = operand_formats(instruction)
    tensors = [as_tensor(torch, column, str(operand.dtype)) for column, operand in zip(codes, formats, strict=True)]
    d = instruction.dot(*tensors)
    assert d.dtype is getattr(torch, str(instruction.d.dtype))
    assert (bits(d) == reference(instruction, codes)).all()


def test_integer_tensors_hold_codes(torch: Any) -> None:
    codes = operand_codes(HOPPER)
    dtypes = ("uint16", "uint16", "uint32")
    d = HOPPER.dot(*(as_tensor(torch, column, dtype) for column, dtype in zip(codes, dtypes, strict=True)))
    assert d.dtype is torch.uint32
    assert (bits(d) == reference(HOPPER, codes)).all()


def test_matrices(torch: Any) -> None:
    rng = np.random.default_rng(37)
    A, B = rng.standard_normal((16, 16)).astype(np.float16), rng.standard_normal((16, 8)).astype(np.float16)
    C = rng.standard_normal((16, 8)).astype(np.float32)
    expected = HOPPER(A, B, C, engine="reference").view(np.uint32)
    a, b, c = torch.from_numpy(A), torch.from_numpy(np.ascontiguousarray(B.T)).T, torch.from_numpy(C)
    assert not b.is_contiguous()
    for D in (HOPPER(a, b, c), golden.gemm(HOPPER, a, b, c), HOPPER(a, b, c.clone().requires_grad_())):
        assert isinstance(D, torch.Tensor)
        assert (bits(D) == expected).all()


def test_without_C_a_product_of_tensors_is_a_tensor(torch: Any) -> None:
    D = golden.gemm(HOPPER, torch.ones(3, 16, dtype=torch.float16), torch.ones(16, 2, dtype=torch.float16))
    assert D.dtype is torch.float32
    assert (D == 16).all()


def test_memory_is_shared(torch: Any) -> None:
    tensor = torch.arange(8, dtype=torch.float16)
    array = from_tensor(tensor)
    assert array.ctypes.data == tensor.data_ptr()
    assert array.dtype == np.float16


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dtype": "int16"}, "a must have dtype uint16 or float16 for fp16, got int16"),
        ({"dtype": "bfloat16"}, "a must have dtype uint16 or float16 for fp16, got bfloat16"),
        (
            {"device": "meta"},
            r"a tensor must be in CPU memory or on a GPU of NVIDIA or AMD, got one on meta; move it with \.cpu\(\)",
        ),
    ],
)
def test_other_tensors_are_refused(torch: Any, change: dict[str, str], message: str) -> None:
    made = {"dtype": "float16", "device": "cpu"} | change
    a = torch.zeros(1, 16, dtype=getattr(torch, made["dtype"]), device=made["device"])
    with pytest.raises(TypeError, match=f"^{message}$"):
        HOPPER.dot(a, np.zeros((1, 16), np.uint16), np.zeros(1, np.uint32))


def test_two_codes_of_e2m1_in_a_byte(torch: Any) -> None:
    """float4_e2m1fn_x2: the low half first, along K, for operands of e2m1 alone."""
    mxf4 = golden.instruction("B200", "tcgen05.m128n128k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0")
    rng = np.random.default_rng(5)
    A, B = rng.integers(0, 16, (16, 128), np.uint8), rng.integers(0, 16, (8, 128), np.uint8)
    scales = rng.integers(120, 130, (16, 4), np.uint8), rng.integers(120, 130, (4, 8), np.uint8)
    a, b = (torch.from_numpy(x[:, ::2] | x[:, 1::2] << 4).view(torch.float4_e2m1fn_x2) for x in (A, B))
    alpha, beta = (torch.from_numpy(x).view(torch.float8_e8m0fnu) for x in scales)
    assert (bits(golden.gemm(mxf4, a, b.t(), None, alpha, beta)) == golden.gemm(mxf4, A, B.T, None, *scales)).all()
    mixed = golden.instruction("B200", "tcgen05.m64n8k32.kind::f8f6f4.f32.e2m1.e5m2")
    for refused, *operands in ((mixed, a, b.t()), (HOPPER, a, b.t()), (mxf4, a[0], b.t(), None, alpha, beta)):
        with pytest.raises(TypeError, match=r"dtype that NumPy or ml_dtypes has, got torch\.float4_e2m1fn_x2$"):
            golden.gemm(refused, *operands)
    with pytest.raises(
        ValueError, match=r"^no recorded order is known of cublas on B200 for e2m1 by e2m1 and M x N x K = 16x8x128;"
    ):
        golden.gemm(a, b.t(), part="B200", used_by="cublas")
