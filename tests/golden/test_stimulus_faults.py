"""What the stimulus finds: models of every operation with one fault each, all of them seen within a default run."""

import pytest

import golden
from golden.arrays import BitArray
from golden.operations import EFDPA, FMA, GSTFDPA, GTRFDPA, STFDPA, TFDPA, TRFDPA, FTZAddMul, Operation
from golden.steps import align, exact_sum
from golden.stimulus import Operands, OperandShape, complete_rows, generate
from tests.golden.faults import correct, faults, mode_of, with_adder, with_align, with_exact_sum, with_rounding

DEFAULT_VECTORS, DEFAULT_SEED = 20000, 0
"""Of `mmau cosim`."""

UNITS: dict[str, Operation] = {
    "FMA fp32": FMA(a="fp32", b="fp32", c="fp32"),
    "FMA fp32 RU": FMA(a="fp32", b="fp32", c="fp32", rho="RU-FP32"),
    "FMA fp32 RO": FMA(a="fp32", b="fp32", c="fp32", rho="RO-FP32"),
    "FMA fp16": FMA(a="fp16", b="fp16", c="fp16"),
    "E-FDPA": EFDPA(a="fp16", b="fp16", c="fp32", L=4),
    "T-FDPA fp16": TFDPA(a="fp16", b="fp16", c="fp32", L=16, F=25, rho="RZ-FP32", e_zero=-133),
    "T-FDPA fp16 to fp16": TFDPA(a="fp16", b="fp16", c="fp16", L=8, F=25, rho="RNE-FP16", e_zero=-21),
    "T-FDPA sticky": TFDPA(
        a="fp16", b="fp16", c="fp32", L=4, F=24, rho="RNE-FP32", e_zero=-126, sticky=True, flush_results=True
    ),
    "T-FDPA one product": TFDPA(a="bf16", b="bf16", c="fp32", L=1, F=24, rho="RU-FP32", e_zero=-132),
    "ST-FDPA": STFDPA(a="e5m2", b="e4m3", c="fp32", L=32, F=25, rho="RZ-FP32", e_zero=-133),
    "TR-FDPA": TRFDPA(a="bf16", b="bf16", c="fp32", L=8, F=24, F2=31),
}  # fmt: skip

SLOW_UNITS: dict[str, Operation] = {
    "FTZ-AddMul": FTZAddMul(a="fp16", b="fp16", c="fp32", P=4),
    "GTR-FDPA": GTRFDPA(a="e4m3fnuz", b="e5m2fnuz", c="fp32", L=16, F=24, F2=31),
    "FMA fp64": FMA(a="fp64", b="fp64", c="fp64"),
    "T-FDPA fp4": TFDPA(a="e2m1", b="e2m1", c="fp32", L=64, F=25, rho="RZ-FP32", e_zero=-133),
    "GST-FDPA": GSTFDPA(
        a="e2m1", b="e2m1", c="fp32", L=64, F=35, G=16, K_block=16, scale="ue4m3", rho="RZ-FP32", e_zero=-139
    ),
}  # fmt: skip

EVERY_UNIT = [
    *(pytest.param(operation, id=name) for name, operation in UNITS.items()),
    *(pytest.param(operation, id=name, marks=pytest.mark.long) for name, operation in SLOW_UNITS.items()),
]


def step(operation: Operation, operands: Operands, row: int) -> int:
    """The operation's d of one row."""
    a, b, c, scale_a, scale_b = (() if part is None else part[row].tolist() for part in operands)
    return operation.step(a, b, c, scale_a, scale_b)


def unseen(operation: Operation, rows: int) -> list[str]:
    """The faults that no row shows, each held against the native engine's results."""
    operands = generate(OperandShape.of_operation(operation), rows, DEFAULT_SEED).operands
    expected: BitArray = golden.Unit(name="unit", operation=operation).dot(*operands)
    live = dict(faults(operation))
    for row, d in enumerate(expected.tolist()):
        live = {name: model for name, model in live.items() if step(model, operands, row) == d}
        if not live:
            break
    return list(live)


@pytest.mark.parametrize("operation", EVERY_UNIT)
def test_default_run_sees_every_fault(operation: Operation) -> None:
    """From a sticky bit lost and a wrong tie to a carry lost at one bit, in every adder and rounding."""
    assert len(list(faults(operation))) > 50
    assert unseen(operation, DEFAULT_VECTORS) == []


@pytest.mark.parametrize("name", ["FMA fp32", "FMA fp16", "E-FDPA", "T-FDPA fp16 to fp16", "T-FDPA sticky", "TR-FDPA"])
def test_level_1_sees_all_but_single_sticky_bits(name: str) -> None:
    """Ties, carries, sticky as a whole, of a term or of some bits: the first rows are enough."""
    rows = complete_rows(OperandShape.of_operation(UNITS[name]), 1)
    shy = [fault for fault in unseen(UNITS[name], rows) if not fault.startswith("sticky without its bit")]
    assert [
        fault for fault in shy if fault not in ("F2+1", "sticky of 4 bits", "the largest subnormals one bit too short")
    ] == []


@pytest.mark.parametrize("operation", EVERY_UNIT)
def test_steps_put_in_without_a_fault_change_nothing(operation: Operation) -> None:
    """So that what tells a faulty model from the unit is its fault."""
    models = [with_rounding(operation, correct(mode_of(operation))), with_adder(operation, lambda parts, top: sum(parts))]
    if operation.name in ("FMA", "E-FDPA", "FTZ-AddMul"):
        models.append(with_exact_sum(operation, exact_sum))
    if operation.name in ("T-FDPA", "ST-FDPA", "GST-FDPA"):
        models.append(with_align(operation, lambda number, count, *aligned: align(*aligned)))
    operands = generate(OperandShape.of_operation(operation), 300, seed=1).operands
    for row in range(300):
        assert {step(model, operands, row) for model in models} == {step(operation, operands, row)}
