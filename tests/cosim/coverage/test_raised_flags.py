"""The bins of exception flags: those that the reference engine raises, and in files of coverage."""

from collections import Counter

import numpy as np
import pytest

from cosim.coverage.coverage_model import Model, count, covergroups
from cosim.coverage.file import from_text, to_text, ucis_xml
from golden import Operation, Unit
from golden.arithmetic.flags import FLAGS
from golden.arithmetic.formats import BF16, E5M2, FP16, FP32
from golden.operations import ADD, CVT, EFDPA, FMA, MUL
from golden.stimulus import Operands, OperandShape, generate
from tests.cosim.coverage.unit_coverage import bins_of, counts_of
from tests.golden.native.native_rows import needs_native

pytestmark = needs_native

FLAGGED: dict[str, Operation] = {
    "FMA": FMA(a=FP16, b=FP16, c=FP16, flags=True),
    "MUL": MUL(a=FP16, b=FP16, flags=True),
    "ADD": ADD(a=E5M2, b=E5M2, flags=True, tininess="before"),
    "CVT": CVT(a=BF16, rho="RNE-FP16", flags=True),
    "CVT to more bits": CVT(a=E5M2, rho="RNE-FP16", flags=True),
    "E-FDPA": EFDPA(a=FP16, b=FP16, c=FP32, L=2, rho="RNE-FP32", flags=True),
}


@pytest.mark.parametrize("name", FLAGGED)
def test_bins_are_the_flags_of_the_reference_engine(name: str) -> None:
    operation = FLAGGED[name]
    operands = generate(OperandShape.of_operation(operation), 400, seed=3).operands
    given = {each: codes for each, codes in operands._asdict().items() if each in operation.operands}
    _, raised = Unit(name="flags", operation=operation).dot(**given, engine="reference", flags=True)
    names = (" ".join(flag for bit, flag in enumerate(FLAGS) if code >> bit & 1) for code in raised.tolist())
    counts = count(Model(operation, operation.length), operands)
    found = {bin_: hits for group, bin_, _, hits in bins_of(counts) if group == "exception flags" and hits}
    assert found == Counter(each or "none" for each in names)


@pytest.mark.slow
@pytest.mark.parametrize("name", FLAGGED)
def test_default_vectors_raise_what_operands_can_raise(name: str) -> None:
    bins = [(reason, hits) for group, _, reason, hits in bins_of(counts_of(FLAGGED[name])) if group == "exception flags"]
    assert len(bins) == 5
    assert [(reason is None) for reason, _ in bins] == [hits > 0 for _, hits in bins]


def test_each_step_raises_its_flags() -> None:
    """Two products that overflow one after the other: the second sum is infinite, and exact."""
    operation = FMA(a=FP16, b=FP16, c=FP16, flags=True)
    large = np.full((1, 2), 0x7BFF, np.uint16)
    counts = count(Model(operation, 2), Operands(large, large, np.zeros(1, np.uint16)))
    assert counts.hits["exception flags"] == [1, 0, 0, 1, 0]


def test_flags_are_in_files_of_coverage() -> None:
    counts = count(Model(FLAGGED["FMA"], 1), generate(OperandShape.of_operation(FLAGGED["FMA"]), 50, seed=1).operands)
    (read,) = from_text(to_text([counts]), "file")
    assert read == counts
    assert read.hits["exception flags"] == counts.hits["exception flags"]
    assert b'cgName="exception flags"' in ucis_xml([counts], 1, True, "1")


def test_operation_without_flags_has_no_bins_of_them() -> None:
    plain = FMA(a=FP16, b=FP16, c=FP16)
    assert "exception flags" not in [group.name for group in covergroups(Model(plain, 1))]
