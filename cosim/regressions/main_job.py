"""The designs of the main job (`make cosim`)."""

import golden
from golden import Implementation, Unit
from rtl.designs.design import Design
from rtl.designs.sample_designs import multi_format_designs, tile_designs

_UNITS: tuple[tuple[str, str, str, int], ...] = (
    ("sm_70", "mma.m8n8k4.f32.f16.f16.f32", "sign-magnitude", 0),
    ("sm_80", "mma.m16n8k16.f32.f16.f16.f32", "twos-complement", 2),
    ("sm_80", "mma.m16n8k8.f32.tf32.tf32.f32", "ones-complement", 0),
    ("sm_90", "mma.m16n8k16.f32.f16.f16.f32", "sign-magnitude", 4),
    ("sm_90", "mma.m16n8k16.f32.bf16.bf16.f32", "twos-complement", 0),
    ("sm_90", "mma.m16n8k16.f16.f16.f16.f16", "sign-magnitude", 1),
    ("sm_90", "wgmma.m64n8k32.f32.e4m3.e4m3", "twos-complement", 3),
    ("sm_100", "tcgen05.m64n8k32.kind::f8f6f4.f32.e3m2.e2m3", "sign-magnitude", 8),
    ("sm_100", "tcgen05.m64n8k32.kind::f8f6f4.f32.e2m1.e2m1", "ones-complement", 0),
    ("sm_100", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e5m2.ue8m0", "ones-complement", 5),
    ("sm_100", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", "sign-magnitude", 6),
    ("sm_80", "mma.m8n8k4.f64.f64.f64.f64", "sign-magnitude", 3),
    ("gfx908", "v_mfma_f32_32x32x1f32", "twos-complement", 0),
    ("gfx908", "v_mfma_f32_32x32x4f16", "ones-complement", 0),
    ("gfx90a", "v_mfma_f32_32x32x4f16", "sign-magnitude", 7),
    ("gfx942", "v_mfma_f32_16x16x16_f16", "twos-complement", 0),
    ("gfx942", "v_mfma_f32_16x16x32_fp8_bf8", "ones-complement", 4),
    ("x86-amx", "tdpbf16ps.m16n16k4", "sign-magnitude", 3),
    ("x86-amx", "tdpbsud.m16n16k16", "ones-complement", 0),
    ("x86-avx512", "vdpbf16ps", "twos-complement", 0),
    ("x86-avx512", "vpdpbusds", "ones-complement", 1),
    ("x86-avx512", "vfmaddph", "ones-complement", 2),
    ("gfx1100", "v_wmma_f32_16x16x16_bf16_w32", "ones-complement", 0),
    ("gfx1100", "v_wmma_f16_16x16x16_f16_w32", "twos-complement", 2),
    ("gfx1201", "v_wmma_f32_16x16x16_f16_w32", "sign-magnitude", 3),
    ("gfx1201", "v_dot2_bf16_bf16", "twos-complement", 0),
)
"""Architecture, instruction, encoding, pipeline stages: every operation, every kind of T-FDPA, every option."""


def main_job() -> list[Unit | Design]:
    """The main job: units, each one step of an instruction; a multi-format datapath; and a tile of two steps."""
    return [*main_units(), multi_format_designs()[1], tile_designs()[1]]


def main_units() -> list[Unit]:
    """The units of the main job."""
    return [
        Unit(
            name=f"{arch} {name}",
            operation=golden.instruction(arch, name).operation,
            implementation=Implementation(encoding=encoding, stages=stages),
        )
        for arch, name, encoding, stages in _UNITS
    ]
