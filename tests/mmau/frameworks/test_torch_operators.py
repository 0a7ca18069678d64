"""Every operator of the installed PyTorch that sums products of two tensors: the part's in the mode, refused, or listed."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

pytestmark = [pytest.mark.peer, pytest.mark.slow]

torch: Any = pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")

from mmau.frameworks import torch_mode  # noqa: E402
from tests.mmau.frameworks import operator_sweep  # noqa: E402
from tests.mmau.frameworks.operator_sweep import PART, operators, tried  # noqa: E402

LEFT = {
    "_log_softmax_backward_data": "the gradient of a softmax",
    "_native_batch_norm_legit_functional": "a normalisation",
    "_pdist_backward": "the gradient of distances",
    "_softmax_backward_data": "the gradient of a softmax",
    "_weight_norm_differentiable_backward": "the gradient of a normalisation",
    "_weight_norm_interface": "a normalisation",
    "_weight_norm_interface_backward": "the gradient of a normalisation",
    "binary_cross_entropy_with_logits": "a loss",
    "cosine_similarity": "a similarity of vectors",
    "cross": "a difference of two products",
    "cross_entropy_loss": "a loss",
    "cumprod_backward": "the gradient of products",
    "cumulative_trapezoid": "an integral over its steps",
    "histogram": "a sum of weights",
    "linalg_cross": "a difference of two products",
    "resize_as": "no sum: a result that nobody writes",
    "trapezoid": "an integral over its steps",
    "trapz": "an integral over its steps",
}
"""Operators that PyTorch multiplies element by element and adds, on GPUs too, without a matrix unit."""

PARTS = 6


@cache
def swept(library: str, part: int) -> dict[str, set[str]]:
    """The outcome of each operator, in a process whose memory the operators may spoil."""
    command = [sys.executable, "-m", "tests.mmau.frameworks.operator_sweep", library, f"{part}/{PARTS}"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name: set(found) for name, found in map(json.loads, ended.stdout.splitlines())}


@pytest.mark.parametrize("part", range(PARTS))
def test_no_operator_sums_products_by_itself_in_the_mode(part: int) -> None:
    found = swept("aten", part)
    leaks = {
        name.split(".")[1]
        for name, verdicts in found.items()
        if not verdicts <= {"none", "unreached", "refused", "computed"}
    }
    assert leaks <= set(LEFT)
    assert len(found) > 80
    assert sum("unreached" not in verdicts for verdicts in found.values()) > len(found) / 2


def named(*names: str) -> Iterator[Any]:
    for name in names:
        packet = getattr(torch.ops.aten, name)
        yield from (o for o in (getattr(packet, n) for n in packet.overloads()) if o in set(operators("aten")))


PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "mv", "einsum", "tensordot", "linalg_multi_dot")
REFUSED = ("dot", "vdot", "addmv", "addbmm", "_cdist_forward", "conv2d", "bilinear", "linalg_vecdot", "_embedding_bag")


@pytest.mark.parametrize("name", [*PRODUCTS, *REFUSED])
def test_the_sweep_finds_products(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_mode, "multiply", operator_sweep.poisoned)
    found = set().union(*(tried(operator) for operator in named(name)))
    assert found == ({"computed"} if name in PRODUCTS else {"refused"})


@pytest.mark.attack("an operator of PyTorch that multiplies and adds, and that the mode does not know")
@pytest.mark.parametrize("name", ["dot", "addmv", "mv", "linalg_vecdot", "_embedding_bag"])
def test_the_sweep_finds_an_operator_that_the_mode_does_not_know(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_mode, "is_or_has_product", lambda _: False)
    monkeypatch.setattr(torch_mode, "_weighs", lambda *_: False)
    monkeypatch.setattr(torch_mode, "TAKEN_APART", frozenset())
    monkeypatch.setattr(torch_mode, "multiply", operator_sweep.poisoned)
    assert "leaks" in set().union(*(tried(operator) for operator in named(name)))


@pytest.mark.attack("an operator of a later PyTorch under a name that does not say that it multiplies")
def test_the_sweep_finds_a_new_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = torch.library.Library("quantized", "FRAGMENT")
    made.define("blend(Tensor a, Tensor b) -> Tensor")
    made.impl("blend", lambda a, b: (a.unsqueeze(-1) * b).sum(-2), "CPU")
    try:
        assert tried(torch.ops.quantized.blend.default) == {"leaks"}
    finally:
        made._destroy()


def test_weights_of_bags_are_refused_in_a_backward_pass() -> None:
    """Of a finished forward pass: the gradient of the table is a product of the weights and of the bags' gradients."""
    bag = torch.nn.functional.embedding_bag
    for weights in (torch.ones(1, 2), torch.ones(1, 2, requires_grad=True), None):
        table = torch.ones(4, 3, requires_grad=True)
        loss = bag(torch.tensor([[0, 1]]), table, per_sample_weights=weights, mode="sum").sum()
        with torch_mode.on(PART):
            if weights is None:
                loss.backward()
            else:
                with pytest.raises(ValueError, match=rf"^aten\._embedding_bag.* cannot be computed as on {PART}: "):
                    loss.backward()


def test_vecdot_is_refused_however_it_is_called() -> None:
    x = torch.ones(3, 3)
    calls = (torch.linalg.vecdot, torch.ops.aten.linalg_vecdot, torch.func.vmap(torch.linalg.vecdot))
    for call in calls:
        with (
            torch_mode.on(PART),
            pytest.raises(ValueError, match=rf"^aten\.linalg_vecdot cannot be computed as on {PART}: "),
        ):
            call(x, x)


def test_operators_of_products_are_taken_apart_in_inference_mode() -> None:
    """Under names that say that they multiply, as multi_dot, or might, as a norm of a matrix."""
    x = torch.randn(3, 3, generator=torch.Generator().manual_seed(1))
    calls: tuple[Callable[[], Any], ...] = (
        lambda: torch.linalg.multi_dot([x, x, x]),
        lambda: torch.linalg.matrix_power(x, 3),
        lambda: torch.linalg.norm(x),
    )
    for call in calls:
        with torch_mode.on(PART) as mode:
            expected, products = call(), list(mode.products)
        with torch.inference_mode(), torch_mode.on(PART) as mode:
            assert torch.equal(call(), expected)
        assert mode.products == products
