"""The catalogue: its instructions, their operations and formats, and their names and errors."""

import re
from collections import Counter
from typing import Any

import pytest

import golden
from tests.data.load import vector_sets

FP8 = ("e4m3", "e5m2")
MXFP8, NVFP4 = "mma.m16n8k32.kind::mxf8f6f4", "mma.m16n8k64.kind::mxf4nvf4"
ARCHITECTURES = (
    "sm_70, Volta, sm_75, Turing, sm_80, Ampere, sm_89, Ada Lovelace, Ada, sm_90, Hopper, sm_100, Blackwell, sm_120, "
    "RTX Blackwell, gfx908, CDNA1, gfx90a, CDNA2, gfx942, CDNA3, gfx950, CDNA4, gfx1100, RDNA3, "
    "gfx1151, RDNA3.5, gfx1201, RDNA4, x86-amx, AMX, x86-avx512, AVX-512, "
    "aarch64, Arm64, armv9-sme, SME, SME2, riscv-zvbdota, Zvbdota"
)


def test_count_by_architecture() -> None:
    """Those of the vectors (326), the N and M variants, and eight FP8 mma.sync each on sm_90 and sm_100.

    Integers: of mma 17 on sm_75 and 54 later, of wgmma 8 × 18 N and 18 N of bits; 5 of CDNA; RDNA: 8 signs and waves of
    iu8, on gfx1201 4 × 3 × 2 and 4 × 3 with CLAMP.
    wgmma: 12 type rows × 31 more N. tcgen05, unscaled: 54 rows × (31 more N + 32 of M = 128); scaled: 29 rows × 31.
    """
    assert Counter(i.arch for i in golden.instructions()) == {
        "sm_70": 3,
        "sm_75": 5 + 17,
        "sm_80": 9 + 54,
        "sm_89": 25 + 54,
        "sm_90": 24 + 12 * 31 + 8 + 54 + 8 * 18 + 18,
        "sm_100": 92 + 54 * (31 + 32) + 29 * 31 + 8 + 54,
        "sm_120": 104 + 54,
        "gfx908": 15 + 5,
        "gfx90a": 22 + 5,
        "gfx942": 27 + 5,
        "gfx950": 2 + 5 + 10 + 4 + 2 + 7,
        "gfx1100": 4 + 8 + 8,
        "gfx1151": 4 + 8 + 8,
        "gfx1201": 4 + 8 + 4 * 3 * 2 + 4 * 3,
        "x86-amx": 2 * 16 + 4 * 16,
        "x86-avx512": 4,
        "aarch64": 5 + 2 + 4 * 4,
        "armv9-sme": 2 * 6 + 2 + 2 * 4 + 4,
        "riscv-zvbdota": 3 + 3 * 4 + 3 * 4,
    }
    assert [len(golden.instructions(arch)) for arch in ("sm_70", "Volta", "CDNA3")] == [3, 3, 32]


def test_names_are_unique_within_an_architecture() -> None:
    assert max(Counter((i.arch, i.name) for i in golden.instructions()).values()) == 1


def test_every_m_and_n_of_wgmma_and_tcgen05_has_the_arithmetic_of_the_smallest() -> None:
    for i in golden.instructions():
        if (named := re.fullmatch(r"(wgmma|tcgen05)\.m(\d+)n(\d+)k(\d+)(\..*)", i.name)) is not None:
            smallest = f"{named[1]}.m{128 if '.block' in i.name else 64}n8k{named[4]}{named[5]}"
            sibling = golden.instruction(i.arch, smallest)
            assert (i.operation, i.chain, i.k) == (sibling.operation, sibling.chain, sibling.k), i.name
            assert (i.m, i.n, i.k) == tuple(map(int, named.group(2, 3, 4))), i.name


@pytest.mark.parametrize("arch", ["sm_90", "sm_100"])
def test_fp8_mma_sync_runs_as_fp16_work(arch: str) -> None:
    for d in ("f32", "f16"):
        for a in FP8:
            for b in FP8:
                i = golden.instruction(arch, f"mma.m16n8k32.{d}.{a}.{b}.{d}")
                assert i.fp16_order is not None
                assert i.chain.order == "pairs-of-four"
                assert (i.a.name, i.b.name) == (a, b)
                assert i.operation.parameters() == {
                    "a": "fp16",
                    "b": "fp16",
                    "c": {"f16": "fp16", "f32": "fp32"}[d],
                    "L": 16,
                    "F": 25,
                    "rho": {"f16": "RNE-FP16", "f32": "RZ-FP32"}[d],
                    "e_zero": {"f16": -21, "f32": -133}[d],
                    "truncation": "RZ",
                }
                of_sm_100 = "third-party" if a == b else "inferred"
                assert (i.note == "", i.evidence) == ((True, "recorded") if arch == "sm_90" else (False, of_sm_100))


def test_evidence_of_every_entry() -> None:
    """The authors of paper 000 validated the instructions of the vectors; a recording is stronger, an inference weaker."""
    validated = {(v.arch, v.instruction_name) for v in vector_sets()}
    for i in golden.instructions():
        assert i.evidence in golden.EVIDENCE
        assert (i.evidence == "published") <= ((i.arch, i.name) in validated), i.name
        assert ((i.arch, i.name) in validated) <= (i.evidence != "inferred"), i.name


@pytest.mark.parametrize(
    ("spelling", "arch"),
    [
        ("Volta", "sm_70"), ("Turing", "sm_75"), ("Ampere", "sm_80"), ("Ada Lovelace", "sm_89"), ("Ada", "sm_89"),
        ("Hopper", "sm_90"), ("Blackwell", "sm_100"), ("RTX Blackwell", "sm_120"), ("CDNA1", "gfx908"),
        ("CDNA2", "gfx90a"), ("CDNA3", "gfx942"), ("cdna 3", "gfx942"), ("SM90", "sm_90"), ("gfx90a", "gfx90a"),
        ("RDNA3", "gfx1100"), ("RDNA3.5", "gfx1151"), ("rdna 3.5", "gfx1151"), ("RDNA4", "gfx1201"),
        ("rtxblackwell", "sm_120"), ("AVX-512", "x86-avx512"), ("avx 512", "x86-avx512"), ("X86 AMX", "x86-amx"),
    ],
)  # fmt: skip
def test_architecture_by_marketing_name(spelling: str, arch: str) -> None:
    assert golden.architecture(spelling) == arch
    assert golden.instructions(spelling) == golden.instructions(arch)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("sm_91", " (did you mean 'sm_90' or 'sm_89' or 'sm_90a'?)"),
        ("hoper", " (did you mean 'Hopper' or 'Ampere'?)"),
        ("A101", " (did you mean 'A10' or 'A10G' or 'A100'?)"),
        ("tpu", ""),
        (7, ""),
    ],
)
def test_architecture_unknown(name: Any, hint: str) -> None:
    message = f"architecture must be one of {ARCHITECTURES}; got {name!r}{hint}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        golden.instruction(name, "mma.m8n8k4.f64.f64.f64.f64")


@pytest.mark.parametrize(
    ("arch", "name", "message"),
    [
        (
            "sm_90", "mma.m16n8k16.f32.f16.f16.f16",
            "sm_90 instruction 'mma.m16n8k16.f32.f16.f16.f16' is not one of the 620 known (did you mean "
            "'mma.m16n8k16.f32.f16.f16.f32' or 'mma.m16n8k16.f16.f16.f16.f16' or 'mma.m16n8k8.f32.f16.f16.f32'?)",
        ),
        (
            "Volta", "zzz",
            "sm_70 instruction must be one of mma.m8n8k4.f32.f16.f16.f32, mma.m8n8k4.f32.f16.f16.f16, "
            "mma.m8n8k4.f16.f16.f16.f16; got 'zzz'",
        ),
        (
            "gfx1201", "v_wmma_f32_16x16x16_f16",
            "gfx1201 instruction 'v_wmma_f32_16x16x16_f16' must name the size of the wave, _w32 or _w64, which decides "
            "the order of the products on gfx1201",
        ),
        (
            "RDNA3.5", "v_wmma_i32_16x16x16_iu8_w16.s8.s8",
            "gfx1151 instruction 'v_wmma_i32_16x16x16_iu8_w16.s8.s8' must name the size of the wave, _w32 or _w64, which "
            "decides the order of the products on gfx1201",
        ),
        (
            "RDNA4", "v_wmma_i32_16x16x32_iu4_w32",
            "gfx1201 instruction 'v_wmma_i32_16x16x32_iu4_w32' must name the signs of A and B after the wave, such "
            "as .s4.u4",
        ),
        (
            "RDNA3", "v_dual_dot2acc_f32_bf16",
            "gfx1100 instruction 'v_dual_dot2acc_f32_bf16' is in the catalogue as 'v_dot2_f32_bf16', which computes the "
            "same",
        ),
        (
            "RDNA3", "v_wmma_f16_16x16x16_f16_w32.clamp",
            "gfx1100 instruction 'v_wmma_f16_16x16x16_f16_w32.clamp' does not exist: floating-point WMMA has no CLAMP, a "
            "bit that recorded 16-bit results ignore",
        ),
        (
            "RDNA4", "v_wmma_f32_16x16x32_fp8_fp8_w32",
            "gfx1201 instruction 'v_wmma_f32_16x16x32_fp8_fp8_w32' is not one of the 48 known (did you mean "
            "'v_wmma_f32_16x16x16_f16_w32' or 'v_wmma_f32_16x16x16_bf16_w32' or 'v_wmma_f32_16x16x16_f16_w64'?)",
        ),
        (
            "RDNA3", "v_dot2_f32_f16_w32",
            "gfx1100 instruction 'v_dot2_f32_f16_w32' has no size of a wave in its name: each lane has its own dot product",
        ),
        (
            "RDNA3", "v_wmma_f32_16x16x16_fp8_bf8_w32",
            "gfx1100 instruction 'v_wmma_f32_16x16x16_fp8_bf8_w32' does not exist: RDNA3 has no FP8 instruction; RDNA4 "
            "has, but their rounding is unrecorded",
        ),
        (
            "RDNA4", "v_wmma_f32_16x16x16_bf8_fp8_w32",
            "gfx1201 instruction 'v_wmma_f32_16x16x16_bf8_fp8_w32' is not in the catalogue: recordings hold small exact "
            "integers alone, so that its groups, its order and its rounding are unknown",
        ),
        (
            "RDNA4", "v_swmmac_f32_16x16x32_f16_w32",
            "gfx1201 instruction 'v_swmmac_f32_16x16x32_f16_w32' is not in the catalogue: recordings of its sparse "
            "products hold small exact integers alone, so that its steps and its rounding are unknown",
        ),
        (
            "RDNA4", "v_swmmac_i32_16x16x32_iu8_w32",
            "gfx1201 instruction 'v_swmmac_i32_16x16x32_iu8_w32' must name the size of the wave and the signs of A and B, "
            "such as _w32.s8.u8",
        ),
        (
            "RDNA4", "v_wmma_i32_16x16x16_iu8_w64.s8.u8.clamp",
            "gfx1201 instruction 'v_wmma_i32_16x16x16_iu8_w64.s8.u8.clamp' is not in the catalogue: with CLAMP only "
            "wave32 of gfx1201 is recorded, which saturates twice; without CLAMP sums wrap",
        ),
        (
            "RDNA3", "v_wmma_i32_16x16x16_iu4_w32.s4.u4",
            "gfx1100 instruction 'v_wmma_i32_16x16x16_iu4_w32.s4.u4' is not in the catalogue: iu4 is unrecorded on RDNA3; "
            "iu8 has exact sums, and so has iu4 on gfx1201",
        ),
        ("sm_90", None, "sm_90 instruction None is not one of the 620 known"),
    ],
)  # fmt: skip
def test_instruction_unknown(arch: str, name: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        golden.instruction(arch, name)


@pytest.mark.parametrize(
    ("arch", "name", "shape", "formats", "block_size"),
    [
        ("sm_90", "mma.m16n8k16.f32.f16.f16.f32", (16, 8, 16), "fp16 fp16 fp32 fp32 None", None),
        ("sm_70", "mma.m8n8k4.f32.f16.f16.f16", (8, 8, 4), "fp16 fp16 fp16 fp32 None", None),
        ("sm_90", "wgmma.m64n24k32.f16.e4m3.e5m2", (64, 24, 32), "e4m3 e5m2 fp16 fp16 None", None),
        ("sm_100", "tcgen05.m128n256k32.kind::f8f6f4.f32.e3m2.e2m1", (128, 256, 32), "e3m2 e2m1 fp32 fp32 None", None),
        ("sm_120", f"{NVFP4}.block16.f32.e2m1.e2m1.f32.ue4m3", (16, 8, 64), "e2m1 e2m1 fp32 fp32 ue4m3", 16),
        ("sm_120", f"{MXFP8}.block32.f32.e5m2.e2m3.f32.ue8m0", (16, 8, 32), "e5m2 e2m3 fp32 fp32 ue8m0", 32),
        ("gfx942", "v_mfma_f32_32x32x16_bf8_fp8", (32, 32, 16), "e5m2fnuz e4m3fnuz fp32 fp32 None", None),
        ("gfx942", "v_mfma_f32_16x16x8_xf32", (16, 16, 8), "tf32 tf32 fp32 fp32 None", None),
        ("gfx90a", "v_mfma_f32_4x4x4bf16_1k", (4, 4, 4), "bf16 bf16 fp32 fp32 None", None),
        ("x86-amx", "tdpbf16ps.m16n16k32", (16, 16, 32), "bf16 bf16 fp32 fp32 None", None),
        ("x86-amx", "tdpbsud.m16n16k12", (16, 16, 12), "int8 uint8 int32 int32 None", None),
        ("x86-avx512", "vpdpbusds", (1, 1, 4), "uint8 int8 int32 int32 None", None),
        ("x86-avx512", "vfmaddph", (1, 1, 1), "fp16 fp16 fp16 fp16 None", None),
        ("gfx1100", "v_wmma_bf16_16x16x16_bf16_w64", (16, 16, 16), "bf16 bf16 bf16 bf16 None", None),
        ("gfx1201", "v_dot2_f32_f16", (1, 1, 2), "fp16 fp16 fp32 fp32 None", None),
        ("gfx1201", "v_wmma_i32_16x16x32_iu4_w32.s4.u4.clamp", (16, 16, 32), "int4 uint4 int32 int32 None", None),
        ("sm_80", "mma.m16n8k64.satfinite.s32.u4.s4.s32", (16, 8, 64), "uint4 int4 int32 int32 None", None),
        ("sm_80", "mma.m16n8k256.s32.b1.b1.s32.xor.popc", (16, 8, 256), "b1 b1 int32 int32 None", None),
        ("sm_90", "wgmma.m64n48k32.satfinite.s32.s8.u8", (64, 48, 32), "int8 uint8 int32 int32 None", None),
        ("sm_90", "wgmma.m64n256k32.s32.s8.s8", (64, 256, 32), "int8 int8 int32 int32 None", None),
        ("gfx942", "v_mfma_i32_16x16x32_i8", (16, 16, 32), "int8 int8 int32 int32 None", None),
        ("gfx90a", "v_mfma_f64_16x16x4f64", (16, 16, 4), "fp64 fp64 fp64 fp64 None", None),
    ],
)  # fmt: skip
def test_attributes(arch: str, name: str, shape: tuple[int, int, int], formats: str, block_size: int | None) -> None:
    i = golden.instruction(arch, name)
    assert (i.arch, i.name, i.m, i.n, i.k) == (arch, name, *shape)
    assert " ".join(str(f) for f in (i.a, i.b, i.c, i.d, i.scale)) == formats
    assert i.block_size == block_size
