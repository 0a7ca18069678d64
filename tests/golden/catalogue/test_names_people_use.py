"""Names that people use for parts, instructions and kernels: all resolve, or say why not; and small things beside."""

from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest

import golden
from golden.recipes import recipe

PARTS = {
    "H100": "sm_90", "NVIDIA H100 80GB HBM3": "sm_90", "h200": "sm_90", "sm_90a": "sm_90", "A100": "sm_80",
    "NVIDIA A100-SXM4-80GB": "sm_80", "sm_86": "sm_80", "NVIDIA GeForce RTX 3090": "sm_80", "A10": "sm_80",
    "RTX 4090": "sm_89",
    "B200": "sm_100", "sm_103": "sm_100", "RTX 5090": "sm_120", "MI300X": "gfx942", "MI355X": "gfx950",
    "AMD Instinct MI250X": "gfx90a",
    "Hopper": "sm_90", "gfx942": "gfx942", "T4": "sm_75",
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_parts_resolve(name: str) -> None:
    assert golden.part(name).arch == golden.architecture(name) == PARTS[name]


def test_a_part_that_is_close_says_what_that_rests_on() -> None:
    assert golden.part("RTX 3090") == golden.Part("RTX 3090", "sm_86", "sm_80", golden.part("sm_86").note)
    assert "8,000 recorded rows of an A2" in golden.part("sm_86").note
    assert golden.part("GB300").note.startswith("inferred: ")
    assert golden.part("H100").note == ""
    assert golden.part("MI355X").note.startswith("inferred: ")
    with pytest.raises(ValueError, match=r"such as H100, A100 or MI300X; got 'A101' \(did you mean 'A10' or 'A100' or "):
        golden.part("A101")


NAMES = {
    ("H100", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"): "mma.m16n8k16.f32.f16.f16.f32",
    ("H100", "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3"): "wgmma.m64n128k32.f32.e4m3.e4m3",
    ("H100", "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32"): "mma.m16n8k32.satfinite.s32.s8.s8.s32",
    ("H100", "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"): "mma.sp.m16n8k32.f32.f16.f16.f32",
    ("RTX 5090", "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3"):
        "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
    ("A100", "HMMA.16816.F32"): "mma.m16n8k16.f32.f16.f16.f32",
    ("A100", "HMMA.16816.F32.BF16"): "mma.m16n8k16.f32.bf16.bf16.f32",
    ("A100", "HMMA.1688.F32.TF32"): "mma.m16n8k8.f32.tf32.tf32.f32",
    ("A100", "IMMA.16832.S8.S8"): "mma.m16n8k32.s32.s8.s8.s32",
    ("H100", "HGMMA.64x128x16.F32.BF16"): "wgmma.m64n128k16.f32.bf16.bf16",
    ("H100", "QGMMA.64x128x32.F32.E4M3.E4M3"): "wgmma.m64n128k32.f32.e4m3.e4m3",
    ("H100", "DMMA.8x8x4"): "mma.m8n8k4.f64.f64.f64.f64",
    ("MI300X", "mfma_f32_32x32x8f16"): "v_mfma_f32_32x32x8_f16",
    ("MI300X", "__builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8"): "v_mfma_f32_16x16x32_fp8_fp8",
    ("MI250X", "__builtin_amdgcn_mfma_f32_32x32x8bf16_1k"): "v_mfma_f32_32x32x8bf16_1k",
    ("A100", "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"): "mma.m16n8k16.f32.bf16.bf16.f32",
    ("A100", "cutlass_80_tensorop_s16816gemm_f16_128x64"): "mma.m16n8k16.f32.f16.f16.f32",
    ("H100", "cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4"): "mma.m16n8k8.f32.tf32.tf32.f32",
    ("H100", "nvjet_tst_192x192_64x4_1x2_h_bz_coopA_NTN"): "wgmma.m64n128k16.f32.bf16.bf16",
    ("H100", "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNN"): "wgmma.m64n128k16.f32.f16.f16",
}  # fmt: skip


@pytest.mark.parametrize(("part", "name"), NAMES)
def test_instructions_resolve(part: str, name: str) -> None:
    assert golden.instruction(part, name).name == NAMES[part, name]


def test_a_name_of_several_instructions_is_refused_with_them() -> None:
    with pytest.raises(
        ValueError, match=r"^'s16816gemm' can be several instructions of sm_80: mma\.m16n8k16\.f32\.bf16.*f16"
    ):
        golden.instruction("A100", "s16816gemm")
    for wrong in ("HMMA.16816.F32.E4M3", "mma.sync.aligned.m16n8k99.row.col.f32.f16.f16.f32", "mfma_f32_32x32x9f16"):
        with pytest.raises(ValueError, match="is not one of the 63 known"):
            golden.instruction("A100", wrong)


def test_the_catalogue_is_filtered() -> None:
    used = golden.instructions(part="H100", a="e4m3", used_by="cublas")
    assert [entry.name for entry in used] == ["wgmma.m64n128k32.f32.e4m3.e4m3"]
    mixed = golden.instructions(a="e5m2", b="e4m3")
    assert {entry.arch for entry in mixed} >= {"sm_89", "sm_90", "sm_100", "sm_120"}
    assert all((entry.a.name, entry.b.name) == ("e5m2", "e4m3") for entry in mixed)
    assert all(entry.operation.name == "FMA" for entry in golden.instructions("sm_80", operation="FMA", d="fp64"))
    for message, keys in {
        "^give arch or part, not both": {"arch": "sm_90", "part": "H100"},
        "^a 'fp99' is not one of the 21 known": {"a": "fp99"},
        "^used_by must be one of ": {"used_by": "rocblas"},
    }.items():
        with pytest.raises(ValueError, match=message):
            golden.instructions(**keys)


def test_small_things() -> None:
    wgmma = golden.instruction("H100", "wgmma.m64n128k16.f32.f16.f16")
    assert repr(wgmma) == "golden.instruction('sm_90', 'wgmma.m64n128k16.f32.f16.f16')"
    assert wgmma.shape == (64, 128, 16)
    ones = np.ones(16, np.float16)
    assert (wgmma.dot(ones, ones), wgmma.dot(ones.view("u2"), ones.view("u2"))) == (16.0, 0x41800000)
    D = wgmma(np.ones((64, 16), np.float16), np.ones((16, 128), np.float16))
    assert (D.dtype, float(D[0, 0])) == (np.float32, 16.0)
    with pytest.raises(ValueError, match=r"must have K = 16, got 32; golden\.gemm multiplies matrices of any K$"):
        wgmma.dot(np.ones(32, np.float16), np.ones(32, np.float16))
    assert golden.__version__.count(".") == 2
    assert set(dir(golden)) == {*golden.__all__, "__version__"}


def test_products_of_a_part_and_a_library() -> None:
    A, B = (np.random.default_rng(seed).standard_normal((512, 512)).astype(np.float16) for seed in (1, 2))
    got = golden.gemm(A, B, part="H100", used_by="cublas")
    assert (got == golden.gemm(None, A, B, order=recipe("cublas.h100.f16.single").order)).all()
    keys: dict[str, Any] = {"instruction": golden.instruction("sm_90", "wgmma.m64n128k16.f32.f16.f16")}
    assert (golden.gemm(A, B, **keys) == golden.gemm(keys["instruction"], A, B)).all()
    refusals: dict[str, dict[str, Any]] = {
        r"^no recorded order is known of a library on A100 for fp16 by fp16 .*golden\.instruction\('sm_80'": {
            "part": "A100",
        },
        "^part is missing: used_by names a library on a part": {"used_by": "cublas"},
        "^part and used_by choose the instruction and the order": {"part": "H100", "order": golden.GemmOrder()},
        "^no recorded order is known of triton on H100 .* in their place one of: an instruction of golden.instructions$": {
            "part": "H100", "used_by": "triton",
        },
        r"^no recorded order is known of cublas on A100 for fp16 by fp16 .* give in their place one of: instruction=": {
            "part": "A100", "used_by": "cublas",
        },
    }  # fmt: skip
    for message, wrong in refusals.items():
        with pytest.raises(ValueError, match=message):
            golden.gemm(A if "triton" not in str(wrong) else A.astype(np.float64), B, **wrong)
    rows: list[Any] = [x.astype(ml_dtypes.bfloat16) for x in (A, B)]
    with pytest.raises(
        ValueError, match=r"for bf16 by bf16 .* give in their place one of: order=.*'cublas\.a100\.bf16\.single'"
    ):
        golden.gemm(*rows, part="A100", used_by="cublas")


@pytest.mark.parametrize(("part", "dtype", "candidate"), [
    ("A100", np.int8, r"int8 by int8 .* one of: instruction=.*'mma\.m8n8k16\.s32\.s8\.s8\.s32'"),
    ("A100", np.float32, r"fp32 by fp32 .* one of: .*tf32\.tf32\.f32'\) with order=golden\.GemmOrder\(convert='rne'"),
    ("MI300X", ml_dtypes.float8_e4m3fnuz, r"e4m3fnuz by e4m3fnuz .* one of: instruction=.*_fp8_fp8"),
    ("H100", np.complex64, "complex64 by complex64 .* one of: an instruction of golden.instructions$"),
])  # fmt: skip
def test_candidates_are_of_the_operands(part: str, dtype: Any, candidate: str) -> None:
    ones = np.ones((16, 16), dtype)
    with pytest.raises(ValueError, match=f"^no recorded order is known of cublas on {part} for {candidate}"):
        golden.gemm(ones, ones, part=part, used_by="cublas")


def test_a_candidate_stands_in_the_place_of_the_part() -> None:
    A, B = (np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float16) for seed in (1, 2))
    with pytest.raises(ValueError, match=r"give in their place one of: order=") as refused:
        golden.gemm(A, B, part="H100", used_by="cublas")
    order, instruction = recipe("cublas.h100.f16.single").order, golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
    assert "order=golden.recipes.recipe('cublas.h100.f16.single').order, " in str(refused.value)
    assert f"instruction={instruction!r}, " in str(refused.value)
    for keys in ({"order": order}, {"instruction": instruction}):
        assert golden.gemm(A, B, **cast(Any, keys)).shape == (64, 64)


def test_batches_are_products_each() -> None:
    wgmma = golden.instruction("H100", "wgmma.m64n128k16.f32.f16.f16")
    A, B = (np.random.default_rng(seed).standard_normal((3, 20, 20)).astype(np.float16) for seed in (1, 2))
    got = golden.gemm(wgmma, A, B)
    assert (got == np.stack([golden.gemm(wgmma, a, b) for a, b in zip(A, B, strict=True)])).all()
    with pytest.raises(ValueError, match=r"must have the same leading axes, got \(3, 20, 20\), \(2, 20, 20\)$"):
        golden.gemm(wgmma, A, B[:2])
