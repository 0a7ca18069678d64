"""The library of named recipes: its entries, their evidence, and what they compute."""

import ml_dtypes
import numpy as np
import pytest

import golden
from golden.recipes import EVIDENCE, recipe, recipe_of_shape, recipes


def test_every_recipe_has_evidence_and_an_instruction() -> None:
    assert len(recipes()) >= 20
    for name, found in recipes().items():
        assert found.name == name
        assert found.evidence in EVIDENCE
        assert found.source
        assert found.order.model is not None
    assert {found.evidence for found in recipes().values()} == set(EVIDENCE)


def test_shapes_are_those_of_the_source() -> None:
    """Two layers at four lengths on three parts."""
    for part in ("a100", "l40s", "h100"):
        for N, K in ((2560, 9728), (9728, 2560)):
            for M in (100, 250, 1000, 4000):
                assert recipe_of_shape(f"cublas.{part}.bf16", M, N, K).order.output == "bf16"
    workspace = recipe_of_shape("cublas.a100.bf16", 100, 2560, 9728).order
    assert (workspace.split_k, workspace.split_tile, workspace.split_sum, workspace.output) == (5, 64, "workspace", "bf16")


def test_recipes_differ_on_one_product() -> None:
    """Each way of spending K gives results of its own on the same operands."""
    rng = np.random.default_rng(1)
    A, B = (rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((32, 2560), (2560, 32)))
    names = ("single", "workspace-5", "in-place-2", "in-place-4", "sliced-1x2")
    results = [golden.gemm(None, A, B, order=recipe(f"cublas.a100.bf16.{name}").order) for name in names]
    assert len({result.tobytes() for result in results}) == len(names)
    for result in results[1:]:
        share = (result.view("u2") != results[0].view("u2")).mean()
        assert 0 < share < 0.6


@pytest.mark.parametrize(("name", "lanes", "chunk"), [("gemmsn", 16, 32), ("gemv-slices", 32, 16)])
def test_kernels_on_cuda_cores_are_sums_of_three_levels(name: str, lanes: int, chunk: int) -> None:
    """As NumPy adds: chains of a chunk, their totals in a lane's slice, and the lanes, each from the left."""
    rng = np.random.default_rng(1)
    K = 1000
    A, B = (rng.standard_normal(shape).astype(np.float16) for shape in ((3, K), (K, 5)))
    products = A.astype(np.float32)[:, :, None] * B.astype(np.float32)[None]
    size, total = -(-K // lanes), np.zeros((3, 5), np.float32)
    for first in range(0, K, size):
        lane = np.zeros((3, 5), np.float32)
        for base in range(first, min(first + size, K), chunk):
            part = np.zeros((3, 5), np.float32)
            for k in range(base, min(base + chunk, first + size, K)):
                part = part + products[:, k]
            lane = lane + part
        total = total + lane
    got = golden.gemm(None, A, B, order=recipe(f"cublas.gb200.f16.{name}").order)
    assert (got == total.astype(np.float16)).all()


def test_unknown_recipe_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^recipe 'cublas\.a100\.bf16\.singel' is not one of the \d+ known \(did you mean "
    ):
        recipe("cublas.a100.bf16.singel")
    message = (
        "no recipe of cublas.l40s.bf16 is known for M x N x K = 1x2x3; known: 100x9728x2560, 250x9728x2560, "
        "1000x9728x2560, 4000x9728x2560, 100x2560x9728, 250x2560x9728, 1000x2560x9728, 4000x2560x9728"
    )
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        recipe_of_shape("cublas.l40s.bf16", 1, 2, 3)
    assert str(caught.value) == message
