"""Lists the units of the campaign: for each operation those of the main job, others of the catalogue, and small ones outside
it."""

import golden
from cosim.regressions.coverage_job import further_units
from cosim.regressions.main_job import main_units
from golden import Implementation, Unit

_UNITS: tuple[tuple[str, str, str, int], ...] = (
    ("sm_80", "mma.m8n8k4.f64.f64.f64.f64", "twos-complement", 0),
    ("gfx908", "v_mfma_f32_32x32x1f32", "ones-complement", 2),
    ("gfx90a", "v_mfma_f32_32x32x4bf16_1k", "twos-complement", 0),
    ("gfx90a", "v_mfma_f32_32x32x2bf16", "ones-complement", 3),
    ("gfx908", "v_mfma_f32_32x32x2bf16", "twos-complement", 4),
    ("gfx908", "v_mfma_f32_32x32x4f16", "sign-magnitude", 2),
    ("sm_75", "mma.m16n8k8.f32.f16.f16.f32", "ones-complement", 3),
    ("sm_89", "mma.m16n8k16.f16.e4m3.e5m2.f16", "ones-complement", 0),
    ("sm_100", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e5m2.e2m1.ue8m0", "sign-magnitude", 0),
    ("sm_100", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e3m2.e2m3.ue8m0", "twos-complement", 3),
    ("sm_100", "tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0", "twos-complement", 0),
    ("sm_100", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue8m0", "ones-complement", 4),
    ("gfx942", "v_mfma_f32_16x16x8_xf32", "ones-complement", 3),
    ("gfx942", "v_mfma_f32_32x32x4_2b_bf16", "sign-magnitude", 0),
    ("gfx942", "v_mfma_f32_16x16x32_bf8_bf8", "sign-magnitude", 0),
    ("gfx942", "v_mfma_f32_16x16x32_fp8_fp8", "twos-complement", 8),
    ("x86-amx", "tdpbf16ps.m16n16k4", "twos-complement", 0),
    ("x86-avx512", "vdpbf16ps", "ones-complement", 2),
    ("x86-amx", "tdpbssd.m16n16k16", "twos-complement", 2),
    ("gfx1100", "v_dot2_f32_f16", "sign-magnitude", 0),
    ("gfx1100", "v_wmma_bf16_16x16x16_bf16_w32", "ones-complement", 4),
    ("gfx1201", "v_wmma_f16_16x16x16_f16_w64", "ones-complement", 0),
    ("gfx1201", "v_wmma_f32_16x16x16_bf16_w32", "twos-complement", 2),
)
"""Architecture, instruction, encoding and pipeline stages of the units that the main job does not have."""

SMALL_UNITS = 2
"""Number of small units of each operation that are not in the catalogue."""


def campaign_units() -> list[Unit]:
    """Every operation in every encoding, combinational and in several stages."""
    catalogue = [
        Unit(
            name=f"{arch} {name}",
            operation=golden.instruction(arch, name).operation,
            implementation=Implementation(encoding=encoding, stages=stages),
        )
        for arch, name, encoding, stages in _UNITS
    ]
    of_catalogue = [*main_units(), *catalogue]
    kinds = list(dict.fromkeys(type(unit.operation) for unit in of_catalogue))
    small = [unit for kind in kinds for unit in further_units(kind)[:SMALL_UNITS]]
    return [unit for kind in kinds for unit in [*of_catalogue, *small] if type(unit.operation) is kind]
