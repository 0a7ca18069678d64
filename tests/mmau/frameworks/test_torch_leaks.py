"""Ways in which a product could stay PyTorch's within the mode: each is golden's bit for bit, or refused by name."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytestmark = [
    pytest.mark.peer,
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning"),  # which PyTorch itself calls
]

torch: Any = pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")

from mmau.frameworks import torch_mode  # noqa: E402
from tests.mmau.frameworks.test_torch_mode import drawn, golden_mm, same  # noqa: E402

functional, nn = torch.nn.functional, torch.nn
ATTACK = pytest.mark.attack("a product that reaches PyTorch's own kernel within the mode")

Call = Callable[[], Any]


def sparse() -> Any:
    return torch.eye(8, dtype=torch.bfloat16).to_sparse()


def nested() -> Any:
    return torch.nested.nested_tensor([drawn(1, 4, 8), drawn(2, 6, 8)])


X = drawn(1, 8, 8)
SINGLE = X.float()

REFUSED: dict[str, tuple[str, Call]] = {
    "solve": ("aten._linalg_solve_ex", lambda: torch.linalg.solve(SINGLE, SINGLE)),
    "inverse": ("aten.linalg_inv_ex", lambda: torch.inverse(SINGLE)),
    "determinant": ("aten._linalg_det", lambda: torch.linalg.det(SINGLE)),
    "log of a determinant": ("aten._linalg_slogdet", lambda: torch.linalg.slogdet(SINGLE)),
    "singular values": ("aten._linalg_svd", lambda: torch.linalg.svd(SINGLE)),
    "norm by singular values": ("aten._linalg_svd", lambda: torch.linalg.matrix_norm(SINGLE, 2)),
    "eigenvalues": ("aten._linalg_eigh", lambda: torch.linalg.eigh(SINGLE)),
    "pseudoinverse": ("aten.linalg_pinv", lambda: torch.linalg.pinv(SINGLE)),
    "cholesky": ("aten.cholesky", lambda: torch.cholesky(torch.eye(4))),
    "solve by cholesky": ("aten.cholesky_solve", lambda: torch.cholesky_solve(SINGLE, torch.eye(8))),
    "inverse by cholesky": ("aten.cholesky_inverse", lambda: torch.cholesky_inverse(torch.eye(8))),
    "triangular solve": ("aten.triangular_solve", lambda: torch.triangular_solve(SINGLE, torch.eye(8))),
    "QR": ("aten.geqrf", lambda: torch.geqrf(SINGLE)),
    "product by reflectors": ("aten.ormqr", lambda: torch.ormqr(SINGLE, SINGLE[0], SINGLE)),
    "least squares": ("aten.linalg_lstsq", lambda: torch.linalg.lstsq(SINGLE, SINGLE)),
    "matrix exponential": ("aten.linalg_matrix_exp", lambda: torch.matrix_exp(SINGLE)),
    "affine grid": ("aten.affine_grid_generator", lambda: functional.affine_grid(torch.ones(1, 2, 3), [1, 1, 4, 4])),
    "dot": ("aten.dot", lambda: torch.dot(X[0], X[1])),
    "vdot": ("aten.vdot", lambda: torch.vdot(X[0], X[1])),
    "inner of vectors": ("aten.dot", lambda: torch.inner(X[0], X[1])),
    "addmv": ("aten.addmv", lambda: torch.addmv(X[0], X, X[1])),
    "addr": ("aten.addr", lambda: torch.addr(X, X[0], X[1])),
    "addr in place": ("aten.addr_", lambda: X.clone().addr_(X[0], X[1])),
    "addbmm": ("aten.addbmm", lambda: torch.addbmm(X, X[None], X[None])),
    "bilinear layer": ("aten._trilinear", lambda: nn.Bilinear(8, 8, 8, dtype=torch.bfloat16)(X, X)),
    "activation": ("aten._addmm_activation", lambda: torch._addmm_activation(X[0], X, X)),
    "convolution": ("aten.convolution", lambda: functional.conv1d(X[None], X[None])),
    "transposed convolution": ("aten.convolution", lambda: functional.conv_transpose2d(X[None, None], X[None, None])),
    "convolution over time": ("aten.conv_tbc", lambda: torch.conv_tbc(SINGLE[None], SINGLE[None], SINGLE[0])),
    "convolution of oneDNN": (
        "aten.mkldnn_convolution", lambda: torch.ops.aten.mkldnn_convolution(X[None], X[None], None, [0], [1], [1], 1),
    ),
    "convolution of an inductor": (
        "mkldnn._convolution_pointwise",
        lambda: torch.ops.mkldnn._convolution_pointwise(X[None], X[None], None, [0], [1], [1], 1, "none", [], ""),
    ),
    "linear layer of an inductor": (
        "mkldnn._linear_pointwise", lambda: torch.ops.mkldnn._linear_pointwise(X, X, None, "none", [], ""),
    ),
    "weighted bags": (
        "aten._embedding_bag",
        lambda: functional.embedding_bag(
            torch.zeros(1, 2, dtype=torch.int64), SINGLE, per_sample_weights=torch.ones(1, 2), mode="sum"
        ),
    ),
    "sparse mm": ("aten._sparse_", lambda: torch.sparse.mm(sparse(), X)),
    "sparse by dense": ("aten.mm.default of a sparse", lambda: torch.mm(sparse(), X)),
    "compressed rows": ("aten.", lambda: torch.mm(torch.eye(8).to_sparse_csr(), SINGLE)),
    "nested linear": ("aten.linear.default of a sparse, nested", lambda: functional.linear(nested(), X)),
    "nested product": ("aten.", lambda: torch.matmul(nested(), nested().transpose(1, 2))),
    "jagged linear": (
        "aten.", lambda: functional.linear(torch.nested.nested_tensor([X[:4], X[:6]], layout=torch.jagged), X)
    ),
    "tensor of oneDNN": ("aten.", lambda: functional.linear(SINGLE.to_mkldnn(), SINGLE)),
}  # fmt: skip
"""How the name in the refusal begins, and the call."""


@ATTACK
@pytest.mark.filterwarnings("ignore::UserWarning")  # of sparse and nested tensors, and of what PyTorch will drop
@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_by_name(name: str) -> None:
    named, call = REFUSED[name]
    with torch_mode.on("sm_90") as mode, pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        call()
    text = str(caught.value)
    assert text.startswith(named)
    assert text.endswith(
        " cannot be computed as on sm_90: write it with linear layers, matmul or scaled_dot_product_attention, or leave the "
        "context for it"
    )
    assert mode.products == []


Y, Z = drawn(2, 8, 8), drawn(3, 8, 8)


def product_of_three() -> Any:
    """X·(Y·Z) or (X·Y)·Z cost the same: the latter."""
    return golden_mm(golden_mm(X, Y), Z)


def biased(alpha: float = 1.0, beta: float = 1.0) -> Any:
    return golden_mm(X, Y, c=Z.float(), epilogue=("alpha-beta",), alpha=alpha, beta=beta)


COMPUTED: dict[str, tuple[Call, Call]] = {
    "tensordot": (lambda: torch.tensordot(X, Y, 1), lambda: golden_mm(X, Y)),
    "chain_matmul": (lambda: torch.linalg.multi_dot([X, Y, Z[:, :1]]), lambda: golden_mm(X, golden_mm(Y, Z[:, :1]))),
    "matrix_power": (lambda: torch.linalg.matrix_power(X, 3), lambda: golden_mm(golden_mm(X, X), X)),
    "einsum, transposed": (lambda: torch.einsum("jk,ij->ki", Y, X), lambda: golden_mm(Y.t(), X.t())),
    "einsum of three": (lambda: torch.einsum("ij,jk,kl->il", X, Y, Z), product_of_three),
    "inner": (lambda: torch.inner(X, Y), lambda: golden_mm(X, Y.t())),
    "in place": (lambda: Z.clone().addmm_(X, Y, alpha=0.5, beta=2), lambda: biased(0.5, 2)),
    "in place, batched": (lambda: Z[None].clone().baddbmm_(X[None], Y[None], beta=0)[0], lambda: biased(beta=0)),
    "into an empty tensor": (
        lambda: torch.mm(X, Y, out=torch.empty(0, dtype=torch.bfloat16)), lambda: golden_mm(X, Y),
    ),
    "into a tensor of another shape": (
        lambda: torch.addmm(Z, X, Y, out=torch.empty(0, dtype=torch.bfloat16)), lambda: biased(),
    ),
    "vmap": (lambda: torch.func.vmap(torch.mm, (0, None))(X[None], Y)[0], lambda: golden_mm(X, Y)),
    "vmap of rows": (lambda: torch.func.vmap(torch.mv, (None, 1), 1)(X, Y), lambda: golden_mm(X, Y)),
    "autocast": (lambda: autocast(lambda: SINGLE @ Y.float()), lambda: golden_mm(X, Y)),
    "forward derivative": (
        lambda: torch.func.jvp(lambda x: x @ Y, (X,), (Z,))[1], lambda: golden_mm(Z, Y),
    ),
    "gradient function": (
        lambda: torch.func.vjp(lambda x: x @ Y, X)[1](Z)[0], lambda: golden_mm(Z, Y.t()),
    ),
    "checkpoint": (
        lambda: torch.utils.checkpoint.checkpoint(torch.mm, X.clone().requires_grad_(), Y, use_reentrant=False).detach(),
        lambda: golden_mm(X, Y),
    ),
    "outer": (lambda: torch.outer(X[0], Y[0]), lambda: golden_mm(X[:1].t(), Y[:1])),
}  # fmt: skip
"""The call in the mode, and the same by golden."""


def autocast(call: Call) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return call()


@ATTACK
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", COMPUTED)
def test_is_goldens(name: str) -> None:
    call, expected = COMPUTED[name]
    with torch_mode.on("sm_90"):
        got = call()
    assert same(got, expected())


def test_result_of_another_dtype_is_refused() -> None:
    message = r"^aten\.mm\.out with out of torch\.float32 for a result of torch\.bfloat16 cannot be computed as on sm_90: "
    with torch_mode.on("sm_90"), pytest.raises(ValueError, match=message):
        torch.ops.aten.mm.out(X, Y, out=torch.empty(8, 8))


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_recurrent_layers_multiply_on_the_part_or_are_refused(kind: str, dtype: Any) -> None:
    """On PyTorch's CPU build some become linear layers, one with oneDNN's kernel: refused; fp32 is refused in any case."""
    layer = getattr(nn, kind)(8, 8, dtype=dtype)
    refusals: list[str] = []
    with torch_mode.on("sm_90") as mode:
        try:
            layer(X[:, None].to(dtype))
        except ValueError as refusal:
            refusals.append(str(refusal))
    assert all("sm_90" in text for text in refusals)
    assert refusals or (dtype == torch.bfloat16 and len(mode.products) >= 8)


@ATTACK
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_multihead_attention_multiplies_on_the_part(training: bool, need_weights: bool) -> None:
    layer = nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.bfloat16).train(training)
    x = X[None]
    with torch_mode.on("sm_90") as mode, torch.no_grad():
        layer(x, x, x, need_weights=need_weights)
    assert sorted(mode.products) == sorted([(8, 24, 8), *[(8, 8, 4)] * 2, *[(8, 4, 8)] * 2, (8, 8, 8)])


@contextmanager
def library(name: str) -> Iterator[Any]:
    """A library of operators with one that multiplies, under a name that does not say so."""
    made = torch.library.Library(name, "DEF")
    made.define("mix(Tensor a, Tensor b) -> Tensor")
    made.impl("mix", lambda a, b: torch.mm(a, b), "CPU")
    yield getattr(torch.ops, name).mix
    made._destroy()


@ATTACK
def test_operator_of_another_library_is_refused() -> None:
    with library("mixer") as mix, torch_mode.on("sm_90"), pytest.raises(ValueError, match=r"^mixer\.mix\.default cannot be"):
        mix(X, Y)


def test_own_operator_is_goldens_in_the_mode_too() -> None:
    from mmau.explore.network.operator import matmul
    from tests.mmau.explore.network.test_mapping import EXACT, whole

    a, b = whole(1, 3, 4), whole(2, 4, 2)
    expected = a @ b
    with torch_mode.on("sm_90"):
        assert torch.equal(matmul(a, b, EXACT), expected)


def row_by_column(a: Any, b: Any) -> Any:
    """A product that Inductor makes a loop of."""
    return a @ b


@ATTACK
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compiled_product_is_goldens_though_a_compiler_would_take_it_apart(backend: str) -> None:
    torch.compiler.reset()
    a, b = drawn(1, 1, 512), drawn(2, 512, 1)
    a[0, 0], a[0, -1], b[0], b[-1] = 2048, -2048, 2048, 2048  # a sum that loses other bits on the part than in fp32
    compiled = torch.compile(row_by_column, backend=backend)
    assert not same(compiled(a, b), golden_mm(a, b))  # compiled before the mode is entered
    with torch_mode.on("sm_90") as mode:
        assert same(compiled(a, b), golden_mm(a, b))
    assert mode.products == [(1, 1, 512)]


@ATTACK
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compiled_convolution_is_refused(backend: str) -> None:
    torch.compiler.reset()
    compiled = torch.compile(lambda x: functional.conv2d(x, torch.ones(1, 1, 2, 2)).relu(), backend=backend)
    with (
        torch_mode.on("sm_90"),
        pytest.raises(ValueError, match=r"^aten\.convolution\.default cannot be computed as on sm_90"),
    ):
        compiled(torch.ones(1, 1, 4, 4))


@ATTACK
@pytest.mark.filterwarnings("ignore::UserWarning")  # that it is slow
def test_flex_attention_is_refused_by_name() -> None:
    from torch.nn.attention.flex_attention import flex_attention

    q = drawn(1, 1, 1, 16, 16)
    for call in (flex_attention, torch.compile(flex_attention)):
        with torch_mode.on("sm_90"), pytest.raises(ValueError, match=r"^flex_attention cannot be computed as on sm_90: "):
            call(q, q, q)


def test_what_was_compiled_is_compiled_again_after_the_mode() -> None:
    torch.compiler.reset()
    frames: list[Any] = []

    def backend(graph: Any, _: Any) -> Any:
        frames.append(graph)
        return graph.forward

    compiled = torch.compile(row_by_column, backend=backend)
    with torch_mode.on("sm_90"):
        compiled(X, Y)
        assert torch._dynamo.eval_frame._stance.stance == "force_eager"  # on which versions rely that look for no modes
    assert frames == []
    compiled(X, Y)
    assert len(frames) == 1
