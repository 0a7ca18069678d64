"""More ways to PyTorch's own kernels within the mode: quantised operators, backward passes of solvers, inference mode."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [
    pytest.mark.peer,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # PyTorch's quantisation goes to another package
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

torch: Any = pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")

from mmau.frameworks import torch_mode  # noqa: E402
from tests.mmau.frameworks.test_torch_leaks import ATTACK, REFUSED, SINGLE, X  # noqa: E402
from tests.mmau.frameworks.test_torch_mode import drawn, golden_mm, same  # noqa: E402

nn, quantized, aten = torch.nn, torch.ops.quantized, torch.ops.aten

Call = Callable[..., Any]


def quantised(scale: float = 0.125) -> Any:
    return torch.quantize_per_tensor(SINGLE, scale, 0, torch.quint8)


def packed() -> Any:
    return quantized.linear_prepack(torch.quantize_per_tensor(SINGLE, 0.125, 0, torch.qint8), None)


def dynamic(layer: Any, dtype: Any) -> Any:
    """A layer as `quantize_dynamic` makes it of one in fp32."""
    return torch.ao.quantization.quantize_dynamic(nn.Sequential(layer), {type(layer)}, dtype=dtype)


def bags(kind: str, weights: Any) -> Any:
    """Three rows of a quantised table in two bags, weighed if there are weights."""
    table = getattr(quantized, f"embedding_bag_{kind}_prepack")(torch.ones(8, 32))
    places, starts = torch.tensor([0, 1, 2]), torch.tensor([0, 2])
    return getattr(quantized, f"embedding_bag_{kind}_rowwise_offsets")(table, places, starts, False, 0, False, weights)


ONES, CODES, WIDE = torch.ones(3), torch.ones(8, 8, dtype=torch.int8), drawn(1, 8, 64)
SCALES = torch.ones(2, 64, 2, dtype=torch.bfloat16)
INT4_OF_CPU = torch.zeros(64, 32, dtype=torch.uint8)
INT4 = torch.zeros(8, 4, 32, 4, dtype=torch.int32)

QUANTISED: dict[str, tuple[str, Call, Call]] = {
    "dynamic layer": ("quantized.linear_dynamic", lambda: dynamic(nn.Linear(8, 8), torch.qint8), lambda q: q(SINGLE)),
    "dynamic layer in fp16": (
        "quantized.linear_dynamic_fp16", lambda: dynamic(nn.Linear(8, 8), torch.float16), lambda q: q(SINGLE),
    ),
    "dynamic LSTM": ("aten.quantized_lstm", lambda: dynamic(nn.LSTM(8, 8), torch.qint8), lambda q: q(SINGLE[None])),
    "dynamic GRU cell": (
        "quantized.quantized_gru_cell_dynamic", lambda: dynamic(nn.GRUCell(8, 8), torch.qint8), lambda q: q(SINGLE),
    ),
    "layer": ("quantized.linear.", packed, lambda q: quantized.linear(quantised(), q, 0.5, 0)),
    "layer with an activation": ("quantized.linear_relu", packed, lambda q: quantized.linear_relu(quantised(), q, 0.5, 0)),
    "product": ("quantized.matmul", quantised, lambda q: quantized.matmul(q, q, 0.5, 0)),
    "int8 weights": (
        "aten._weight_int8pack_mm", lambda: CODES, lambda w: torch._weight_int8pack_mm(X, w, torch.ones(8).bfloat16()),
    ),
    "int4 weights": ("aten._weight_int4pack_mm", lambda: INT4, lambda w: aten._weight_int4pack_mm(WIDE, w, 32, SCALES)),
    "int4 weights on CPUs": (
        "aten._weight_int4pack_mm_for_cpu", lambda: INT4_OF_CPU,
        lambda w: aten._weight_int4pack_mm_for_cpu(WIDE, w, 32, SCALES),
    ),
    "int4 weights, dynamic": (
        "aten._dyn_quant_matmul_4bit", lambda: torch.zeros(2048, dtype=torch.uint8),
        lambda w: aten._dyn_quant_matmul_4bit(WIDE.float(), w, 64, 64, 64),
    ),
    **{
        f"weighed bags of {kind}": (
            f"quantized.embedding_bag_{kind}_rowwise_offsets", lambda kind=kind: kind, lambda kind: bags(kind, ONES),
        )
        for kind in ("byte", "4bit", "2bit")
    },
}  # fmt: skip
"""How the name in the refusal begins, what is made before the mode is entered, and the call with it."""


@ATTACK
@pytest.mark.parametrize("name", QUANTISED)
def test_quantised_product_is_refused_by_name(name: str) -> None:
    named, make, call = QUANTISED[name]
    made = make()
    with torch_mode.on("sm_90") as mode, pytest.raises(ValueError, match=f"^{named}.*cannot be computed as on sm_90: "):
        call(made)
    assert mode.products == []


@pytest.mark.parametrize("kind", ["byte", "4bit", "2bit"])
def test_quantised_rows_that_are_only_added_pass(kind: str) -> None:
    expected = bags(kind, None)
    with torch_mode.on("sm_90"):
        assert torch.equal(bags(kind, None), expected)


def solved(kind: str, a: Any, b: Any) -> Any:
    match kind:
        case "matrix":
            return torch.linalg.solve(a, b)
        case "vector":
            return torch.linalg.solve(a, b[0])
        case "from the right":
            return torch.linalg.solve(a, b, left=False)
        case "triangular":
            return torch.linalg.solve_triangular(a, b, upper=True)
        case "inverse":
            return torch.linalg.inv(a)
        case _:
            return torch.linalg.slogdet(a)[1]


@ATTACK
@pytest.mark.parametrize("arch", ["sm_90", "gfx942"])  # gfx942 multiplies fp32, which a backward pass in fp32 would take
@pytest.mark.parametrize("kind", ["matrix", "vector", "from the right", "triangular", "determinant"])
def test_backward_pass_of_a_solver_is_refused_by_name(arch: str, kind: str) -> None:
    a, b = (SINGLE + 8 * torch.eye(8)).requires_grad_(), SINGLE.clone().requires_grad_()
    loss = solved(kind, a, b).sum()
    named = "linalg_solve_triangular" if kind == "triangular" else "linalg_lu_solve"
    with torch_mode.on(arch), pytest.raises(ValueError, match=rf"^aten\.{named}\.default cannot be computed as on {arch}: "):
        loss.backward()
    assert a.grad is None


def test_backward_pass_of_an_inverse_is_two_products_of_the_part() -> None:
    """Of a finished inverse: −A⁻ᵀ·G·A⁻ᵀ, which is no solver's."""
    a = (SINGLE + 8 * torch.eye(8)).requires_grad_()
    inverse = torch.linalg.inv(a)
    with torch_mode.on("gfx942") as mode:
        inverse.backward(SINGLE)
    assert mode.products == [(8, 8, 8)] * 2
    with torch_mode.on("gfx942"):
        product = inverse.mT @ (SINGLE @ inverse.mT), (inverse.mT @ SINGLE) @ inverse.mT
    assert any(torch.equal(a.grad, -x) for x in product)


@ATTACK
@pytest.mark.parametrize("name", [name for name in REFUSED if "sparse" not in name and "nested" not in name])
def test_is_refused_in_inference_mode(name: str) -> None:
    """There an operator that PyTorch makes of others arrives whole: under a name that may not say what it multiplies."""
    with (
        torch.inference_mode(),
        torch_mode.on("sm_90") as mode,
        pytest.raises(ValueError, match="cannot be computed as on sm_90"),
    ):
        REFUSED[name][1]()
    assert mode.products == []


@ATTACK
def test_covariance_is_goldens_in_inference_mode() -> None:
    """An operator of others whose product the part has."""
    x = drawn(4, 8, 8)
    with torch_mode.on("sm_90") as mode:
        expected = torch.cov(x)
    assert mode.products == [(8, 8, 8)]
    with torch.inference_mode(), torch_mode.on("sm_90") as mode:
        assert same(torch.cov(x), expected)
    assert mode.products == [(8, 8, 8)]
    centred = x - x.mean(1, keepdim=True)
    assert same(expected, golden_mm(centred, centred.t()) / 7)
