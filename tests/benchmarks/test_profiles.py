"""Numeric profiles on the models: exact where they must be, and the paper's findings hold."""

from pathlib import Path

import numpy as np
import pytest

import golden
from benchmarks.profiles import (
    CHAIN_LENGTHS,
    PAPER_001,
    PROFILED,
    chain_errors,
    element_errors,
    element_table,
    main,
    rounded,
    types_of,
    values_of,
)
from golden.formats import BF16, FP16, TF32, Format

DRAWS = 200
EACH = [golden.instruction(arch, name) for arch, names in PROFILED.items() for name in names]
each_instruction = pytest.mark.parametrize("instruction", EACH, ids=lambda i: f"{i.arch}-{i.name}")


@pytest.mark.parametrize("operand", [TF32, BF16, FP16], ids=str)
def test_rounding_is_to_nearest_even(operand: Format) -> None:
    rng = np.random.default_rng(1)
    values = rng.standard_normal(300).astype(np.float32)
    ties = (rng.integers(1, 100, 50) * 2 + 1).astype(np.float32) * np.float32(2.0 ** -(operand.man_bits + 1)) + 1
    for value, code in zip([*values, *ties], rounded(np.concatenate([values, ties]), operand).tolist(), strict=True):
        assert code == operand.encode(float(value))


@each_instruction
def test_product_of_low_operands_is_exact_in_fp32(instruction: golden.Instruction) -> None:
    found = element_errors(instruction, "low", DRAWS, 0)
    if instruction.d.name == "fp32":
        assert found.against_fp32[0] == 0
    else:
        assert found.against_fp32[0] > 0
    assert found.against_rounded[0] == 0


def test_error_of_an_fp16_product_is_that_of_one_rounding() -> None:
    """Worked out without the model: fp16 operands drawn alike, the product rounded once by NumPy."""
    instruction = golden.instruction("sm_80", "mma.m16n8k8.f16.f16.f16.f16")
    normal = np.random.default_rng(3).standard_normal((5, DRAWS)).astype(np.float32)
    a, b = normal[0].astype(np.float16).astype(np.float64), normal[2].astype(np.float16).astype(np.float64)
    expected = np.abs((a * b).astype(np.float16).astype(np.float64) - a * b).mean()
    assert element_errors(instruction, "low", DRAWS, 3).against_fp32[0] == expected


@each_instruction
def test_rounding_of_the_operands_costs_more_than_the_unit(instruction: golden.Instruction) -> None:
    low, fp32 = (element_errors(instruction, init, DRAWS, 0) for init in ("low", "fp32"))
    assert all(x < y for x, y in zip(low.against_fp32, fp32.against_fp32, strict=True))


def test_bf16_loses_more_than_fp16_and_tf32() -> None:
    errors = {types_of(i): element_errors(i, "fp32", DRAWS, 0).against_fp32 for i in EACH if i.arch == "sm_80"}
    for operation in range(3):
        assert errors["bf16 → fp32"][operation] > 4 * errors["fp16 → fp32"][operation]
        assert errors["tf32 → fp32"][operation] == errors["fp16 → fp32"][operation]


def test_fp16_chain_overflows_about_where_the_paper_says_and_bf16_does_not() -> None:
    """Figure 17: fp16 is infinite from about ten products on; bf16 and tf32 never, with bf16 above tf32."""
    errors = {types_of(i): chain_errors(i, "low", 2, 0) for i in EACH if i.arch == "sm_80"}
    first_infinite = CHAIN_LENGTHS[errors["fp16 → fp16"].index(float("inf"))]
    assert 8 <= first_infinite <= 12
    assert np.isfinite(errors["bf16 → fp32"]).all()
    assert np.isfinite(errors["tf32 → fp32"]).all()
    assert all(x > y for x, y in zip(errors["bf16 → fp32"][1:], errors["tf32 → fp32"][1:], strict=True))
    assert errors["bf16 → fp32"][0] < 1e-6


def test_paper_has_every_type_of_ampere() -> None:
    assert {(types_of(i), init) for i in EACH if i.arch == "sm_80" for init in ("low", "fp32")} == set(PAPER_001)


def test_table_holds_every_architecture() -> None:
    text = element_table(2)
    assert text.count("\n") == 4 + 2 * len(EACH)
    assert all(f"\n{arch}" in text for arch in PROFILED)
    assert "(1.29e-03)" in text


def test_committed_table_is_what_the_models_give() -> None:
    assert (Path(__file__).parents[2] / "docs/profiles/elements.txt").read_text(encoding="utf-8") == element_table(1000)


def test_files_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.profiles.PROFILED", {"sm_75": PROFILED["sm_75"]})
    main(tmp_path, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elements.txt", "sm_75.chain.csv", "sm_75.chain.svg"]
    lines = (tmp_path / "sm_75.chain.csv").read_text().splitlines()
    assert lines[0] == "types,init,length,error"
    assert len(lines) == 1 + 2 * 2 * len(CHAIN_LENGTHS)


def test_wrong_requests() -> None:
    with pytest.raises(ValueError, match=r"^draws must be at least 1, got 0$"):
        element_errors(EACH[0], "low", 0, 0)
    with pytest.raises(ValueError, match=r"^mma\.m16n8k16\S+ has n < k: its D cannot be the next A$"):
        chain_errors(golden.instruction("sm_80", "mma.m16n8k16.f32.f16.f16.f32"), "low", 1, 0)


def test_values_are_exact() -> None:
    assert values_of(np.array([0x3C00, 0xC000], np.uint16), FP16).tolist() == [1.0, -2.0]
