"""Agreement with instructions of GPUs."""

import numpy as np
import pytest

import golden
from golden.arrays import BitArray
from golden.products.gemm_order import GemmOrder
from golden.stimulus import OperandShape
from golden.units.instruction import Instruction
from golden.units.unit import Unit
from mmau.explore.accuracy import measure
from mmau.explore.accuracy.dataset import DataSet, data_set
from mmau.explore.accuracy.error_measures import agreement, differing, reference, results
from mmau.explore.accuracy.workload import check_workload
from mmau.explore.design_space import reference_of

HOPPER = "sm_90:mma.m16n8k8.f32.f16.f16.f32"


def of(instruction: Instruction) -> Unit:
    return Unit(name=instruction.name, operation=instruction.operation)


def drawn(unit: Unit, K: int, rows: int = 100) -> DataSet:
    return data_set(check_workload("normal"), OperandShape.of(unit, K), rows, 0)


@pytest.mark.parametrize(
    ("name", "K"),
    [
        (HOPPER, 8),
        (HOPPER, 20),
        (HOPPER, 64),
        ("sm_90:mma.m16n8k32.f32.e4m3.e4m3.f32", 80),  # a converted chain, which starts anew in each tile
        ("gfx90a:v_mfma_f32_32x32x4bf16", 6),
        ("sm_120:mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3", 128),
    ],
)
def test_results_are_those_of_a_matrix_product(name: str, K: int) -> None:
    """Each row alone as D of 1 × 1, which golden.gemm pads and tiles itself."""
    instruction = reference(name)
    shape = OperandShape(
        a=instruction.a, b=instruction.b, c=instruction.c, d=instruction.d, K=K, scale=instruction.scale,
        block_size=instruction.block_size,
    )  # fmt: skip
    data = data_set(check_workload("normal"), shape, 20, 0)
    a, b, c, scale_a, scale_b = data.operands
    for order in (None, GemmOrder(promote_every=1), GemmOrder(split_k=2)):
        found = results(instruction, data.operands, order)
        for row in range(20):
            one = slice(row, row + 1)
            alpha, beta = (None, None) if scale_a is None or scale_b is None else (scale_a[one], scale_b[one].T)
            d = golden.gemm(instruction, a[one], b[one].T, c[one][:, None], alpha, beta, order=order)
            assert int(d[0, 0]) == int(found[row])


@pytest.mark.parametrize(
    "name",
    [
        "sm_89:mma.m16n8k32.f32.e4m3.e4m3.f32",  # two steps
        "sm_90:mma.m16n8k32.f32.e4m3.e4m3.f32",  # a converted chain, to which c is added last
    ],
)
@pytest.mark.parametrize(
    "workload", ["normal", "chain-128", {"kind": "chain", "K": 128, "order": {"promote_every": 2}, "name": "promoted"}]
)
def test_instruction_measured_as_a_reference_agrees_with_itself(name: str, workload: str | dict[str, object]) -> None:
    point = reference_of(name)
    assert point.unit is not None
    assert measure(point.unit, workload, 100, 0, [name], instruction=name)["agreement"] == {name: 1.0}


def test_share_is_of_rows_with_the_same_bits() -> None:
    instruction = reference(HOPPER)
    unit = of(instruction)
    data = drawn(unit, 8)
    d: BitArray = unit.dot(*data.operands)
    other = "sm_90:mma.m16n8k8.f16.f16.f16.f16"  # of another format of d, so that there is no share
    assert agreement(unit, d, data, [HOPPER, other]) == {HOPPER: 1.0, other: None}
    d[:25] ^= 1
    assert agreement(unit, d, data, [HOPPER]) == {HOPPER: 0.75}


def test_a_nan_agrees_with_any_where_an_encoding_is_open() -> None:
    fixed, still_open = reference(HOPPER).operation, golden.instruction("gfx942", "v_mfma_f32_32x32x8_f16").operation
    got, expected = np.array([0x7FC00000, 0x7FC00000], np.uint32), np.array([0x7FFFFFFF, 0x3F800000], np.uint32)
    assert differing(got, expected, (fixed, fixed)).tolist() == [True, True]
    assert differing(got, expected, (still_open, fixed)).tolist() == [False, True]


def test_names_are_read_to_the_first_colon() -> None:
    assert reference("Hopper:mma.m16n8k8.f32.f16.f16.f32") == reference(HOPPER)
    assert reference("sm_120:mma.m16n8k32.kind::f8f6f4.f32.e4m3.e4m3.f32").arch == "sm_120"
    for wrong in ("mma.m16n8k8", ""):
        with pytest.raises(ValueError, match="a reference must be ARCH:NAME"):
            reference(wrong)
