"""Results of several machines, of which each later one was given the state alone: together they hold all."""

from pathlib import Path

import numpy as np
import pytest

import golden
from golden.stimulus import OperandShape, generate
from hwtests.conform import differing_rows
from hwtests.conform.differing_rows import KeptRows
from studies.h200 import state as states
from studies.h200.pieces import pack
from studies.h200.state import RESULTS, State
from studies.h200.unpack import main
from studies.microbenchmarks.run import Measured, read_points, write_points

TF32 = golden.instruction("sm_90", "mma.m16n8k8.f32.tf32.tf32.f32")
FILE = differing_rows.path_of(Path("mismatches-at-volume"), TF32).as_posix()


def point(name: str, latency: float) -> Measured:
    return Measured(name, "FMA", 1, 4, latency, 8.0)


def rows(first: int, last: int) -> KeptRows:
    operands = generate(OperandShape.of_instruction(TF32), 100, 1).operands.rows(slice(first, last))
    d = np.arange(first, last, dtype=np.uint32)
    return KeptRows(operands, d, d + 1, np.full(last - first, b"cancel"))


def handed_over(folder: Path, *, points: list[Measured], first: int, last: int, out: str) -> Path:
    """The files that a call on a fresh machine hands over."""
    results = folder / f"results-{len(list(folder.iterdir()))}"
    (results / "microbenchmarks").mkdir(parents=True)
    write_points(results / "microbenchmarks" / "points.csv", points)
    differing_rows.keep(results / "mismatches-at-volume", TF32, rows(first, last))
    (results / "summary.txt").write_text(f"up to {last}")
    (folder / out).mkdir(exist_ok=True)
    states.save(folder / out, State(device={"device": "NVIDIA H200"}))
    pack(results, ["microbenchmarks/points.csv", FILE, "summary.txt"], folder / out, 1 << 20, 1 << 24)
    return folder / out


@pytest.mark.slow
@pytest.mark.parametrize("outs", [("out-1", "out-2"), ("out", "out")], ids=["a folder a call", "one folder"])
def test_points_and_rows_of_all_calls_are_there(outs: tuple[str, str], tmp_path: Path) -> None:
    """Those of the first call, those of the second, and of a point that was measured twice the later one; of another file
    the last version."""
    first = handed_over(tmp_path, points=[point("a", 1.0), point("b", 2.0)], first=0, last=40, out=outs[0])
    second = handed_over(tmp_path, points=[point("b", 3.0), point("c", 4.0)], first=30, last=60, out=outs[1])
    into = tmp_path / "all"
    assert main(list(dict.fromkeys([first, second])), into) == 3
    points = read_points(into / "microbenchmarks" / "points.csv")
    assert points == [point("a", 1.0), point("b", 3.0), point("c", 4.0)]
    assert (into / "microbenchmarks" / "tables.txt").read_text().startswith("NVIDIA H200 (in parentheses paper 001's A100, ")
    assert {"a.svg", "b.svg", "c.svg"} <= {path.name for path in (into / "microbenchmarks").iterdir()}
    found, wanted = differing_rows.read(into / FILE), rows(0, 60)
    for got, expected in zip(
        (*found.operands[:3], *found[1:]), (*wanted.operands[:3], *wanted[1:]), strict=True
    ):  # fmt: skip
        np.testing.assert_array_equal(got, expected)
    assert (into / "summary.txt").read_text() == "up to 60"


def test_what_waited_and_is_gone_is_made_again(tmp_path: Path) -> None:
    """A recording and tiles that there was no room for, on a machine that is gone; what is still there stays done."""
    done = {"status": "done", "detail": ""}
    state = State(
        device={"arch": "sm_90"},
        done={
            "recordings": {TF32.name: dict(done), "mma.x": dict(done)},
            "sparse and integers": {"mma.sp.x": done | {"file": "sm_90.mma.sp.x.npz"}},
            "microbenchmarks": {"loop": dict(done)},
        },
        waiting=[
            f"recordings/sm_90.{TF32.name}.npz", "tiles/sm_90.mma.sp.x.npz", "recordings/sm_90.mma.x.npz", "summary.txt",
        ],
    )  # fmt: skip
    there = tmp_path / RESULTS / "recordings" / "sm_90.mma.x.npz"
    there.parent.mkdir(parents=True)
    there.write_bytes(b"x")
    states.save(tmp_path, state)
    state = states.load(tmp_path)
    assert len(state.open_lost(tmp_path / RESULTS)) == 3
    assert state.entry("recordings", TF32.name) == state.entry("sparse and integers", "mma.sp.x") == {"status": ""}
    assert state.entry("recordings", "mma.x")["status"] == state.entry("microbenchmarks", "loop")["status"] == "done"
    assert state.waiting == []
    state = State(device={"arch": "sm_90"}, done=state.done, waiting=["microbenchmarks/points.csv"])
    state.open_lost(tmp_path / RESULTS)
    assert state.entry("microbenchmarks", "loop") == {"status": ""}
