"""The mistakes that a designer may make are computed of every unit of examples/units, whatever its formats."""

from pathlib import Path

import pytest

from golden import load_unit
from golden.stimulus import OperandShape, generate, volume
from golden.variants import variants
from golden.variants.variant import Model, Rows

FILES = sorted(Path("examples/units").glob("*.toml"))

PLAIN = [path for path in FILES if not load_unit(path).controls]

STEPS = [path for path in PLAIN if load_unit(path).sums is None]


@pytest.mark.parametrize("path", [pytest.param(path, marks=pytest.mark.slow) for path in PLAIN], ids=lambda path: path.stem)
def test_every_variant_is_computed(path: Path) -> None:
    unit = load_unit(path).step
    rows = generate(OperandShape.of(unit, unit.usual_K), 4, 1).operands
    model = Model.of(unit, unit.usual_K)
    given = Rows(rows.a, rows.b, rows.c, rows.scale_a, rows.scale_b, rows.c, rows.c)
    found = [variant.results(given) for variant in variants(model, given, unit.usual_K)]
    assert len(found) > 20
    assert {len(each) for each in found} == {4}


@pytest.mark.parametrize("path", STEPS, ids=lambda path: path.stem)
def test_the_library_makes_rows_of_the_shapes_that_it_takes(path: Path) -> None:
    unit = load_unit(path).step
    shape = OperandShape.of(unit, unit.usual_K)
    if volume.takes(shape):
        assert len(volume.rows(shape, 1, 0, 3).operands.c) == 3
    else:
        with pytest.raises(ValueError, match="a, b and c must be formats that the operation takes"):
            volume.rows(shape, 1, 0, 3)
