"""`wmma` of CUDA: the chains of the catalogue, on rows that others recorded from `wmma` on silicon."""

import re

import numpy as np
import pytest

import golden
from golden.catalogue.spellings import made_of
from tests.data.load import TENSORSCOPE, cases

ARCHS = ("sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120")


def test_recorded_wmma_is_the_chain() -> None:
    """Tensorscope ran `wmma` 16×16×16 on Volta, Ampere and Hopper."""
    found = {}
    for case in cases(TENSORSCOPE):
        types = case.instruction_name.split(".", 2)[2]
        i = golden.instruction(case.arch, f"wmma.m16n16k16.{types}")
        a, b, c, _, _ = case.operands()
        assert a.shape[1] == i.k
        assert np.array_equal(i.dot(a, b, c), case.expected()), case.name
        found[case.arch, types] = case.rows
    assert sum(found.values()) == 445
    assert {arch for arch, _ in found} == {"sm_70", "sm_80", "sm_90"}


@pytest.mark.attack("a chain of one long step, against recorded rows")
def test_recorded_wmma_is_not_another_chain() -> None:
    """One step of 16 products in place of Volta's four, or Ampere's two, is seen."""
    for case in cases(TENSORSCOPE):
        if case.arch != "sm_90":
            operation = case.instruction.operation.with_length(16)
            a, b, c, _, _ = case.operands()
            assert not np.array_equal(golden.Unit(name="one-step", operation=operation).dot(a, b, c), case.expected())


@pytest.mark.parametrize("arch", ARCHS)
def test_every_name_is_a_chain_of_its_entry(arch: str) -> None:
    for name, of in made_of(arch).items():
        i, entry = golden.instruction(arch, name), golden.instruction(arch, of)
        assert (i.operation, i.evidence) == (entry.operation, entry.evidence)
        assert (i.a, i.b, i.c, i.d) == (entry.a, entry.b, entry.c, entry.d)
        assert f"m{i.m}n{i.n}k{i.k}" == name.split(".")[1]
        assert of in i.note
        assert name not in {listed.name for listed in golden.instructions(arch)}


def test_tf32_on_hopper_is_two_steps_where_mma_is_one() -> None:
    """1, −1 and 2^-30 in the second four: the steps of four lose nothing, one step of eight loses it."""
    wmma = golden.instruction("sm_90", "wmma.m16n16k8.f32.tf32.tf32.f32")
    mma = golden.instruction("sm_90", "mma.m16n8k8.f32.tf32.tf32.f32")
    assert (wmma.operation.length, mma.operation.length) == (4, 8)
    a, b = np.zeros((2, 1, 8), np.float32)
    a[0, [0, 1, 4]], b[0, [0, 1, 4]] = (1, -1, 2.0**-30), 1
    c = np.zeros(1, np.float32)
    assert [i.dot(a, b, c)[0] for i in (wmma, mma)] == [2.0**-30, 0]


def test_mixed_types_are_refused_but_on_volta() -> None:
    name = "wmma.m16n16k16.f32.f16.f16.f16"
    assert golden.instruction("sm_70", name).c.name == "fp16"
    message = (
        "sm_80 instruction 'wmma.m16n16k16.f32.f16.f16.f16' is no chain: the compiler makes it "
        "wmma.m16n16k16.f32.f16.f16.f32 and converts C to fp32 before"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        golden.instruction("sm_80", name)
    message = (
        "sm_75 instruction 'wmma.m8n32k16.f16.f16.f16.f32' is no chain: the compiler makes it "
        "wmma.m8n32k16.f32.f16.f16.f32 and converts D to fp16, to nearest, after"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        golden.instruction("sm_75", "wmma.m8n32k16.f16.f16.f16.f32")


def test_other_names_are_refused_with_near_spellings() -> None:
    with pytest.raises(
        ValueError, match=r"^sm_80 instruction 'wmma\.m16n16k8\.f32\.tf32\.tf32' is not one of the \d+ known"
    ):
        golden.instruction("sm_80", "wmma.m16n16k8.f32.tf32.tf32")
    message = (
        "gfx942 instruction 'wmma.m16n16k16.f32.f16.f16.f32' is not one of the 32 known "
        "(did you mean 'v_mfma_f32_16x16x4_f32'?)"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        golden.instruction("gfx942", "wmma.m16n16k16.f32.f16.f16.f32")
