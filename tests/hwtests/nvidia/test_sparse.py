"""Sparse instructions on a device: kernels compile to what they claim, and every selection is an operand route."""

import re
from typing import Any

import numpy as np
import pytest

import golden
from golden.native.nvrtc import compile_cubin
from golden.stimulus import OperandShape, Tiles, generate, on_diagonals
from hwtests.nvidia.cupy_device import route_of, spread, words
from hwtests.nvidia.disassembly import expected, sass
from hwtests.nvidia.kernels import kernel_of
from tests.hwtests.compilers import needs_cuda_compiler
from tests.hwtests.conform.stand_in import arithmetic
from tests.hwtests.nvidia.test_cupy_device import opened

HALF = golden.instruction("sm_90", "mma.sp.m16n8k32.f32.f16.f16.f32")
TF32 = golden.instruction("sm_90", "wgmma.sp.m64n8k16.f32.tf32.tf32")


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("mma.sp.m16n8k32.f32.f16.f16.f32", {"HMMA.SP.16832.F32": 1}),
        ("mma.sp.m16n8k16.f32.tf32.tf32.f32", {"HMMA.SP.16816.F32.TF32": 1}),
        ("mma.sp.m16n8k64.f32.e4m3.e5m2.f32", {"HMMA.SP.16832.F32": 2}),
        ("mma.sp.m16n8k64.satfinite.s32.u8.s8.s32", {"IMMA.SP.16864.U8.S8.SAT": 1}),
        ("wgmma.sp.m64n8k32.f32.bf16.bf16", {"HGMMA.SP.64x8x32.F32.BF16": 1}),
        ("wgmma.sp.m64n256k64.f16.e4m3.e5m2", {"QGMMA.SP.64x256x64.F16.E4M3.E5M2": 1}),
        ("wgmma.sp.m64n8k64.s32.s8.s8", {"IGMMA.SP.64x8x64.S8.S8": 1}),
    ],
)
def test_machine_code_that_is_expected(name: str, held: dict[str, int]) -> None:
    assert expected(golden.instruction("sm_90", name)) == held


@needs_cuda_compiler
def test_sparse_fp8_on_hopper_starts_from_zero() -> None:
    """Two HMMA.SP, the first from zero, the second from the first's result: C is added last."""
    kernel = kernel_of(golden.instruction("sm_90", "mma.sp.m16n8k64.f32.e4m3.e4m3.f32"))
    words = [
        [word.removesuffix(".reuse") for word in re.split(r",\s*", operands)]
        for mnemonic, operands in sass(compile_cubin(kernel.source, kernel.target))
        if mnemonic.startswith("HMMA.SP")
    ]
    assert [operands[3] for operands in words] == ["RZ", words[0][0]]


@pytest.mark.parametrize("i", [HALF, TF32], ids=lambda i: i.name)
def test_elements_lie_where_the_metadata_say_and_others_between_them(i: golden.Instruction) -> None:
    rng = np.random.default_rng(1)
    b = rng.integers(0, i.b.codes, (5, i.n, i.k), dtype=np.uint64).astype(f"uint{i.b.storage_bits}")
    tiles = Tiles(np.zeros((5, i.m, i.k), b.dtype), b, np.zeros((5, i.m, i.n), np.uint32))
    for code, positions in i.selections.items():
        found = spread(np, i, (code, positions), tiles).b
        assert found.shape == (5, i.n, i.b_k)
        grouped = found.reshape(5, i.n, -1, 2 * len(positions))
        np.testing.assert_array_equal(grouped[..., list(positions)].reshape(b.shape), b)
        others = [place for place in range(2 * len(positions)) if place not in positions]
        assert (grouped[..., others].reshape(b.shape) != b).all()
        a = np.zeros(i.k, b.dtype)
        metadata = np.full(i.k // len(positions), code)
        d = i.dot(a, found[0, 0], np.uint32(0x3F800000), metadata=metadata)
        assert d == i.dot(a, b[0, 0], np.uint32(0x3F800000))
        assert words(np, (code, positions), 2).tolist() == [code * 0x11111111] * 2


def test_every_selection_is_a_route(monkeypatch: pytest.MonkeyPatch) -> None:
    """A `wgmma` has each from shared memory and from registers; a launch has a word of metadata for every tile."""
    device, _ = opened(monkeypatch, HALF)
    programs = device.load(HALF)
    assert [program.route for program in programs] == [route_of(selection) for selection in HALF.selections.items()]
    assert programs[3].route == "metadata 0x9 selects 1 and 2"
    assert [program.route for program in opened(monkeypatch, TF32)[0].load(TF32)] == [
        "metadata 0x4 selects 0", "metadata 0xe selects 1", "A from registers, metadata 0x4 selects 0",
        "A from registers, metadata 0xe selects 1",
    ]  # fmt: skip
    seen: list[Any] = []

    def launch(grid: Any, block: Any, arguments: tuple[Any, ...]) -> None:
        a, b, c, metadata, d, tiles = arguments
        seen.append((b.shape, metadata.tolist(), int(tiles)))
        code = int(metadata[0]) & 15
        grouped = b.reshape(*b.shape[:2], -1, 4)[..., list(HALF.selections[code])]
        d[...] = arithmetic(HALF, Tiles(a, grouped.reshape(*b.shape[:2], -1), c))

    tiles = on_diagonals(generate(OperandShape.of(HALF), 24, 1).operands, HALF.m, HALF.n, np)
    for program in programs:
        program._function = launch
        np.testing.assert_array_equal(program.run(tiles), arithmetic(HALF, tiles))
    assert seen == [((4, 8, 32), [code * 0x11111111] * 4, 4) for code in HALF.selections]
