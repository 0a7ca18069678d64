"""The designs to prove, and the datapath of each."""

import pytest

from mmau.prove.datapath.unit_questions import NotProvable
from mmau.prove.pipeline.pipeline_targets import combinational, datapath_of, shape_of
from rtl.designs.multi_format_design import MultiFormatDesign
from studies.proofs.proved_designs import pipeline_targets
from tests.mmau.prove.pipeline.designs import piped, small_tile


def test_the_datapath_of_a_design() -> None:
    assert datapath_of(piped(3)) == piped(0).unit
    assert datapath_of(small_tile()).operation == small_tile().operation
    shared = next(
        design for design in pipeline_targets() if isinstance(design, MultiFormatDesign) and shape_of(design).stages
    )
    assert combinational(shared).implementation.stages == 0
    with pytest.raises(NotProvable, match="must consist of the datapath of one unit"):
        datapath_of(shared)


def test_what_has_no_registers_has_several_formats() -> None:
    assert all(shape_of(design).stages or isinstance(design, MultiFormatDesign) for design in pipeline_targets())
    assert {shape_of(design).steps for design in pipeline_targets()} >= {1, 2, 4}
