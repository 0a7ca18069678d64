"""Orders of kernels, and operands that do not fit them, are refused with one message."""

import random
from typing import Any

import numpy as np
import pytest

import golden
from golden.products.gemm_order import GemmOrder
from tests.golden.products.test_gemm_order import FP64, HOPPER, MODELS, matrices


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"split_sum": "fp16"}, "split_sum must be one of fp32, workspace, in-place; got 'fp16' (did you mean 'fp32'?)"),
        ({"scale_at": "unity"}, "scale_at must be one of unit, promotion; got 'unity' (did you mean 'unit'?)"),
        ({"stripes": (2,)}, "stripes must be two integers [how many, how wide], got (2,)"),
        ({"stripes": (0, 8)}, "number of stripes must be an integer from 1 to 1073741824, got 0"),
        ({"k_order": [0, 2]}, "k_order as a list must have each of 0 to 1 once, got [0, 2]"),
        ({"k_order": []}, "k_order as a list must have at least one product, got []"),
        ({"k_order": "reverse"}, "k_tile is missing: k_order = 'reverse' needs the products of a tile, as 64"),
        ({"k_tile": 8}, "k_tile is for k_order = 'reverse' alone, got k_order = 'ascending'; leave it out"),
        (
            {"k_order": "reverse", "k_tile": 8, "stripes": (2, 8)},
            "stripes must be left out with k_order = 'reverse', got [2, 8]",
        ),
        ({"epilogue": ("gamma",)}, "a step of epilogue must be one of alpha, beta, alpha-beta, bias, output; got 'gamma'"),
        ({"epilogue": ("beta", "alpha-beta")}, "epilogue must take C once, got beta, alpha-beta"),
        ({"alpha": 0.1}, "alpha must be a finite number that fp32 holds exactly, got 0.1"),
        ({"beta": float("inf")}, "beta must be a finite number that fp32 holds exactly, got inf"),
        ({"output": "e4m3"}, "output must be one of fp32, fp16, bf16; got 'e4m3'"),
        (
            {"split_k": 2, "split_sum": "in-place", "epilogue": ("bias",)},
            "split_sum = 'in-place' rounds the running sum, with no epilogue after it; got bias",
        ),
        (
            {"scale_at": "promotion", "stripes": (2, 8)},
            "scale_at = 'promotion' needs k_order = 'ascending' and no stripes: a group has one scale",
        ),
        (
            {"model": MODELS[5], "split_k": 2, "split_tile": 20},
            f"split_tile must be a multiple of the {MODELS[5].k} products of one instruction of {MODELS[5].name}, got 20",
        ),
        (
            {"model": MODELS[5], "k_order": (1, 0)},
            f"a permutation of k is for operations without block scales; {MODELS[5].name} has scales",
        ),
        (
            {"model": MODELS[5], "scale_at": "promotion"},
            f"scale_at must be 'unit' for {MODELS[5].name}, which applies block scales itself, got 'promotion'",
        ),
        (
            {"model": HOPPER, "scale_at": "promotion", "promote_every": 2, "split_k": 2, "split_tile": 8},
            "split_tile must be a multiple of the 16 products that share a scale, and promote_every above 0, for "
            "scale_at = 'promotion' with split_k; got 8 and 2",
        ),
        (
            {"model": FP64, "output": "fp32"},
            f"epilogue, output, scale_at and split_sum are of fp32, not of fp64; {FP64.name} gives fp64",
        ),
    ],
)  # fmt: skip
def test_order_of_a_kernel_wrong(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        GemmOrder(**keys)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("order", "keys", "kind", "message"),
    [
        (GemmOrder(), {"bias": np.zeros(5, np.float32)}, ValueError,
         "bias and the step 'bias' of the order's epilogue go together; the epilogue has no step 'bias'"),
        (GemmOrder(epilogue=("bias",)), {}, ValueError,
         "bias and the step 'bias' of the order's epilogue go together; the epilogue has a step 'bias'"),
        (GemmOrder(epilogue=("bias",)), {"bias": np.zeros(4, np.float32)}, ValueError,
         "bias must have shape (5,) (N of A·B), got (4,)"),
        (GemmOrder(epilogue=("beta",), beta=1.0), {"C": None}, ValueError,
         "C is missing: the order's epilogue adds beta·C with beta = 1.0"),
        (GemmOrder(scale_at="promotion"), {}, TypeError,
         "scale_a is missing: scale_at = 'promotion' takes scales of fp32 for both A and B"),
        (GemmOrder(scale_at="promotion"),
         {"scale_a": np.ones((4, 2), np.float32), "scale_b": np.ones((1, 5), np.float32)}, ValueError,
         "scale_a must have shape (4, 1) (one of fp32 for each block of rows and each promotion), got (4, 2)"),
    ],
)  # fmt: skip
def test_operands_that_do_not_fit_the_order_are_refused(order: Any, keys: dict[str, Any], kind: Any, message: str) -> None:
    made, _ = matrices(HOPPER, random.Random(3), 16, "near")
    given = {"A": made[0], "B": made[1], "C": made[2]} | keys
    with pytest.raises(kind) as caught:
        golden.gemm(HOPPER, **given, order=order)
    assert str(caught.value) == message
