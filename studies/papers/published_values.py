"""The papers' values from silicon, in the terms of the tests' answers, and the reasons for a model's different values.

Each value has its section or table as source. Values that the text of a paper has lost are those that its prose says.
"""

from dataclasses import dataclass

Named = tuple[str, str]
"""Architecture and instruction, as in the catalogue."""


@dataclass(frozen=True)
class Device:
    """A device in one mode, and the instruction that stands for it."""

    name: str
    mode: str
    instruction: Named


V100 = Device("V100", "binary16 → binary32", ("sm_70", "wmma.m16n16k16.f32.f16.f16.f32"))
V100_BINARY16 = Device("V100", "binary16 → binary16", ("sm_70", "wmma.m16n16k16.f16.f16.f16.f16"))
T4 = Device("T4", "binary16 → binary32", ("sm_75", "wmma.m16n16k16.f32.f16.f16.f32"))
A100 = Device("A100", "binary16 → binary32", ("sm_80", "wmma.m16n16k16.f32.f16.f16.f32"))
A100_BF16 = Device("A100", "bfloat16 → binary32", ("sm_80", "wmma.m16n16k16.f32.bf16.bf16.f32"))
A100_TF32 = Device("A100", "TensorFloat-32 → binary32", ("sm_80", "wmma.m16n16k8.f32.tf32.tf32.f32"))
A100_FP64 = Device("A100", "binary64 → binary64", ("sm_80", "wmma.m8n8k4.f64.f64.f64.f64"))

FASI_DEVICES = (V100, V100_BINARY16, T4, A100, A100_BF16, A100_TF32, A100_FP64)


@dataclass(frozen=True)
class Claim:
    """A test's answer on some devices.

    Attributes:
        answer: in the words of the test.
        source: section of the paper.
    """

    test: str
    answer: str
    devices: tuple[Device, ...]
    source: str


FASI_CLAIMS = (
    Claim("extra bits in the alignment", "0", (V100,), "3.1.4"),
    Claim("extra bits in the alignment", "1", (T4,), "3.2"),
    Claim("extra bits in the alignment", "1", (A100, A100_BF16, A100_TF32), "3.3"),
    Claim("subnormal operands", "kept", (V100, V100_BINARY16), "3.1.1"),
    Claim("subnormal operands", "kept", (T4,), "3.2"),
    Claim("subnormal operands", "kept", (A100, A100_BF16, A100_TF32, A100_FP64), "3.3"),
    Claim("subnormal c", "kept", (V100,), "3.1.1"),
    Claim("subnormal c", "kept", (T4,), "3.2"),
    Claim("subnormal c", "kept", (A100, A100_BF16, A100_TF32, A100_FP64), "3.3"),
    Claim("subnormal results", "kept", (V100, V100_BINARY16), "3.1.1"),
    Claim("subnormal results", "kept", (T4,), "3.2"),
    Claim("subnormal results", "kept", (A100, A100_BF16, A100_TF32, A100_FP64), "3.3"),
    Claim("subnormals in hardware", "subnormal rounded down", (V100,), "3.1.1"),
    Claim("exact products", "exact", (V100,), "3.1.2"),
    Claim("exact products", "exact", (T4,), "3.2"),
    Claim("exact products", "exact", (A100, A100_BF16, A100_TF32), "3.3"),
    Claim("exact products, binary16", "exact", (V100_BINARY16,), "3.1.2"),
    Claim("rounding errors and order", "from the largest", (V100,), "3.1.2"),
    Claim("rounding errors and order", "from the largest", (T4,), "3.2"),
    Claim("rounding errors and order", "from the largest", (A100, A100_BF16, A100_TF32), "3.3"),
    Claim("rounding errors and order", "depends on the order", (A100_FP64,), "3.3"),
    Claim("rounding of additions", "RZ", (V100,), "3.1.3"),
    Claim("rounding of additions", "RZ", (T4,), "3.2"),
    Claim("rounding of additions", "RZ", (A100, A100_BF16, A100_TF32), "3.3"),
    Claim("rounding of additions", "RN", (A100_FP64,), "3.3"),
    Claim("rounding to binary16", "RN or RU", (V100_BINARY16,), "3.1.3"),
    Claim("normalisation in addition", "at the end", (V100,), "3.1.4"),
    Claim("normalisation in addition", "at the end", (T4,), "3.2"),
    Claim("normalisation in addition", "at the end", (A100, A100_BF16, A100_TF32), "3.3"),
    Claim("normalisation in addition", "after each addition", (A100_FP64,), "3.3"),
    Claim("normalisation in subtraction", "none before the end", (V100,), "3.1.4"),
    Claim("normalisation in subtraction", "none before the end", (T4,), "3.2"),
    Claim("normalisation in subtraction", "none before the end", (A100, A100_BF16, A100_TF32), "3.3"),
    Claim("normalisation in subtraction", "normalised", (A100_FP64,), "3.3"),
    Claim("extra bits for carries", "3", (V100,), "3.1.4"),
    Claim("extra bits for carries", "3", (T4,), "3.2"),
    Claim("extra bits for carries", "3", (A100, A100_BF16, A100_TF32), "3.3"),
    Claim("extra bits for carries", "none", (A100_FP64,), "3.3"),
    Claim("final rounding", "RZ", (V100,), "3.1.4"),
    Claim("final rounding", "RZ", (T4,), "3.2"),
    Claim("final rounding", "RZ", (A100, A100_BF16, A100_TF32), "3.3"),
    Claim("final rounding", "RN", (A100_FP64,), "3.3"),
    Claim("monotonicity", "violated: 1 + 2^-23 above 1", (V100,), "3.1.4"),
    Claim("monotonicity", "violated", (T4,), "3.2"),
    Claim("monotonicity", "violated", (A100, A100_BF16, A100_TF32), "3.3"),
    Claim("monotonicity", "no violation", (A100_FP64,), "3.3"),
)


@dataclass(frozen=True)
class GpuRow:
    """A row of FTTN's table III.

    Attributes:
        values: of `GPU_COLUMNS`.
        instruction: what stands for the GPU with these inputs.
        half: the instruction whose results are fp16, where there is one.
    """

    inputs: str
    gpu: str
    values: tuple[str, ...]
    instruction: Named
    half: Named | None = None


GPU_COLUMNS = (
    "subnormals in",
    "subnormals out",
    "extra bits",
    "rounding",
    "FMA width",
    "order control",
    "output or product",
)

SM_80, SM_90 = "sm_80", "sm_90"

TABLE_III = (
    GpuRow("FP16", "V100", ("yes", "yes", "0", "truncate", "4", "no", "RTN-TE"), V100.instruction,
           V100_BINARY16.instruction),
    GpuRow("FP16", "A100", ("yes", "yes", "1", "truncate", "8", "no", "RTN-TE"), A100.instruction,
           (SM_80, "wmma.m16n16k16.f16.f16.f16.f16")),
    GpuRow("FP16", "H100", ("yes", "yes", "≥ 2", "truncate", "≥ 16", "no", "RTN-TE"),
           (SM_90, "wmma.m16n16k16.f32.f16.f16.f32"), (SM_90, "wmma.m16n16k16.f16.f16.f16.f16")),
    GpuRow("FP16", "MI100", ("yes", "yes", "3", "RTN-TE", "4", "no", "RTN-TE"), ("gfx908", "v_mfma_f32_16x16x16f16")),
    GpuRow("FP16", "MI250X", ("no", "no", "3", "RTN-TE", "1", "N.A.", "RTN-TE"), ("gfx90a", "v_mfma_f32_16x16x16f16")),
    GpuRow("BF16", "A100", ("yes", "yes", "1", "truncate", "8", "no", "N.A."), A100_BF16.instruction),
    GpuRow("BF16", "H100", ("yes", "yes", "≥ 2", "truncate", "≥ 16", "no", "RTN-TE"),
           (SM_90, "wmma.m16n16k16.f32.bf16.bf16.f32")),
    GpuRow("BF16", "MI100", ("yes", "yes", "3", "RTN-TE", "2", "no", "RTN-TE"), ("gfx908", "v_mfma_f32_16x16x8bf16")),
    GpuRow("BF16", "MI250X", ("no", "no", "3", "RTN-TE", "1", "N.A.", "RTN-TE"), ("gfx90a", "v_mfma_f32_16x16x16bf16_1k")),
    GpuRow("TF32", "A100", ("yes", "yes", "1", "RTN-TE", "4", "no", "N.A."), A100_TF32.instruction),
    GpuRow("TF32", "H100", ("yes", "yes", "≥ 2", "truncate", "4", "no", "N.A."), (SM_90, "wmma.m16n16k8.f32.tf32.tf32.f32")),
    GpuRow("FP32", "MI100", ("yes", "yes", "3", "RTN-TE", "1", "N.A.", "RTN-TE"), ("gfx908", "v_mfma_f32_16x16x4f32")),
    GpuRow("FP32", "MI250X", ("yes", "yes", "3", "RTN-TE", "1", "N.A.", "RTN-TE"), ("gfx90a", "v_mfma_f32_16x16x4f32")),
    GpuRow("FP64", "A100", ("yes", "yes", "3", "RTN-TE", "1", "no", "RTN-TE"), A100_FP64.instruction),
    GpuRow("FP64", "H100", ("yes", "yes", "3", "RTN-TE", "1", "no", "RTN-TE"), (SM_90, "wmma.m8n8k4.f64.f64.f64.f64")),
    GpuRow("FP64", "MI250X", ("yes", "yes", "3", "RTN-TE", "1", "N.A.", "RTN-TE"), ("gfx90a", "v_mfma_f64_16x16x4f64")),
)  # fmt: skip
"""H100's extra bits and width are lost from the table's text; section IV says at least 2, and at least 16."""

RECORDED_A100_TF32 = (2000, 0, 464)
"""Rows that others recorded on an A100 (hwtests/recordings/matlab-tensor-core/A100), how many of them the model with RZ-FP32
misses, and how many it would miss with RNE-FP32."""

REMARKS: dict[tuple[str, str, str], str] = {
    ("TF32", "A100", "rounding"):
        "the model wins: Fasi et al. (3.3) and Khattak and Mikaitis (table I) found truncation, and of {} rows recorded on "
        "an A100 it misses {}, with RNE in its place {}".format(*RECORDED_A100_TF32),
    ("FP16", "V100", "FMA width"):
        "the test needs an extra bit, which V100 lacks; the paper has 4 from NVIDIA's documents; paper 002's N_FMA reads 4",
    ("FP16", "V100", "order control"): "the test needs an extra bit; Fasi's order test reads `from the largest`",
    ("FP16", "MI250X", "subnormals out"):
        "T_ni_so passes on the model: no product of normal fp16 numbers is subnormal in fp32; a subnormal c is lost",
    ("FP64", "A100", "order control"): "a block of one product has no order; the paper says N.A. of MI250X for the same",
    ("FP64", "H100", "order control"): "as A100",
    **{
        (inputs, gpu, "output or product"): "no matrix instruction here gives such results: they are converted after it"
        for inputs, gpu in (("FP16", "MI100"), ("FP16", "MI250X"), ("BF16", "H100"), ("BF16", "MI100"), ("BF16", "MI250X"))
    },
}  # fmt: skip
"""Where the model reads otherwise than the table, and which evidence wins."""

PORTING = {
    "V100": (V100.instruction, 0.0),
    "A100": (A100.instruction, 0.0),
    "MI250X": (("gfx90a", "v_mfma_f32_16x16x16f16"), 0.0),
    "MI100": (("gfx908", "v_mfma_f32_16x16x16f16"), 255.875),
    "H100": ((SM_90, "wmma.m16n16k16.f32.f16.f16.f32"), 191.875),
}
"""FTTN's porting example, section V: one product of matrices on five GPUs."""

KHATTAK_COLUMNS = (
    "subnormals in", "subnormals out", "n_eab", "n_ecb", "I.Norm", "N_FMA", "RM-BFMA", "RM-MBFMA", "order of blocks",
)  # fmt: skip

_SIXTEEN = ("yes", "yes", "1", "≥ 3", "no", "8", "RZ", "RZ", "(c + T1) + T2")
_TF32 = ("yes", "yes", "1", "≥ 2", "no", "4", "RZ", "RZ", "(c + T1) + T2")

TABLE_I: tuple[tuple[str, str, tuple[str, ...], Named], ...] = (
    ("binary16", "RTX 3060", _SIXTEEN, A100.instruction),
    ("binary16", "Ada 1000", _SIXTEEN, ("sm_89", "wmma.m16n16k16.f32.f16.f16.f32")),
    ("bfloat16", "RTX 3060", _SIXTEEN, A100_BF16.instruction),
    ("bfloat16", "Ada 1000", _SIXTEEN, ("sm_89", "wmma.m16n16k16.f32.bf16.bf16.f32")),
    ("TensorFloat-32", "RTX 3060", _TF32, A100_TF32.instruction),
    ("TensorFloat-32", "Ada 1000", _TF32, ("sm_89", "wmma.m16n16k8.f32.tf32.tf32.f32")),
)
"""Table I, with its word "truncate" as RZ; the marks of its columns on subnormals and I.Norm are lost from the text and are
those of sections IV-A and IV-C3; the order is that of section IV-D."""

BINARY16_OUT = ("RN", (SM_80, "wmma.m16n16k16.f16.f16.f16.f16"))
"""The note under table I: RM-BFMA and RM-MBFMA where results are binary16."""
