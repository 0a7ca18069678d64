"""Which designs are proved, and what each consists of."""

import pytest

from formal.obligations.units import NotProvable
from formal.pipelines.subjects import combinational, datapath_of, pipeline_subjects, shape_of
from rtl.designs.multi_format_design import MultiFormatDesign
from tests.formal.pipelines.designs import piped, small_tile


def test_the_datapath_of_a_design() -> None:
    assert datapath_of(piped(3)) == piped(0).unit
    assert datapath_of(small_tile()).operation == small_tile().operation
    shared = next(
        design for design in pipeline_subjects() if isinstance(design, MultiFormatDesign) and shape_of(design).stages
    )
    assert combinational(shared).implementation.stages == 0
    with pytest.raises(NotProvable, match="is made of no one unit's datapath"):
        datapath_of(shared)


def test_what_has_no_registers_has_several_formats() -> None:
    assert all(shape_of(design).stages or isinstance(design, MultiFormatDesign) for design in pipeline_subjects())
    assert {shape_of(design).steps for design in pipeline_subjects()} >= {1, 2, 4}
