"""Every operator of the installed PyTorch that sums products of two tensors: the part's in the mode, refused, or listed.

What the sweep cannot try is refused by name, or listed too.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import pytest

pytestmark = [pytest.mark.peer, pytest.mark.slow]

torch: Any = pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")

from mmau.frameworks import torch_mode  # noqa: E402
from mmau.frameworks.torch_mode import is_or_has_product  # noqa: E402
from tests.mmau.frameworks import operator_sweep  # noqa: E402
from tests.mmau.frameworks.operator_sweep import PART, operators, tried  # noqa: E402

LEFT = {
    "_fused_sgd": "a step of an optimiser",
    "_log_softmax_backward_data": "the gradient of a softmax",
    "_masked_softmax_backward": "the gradient of a softmax",
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
    "grid_sampler": "an interpolation",
    "grid_sampler_2d": "an interpolation",
    "grid_sampler_2d_backward": "the gradient of an interpolation",
    "histogram": "a sum of weights",
    "linalg_cross": "a difference of two products",
    "native_layer_norm_backward": "the gradient of a normalisation",
    "resize_as": "no sum: a result that nobody writes",
    "trapezoid": "an integral over its steps",
    "trapz": "an integral over its steps",
}
"""Operators that PyTorch multiplies element by element and adds, on GPUs too, without a matrix unit."""

UNREACHED = {
    "a number for a whole tensor": ("_amp_foreach_non_finite_check_and_unscale", "_amp_update_scale"),
    "it computes nothing itself": ("_backward", "_propagate_xla_data"),
    "a normalisation, or its gradient": (
        "_batch_norm_impl_index_backward", "_batch_norm_no_update", "_native_batch_norm_legit", "batch_norm_backward",
        "native_batch_norm", "native_batch_norm_backward", "native_group_norm_backward",
    ),
    "a loss, or its gradient": (
        "_ctc_loss", "_ctc_loss_backward", "ctc_loss", "multilabel_margin_loss_backward", "nll_loss2d",
        "nll_loss2d_backward", "nll_loss2d_forward", "nll_loss_backward",
    ),
    "a step of an optimiser": ("_fused_adagrad", "_fused_adam", "_fused_adamw", "_fused_sgd"),
    "rounded to integers element by element": (
        "_dyn_quant_pack_4bit_weight", "_empty_per_channel_affine_quantized", "_fake_quantize_learnable_per_channel_affine",
        "_fake_quantize_learnable_per_channel_affine_backward", "_fake_quantize_learnable_per_tensor_affine_backward",
        "_make_per_channel_quantized_tensor", "fake_quantize_per_channel_affine",
        "fake_quantize_per_channel_affine_cachemask", "quantize_per_channel", "quantize_per_tensor",
    ),
    "an interpolation, or its gradient": (
        "_grid_sampler_2d_cpu_fallback", "_grid_sampler_2d_cpu_fallback_backward", "grid_sampler_3d",
        "grid_sampler_3d_backward",
    ),
    "pooling or padding, or its gradient": (
        "avg_pool3d_backward", "fractional_max_pool2d", "fractional_max_pool3d", "fractional_max_pool3d_backward",
        "max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward", "max_unpool3d", "reflection_pad3d_backward",
        "replication_pad3d_backward",
    ),
    "elements in other places": (
        "_make_dual", "_make_dual_copy", "_nested_tensor_from_mask", "_nested_tensor_from_mask_left_aligned",
        "_nested_view_from_buffer", "_nested_view_from_buffer_copy", "_nested_view_from_jagged_copy",
        "_pack_padded_sequence", "_pad_packed_sequence", "_reshape_from_tensor", "_spdiags", "copy_sparse_to_sparse",
        "lu_unpack", "resize_as_sparse",
    ),
    "a sparse tensor of its parts": (
        "_sparse_bsc_tensor_unsafe", "_sparse_bsr_tensor_unsafe", "_sparse_compressed_tensor_unsafe",
        "_sparse_csc_tensor_unsafe", "_sparse_csr_tensor_unsafe", "_validate_compressed_sparse_indices",
        "_validate_sparse_bsc_tensor_args", "_validate_sparse_bsr_tensor_args", "_validate_sparse_compressed_tensor_args",
        "_validate_sparse_coo_tensor_args", "_validate_sparse_csc_tensor_args", "_validate_sparse_csr_tensor_args",
        "sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor", "sparse_csc_tensor", "sparse_csr_tensor",
    ),
    "random numbers": ("_philox_normal", "_philox_uniform"),
    "a bias, and a scale": ("_transform_bias_rescale_qkv",),
    "sums, products or extremes of elements, or their gradient": ("cumprod_backward", "index_reduce", "scatter"),
    "a Fourier transform": ("istft", "stft"),
    "made of linalg_lu_solve, which is refused": ("lu_solve",),
}  # fmt: skip
"""Operators without a product in their names for which the sweep finds no operands, by what they compute: judged by name."""

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
    assert unlisted(name for name, verdicts in found.items() if "unreached" in verdicts) == []
    assert sum("unreached" not in verdicts for verdicts in found.values()) > 0.6 * len(found)


def unlisted(unreached: Iterable[str]) -> list[str]:
    """Those of the operators without operands that are neither refused by name or by their weights, nor listed."""
    listed = {name for names in UNREACHED.values() for name in names}
    found = []
    for full in unreached:
        _, name, overload = full.split(".")
        operator = getattr(getattr(torch.ops.aten, name), overload)
        if not is_or_has_product(name) and torch_mode._place_of_weights(operator) is None and name not in listed:
            found.append(full)
    return found


@pytest.mark.attack("an operator of a later PyTorch that is neither reached, nor named as a product, nor listed")
def test_a_new_operator_without_operands_is_noticed() -> None:
    made: Any = torch.library.Library("aten", "FRAGMENT")
    made.define("blend_unlisted(Tensor a, Tensor b) -> Tensor")

    def only_of_seven(a: Any, b: Any) -> Any:
        assert a.shape == b.shape == (7, 7)
        return (a.unsqueeze(-1) * b).sum(-2)

    made.impl("blend_unlisted", only_of_seven, "CPU")
    try:
        operator = torch.ops.aten.blend_unlisted.default
        assert operator in set(operators("aten"))
        assert tried(operator) == {"unreached"}
        assert unlisted([str(operator)]) == ["aten.blend_unlisted.default"]
    finally:
        made._destroy()


def test_what_is_listed_is_no_product_by_name_and_listed_once() -> None:
    names = [name for names in UNREACHED.values() for name in names]
    assert len(names) == len(set(names))
    assert [name for name in names if is_or_has_product(name)] == []


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


@pytest.mark.attack("an operator whose library prints where the sweep writes its outcome")
def test_what_an_operator_prints_is_no_outcome() -> None:
    program = """
import os, torch
from tests.mmau.frameworks import operator_sweep

made = torch.library.Library("chatty", "DEF")
made.define("blend(Tensor a, Tensor b) -> Tensor")

def blend(a, b):
    os.write(1, b"\\nMKL ERROR: parameter 4 was incorrect on entry\\n")
    return (a.unsqueeze(-1) * b).sum(-2)

made.impl("blend", blend, "CPU")
operator_sweep.main("chatty", "0/1")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert [json.loads(line) for line in ended.stdout.splitlines()] == [["chatty.blend.default", ["refused"]]]
    assert "MKL ERROR" in ended.stderr


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
