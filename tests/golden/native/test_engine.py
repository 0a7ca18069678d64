"""The native engine against the reference: every instruction, units off the catalogue, small formats exhaustively."""

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import golden
from golden.native.engine import computes
from golden.stimulus import OperandShape, generate
from tests.golden.distinct_arithmetics import distinct_arithmetic
from tests.golden.native.native_rows import class_rows, first_difference, needs_native
from tests.golden.rows import family, unit
from tests.golden.strategies import operations, products
from tests.volume import one_in

pytestmark = needs_native

ROWS = 2400
"""For one instruction of each family, of all classes and corners. Of 22 engines made wrong on purpose so many of
each distinct arithmetic find the same 19 as 10,080 rows of the classes alone, in no fewer arithmetics; the other three
differ on no row of the catalogue's parameters."""

FEW_ROWS = 120
"""For the others, which differ from that one in the formats of A and B and the number of steps alone."""


FIRST = {family(i): i for i in reversed(distinct_arithmetic())}
"""By family, the instruction that gets `ROWS`."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "instruction",
    [*FIRST.values(), *one_in(6, [i for i in distinct_arithmetic() if FIRST[family(i)] is not i])],
    ids=lambda i: f"{i.arch}-{i.name}",
)
def test_instruction_equals_the_reference(instruction: golden.Instruction) -> None:
    rows = ROWS if FIRST[family(instruction)] is instruction else FEW_ROWS
    stimulus = generate(OperandShape.of(instruction), rows, seed=3)
    assert first_difference(instruction, stimulus.operands) == ""


@pytest.mark.long
@pytest.mark.parametrize("instruction", distinct_arithmetic(), ids=lambda i: f"{i.arch}-{i.name}")
def test_instruction_equals_the_reference_on_all_rows(instruction: golden.Instruction) -> None:
    stimulus = generate(OperandShape.of(instruction), ROWS, seed=3)
    assert first_difference(instruction, stimulus.operands) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", golden.OPERATIONS)
@settings(max_examples=10)
@given(data=st.data())
def test_unit_off_the_catalogue_equals_the_reference(name: str, data: st.DataObject) -> None:
    operation = data.draw(operations(name).filter(computes))
    K = data.draw(st.composite(products)(operation))
    seed = data.draw(st.integers(0, 2**32 - 1))
    stimulus = generate(OperandShape.of_operation(operation, K), 120, seed)
    assert first_difference(unit(operation), stimulus.operands) == ""


@pytest.mark.long
@pytest.mark.parametrize("name", golden.OPERATIONS)
@settings(max_examples=60)
@given(data=st.data())
def test_many_units_off_the_catalogue_equal_the_reference(name: str, data: st.DataObject) -> None:
    operation = data.draw(operations(name).filter(computes))
    K = data.draw(st.composite(products)(operation))
    stimulus = generate(OperandShape.of_operation(operation, K), 480, data.draw(st.integers(0, 2**32 - 1)))
    assert first_difference(unit(operation), stimulus.operands) == ""


OPERATIONS: dict[str, Any] = dict(golden.OPERATIONS)
"""The operations by name; each takes its own parameters, which only the running program knows."""

EXTREMES = [
    OPERATIONS[name](**keys)
    for name, keys in (
        ("T-FDPA", {"a": "tf32", "b": "bf16", "c": "fp32", "L": 1024, "F": 128, "rho": "RU-FP32", "e_zero": -1024}),
        ("T-FDPA", {"a": "fp16", "b": "e3m2", "c": "bf16", "L": 64, "F": 26, "rho": "RNE-BF16", "e_zero": 1024}),
        ("T-FDPA", {"a": "fp16", "b": "fp16", "c": "fp32", "L": 7, "F": 57, "rho": "RD-FP16", "e_zero": 0}),
        ("E-FDPA", {"a": "tf32", "b": "tf32", "c": "bf16", "L": 1024, "rho": "RD-BF16"}),
        ("GST-FDPA", {"a": "tf32", "b": "bf16", "c": "fp32", "L": 1024, "F": 128, "rho": "RNE-FP32", "e_zero": 9,
                      "G": 512, "K_block": 1024, "scale": "ue4m3"}),
        ("GST-FDPA", {"a": "e2m1", "b": "e2m1", "c": "fp32", "L": 8, "F": 24, "rho": "RZ-FP32", "e_zero": 40,
                      "G": 1, "K_block": 8, "scale": "ue8m0"}),
        ("TR-FDPA", {"a": "bf16", "b": "tf32", "c": "fp32", "L": 256, "F": 128, "F2": 1}),
        ("GTR-FDPA", {"a": "bf16", "b": "tf32", "c": "fp32", "L": 255, "F": 1, "F2": 128, "truncation": "RZ"}),
        ("FTZ-AddMul", {"a": "bf16", "b": "bf16", "c": "fp32", "P": 1024}),
        ("T-FDPA", {"a": "tf32", "b": "bf16", "c": "fp32", "L": 1024, "F": 128, "rho": "RO-FP32", "e_zero": -1024,
                    "truncation": "RD", "sticky": True, "flush_results": True}),
        ("GST-FDPA", {"a": "tf32", "b": "tf32", "c": "fp32", "L": 1024, "F": 1, "rho": "RNA-FP32", "e_zero": 9,
                      "G": 1024, "K_block": 1024, "scale": "ue4m3", "sticky": True, "overflow": "by-mode"}),
        ("GST-FDPA", {"a": "e4m3ieee", "b": "e2m1", "c": "fp32", "L": 8, "F": 24, "rho": "RZ-FP32", "e_zero": -139,
                      "G": 1, "K_block": 1, "scale": "ue4m3"}),
        ("FMA", {"a": "fp64", "b": "fp64", "c": "fp64", "rho": "RO-FP64", "flush_inputs": True, "overflow": "saturate"}),
        ("FMA", {"a": "bf16", "b": "bf16", "c": "bf16", "rho": "RU-BF16", "flush_results": True, "overflow": "by-mode"}),
    )
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("rows", [40, pytest.param(120, marks=pytest.mark.long)])
@pytest.mark.parametrize("operation", EXTREMES, ids=lambda operation: operation.name)
def test_unit_at_the_limits_equals_the_reference(operation: golden.Operation, rows: int) -> None:
    stimulus = generate(OperandShape.of_operation(operation), rows, seed=5)
    assert first_difference(unit(operation), stimulus.operands) == ""


NARROW = ("e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e4m3ieee")
SWEPT_C = (0x00000000, 0x80000000, 0x00000001, 0x80400000, 0x7F800000, 0x7FC00000, 0xFF7FFFFF)


def all_pairs(a: golden.Format, b: golden.Format) -> Any:
    """Every pair of codes under c of every exponent near the products', and special ones."""
    near = [(exp << 23) | fraction for exp in range(90, 160, 3) for fraction in (0, 0x7FFFFF)]
    cs = np.array([*SWEPT_C, *near, *(code | 0x80000000 for code in near)], np.uint32)
    x, y = np.meshgrid(np.arange(a.codes, dtype=np.uint8), np.arange(b.codes, dtype=np.uint8))
    return x.reshape(-1, 1), y.reshape(-1, 1), cs[np.arange(x.size) * 37 % cs.size]


QUICK = {
    ("T-FDPA", "e4m3", "e5m2"),
    ("T-FDPA", "e5m2fnuz", "e4m3fnuz"),
    ("T-FDPA", "e4m3ieee", "e4m3ieee"),
    ("GTR-FDPA", "e5m2fnuz", "e5m2fnuz"),
    ("E-FDPA", "e4m3", "e4m3"),
}


def is_quick(operation: str, a: str, b: str) -> bool:
    """Whether `make test` takes the pair: small formats twice, and pairs that hold each format of eight bits once."""
    return (operation, a, b) in QUICK or (a == b and golden.FORMATS[a].codes < 256)


def operations_on_pairs() -> list[Any]:
    """All decode by the same code: T-FDPA takes every pair, the others each format twice and beside the next; `make test`
    takes what `is_quick` says."""
    every = list(itertools.product(NARROW, NARROW))
    beside_next = [*((a, a) for a in NARROW), *itertools.pairwise((*NARROW, NARROW[0]))]
    pairs = {"T-FDPA": every, "GTR-FDPA": beside_next, "E-FDPA": beside_next}
    return [
        pytest.param(operation, a, b, marks=() if is_quick(operation, a, b) else pytest.mark.long)
        for operation, chosen in pairs.items()
        for a, b in chosen
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "a", "b"), operations_on_pairs())
def test_every_pair_of_narrow_codes(operation: str, a: str, b: str) -> None:
    keys: dict[str, Any] = {
        "T-FDPA": {"F": 13, "rho": "RZ-E8M13", "e_zero": -133},
        "GTR-FDPA": {"F": 24, "F2": 31},
        "E-FDPA": {},
    }
    made = OPERATIONS[operation](a=a, b=b, c="fp32", L=1, **keys[operation])
    assert first_difference(unit(made), all_pairs(golden.FORMATS[a], golden.FORMATS[b])) == ""


ALL_ONES = {"fp16": 0x3FFF, "bf16": 0x3FFF, "tf32": 0x3FFFE000, "e4m3": 0x3F, "e2m1": 0x3}
"""A code of exponent 0 and the largest significand: products of it make the largest aligned sums."""


@pytest.mark.parametrize("a", ALL_ONES)
@pytest.mark.parametrize("F", [13, 23, 24, 25, 26])
def test_largest_sums_equal_the_reference(a: str, F: int) -> None:
    operation = OPERATIONS["T-FDPA"](a=a, b=a, c="fp32", L=64, F=F, rho="RZ-FP32", e_zero=-133)
    dtype = np.dtype(f"uint{golden.FORMATS[a].storage_bits}")
    x = np.full((2, 64), ALL_ONES[a], dtype)
    y = x.copy()
    y[1] |= np.array(1 << golden.FORMATS[a].width - 1, dtype)
    c = np.array([0x3FFFFFFF, 0xBFFFFFFF], np.uint32)
    assert first_difference(unit(operation), (x, y, c)) == ""


HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")


@pytest.mark.parametrize("rows", [0, 1, 31, 32, 33, 100_003])
@pytest.mark.parametrize("threads", [1, 2, 7, 0])
def test_threads_and_batch_sizes_change_nothing(rows: int, threads: int) -> None:
    few = class_rows(OperandShape.of(HOPPER), 4, seed=11)
    a, b, c = (np.resize(column, (rows, *column.shape[1:])) for column in few[:3])
    expected = np.resize(HOPPER.dot(*few, engine="native"), rows)
    golden.set_threads(threads)
    try:
        assert (HOPPER.dot(a, b, c, engine="native") == expected).all()
    finally:
        golden.set_threads(0)


IN_BOTH_CHAINS = [("sm_90", "mma.m16n8k16.f32.f16.f16.f32"), ("sm_90", "mma.m16n8k32.f16.e4m3.e5m2.f16")]


def read_only(array: Any) -> Any:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "read-only": read_only,
    "column-major": np.asfortranarray,
    "strided": lambda array: np.repeat(array, 2, axis=0)[::2],
    "broadcast": lambda array: np.broadcast_to(array[:1], array.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_in_memory_change_nothing(layout: str) -> None:
    mxfp4 = golden.instruction("sm_120", "mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0")
    operands = [LAYOUTS[layout](column) for column in class_rows(OperandShape.of(mxfp4), 8, seed=19)]
    assert first_difference(mxfp4, operands) == ""


@pytest.mark.slow
def test_chains_hash_alike_in_every_process() -> None:
    """The hash is made once and pickled with the chain."""
    code = f"import golden; print([hash(golden.instruction(*i).chain) for i in {IN_BOTH_CHAINS}])"
    hashes = str([hash(golden.instruction(*i).chain) for i in IN_BOTH_CHAINS])
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        run = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
        )
        assert run.stdout.strip() == hashes


@pytest.mark.parametrize(
    ("threads", "message"),
    [
        (-1, "threads must be an integer from 0 to 1024, got -1"),
        (1025, "threads must be an integer from 0 to 1024, got 1025"),
    ],
)
def test_threads_wrong(threads: int, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        golden.set_threads(threads)
