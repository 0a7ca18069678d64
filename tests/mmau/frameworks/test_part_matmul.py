"""The operator of a part's product: the bits of the mode, gradients too, compiled, on a GPU's stand-in; PyTorch's checks."""

from typing import Any

import pytest

pytestmark = pytest.mark.peer

pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")

from mmau.frameworks import part_matmul, torch_mode  # noqa: E402
from mmau.frameworks.part_matmul import matmul  # noqa: E402
from mmau.frameworks.pytorch import torch  # noqa: E402
from tests.mmau.frameworks.stand_in_gpu import OnGpu, install, same  # noqa: E402


def drawn(seed: int, *shape: int, dtype: Any = torch.bfloat16) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


SHAPES = [((5, 40), (40, 6)), ((2, 3, 40), (40, 6)), ((2, 3, 40), (2, 40, 6)), ((2, 1, 3, 40), (4, 40, 6))]


@pytest.mark.parametrize(("of_a", "of_b"), SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_results_and_gradients_are_those_of_the_mode(of_a: Any, of_b: Any, dtype: Any) -> None:
    found = []
    for by_operator in (True, False):
        a, b = (drawn(seed, *shape, dtype=dtype).requires_grad_() for seed, shape in ((1, of_a), (2, of_b)))
        with torch_mode.on("sm_90") as mode:
            d = torch.matmul(a, b) if not by_operator else None
        if d is None:
            d = matmul(a, b, "sm_90")
            d.backward(drawn(3, *d.shape, dtype=dtype))
        else:
            with mode:
                d.backward(drawn(3, *d.shape, dtype=dtype))
        found.append((d, a.grad, b.grad))
    assert all(torch.equal(x, y) for x, y in zip(*found, strict=True))


def test_it_is_not_pytorchs_product() -> None:
    """On operands that tell: the part cuts what PyTorch rounds."""
    a, b = drawn(4, 64, 512), drawn(5, 512, 64)
    assert not torch.equal(matmul(a, b, "sm_90"), a @ b)


def test_tensors_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    launched = install(monkeypatch)
    monkeypatch.setitem(OnGpu.kernels, torch.ops.mmau.part_matmul.default, part_matmul._product)
    a, b = drawn(1, 2, 3, 40), drawn(2, 2, 40, 6)
    assert same(matmul(OnGpu(a), OnGpu(b), "sm_90"), matmul(a, b, "sm_90"))
    assert launched.count("matrix_product") == 2


@pytest.mark.parametrize("needs_grad", [False, True])
def test_operator_passes_torchs_own_checks(needs_grad: bool) -> None:
    """Schema, autograd registration, the result without data, and ahead-of-time compilation with unknown shapes."""
    arguments = *(drawn(s, *of).requires_grad_(needs_grad) for s, of in ((1, (2, 3, 16)), (2, (2, 16, 4)))), "sm_90"
    found = torch.library.opcheck(torch.ops.mmau.part_matmul.default, arguments)
    assert set(found.values()) == {"SUCCESS"}


def test_it_runs_within_a_compiled_function() -> None:
    """Without a break of the graph; the compiler's own back end, which writes C++, is not asked."""
    a, b = drawn(1, 5, 40), drawn(2, 40, 6)
    compiled = torch.compile(lambda x, y: matmul(x, y, "sm_90").relu(), fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(a, b), matmul(a, b, "sm_90").relu())


def test_what_a_part_does_not_multiply_is_refused() -> None:
    a = drawn(1, 4, 16, dtype=torch.float32)
    with pytest.raises(ValueError, match=r"^sm_90 has no instruction that multiplies fp32 by fp32 into fp32; "):
        matmul(a, a.mT, "sm_90")
    with pytest.raises(
        ValueError, match=r"^a must be \[\.\.\., M, K\] and b \[\.\.\., K, N\] with one K, got \(4, 16\) and "
    ):
        matmul(a, a, "sm_90")
