"""Names that people use for parts, instructions and kernels: all resolve, or say why not; and small things beside."""

import json
import re
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest

import golden
import mmau.testing
from golden.catalogue import parts
from golden.recipes import recipe

ROOT = Path(__file__).parents[3]

PARTS = {
    "H100": "sm_90", "NVIDIA H100 80GB HBM3": "sm_90", "h200": "sm_90", "sm_90a": "sm_90", "A100": "sm_80",
    "NVIDIA A100-SXM4-80GB": "sm_80", "sm_86": "sm_80", "NVIDIA GeForce RTX 3090": "sm_80", "A10": "sm_80",
    "RTX 4090": "sm_89",
    "B200": "sm_100", "sm_103": "sm_100", "RTX 5090": "sm_120", "MI300X": "gfx942", "MI355X": "gfx950",
    "AMD Instinct MI250X": "gfx90a",
    "Hopper": "sm_90", "gfx942": "gfx942", "T4": "sm_75", "NVIDIA GeForce RTX 4090 Laptop GPU": "sm_89",
    "RTX 4070 Ti SUPER": "sm_89", "NVIDIA RTX 6000 Ada Generation": "sm_89", "NVIDIA A10G": "sm_80",
    "Jetson AGX Orin": "sm_80",
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": "sm_120", "AMD Radeon RX 7900 XTX": "gfx1100",
    "AMD Radeon PRO W7900": "gfx1100", "RX 9060 XT": "gfx1201",
    "gfx90a:sramecc+:xnack-": "gfx90a", "RTX 3080 Ti": "sm_80", "Quadro RTX 6000": "sm_75",
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
    with pytest.raises(ValueError, match=r"such as H100, A100 or MI300X; got 'A101' \(did you mean 'A10' or "):
        golden.part("A101")


def test_no_spelling_is_that_of_two_parts() -> None:
    """Words beside a name are left out of it, which must not make one of two."""
    seen: dict[str, str] = {}
    for row in parts._rows():
        for name in (row["target"], *row["names"]):
            for spelling in (parts.words(name), parts._bare(name)):
                assert spelling
                assert seen.setdefault(spelling, row["target"]) == row["target"], name


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
    ("B200", "nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT"): "tcgen05.m128n128k16.kind::f16.f32.bf16.bf16",
    ("B200", "nvjet_sm100_ootst_128x256_256x5_2x1_2cta_v_bz_Avec16UE4M3_Bvec16UE4M3_TNT"):
        "tcgen05.m128n128k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    ("B200", "nvjet_sm100_qqtst_128x256_128x6_2x2_2cta_h_bz_Avec32UE8M0_Bvec32UE8M0_TNT"):
        "tcgen05.m128n128k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0",
    ("RTX 5090", "nvjet_sm120_tst_mma_64x64x128_3_32x32x128_tmaAB_alignCD4_bz_TNNN"): "mma.m16n8k16.f32.bf16.bf16.f32",
    ("A100", "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize192x128x32_stage3_warpsize4x2x1_tensor16x8x16_kernel"):
        "mma.m16n8k16.f32.f16.f16.f32",
    ("RTX 4090", "sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x64_stage3_warpsize2x2x1_tensor16x8x32_kernel"):
        "mma.m16n8k32.f32.e4m3.e4m3.f32",
    ("H100", "cutlass3x_sm90_tensorop_s64x256x16gemm_bf16_bf16_f32_bf16_bf16_128x256x64_1x1x1_0_tnn_align8"):
        "wgmma.m64n128k16.f32.bf16.bf16",
    ("B200", "cutlass3x_sm100_bstensorop_s256x256x64gemm_block_scaled_ue4m3xf4_ue4m3xf4_f32_bf16_bf16_256x256x256"):
        "tcgen05.m128n128k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    ("RTX 5090", "cutlass3x_sm120_bstensorop_s16832gemm_block_scaled_ue8m0xe4m3_ue8m0xe4m3_f32_bf16_bf16_128x128x128"):
        "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0",
    ("MI300X", "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_LDSB0"): "v_mfma_f32_32x32x8_f16",
    ("MI300X", "Cijk_Alik_Bljk_F8BS_BH_Bias_HA_S_SAB_SAV_MT256x256x128_MI16x16x1_SN"): "v_mfma_f32_16x16x32_fp8_fp8",
    ("gfx1201", "__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12"): "v_wmma_f32_16x16x16_f16_w32",
    ("A100", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"): "wmma.m16n16k16.f32.f16.f16.f32",
    ("A100", "cutlass_80_wmma_tensorop_i161616gemm_s8_forwardCompat_128x128_32x2_nn_align4"): "wmma.m16n16k16.s32.s8.s8.s32",
}  # fmt: skip


@pytest.mark.parametrize(("part", "name"), NAMES)
def test_instructions_resolve(part: str, name: str) -> None:
    assert golden.instruction(part, name).name == NAMES[part, name]


def meant(part: str, name: str) -> list[str]:
    """The instructions that a name resolves to or is refused with."""
    try:
        return [golden.instruction(part, name).name]
    except ValueError as error:
        listed = re.search(r"can be several instructions of \w+: (.*?)(?: and \d+ more)?; name one", str(error))
        return listed[1].split(", ") if listed else []


REFUSED = {
    ("A100", "s16816gemm"): r"^'s16816gemm' can be several instructions of sm_80: mma\.m16n8k16\.f32\.bf16\.bf16\.f32, "
    r"mma\.m16n8k16\.f32\.f16\.f16\.f32; name one; the format of the factors is not in its name$",
    ("H100", "nvjet…"): r"^'nvjet…' can be several .*tf32, .*f16, .*bf16, .*e4m3, .*e5m2; name one; the letters after ",
    ("A100", "sm80_xmma_gemm_f16f16_f16f32_f32…"): r": mma\.m16n8k8\..*, mma\.m16n8k16\..*; the shape is not in its name$",
    ("B200", "UTCHMMA"): r"\.kind::tf32\..*; name one; its formats are in a descriptor, not in its name$",
    ("H100", "wgmma.mma_async.sync.aligned…"): r"wgmma\.m64n128k8\..* and 13 more; name one; it is cut off$",
    ("A100", "ampere_sgemm_128x64_tn"): "is not one of the 63 known; it multiplies and adds on CUDA cores",
    ("H100", "internal::gemvx::kernel"): "is not one of the 620 known; it multiplies and adds on CUDA cores",
    ("gfx1201", "__builtin_amdgcn_wmma_i32_16x16x16_iu8_w32"): "must name the signs of A and B",
    **{("A100", name): "is not one of the 63 known" for name in (
        "HMMA.16816.F32.E4M3", "mma.sync.aligned.m16n8k99.row.col.f32.f16.f16.f32", "mfma_f32_32x32x9f16",
        "nvjet_tst_192x192_64x4_1x2_h_bz_coopA_NTN",
    )},
    ("H100", "nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT"): "is not one of the 620 known",
}  # fmt: skip
"""Names that no instruction alone has, or none of the part: never one is chosen in silence."""


@pytest.mark.parametrize(("part", "name"), REFUSED)
def test_a_name_of_several_instructions_or_none_is_refused_with_what_is_known(part: str, name: str) -> None:
    with pytest.raises(ValueError, match=REFUSED[part, name]):
        golden.instruction(part, name)


@pytest.mark.slow
def test_ptx_and_sass_name_the_instructions_that_compilers_made() -> None:
    """The disassembly of every kernel (docs/reference/instructions.md): SASS finds the instructions that became it."""
    rows = [
        [cell.strip() for cell in line.strip("| \n").split("|")]
        for line in (ROOT / "docs/reference/instructions.md").read_text("utf-8").splitlines()
        if line.startswith(("| `mma.", "| `wgmma.", "| `tcgen05.", "| `__builtin"))
    ]
    became: dict[tuple[str, str], set[str]] = {}
    for ptx, sass, archs in rows:
        for arch in archs.split(", "):
            names = meant(arch, ptx.strip("`").replace("nNk", "n128k"))
            assert names if "tcgen05" in ptx else len(names) == 1, (arch, ptx)
            if "×" not in sass and "`, `" not in sass:
                became.setdefault((arch, sass.strip("`").replace("xNx", "x128x")), set()).update(names)
    assert len(became) > 400
    for (arch, sass), made in became.items():
        found = set(meant(arch, sass))
        assert found, (arch, sass)
        assert found <= made, (arch, sass)


@pytest.mark.slow
def test_kernels_that_an_h100_ran_name_the_instruction_of_their_order() -> None:
    """Names that a profiler gave beside the products whose orders were found (docs/evidence/library-products.json)."""
    products = json.loads((ROOT / "docs/evidence/library-products.json").read_text("utf-8"))["products"]
    seen = set()
    for product in products.values():
        of: str = (product.get("explanation") or {}).get("instruction", "")
        for kernel in product["kernels"] if of else ():
            if re.match(r"nvjet_|sm90_xmma|cutlass_80|mma\.|wgmma\.", kernel) and (of, kernel) not in seen:
                seen.add((of, kernel))
                kind = golden.instruction("H100", kernel)
                order = golden.instruction("H100", of)
                # cuBLAS multiplies columns: its A is B here; a product of mma may have the bits of wgmma's instruction
                assert (kind.d, {kind.a, kind.b}) == (order.d, {order.a, order.b}), kernel
                assert kind.name == of or "nvjet" not in kernel or kind.a != kind.b
    assert len(seen) > 160


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
    assert dir(mmau.testing) == sorted(mmau.testing.__all__)


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
    C = (np.arange(2 * 3 * 20 * 20) % 7).astype(np.float32).reshape(2, 3, 20, 20)
    operands: list[Any] = [(A, B[0], None), (A[0], B, C[0]), (A[None], B[:1], C), (A[:, None], B, C[0, 0]), (A, B, C[1, :1])]
    for a, b, c in operands:
        got = golden.gemm(wgmma, a, b, c)
        axes = np.broadcast_shapes(*(x.shape[:-2] for x in (a, b, c) if x is not None))
        every = (np.broadcast_to(x, (*axes, 20, 20)).reshape(-1, 20, 20) for x in (a, b, got if c is None else c, got))
        for at, (of_a, of_b, of_c, of_d) in enumerate(zip(*every, strict=True)):
            assert (of_d == golden.gemm(wgmma, of_a, of_b, None if c is None else of_c)).all(), at
    for wrong, message in (
        ((A, B[:2]), r"^the leading axes of .* or be 1 or absent; got \(3, 20, 20\), \(2, 20, 20\)$"),
        ((A[:0], B[:0]), r"^the leading axes of .* at least 1, or be 1 or absent; got \(0, 20, 20\), \(0, 20, 20\)$"),
        ((A, None), "^B of a batch must be an array of two axes or more, got NoneType$"),
        ((A, B[0, 0]), r"^B of a batch must be an array of two axes or more, got one of shape \(20,\)$"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            golden.gemm(wgmma, *wrong)


def test_operands_without_a_dtype_are_refused_where_it_would_say_the_format() -> None:
    one = np.ones((4, 4), np.float16)
    for wrong, got in (
        (([one], [one]), "list and list"),
        ((one, None), r"\(4, 4\) and NoneType"),
        ((one[0], one), r"\(4,\) and "),
    ):
        with pytest.raises(TypeError, match=rf"^A and B must be arrays or tensors, \[M, K\] .* says the format; got {got}"):
            golden.gemm(*wrong, part="H100", used_by="cublas")
