"""Instructions outside the catalogue: they compile to what they claim, and their models are right about selections and
integers. What sparse hardware computes is unmeasured: the probe is tested on hypotheses that it must tell apart."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from golden.chain import ORDERS, Order
from golden.native.nvrtc import compile_cubin
from golden.stimulus import Tiles
from hwtests.device import Description
from hwtests.nvidia.disassembly import expected_outside, matrix_instructions, sass
from hwtests.nvidia.sparse_and_integer import (
    INTEGER,
    ONE_OF_TWO,
    PAIRS_OF_FOUR,
    SPARSE,
    SPARSE_FP8,
    SPARSE_WGMMA,
    MatrixInstruction,
    by_name,
    integer_dot,
    kernel_of_instruction,
    metadata_word,
    selected,
)
from studies.sparse_and_integer import __main__
from studies.sparse_and_integer.__main__ import TILES, Ran, Run, record, sparse_operands
from studies.sparse_and_integer.hypotheses import Hypothesis, dense, expected, hypotheses, outcome, outcomes_of
from studies.sparse_and_integer.recorded_tiles import RecordedTiles, read
from tests.hwtests.compilers import needs_cuda_compiler
from tests.volume import one_in

ALL = SPARSE + SPARSE_FP8 + SPARSE_WGMMA + INTEGER


@needs_cuda_compiler
@pytest.mark.parametrize("instruction", ALL, ids=lambda e: f"{e.arch}-{e.name}")
def test_kernel_holds_what_it_must(instruction: MatrixInstruction) -> None:
    kernel = kernel_of_instruction(instruction)
    assert matrix_instructions(compile_cubin(kernel.source, kernel.target)) == expected_outside(instruction)


@pytest.mark.parametrize(
    ("arch", "name", "held"),
    [
        ("sm_90", "mma.sp.m16n8k32.f32.f16.f16.f32", {"HMMA.SP.16832.F32": 1}),
        ("sm_90", "mma.sp.m16n8k16.f32.tf32.tf32.f32", {"HMMA.SP.16816.F32.TF32": 1}),
        ("sm_89", "mma.sp.m16n8k64.f32.e4m3.e5m2.f32", {"QMMA.SP.16864.F32.E4M3.E5M2": 1}),
        ("sm_90", "mma.sp.m16n8k64.f32.e4m3.e5m2.f32", {"HMMA.SP.16832.F32": 2}),
        ("sm_90", "wgmma.sp.m64n8k32.f32.bf16.bf16", {"HGMMA.SP.64x8x32.F32.BF16": 1}),
        ("sm_90", "wgmma.sp.m64n8k64.f16.e4m3.e5m2", {"QGMMA.SP.64x8x64.F16.E4M3.E5M2": 1}),
        ("sm_90", "mma.satfinite.m16n8k32.s32.u8.u8.s32", {"IMMA.16832.U8.U8.SAT": 1}),
    ],
)
def test_machine_code_that_is_expected(arch: str, name: str, held: dict[str, int]) -> None:
    assert expected_outside(by_name(arch, name)) == held


@needs_cuda_compiler
def test_sparse_fp8_on_hopper_starts_from_zero() -> None:
    """Two HMMA.SP, the first from zero, the second from the first's result: C is added last."""
    kernel = kernel_of_instruction(FP8)
    words = [
        [word.removesuffix(".reuse") for word in re.split(r",\s*", operands)]
        for mnemonic, operands in sass(compile_cubin(kernel.source, kernel.target))
        if mnemonic.startswith("HMMA.SP")
    ]
    assert [operands[3] for operands in words] == ["RZ", words[0][0]]


def test_nibbles_are_the_positions_in_pairs_of_bits() -> None:
    """PTX ISA 9.1, section 9.7.14.6.1: two 2-bit indices, the first in the low bits; tf32 uses 0b0100 and 0b1110 alone."""
    assert {nibble: (nibble & 3, nibble >> 2) for nibble in PAIRS_OF_FOUR} == PAIRS_OF_FOUR
    assert sorted(PAIRS_OF_FOUR) == [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110]
    assert sorted(ONE_OF_TWO) == [0b0100, 0b1110]
    assert metadata_word(0xE) == 0xEEEEEEEE


def test_selected_elements() -> None:
    b = np.arange(16, dtype=np.uint8).reshape(2, 8)
    assert selected(b, (1, 3)).tolist() == [[1, 3, 5, 7], [9, 11, 13, 15]]
    assert selected(b, (1,)).tolist() == [[1, 3, 5, 7], [9, 11, 13, 15]]
    assert selected(b, (0,)).tolist() == [[0, 2, 4, 6], [8, 10, 12, 14]]


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize(("a_type", "b_type"), [("s8", "s8"), ("u8", "u8"), ("s8", "u8")])
def test_integer_dot_equals_python_integers(a_type: str, b_type: str, saturate: bool) -> None:
    instruction = MatrixInstruction(arch="sm_90", shape=(16, 8, 32), types=("s32", a_type, b_type, "s32"), saturate=saturate)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 256, (500, 32)).astype(np.uint8) for _ in range(2))
    c = rng.integers(0, 1 << 32, 500).astype(np.uint32)
    c[::2] = np.where(c[::2] >> 31, 0x80000000, 0x7FFFFFFF) ^ (c[::2] & 0xFFFF)
    got = integer_dot(instruction, a, b, c).tolist()
    for row in range(500):
        values = [
            [x - 256 if kind == "s8" and x > 127 else x for x in codes[row].tolist()]
            for kind, codes in ((a_type, a), (b_type, b))
        ]
        start = int(c[row]) - (1 << 32) * (int(c[row]) >> 31)
        total = start + sum(x * y for x, y in zip(*values, strict=True))
        if saturate:
            total = max(-(1 << 31), min((1 << 31) - 1, total))
        assert got[row] == total % (1 << 32)


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
