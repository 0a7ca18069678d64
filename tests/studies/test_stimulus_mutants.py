"""Mutants of models and the rows that they need: what is measured is what it is called, and every key's mutants are made."""

from pathlib import Path

import numpy as np
import pytest

import golden
import studies.stimulus_mutants as measurement
from golden import Instruction
from golden.operations import OPERATIONS
from golden.stimulus import OperandShape, volume
from studies.model_mutants import equivalence, mutants
from studies.stimulus_mutants import agrees_with_equivalences, measure, measured, measured_instructions, page, rows_needed
from tests.golden.native.native_rows import needs_native

pytestmark = needs_native

HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
CONVERTED = golden.instruction("sm_90", "mma.m16n8k32.f32.e4m3.e4m3.f32")
SCALED = golden.instruction("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3")
CDNA2 = golden.instruction("gfx90a", "v_mfma_f32_16x16x16f16")


def names(instruction: Instruction) -> set[str]:
    return {name for name, _ in mutants(instruction.chain, OperandShape.of_instruction(instruction))}


def test_subjects_are_every_arithmetic_of_sm_90_and_all_operations() -> None:
    chains = {i.chain for i in golden.instructions("sm_90")}
    assert chains <= {i.chain for i in measured_instructions()}
    made_for_gpus = {name for name in OPERATIONS if name not in ("FTZ-FMA", "FTZ-EO-FMA")}
    assert {i.operation.name for i in measured_instructions()} == made_for_gpus


def test_every_key_has_its_mutants() -> None:
    keys = {"F-1", "F+1", "e_zero-1", "RNE-FP32", "RO-FP32", "aligned RD", "aligned RO", "sticky", "saturate"}
    assert keys | {"L=8"} < names(HOPPER)
    assert {"in-order", "even-odd", "L=8", "L=32"} < names(CONVERTED)
    assert {"G=8", "L=32"} < names(SCALED)
    assert names(CDNA2) == {"L=2", "L=8", "halves swapped", "even-odd"}


def test_rows_needed_is_the_number_of_the_first_row_that_differs() -> None:
    needed = rows_needed(HOPPER, seed=2, limit=5000)
    shape = OperandShape.of_instruction(HOPPER)
    rows = volume.rows(shape, 2, 0, 5000).operands
    expected = HOPPER.dot(*rows)
    models = dict(mutants(HOPPER.chain, shape))
    for name in ("F-1", "RNE-FP32", "aligned RD", "L=8"):
        assert needed[name] == np.flatnonzero(models[name](rows) != expected)[0] + 1
    assert needed["sticky"] is None


@pytest.mark.slow
@pytest.mark.parametrize("instruction", [CONVERTED, SCALED, CDNA2], ids=lambda i: i.name)
def test_every_mutant_is_seen_soon_or_equivalent(instruction: Instruction) -> None:
    shape = OperandShape.of_instruction(instruction)
    unseen = {name for name, rows in rows_needed(instruction, seed=5, limit=50_000).items() if rows is None}
    assert unseen == {name for name in unseen if equivalence(instruction.chain, shape, name)}
    assert agrees_with_equivalences(instruction, 5, 20_000)


@pytest.mark.slow
def test_a_mutant_wrongly_called_equivalent_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "equivalence", lambda chain, shape, name: "none is" if name == "F-1" else None)
    assert not agrees_with_equivalences(HOPPER, 1, 2000)
    monkeypatch.setattr(measurement, "LIMIT", 20_000)
    with pytest.raises(
        ValueError, match=r"^mma\.m16n8k16\.f32\.f16\.f16\.f32: a mutant that should be equivalent gives another"
    ):
        measured({"arch": "sm_90", "name": HOPPER.name}, tmp_path)


def test_table_names_unseen_mutants_and_reasons() -> None:
    title = f"sm_90:{HOPPER.name}"
    text = page({title: {"rows": {"F-1": 12, "F+1": None}, "equivalent": {"sticky": "RZ drops it"}}})
    assert f"| sm_90 `{HOPPER.name}` | T-FDPA | F+1: **none**, F-1: 12 | sticky (a) |" in text
    assert "- (a) RZ drops it." in text


@pytest.mark.slow
def test_table_is_written_and_a_second_run_measures_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table_file = tmp_path / "table.md"
    assert measure(table_file, tmp_path / "store", [CDNA2]) == 0
    assert "0 mutants neither seen nor known to be equivalent: none" in capsys.readouterr().out
    written = table_file.read_text(encoding="utf-8")
    assert f"| gfx90a `{CDNA2.name}` | FTZ-AddMul | " in written
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("*") if path.suffix == ".json"}
    assert measure(table_file, tmp_path / "store", [CDNA2]) == 0
    assert files == {path: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("*") if path.suffix == ".json"}
    assert table_file.read_text(encoding="utf-8") == written
