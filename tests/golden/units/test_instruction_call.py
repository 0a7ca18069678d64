"""A call of an instruction on matrices: each element is a dot product, and wrong shapes are refused."""

import re
from typing import Any

import numpy as np
import pytest

import golden

MXFP8, NVFP4 = "mma.m16n8k32.kind::mxf8f6f4", "mma.m16n8k64.kind::mxf4nvf4"

CALLED = [
    ("sm_80", "mma.m16n8k8.f16.f16.f16.f16"),
    ("gfx942", "v_mfma_f32_32x32x4_xf32"),
    ("sm_100", "mma.m16n8k32.f32.e4m3.e5m2.f32"),
    ("sm_120", f"{MXFP8}.block32.f32.e4m3.e2m1.f32.ue8m0"),
    ("sm_120", f"{NVFP4}.block16.f32.e2m1.e2m1.f32.ue4m3"),
]


@pytest.mark.parametrize(("arch", "name"), CALLED)
def test_call_on_matrices_is_dot_of_each_row_and_column(arch: str, name: str) -> None:
    i = golden.instruction(arch, name)
    rng = np.random.default_rng(11)
    A, B, C = (
        rng.integers(0, f.codes, shape, np.uint64).astype(f"uint{f.storage_bits}")
        for f, shape in ((i.a, (i.m, i.k)), (i.b, (i.k, i.n)), (i.c, (i.m, i.n)))
    )
    scales: tuple[Any, Any] = (None, None)
    if i.scale is not None and i.block_size is not None:
        blocks = i.k // i.block_size
        scales = (rng.integers(100, 120, (i.m, blocks), np.uint8), rng.integers(100, 120, (blocks, i.n), np.uint8))
    D = i(A, B, C, *scales, engine="reference")
    assert D.shape == (i.m, i.n)
    for row in range(i.m):
        for column in range(i.n):
            pair: tuple[Any, Any] = (None, None) if i.scale is None else (scales[0][row], scales[1][:, column])
            assert D[row, column] == i.dot(A[row], B[:, column], C[row, column], *pair, engine="reference")
    assert len(np.unique(D)) > 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"A": (64, 16)}, "A must have shape (16, 64) (m×k of {name}), got (64, 16)"),
        ({"B": (8, 64)}, "B must have shape (64, 8) (k×n of {name}), got (8, 64)"),
        ({"C": (8, 16)}, "C must have shape (16, 8) (m×n of {name}), got (8, 16)"),
        ({"scale_a": (4, 16)}, "scale_a must have shape (16, 4) (m×k/K_block of {name}), got (4, 16)"),
        ({"scale_b": (8, 4)}, "scale_b must have shape (4, 8) (k/K_block×n of {name}), got (8, 4)"),
        ({"scale_a": None}, "scale_a is missing: GST-FDPA takes one ue4m3 scale a block"),
        ({"scale_b": None}, "scale_b is missing: GST-FDPA takes one ue4m3 scale a block"),
    ],
)
def test_call_shape_wrong(changed: dict[str, Any], message: str) -> None:
    i = golden.instruction("sm_120", f"{NVFP4}.block16.f32.e2m1.e2m1.f32.ue4m3")
    shapes = {"A": (16, 64), "B": (64, 8), "C": (16, 8), "scale_a": (16, 4), "scale_b": (4, 8)} | changed
    arrays = {
        key: None if shape is None else np.zeros(shape, np.uint32 if key == "C" else np.uint8)
        for key, shape in shapes.items()
    }
    with pytest.raises(ValueError, match=f"^{re.escape(message.format(name=i.name))}$"):
        i(**arrays)  # type: ignore[arg-type]  # arrays alone
