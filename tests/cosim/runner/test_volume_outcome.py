"""The outcome of a native simulation: its coverage counts only if all of its vectors agreed."""

from pathlib import Path
from typing import Any

import pytest

from cosim.bench.stimulus import specification_of
from cosim.coverage.coverage_model import whole
from cosim.runner.in_volume import NOTHING, _covered
from cosim.volume.vector_files import write_rows
from golden import Unit
from golden.operations import TFDPA
from rtl.designs.unit_design import UnitDesign
from tests.golden.native.native_rows import needs_native

pytestmark = needs_native

DESIGN = UnitDesign(
    Unit(name="t", operation=TFDPA(a="fp16", b="fp16", c="fp16", L=2, F=12, rho="RNE-FP16", e_zero=-20))  # type: ignore[arg-type]
)


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({}, True),
        ({"mismatches": 1}, False),
        ({"received": 299}, False),
        ({"stopped": "the simulation broke off"}, False),
    ],
)
def test_coverage_counts_where_all_vectors_agree(change: dict[str, Any], counts: bool, tmp_path: Path) -> None:
    rows = write_rows(DESIGN, specification_of(DESIGN), 300, 0, tmp_path / "rows.bin")
    found = _covered(rows, {**NOTHING, "sent": 300, "received": 300, **change})
    assert [each.rows for each in found] == ([300] if counts else [])
    assert (whole(found).hit > 80) is counts
