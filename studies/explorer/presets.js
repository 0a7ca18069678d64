// Examples: an instruction and its operands as a reader would type them, with where they come from.

const PRESETS = [
  { title: "Four products and c = 2^23 (Xie et al., table 8): 0, −0.5, −0.75 or −0.875, depending on the unit", arch: "sm_90",
    name: "mma.m16n8k16.f32.f16.f16.f32", a: "-8192 -0.5 -0.25 -0.125", b: "1024 1 1 1", c: "8388608" },
  { title: "The same on Volta", arch: "sm_70", name: "mma.m8n8k4.f32.f16.f16.f32", a: "-8192 -0.5 -0.25 -0.125", b: "1024 1 1 1",
    c: "8388608" },
  { title: "FP8 on Hopper: 13 fraction bits", arch: "sm_90", name: "wgmma.m64n8k32.f32.e4m3.e4m3", a: "256 1 0.0625", b: "256 1 0.0625", c: "0" },
  { title: "A product below 2^-14 on CDNA2, which flushes subnormal inputs", arch: "gfx90a", name: "v_mfma_f32_16x16x16f16",
    a: "0x1p-15", b: "0x1p15", c: "0" },
  { title: "1·1 − 2^−25 on CDNA3, which rounds down (Xie et al., section 6.2.4): 1 − 2^−24", arch: "gfx942", name: "v_mfma_f32_16x16x16_f16",
    a: "1", b: "1", c: "-0x1p-25" },
  { title: "1·1 − 1 on RDNA3, which subtracts in one's complement: 2^−23", arch: "gfx1100", name: "v_dot2_f32_f16", a: "1", b: "1", c: "-1" },
  { title: "A subnormal operand on AMX, which takes it for zero", arch: "x86-amx", name: "tdpbf16ps.m16n16k32",
    a: "0x1p-130", b: "0x1p10", c: "0" },
  { title: "Infinities of both signs give NaN", arch: "sm_80", name: "mma.m16n8k16.f32.f16.f16.f32", a: "inf 1", b: "1 -inf", c: "0" },
];
