"""Kernels compile for their parts, and the SASS holds the instruction that the name claims."""

import re

import pytest

import golden
from golden.native.nvrtc import CompileError, compile_cubin, version
from hwtests.nvidia.disassembly import expected, matrix_instructions, sass
from hwtests.nvidia.kernels import instructions, kernel_of, kernels_of
from hwtests.nvidia.mma import mma_kernel
from hwtests.nvidia.source import Kernel
from hwtests.nvidia.wgmma import wgmma_kernel
from tests.hwtests.compilers import needs_cuda_compiler

SAMPLE = [
    ("sm_70", "mma.m8n8k4.f32.f16.f16.f32"),
    ("sm_75", "mma.m8n8k4.f16.f16.f16.f16"),
    ("sm_75", "mma.m16n8k8.f32.f16.f16.f32"),
    ("sm_80", "mma.m16n8k8.f32.tf32.tf32.f32"),
    ("sm_80", "mma.m8n8k4.f64.f64.f64.f64"),
    ("sm_89", "mma.m16n8k32.f16.e4m3.e5m2.f16"),
    ("sm_90", "mma.m16n8k16.f64.f64.f64.f64"),
    ("sm_90", "mma.m16n8k32.f32.e5m2.e4m3.f32"),
    ("sm_90", "wgmma.m64n8k16.f16.f16.f16"),
    ("sm_90", "wgmma.m64n24k32.f32.e4m3.e5m2"),
    ("sm_100", "tcgen05.m64n8k16.kind::f16.f32.bf16.bf16"),
    ("sm_100", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e3m2.e2m1.ue8m0"),
    ("sm_100", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"),
    ("sm_120", "mma.m16n8k32.kind::f8f6f4.f16.e2m3.e2m1.f16"),
    ("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0"),
    ("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"),
    ("sm_75", "mma.m8n8k32.satfinite.s32.s4.u4.s32"),
    ("sm_80", "mma.m16n8k256.s32.b1.b1.s32.xor.popc"),
    ("sm_90", "mma.m16n8k64.satfinite.s32.u4.s4.s32"),
    ("sm_90", "mma.m8n8k128.s32.b1.b1.s32.xor.popc"),
    ("sm_90", "wgmma.m64n24k32.satfinite.s32.u8.s8"),
    ("sm_90", "wgmma.m64n256k32.s32.u8.s8"),
    ("sm_90", "wgmma.m64n240k32.satfinite.s32.s8.s8"),
    ("sm_90", "wgmma.m64n8k256.s32.b1.b1.and.popc"),
    ("sm_120", "mma.m8n8k16.s32.s8.u8.s32"),
    ("sm_120", "mma.m16n8k128.s32.b1.b1.s32.and.popc"),
]


NOT_IN_13_0 = {("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue8m0")}
"""Instructions that the assembler of CUDA 13.0 refuses and a later one accepts."""


def assert_holds_what_it_claims(instruction: golden.Instruction, kernel: Kernel) -> None:
    if version(13) == "13.0" and (instruction.arch, instruction.name) in NOT_IN_13_0:
        with pytest.raises(CompileError, match="Illegal modifier"):
            compile_cubin(kernel.source, kernel.target)
        return
    assert dict(matrix_instructions(compile_cubin(kernel.source, kernel.target))) == expected(instruction)


@needs_cuda_compiler
@pytest.mark.parametrize(("arch", "name"), SAMPLE)
def test_sample_holds_what_it_claims(arch: str, name: str) -> None:
    instruction = golden.instruction(arch, name)
    assert_holds_what_it_claims(instruction, kernel_of(instruction))


@needs_cuda_compiler
def test_wgmma_with_a_from_registers_holds_what_it_claims() -> None:
    instruction = golden.instruction("sm_90", "wgmma.m64n16k8.f32.tf32.tf32")
    assert_holds_what_it_claims(instruction, wgmma_kernel(instruction, a_in_registers=True))


def with_distinct_sources() -> list[tuple[golden.Instruction, Kernel]]:
    """One instruction for every distinct source and target, with its kernel; `wgmma` with A from registers too, for the
    smallest and the largest N (N does not change A's fragment)."""
    found: dict[tuple[str, str], tuple[golden.Instruction, Kernel]] = {}
    for entry in instructions():
        kernels = kernels_of(entry) if entry.n in (8, 256) else [kernel_of(entry)]
        for kernel in kernels:
            found.setdefault((kernel.target, kernel.source), (entry, kernel))
    return list(found.values())


@needs_cuda_compiler
@pytest.mark.kernels
@pytest.mark.parametrize(
    ("instruction", "kernel"),
    [pytest.param(i, k, id=f"{i.arch}-{i.name}-{n}") for n, (i, k) in enumerate(with_distinct_sources())],
)
def test_every_distinct_source_holds_what_it_claims(instruction: golden.Instruction, kernel: Kernel) -> None:
    assert_holds_what_it_claims(instruction, kernel)


@needs_cuda_compiler
@pytest.mark.parametrize("arch", ["sm_90", "sm_100"])
@pytest.mark.parametrize("d", ["f16", "f32"])
def test_fp8_mma_sync_is_fp16_work_on_the_low_halves_first(arch: str, d: str) -> None:
    """No FP8 datapath stands behind FP8 `mma.sync` on sm_90 and sm_100: the compiler converts to fp16, and the first HMMA,
    which starts from zero, takes what was unpacked from the low halves of the registers: the k with k mod 4 < 2."""
    cubin = compile_cubin(mma_kernel(golden.instruction(arch, f"mma.m16n8k32.{d}.e4m3.e4m3.{d}")).source, arch + "a")
    unpacked: dict[str, str] = {}
    halves, from_zero = [], []
    for mnemonic, operands in sass(cubin):
        words = [word.removesuffix(".reuse") for word in re.split(r",\s*", operands)]
        if mnemonic.startswith("F2FP.F16.E4M3.UNPACK_B"):
            unpacked[words[0]] = "high" if ".H1" in words[1] else "low"
        elif mnemonic.startswith("HMMA"):
            halves.append((unpacked[words[1]], unpacked[words[2]]))
            from_zero.append(words[3] == "RZ")
    assert halves == [("low", "low"), ("high", "high")]
    assert from_zero == [True, False]


@needs_cuda_compiler
def test_sums_of_four_bits_are_limited_once_after_c_on_hopper() -> None:
    """Both IMMA start from zero and none saturates: C is added to their sum, and that alone is limited, by SEL."""
    code = sass(
        compile_cubin(mma_kernel(golden.instruction("sm_90", "mma.m8n8k32.satfinite.s32.s4.s4.s32")).source, "sm_90a")
    )
    starts = [operands.split(", ")[3] for mnemonic, operands in code if mnemonic.startswith("IMMA")]
    limits = [word for mnemonic, operands in code if mnemonic == "SEL" for word in operands.split(", ") if word[:2] == "0x"]
    assert starts == ["RZ", "RZ"]
    assert sorted(limits) == ["0x7fffffff"] * 2 + ["0x80000000"] * 2


@pytest.mark.slow
def test_every_instruction_has_a_kernel() -> None:
    for instruction in instructions():
        kernel = kernel_of(instruction)
        assert (kernel.arch, kernel.name) == (instruction.arch, instruction.name)
        assert kernel.ptx.split(".")[0] == instruction.name.split(".")[0]


def test_no_kernel_for_another_vendor() -> None:
    amd = golden.instruction("gfx942", "v_mfma_f32_16x16x8_xf32")
    with pytest.raises(ValueError, match=r"^v_mfma_f32_16x16x8_xf32 is no NVIDIA instruction: it runs on gfx942$"):
        kernel_of(amd)
