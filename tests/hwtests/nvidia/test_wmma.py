"""The chain of every `wmma` of the catalogue is the one that the compiler makes: machine instructions, and their order."""

import re
from collections.abc import Sequence

import pytest

import golden
from golden.catalogue.spellings import made_of
from golden.native.nvrtc import compile_cubin
from hwtests.nvidia.disassembly import expected, sass
from hwtests.nvidia.kernels import kernel_of
from tests.hwtests.compilers import needs_cuda_compiler
from tests.hwtests.nvidia.wmma_chain import Step, bits_of, source, steps

ARCHS = ("sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120")

QUARTERS = {"HMMA.884.F32.F32": 4, "HMMA.884.F32.F16": 4, "HMMA.884.F16.F16": 2}
"""How many chains Volta's four groups of threads have each, in place of one for each tile."""

TARGETS = {"sm_100": "sm_100a", "sm_120": "sm_120a"}


def mnemonic_of(arch: str, name: str) -> str:
    """The machine instruction of an `mma`, without Volta's quarters."""
    i = golden.instruction(arch, name)
    shape, sat = f"{i.m}{i.n}{i.k}", ".SAT" if ".satfinite" in name else ""
    if i.a.name == "b1":
        return f"BMMA.{shape}.{name.split('.')[-2].upper()}.POPC"
    if i.d.name == "int32":
        letters = {"int8": "S8", "uint8": "U8", "int4": "S4", "uint4": "U4"}[i.a.name]
        return f"IMMA.{shape}.{letters}.{letters}{sat}"
    return re.sub(r"\.STEP\d", "", next(iter(expected(i))))


def starts(i: golden.Instruction, found: Sequence[Step]) -> dict[int, list[int]]:
    """The first product of each step of each chain; those of A and B must agree."""
    pitch, chains = i.k * bits_of(i.a) // 8, dict[int, list[int]]()
    for step in found:
        assert step.a_from % pitch == step.b_from % pitch, step
        chains.setdefault(step.chain, []).append(step.a_from % pitch * 8 // bits_of(i.a))
    return chains


def check(arch: str, name: str, of: str) -> None:
    """Compile one `wmma` and compare its steps with those of the entry that the catalogue makes it of."""
    i, entry = golden.instruction(arch, name), golden.instruction(arch, of)
    found = steps(sass(compile_cubin(source(i), TARGETS.get(arch, arch))))
    first, *later = dict.fromkeys(step.mnemonic for step in found)
    assert first == mnemonic_of(arch, of), name
    # Volta's first step adds to an fp16 c, the others to their own fp32 results.
    assert later == (["HMMA.884.F32.F32"] if first == "HMMA.884.F32.F16" else []), name
    chains = starts(i, found)
    assert set(map(tuple, chains.values())) == {tuple(range(0, i.k, entry.k))}, name
    assert len(chains) == QUARTERS.get(first, i.m * i.n // (entry.m * entry.n)), name


@needs_cuda_compiler
@pytest.mark.parametrize(
    ("arch", "name"),
    [
        ("sm_70", "wmma.m16n16k16.f32.f16.f16.f32"),
        ("sm_75", "wmma.m16n16k16.f16.f16.f16.f16"),
        ("sm_80", "wmma.m16n16k16.f32.bf16.bf16.f32"),
        ("sm_90", "wmma.m16n16k8.f32.tf32.tf32.f32"),
    ],
)
def test_the_compiler_makes_the_chain_of_the_catalogue(arch: str, name: str) -> None:
    check(arch, name, made_of(arch)[name])


@needs_cuda_compiler
@pytest.mark.kernels
@pytest.mark.parametrize("arch", ARCHS)
def test_the_compiler_makes_every_chain_of_the_catalogue(arch: str) -> None:
    for name, of in made_of(arch).items():
        check(arch, name, of)


CODE = [
    ("S2R", "R2, SR_LANEID"),
    ("IADD3", "R3, R2, 0x4, RZ"),
    ("IMAD.WIDE", "R4, R2, 0x4, c[0x0][0x160]"),
    ("IMAD.WIDE", "R6, R3, 0x4, c[0x0][0x168]"),
    ("LD.E", "R8, [R4.64]"),
    ("LD.E", "R9, [R6.64+0x20]"),
    ("HMMA.1684.F32.TF32", "R12, R8.reuse, R9, R12"),
    ("HMMA.1684.F32.TF32", "R12, R9, R8, R12"),
    ("HMMA.1684.F32.TF32", "R16, R9, R8, RZ"),
]


def test_steps_are_read_from_machine_code() -> None:
    assert steps(CODE) == [
        Step("HMMA.1684.F32.TF32", 0, 0, 48),
        Step("HMMA.1684.F32.TF32", 0, 48, 0),
        Step("HMMA.1684.F32.TF32", 2, 48, 0),
    ]


@pytest.mark.attack("steps of a matrix instruction in another order")
def test_an_order_that_is_another_is_seen() -> None:
    i = golden.instruction("sm_90", "wmma.m16n16k8.f32.tf32.tf32.f32")
    swapped = [Step("HMMA.1684.F32.TF32", 0, 16, 16), Step("HMMA.1684.F32.TF32", 0, 0, 0)]
    assert starts(i, swapped) == {0: [4, 0]}
    with pytest.raises(AssertionError):
        starts(i, [Step("HMMA.1684.F32.TF32", 0, 16, 0)])


def test_operands_from_nowhere_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"^no load is seen of the operands of HMMA\.1688\.F32 R4, R8, R10, R4$"):
        steps([("HMMA.1688.F32", "R4, R8, R10, R4")])


def test_no_kernel_runs_a_wmma() -> None:
    message = (
        "wmma.m16n16k16.f32.f16.f16.f32 is no instruction of the machine: the compiler makes of it 2 steps, by k, of "
        "mma.m16n8k16.f32.f16.f16.f32; run that"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        kernel_of(golden.instruction("sm_80", "wmma.m16n16k16.f32.f16.f16.f32"))
