"""Ablation: every key of every operation is changed by one step, rows that notice are counted, and what no row shows is told
apart from what changes nothing."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import FP32
from golden.catalogue import parameter_set_units
from golden.chains.chain import Chain
from golden.comparison import differing
from golden.operations import IDPA
from golden.operations.fused import FusedOperation
from golden.operations.t_fdpa import TruncatedFDPA
from golden.recordings.recording import Recording
from golden.stimulus import OperandShape, generate
from golden.variants import Rows
from golden.variants.keys import one_step_away
from mmau.analysis import ablation
from mmau.analysis.ablation import PINNED, SAME, UNPINNED, UNSEEN, ablate, changes, reason_of_no_effect
from rtl.designs.sample_units import sample_units
from tests.hwtests.model_recordings import made_by_the_model

ONE_CHOICE = {"FMA": {"nan"}, "IDPA": {"combination"}, "CVT": {"nar"}}
"""Keys that have one valid value with some formats: `nan` where a and c differ, `combination` but for b1, `nar` but for
integers."""

HOPPER = ("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
STATED_BY_NAMES = {"a", "b", "c", "scale", "scales", "K_block"}
"""Keys that an instruction's name states; they are no parameters of its rule."""

OF_FLAGS = {"flags", "tininess", "beside_nan"}
"""Keys of exception flags, which change no d."""


@pytest.mark.slow
def test_every_key_of_every_operation_is_changed_where_another_value_is_valid() -> None:
    """A new operation is in the catalogue's units, or in the sample units where no part has it, and its keys are changed
    without a line of the ablation."""
    names = set()
    of_parts = {i.operation.name for i in golden.instructions()}
    of_no_part = [unit for unit in sample_units() if unit.operation.name not in of_parts]
    for unit in (*parameter_set_units(), *of_no_part):
        operation = unit.operation
        names.add(operation.name)
        changed = {key for key, _, _ in one_step_away(operation)}
        assert type(operation).unit_keys().keys() - STATED_BY_NAMES - OF_FLAGS - changed <= ONE_CHOICE.get(
            operation.name, set()
        ), unit.name
    assert names == golden.OPERATIONS.keys()


@pytest.mark.slow
def test_changes_are_one_step_of_one_key_and_keep_the_formats() -> None:
    for unit in parameter_set_units():
        operation = unit.operation
        for key, text, changed in one_step_away(operation):
            differing = [
                f.name for f in dataclasses.fields(operation) if getattr(operation, f.name) != getattr(changed, f.name)
            ]
            assert differing == [key]
            assert text
            assert (changed.d, changed.block_size) == (operation.d, operation.block_size)
            if key in ("F", "F2", "e_zero", "h"):
                assert abs(getattr(changed, key) - getattr(operation, key)) == 1


def test_integers_take_the_nearest_valid_values() -> None:
    steps = {(key, text) for key, text, _ in one_step_away(golden.instruction(*HOPPER).operation)}
    assert {("L", "8 for 16"), ("F", "24 for 25"), ("F", "26 for 25"), ("e_zero", "-134 for -133")} <= steps
    addmul = golden.instruction("gfx90a", "v_mfma_f32_16x16x16f16").operation
    assert {text for key, text, _ in one_step_away(addmul) if key == "P"} == {"2 for 4", "8 for 4"}


def rows_of(arch: str, name: str, rows: int = 2000) -> Recording:
    return made_by_the_model(arch, name, rows)


def by_change(i: golden.Instruction, silicon: list[Recording], computed: list[Recording]) -> dict[tuple[str, str], Any]:
    return {(finding.key, finding.text): finding for finding in ablate(i, silicon, computed)}


@pytest.mark.slow
def test_rows_pin_what_they_show_and_rows_without_specials_do_not_pin_nan() -> None:
    i = golden.instruction(*HOPPER)
    recording = rows_of(*HOPPER)
    found = by_change(i, [recording], [])
    assert found["F", "24 for 25"].status == found["code of NaN results", "another code"].status == PINNED
    finite = np.flatnonzero(recording.d & 0x7F800000 != 0x7F800000)
    plain = dataclasses.replace(
        recording, operands=recording.operands.rows(finite), d=recording.d[finite], label=recording.label[finite]
    )
    found = by_change(i, [plain], [])
    nan = found["code of NaN results", "another code"]
    assert (nan.status, nan.silicon) == (UNPINNED, 0)
    assert nan.vectors
    narrower = plain.dot(Chain(i.operation.changed(F=24)))
    assert found["F", "24 for 25"].silicon == np.count_nonzero(differing(narrower, plain.d, i.operation))


@pytest.mark.slow
def test_computed_rows_pin_nothing_but_tell_that_a_change_has_an_effect() -> None:
    i = golden.instruction(*HOPPER)
    one = dataclasses.replace(rows_of(*HOPPER, rows=1))
    found = by_change(i, [one], [rows_of(*HOPPER)])
    narrower = found["F", "24 for 25"]
    assert (narrower.silicon, narrower.status) == (0, UNPINNED)
    assert narrower.computed


@pytest.mark.slow
def test_idle_floor_is_not_called_unpinned() -> None:
    """fp16's products end far above 2^−133; those of bf16 do not."""
    found = by_change(golden.instruction(*HOPPER), [rows_of(*HOPPER, rows=3)], [])
    floor = found["e_zero", "-134 for -133"]
    assert (floor.status, floor.vectors) == (SAME, 0)
    assert floor.why_same == "no term that is not zero lies below the floor, or nothing is cut there"
    bf16 = ("sm_90", "mma.m16n8k16.f32.bf16.bf16.f32")
    assert by_change(golden.instruction(*bf16), [rows_of(*bf16, rows=3)], [])["e_zero", "-134 for -133"].status == UNPINNED


@pytest.mark.slow
def test_change_that_no_vector_shows_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the argument, the floor of fp16 is neither pinned nor unpinned."""
    monkeypatch.setattr(ablation, "reason_of_no_effect", lambda i, changed: "")
    found = by_change(golden.instruction(*HOPPER), [rows_of(*HOPPER, rows=3)], [])
    assert found["e_zero", "-134 for -133"].status == UNSEEN


@pytest.mark.slow
def test_no_vector_shows_a_change_that_is_argued_to_have_no_effect() -> None:
    """Every argument is used, and 3,000 vectors of each unit of the catalogue speak against none."""
    reasons = set()
    for unit in parameter_set_units():
        i = next(i for i in golden.instructions() if i.operation == unit.operation)
        operands = generate(OperandShape.of(i), 3000, 7).operands
        sound = i.dot(*operands)
        for change in changes(i):
            if change.operation is None or not (reason := reason_of_no_effect(i, change.operation)):
                continue
            reasons.add(reason)
            changed = change.results(Rows(*operands, got=sound, expected=sound))
            np.testing.assert_array_equal(changed, sound, f"{unit.name}: {change.key} {change.words}")
    assert len(reasons) == 5


@pytest.mark.attack("an argument that a change has no effect, where it has one")
@pytest.mark.parametrize(
    ("arch", "name", "keys"),
    [
        ("sm_90", "mma.m16n8k16.f32.bf16.bf16.f32", {"e_zero": -134}),
        ("sm_80", "mma.m16n8k8.f16.f16.f16.f16", {"sticky": True}),
        ("sm_90", "mma.m16n8k16.f32.bf16.bf16.f32", {"overflow": "by-mode"}),
        ("x86-avx512", "vpdpbusds", {"L": 2}),
        ("sm_90", HOPPER[1], {"F": 24}),
        ("sm_90", HOPPER[1], {"e_zero": -20}),
        ("gfx1201", "v_dot2_f32_f16", {"flush_inputs": True}),
        ("gfx1100", "v_dot2_f32_bf16", {"flush_inputs": False}),
        ("gfx1201", "v_dot2_f16_f16", {"flush_results": True}),
        # nothing of the operation: only the order of the products can differ then
        ("sm_89", "mma.m16n8k32.f32.e4m3.e4m3.f32", {}),
        ("gfx1201", "v_wmma_f16_16x16x16_f16_w32", {}),
    ],
)
def test_change_that_has_an_effect_is_not_argued_away(arch: str, name: str, keys: dict[str, Any]) -> None:
    i = golden.instruction(arch, name)
    assert reason_of_no_effect(i, i.operation.changed(**keys)) == ""


def test_arguments_are_about_one_key_alone() -> None:
    """A change of two keys is not covered by the argument for one of them."""
    for arch, name in (HOPPER, ("x86-avx512", "vpdpbusd")):
        operation = golden.instruction(arch, name).operation
        both: dict[str, Any] = {"L": 2, "overflow": "saturate"} if isinstance(operation, IDPA) else {"e_zero": -134, "F": 24}
        assert isinstance(operation, IDPA | TruncatedFDPA | FusedOperation)
        assert reason_of_no_effect(golden.instruction(arch, name), operation.changed(**both)) == ""


@pytest.mark.slow
def test_order_of_products_is_a_statement_only_where_steps_follow_each_other() -> None:
    keys = {arch_name: {change.key for change in changes(golden.instruction(*arch_name))} for arch_name in (
        HOPPER, ("gfx1201", "v_wmma_f32_16x16x16_f16_w32"), ("sm_90", "mma.m16n8k32.f16.e4m3.e4m3.f16"),
    )}  # fmt: skip
    assert all("order of products" in found for found in keys.values())
    of_hopper = [finding.key for finding in ablate(golden.instruction(*HOPPER), [rows_of(*HOPPER, rows=3)])]
    assert "order of products" not in of_hopper
    assert "place of c" in keys["sm_90", "mma.m16n8k32.f16.e4m3.e4m3.f16"]


def test_results_of_nan_and_zero_are_changed_in_every_row_that_has_one() -> None:
    recording = rows_of(*HOPPER)
    d = np.array([0x7FFFFFFF, 0x7F800000, 0x3F800000, 0, 0x80000000], np.uint32)
    rows = Rows(a=d, b=d, c=d, scale_a=None, scale_b=None, got=d, expected=d)
    changed = {change.key: change.results(rows) for change in changes(recording.instruction) if change.operation is None
               and change.key != "order of products"}  # fmt: skip
    assert (changed["code of NaN results"] != d).tolist() == [True, False, False, False, False]
    assert changed["sign of zero results"].tolist()[3:] == [FP32.negative_zero, 0]
    assert (changed["sign of zero results"] != d).tolist() == [False, False, False, True, True]
