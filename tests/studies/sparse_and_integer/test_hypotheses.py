"""Results of sparse hardware are unmeasured: hypotheses about them are distinguished by the probe."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from golden.chain import ORDERS, Order
from golden.stimulus import Tiles
from hwtests.device import Description
from hwtests.nvidia.sparse_and_integer import (
    INTEGER,
    SPARSE,
    SPARSE_WGMMA,
    MatrixInstruction,
    by_name,
    integer_dot,
    metadata_word,
)
from studies.sparse_and_integer import __main__
from studies.sparse_and_integer.__main__ import TILES, Ran, Run, record, sparse_operands
from studies.sparse_and_integer.hypotheses import Hypothesis, dense, expected, hypotheses, outcome, outcomes_of
from studies.sparse_and_integer.recorded_tiles import RecordedTiles, read
from tests.volume import one_in


@pytest.mark.slow
@pytest.mark.parametrize("instruction", one_in(4, SPARSE + SPARSE_WGMMA), ids=lambda e: e.name)
def test_dense_counterpart_has_the_stored_k(instruction: MatrixInstruction) -> None:
    assert dense(instruction).k == instruction.stored_k
    operands = sparse_operands(instruction, 6, 0)
    assert operands.a.shape == (6, instruction.shape[0], instruction.stored_k)
    assert operands.b.shape == (6, 8, instruction.shape[2])


TF32 = SPARSE[-2]
"""mma.sp.m16n8k8: the smallest."""

FP8 = by_name("sm_90", "mma.sp.m16n8k64.f32.e4m3.e4m3.f32")


def run_as(truth: Hypothesis) -> Run:
    """A device that computes what a hypothesis says."""

    def run(instruction: MatrixInstruction, tiles: Tiles, metadata: Any) -> Ran:
        d = np.empty_like(tiles.c)
        for nibble, positions in instruction.selections.items():
            of_it = metadata == metadata_word(nibble)
            chosen = Tiles(tiles.a[of_it], tiles.b[of_it], tiles.c[of_it])
            d[of_it] = expected(instruction, truth, chosen, positions)
        return Ran(d, {"STAND.IN": 1}, "0" * 64)

    return run


def recorded_as(truth: Hypothesis, instruction: MatrixInstruction, folder: Path) -> RecordedTiles:
    return read(record(folder, instruction, run_as(truth), {"device": "stand-in"}))


@pytest.mark.parametrize("truth", [Hypothesis(4, False), Hypothesis(2, False), Hypothesis(4, True)], ids=str)
def test_hypotheses_are_distinguished(truth: Hypothesis, tmp_path: Path) -> None:
    assert truth in set(hypotheses(TF32))
    recorded = recorded_as(truth, TF32, tmp_path)
    assert (recorded.device, recorded.machine_code) == ({"device": "stand-in"}, {"STAND.IN": 1})
    assert recorded.unexpected_code == {"STAND.IN": 1}
    found = outcome(recorded)
    assert found["compared"] == 2 * TILES * 128
    assert str(truth) in found["explained_by"]
    assert str(Hypothesis(1, False)) not in found["explained_by"]
    assert len(found["explained_by"]) < len(found["wrong"])


@pytest.mark.slow
@pytest.mark.parametrize("order", one_in(3, ORDERS))
def test_orders_of_sparse_fp8_are_distinguished(order: Order, tmp_path: Path) -> None:
    """Where it is two HMMA.SP the order of the products is a hypothesis too."""
    truth = Hypothesis(16, False, order)
    assert truth in set(hypotheses(FP8))
    explained = outcome(recorded_as(truth, FP8, tmp_path))["explained_by"]
    assert str(truth) in explained
    assert not [name for name in explained if order not in name]


def test_recordings_are_written_as_they_come_and_not_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second instruction fails the first time: the file of the first remains, and only the second runs again."""
    ran: list[str] = []

    def run(instruction: MatrixInstruction, tiles: Tiles, metadata: Any) -> Ran:
        ran.append(instruction.name)
        if len(ran) == 2:
            raise RuntimeError("an illegal instruction was encountered")
        return Ran(tiles.c, {}, "")

    device = SimpleNamespace(arch="sm_90", describe=lambda: Description("x", "sm_90", "", "", ""), evidence=dict)
    monkeypatch.setattr(__main__, "CudaDevice", lambda: device)
    monkeypatch.setattr(__main__, "run_on", lambda device: run)
    monkeypatch.setattr(__main__, "instructions_of", lambda arch: INTEGER[:2])
    with pytest.raises(RuntimeError):
        __main__.main(tmp_path / "tiles")
    assert [path.name for path in (tmp_path / "tiles").iterdir()] == [f"sm_90.{INTEGER[0].name}.npz"]
    __main__.main(tmp_path / "tiles")
    assert ran == [INTEGER[0].name, INTEGER[1].name, INTEGER[1].name]


@pytest.mark.parametrize("saturate", [False, True])
def test_wrapping_and_saturating_are_distinguished(saturate: bool, tmp_path: Path) -> None:
    def run(instruction: MatrixInstruction, tiles: Tiles, metadata: Any) -> Ran:
        a, b, *_ = (np.ascontiguousarray(x) for x in tiles.rows(np)[:2])
        return Ran(integer_dot(INTEGER[saturate], a, b, tiles.c), {}, "")

    assert [INTEGER[0].saturate, INTEGER[1].saturate] == [False, True]
    found = outcome(read(record(tmp_path, INTEGER[0], run, {})))
    assert found["explained_by"] == ["exact, saturated" if saturate else "exact, wrapped"]


def test_report_of_a_folder(tmp_path: Path) -> None:
    recorded_as(Hypothesis(4, False), TF32, tmp_path)
    assert list(outcomes_of(tmp_path)) == [TF32.name]
    found = json.loads((tmp_path / "hypotheses.json").read_text())[TF32.name]
    assert (found["device"], found["unexpected_code"]) == ({"device": "stand-in"}, {"STAND.IN": 1})


@pytest.mark.parametrize("missing", ["header", "d"])
def test_file_that_is_no_recording_is_refused(missing: str, tmp_path: Path) -> None:
    path = record(tmp_path, TF32, run_as(Hypothesis(4, False)), {})
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["header" if missing == "header" else "d"] = np.zeros(3, np.uint8)
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))} is no recording of tiles: "):
        read(path)
