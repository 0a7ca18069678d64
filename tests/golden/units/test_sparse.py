"""Sparse instructions: what they select, what they compute from metadata, and what is refused."""

import re
from typing import Any

import numpy as np
import pytest

import golden
from golden.units.selection import ONE_OF_TWO, PAIRS_OF_FOUR

HALF = golden.instruction("sm_90", "mma.sp.m16n8k32.f32.f16.f16.f32")
TF32 = golden.instruction("sm_90", "mma.sp.m16n8k16.f32.tf32.tf32.f32")
FP8 = golden.instruction("sm_90", "mma.sp.m16n8k64.f32.e4m3.e5m2.f32")
BYTES = golden.instruction("sm_90", "wgmma.sp.m64n8k64.s32.s8.u8")
SMFMAC = golden.instruction("gfx942", "v_smfmac_f32_16x16x64_fp8_bf8")
SWMMAC = golden.instruction("gfx1201", "v_swmmac_i32_16x16x64_iu4_w32.s4.u4")
SOME = (HALF, TF32, FP8, BYTES, SMFMAC, SWMMAC)


def metadata_of(i: golden.Instruction, rng: np.random.Generator, *lead: int) -> Any:
    groups = i.k // len(next(iter(i.selections.values())))
    return rng.choice(np.array(list(i.selections), np.uint8), (*lead, groups))


def codes(form: golden.Format, rng: np.random.Generator, *shape: int) -> Any:
    """Random codes, the bits of tf32 that nobody reads zero."""
    drawn = rng.integers(0, form.codes, shape, dtype=np.uint64)
    return (drawn & ~np.uint64((1 << form.pad_bits) - 1)).astype(f"uint{form.storage_bits}")


def test_codes_are_positions_in_pairs_of_bits() -> None:
    """PTX ISA 9.1, section 9.7.14.6.1: two 2-bit indices, the first in the low bits; tf32 uses 0b0100 and 0b1110 alone, as
    two halves each."""
    assert {code: (code & 3, code >> 2) for code in PAIRS_OF_FOUR} == PAIRS_OF_FOUR
    assert sorted(PAIRS_OF_FOUR) == [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110]
    assert {code: ((code & 3) // 2,) for code in (0b0100, 0b1110)} == ONE_OF_TWO


def test_sparse_instructions_by_architecture_and_evidence() -> None:
    """mma: 2 of tf32, 4 + 2 of 16 bits, 4 of FP8, 3 × 4 + 4 of bytes; wgmma: 12 types × 32 N, and 8 of bytes × 18 N.
    v_smfmac: two shapes of 2 + 4 + 1 types; v_swmmac: three shapes, two waves, four signs."""
    found = golden.sparse_instructions()
    assert {i.arch for i in found} == {"sm_90", "gfx942", "gfx1201"}
    assert len(golden.sparse_instructions("sm_90")) == 2 + 4 + 2 + 4 + 3 * 4 + 4 + 12 * 32 + 8 * 18
    assert len(golden.sparse_instructions("gfx942")) == 2 * (2 + 4 + 1)
    assert len(golden.sparse_instructions("gfx1201")) == 3 * 2 * 4
    assert {i.evidence for i in found if i.arch != "sm_90"} == {"inferred"}
    assert {i.evidence for i in found} <= {"inferred", "recorded"}
    assert all(i.note for i in found)
    assert golden.sparse_instructions("sm_80") == []


@pytest.mark.parametrize("i", golden.sparse_instructions("sm_90"), ids=lambda i: i.name)
def test_each_is_a_dense_instruction_on_the_selected_products(i: golden.Instruction) -> None:
    dense = golden.instruction("sm_90", i.name.replace(".sp.", ".").replace(f"k{i.b_k}.", f"k{i.k}."))
    if isinstance(dense.operation, golden.OPERATIONS["T-FDPA"]):
        assert i.chain == dense.chain
    else:
        assert i.operation.with_length(i.k) == dense.operation.with_length(i.k)


AMD = golden.sparse_instructions("gfx942") + golden.sparse_instructions("gfx1201")


@pytest.mark.parametrize("i", AMD, ids=lambda i: i.name)
def test_each_of_amd_is_the_dense_instruction_of_half_the_k(i: golden.Instruction) -> None:
    shape = f"{i.m}x{i.n}x"
    name = i.name.replace("smfmac", "mfma").replace("swmmac", "wmma").replace(f"{shape}{i.b_k}", f"{shape}{i.k}")
    dense = golden.instruction(i.arch, name)
    assert (i.k, i.a, i.b, i.d) == (dense.k, dense.a, dense.b, dense.d)
    if i.d.name == "fp32":
        assert i.chain == dense.chain
    else:
        assert i.operation.with_length(i.k) == dense.operation.with_length(i.k)


@pytest.mark.parametrize("i", SOME, ids=lambda i: i.name)
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_selected_elements_are_multiplied_and_no_others_are_looked_at(i: golden.Instruction, engine: str) -> None:
    """Beside the dense product of what a loop over the groups picks; other elements between change nothing."""
    rng = np.random.default_rng(1)
    a, b, c = codes(i.a, rng, 40, i.k), codes(i.b, rng, 40, i.b_k), codes(i.c, rng, 40)
    metadata = metadata_of(i, rng, 40)
    size = i.b_k // metadata.shape[1]
    places = [
        [group * size + place for group, code in enumerate(row) for place in i.selections[code]] for row in metadata.tolist()
    ]
    picked = np.array([row[of] for row, of in zip(b, places, strict=True)])
    expected = i.dot(a, picked, c, engine="reference")
    np.testing.assert_array_equal(i.dot(a, b, c, engine=engine, metadata=metadata), expected)
    others = b ^ 1
    np.put_along_axis(others, np.array(places), picked, 1)
    np.testing.assert_array_equal(i.dot(a, others, c, engine=engine, metadata=metadata), expected)
    assert (i.dot(a, b, c, engine=engine, metadata=metadata[:, ::-1]) != expected).any()


@pytest.mark.parametrize("i", SOME, ids=lambda i: i.name)
def test_product_takes_each_row_of_a_with_its_selection(i: golden.Instruction) -> None:
    rng = np.random.default_rng(2)
    A, B, C = codes(i.a, rng, i.m, i.k), codes(i.b, rng, i.b_k, i.n), codes(i.c, rng, i.m, i.n)
    metadata = metadata_of(i, rng, i.m)
    D = i(A, B, C, metadata=metadata)
    for row in range(i.m):
        for column in range(i.n):
            assert D[row, column] == i.dot(A[row], B[:, column], C[row, column], metadata=metadata[row])


def test_floats_give_floats_and_a_trace_has_the_selected_elements() -> None:
    a, b = np.ones(16, np.float16), np.arange(32).astype(np.float16)
    metadata = np.full(8, 0xD)  # positions 1 and 3 of four
    d = HALF.dot(a, b, np.float32(0), metadata=metadata)
    assert d.dtype == np.float32
    assert d == np.arange(1, 32, 2).sum()
    trace = HALF.explain(a, b, np.float32(0), metadata=metadata)
    assert str(trace) == str(HALF.explain(a, b[1::2].copy(), np.float32(0)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metadata": None}, "{name} multiplies 16 of 32 elements of b: give metadata, which say which, or the selected "
                             "elements alone"),
        ({"metadata": np.full(8, 5)}, "metadata of {name} must be one of 4, 8, 9, 12, 13, 14, got 5"),
        ({"metadata": np.full(8, -12)}, "metadata of {name} must be one of 4, 8, 9, 12, 13, 14, got -12"),
        ({"metadata": np.full(7, 4)}, "metadata must have shape (8,) (one for every 4 elements of b of {name}), got (7,)"),
        ({"b": np.zeros(16, np.float16)}, "b must have shape (32,) (twice the k of {name}), got (16,)"),
    ],
)  # fmt: skip
def test_what_is_no_selection_is_refused(changes: dict[str, Any], message: str) -> None:
    given = {"a": np.zeros(16, np.float16), "b": np.zeros(32, np.float16), "c": np.float32(0), "metadata": np.full(8, 4)}
    with pytest.raises(ValueError, match=f"^{re.escape(message.format(name=HALF.name))}$"):
        HALF.dot(**given | changes)


def test_metadata_that_are_no_integers_are_refused() -> None:
    with pytest.raises(TypeError, match=rf"^metadata of {re.escape(HALF.name)} must be an array of integers, got float64$"):
        HALF.dot(np.zeros(16, np.float16), np.zeros(32, np.float16), np.float32(0), metadata=np.full(8, 4.0))


def test_products_without_metadata_and_dense_ones_with_them_are_refused() -> None:
    a, b, c = np.zeros((16, 16), np.float16), np.zeros((32, 8), np.float16), np.zeros((16, 8), np.float32)
    with pytest.raises(ValueError, match=r"is sparse: its metadata must say which elements of B the stored ones of A meet$"):
        HALF(a, b, c)
    dense = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
    with pytest.raises(ValueError, match=r"^mma\.m16n8k16\.f32\.f16\.f16\.f32 is dense and takes no metadata$"):
        dense(a, b[:16], c, metadata=np.full((16, 8), 4))


def test_dense_with_zeros_gives_other_bits() -> None:
    """The zeros make two steps of one."""
    rng, dense = np.random.default_rng(1), golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
    a, b = (rng.standard_normal((2000, count)).astype(np.float16) for count in (HALF.k, HALF.b_k))
    c, metadata = rng.standard_normal(2000, np.float32), metadata_of(HALF, rng, 2000)
    filled = np.zeros((2000, HALF.b_k), np.float16)
    for row, codes in enumerate(metadata.tolist()):
        places = [4 * group + place for group, code in enumerate(codes) for place in PAIRS_OF_FOUR[code]]
        filled[row, places] = a[row]
    half = slice(0, dense.k), slice(dense.k, None)
    d = c
    for part in half:
        d = dense.dot(filled[:, part], b[:, part], d)
    assert 0.2 < (HALF.dot(a, b, c, metadata=metadata) != d).mean() < 0.4
