"""Tiles and datapaths of several formats: what is sent to them, and that a broken one is caught."""

import dataclasses
import json
import re
from typing import Any

import numpy as np
import pytest

import cosim
import golden
from cosim.bench.scoreboard import Scoreboard
from cosim.bench.subject import OneUnit, Subject, port_widths
from cosim.bench.tile import Tile
from cosim.runner.job import subject_from_table
from golden import Implementation, Unit
from golden.operations import TFDPA
from golden.stimulus import OperandShape, generate


def tile(arch: str, name: str, m: int, n: int, stages: int = 1) -> Tile:
    return Tile(dataclasses.replace(golden.instruction(arch, name), m=m, n=n), Implementation(stages=stages))


VOLTA = tile("sm_70", "mma.m8n8k4.f32.f16.f16.f32", 2, 3)
TWO_STEPS = tile("sm_80", "mma.m16n8k16.f32.f16.f16.f32", 2, 1, stages=2)
SCALED = tile("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0", 1, 2)
CONVERTED = tile("sm_90", "mma.m16n8k32.f16.e4m3.e5m2.f16", 1, 2)


def formats(stages: int = 1) -> cosim.MultiFormat:
    keys: dict[str, Any] = {"c": "fp32", "F": 13, "rho": "RZ-E8M13", "e_zero": -132}
    operations = [TFDPA(a=name, b=name, L=L, **keys) for name, L in (("bf16", 1), ("e4m3", 2), ("e2m1", 4))]  # type: ignore[arg-type]
    built = Implementation(stages=stages)
    return cosim.MultiFormat(tuple(Unit(name=f"of {o.a}", operation=o, implementation=built) for o in operations))


def unpacked(value: int, width: int, count: int) -> list[int]:
    return [value >> width * k & (1 << width) - 1 for k in range(count)]


@pytest.mark.parametrize("subject", [VOLTA, TWO_STEPS, SCALED, CONVERTED], ids=lambda subject: subject.name)
def test_transfers_of_a_tile_hold_the_matrices_whose_product_is_expected(subject: Tile) -> None:
    """The matrices, taken from the ports' bits by the documented layout, go through the instruction as whole tiles."""
    i, count = subject.instruction, 40
    vectors = subject.vectors(count, seed=2)
    L, steps = i.operation.length, i.k // i.operation.length
    assert vectors.steps == steps
    order = sorted(range(i.k), key=lambda k: (k % 4 >= 2, k)) if i.fp16_order is not None else list(range(i.k))
    for number, elements in enumerate(vectors.results):
        shown = vectors.transfers[number * steps : (number + 1) * steps]
        A, B = np.zeros((i.m, i.k), np.uint64), np.zeros((i.k, i.n), np.uint64)
        scales: dict[str, list[list[int]]] = {"scale_a": [], "scale_b": []}
        for step, ports in enumerate(shown):
            ks = order[step * L : (step + 1) * L]
            A[:, ks] = np.reshape(unpacked(ports["a"], i.a.width, i.m * L), (i.m, L))
            B[ks] = np.reshape(unpacked(ports["b"], i.b.width, i.n * L), (i.n, L)).T
            if i.scale is not None:
                scales["scale_a"].append(unpacked(ports["scale_a"], i.scale.width, i.m))
                scales["scale_b"].append(unpacked(ports["scale_b"], i.scale.width, i.n))
        C = np.reshape(unpacked(shown[-1 if i.fp16_order is not None else 0]["c"], i.c.width, i.m * i.n), (i.m, i.n))
        a, b, c = (matrix.astype(f"u{operand.storage_bits // 8}") for matrix, operand in ((A, i.a), (B, i.b), (C, i.c)))
        given: tuple[Any, Any] = (None, None)
        if i.scale is not None:
            given = (np.array(scales["scale_a"], np.uint8).T, np.array(scales["scale_b"], np.uint8))
        expected = [element.products.expected[element.row] for element in elements]
        assert i(a, b, c, *given).reshape(-1).tolist() == expected
    assert "mixed" in vectors.classes()


def test_formats_come_in_random_order_and_in_equal_shares() -> None:
    subject = formats()
    vectors = subject.vectors(300, seed=1)
    numbers = [transfer["format"] for transfer in vectors.transfers]
    assert [numbers.count(number) for number in range(3)] == [100, 100, 100]
    assert numbers != sorted(numbers)
    for number, (element,) in zip(numbers, vectors.results, strict=True):
        assert element.products.operation is subject.units[number].operation


def test_classes_of_each_format_count_by_themselves() -> None:
    names = formats().vectors(3000, seed=1).classes()
    assert [name for name in names if name.endswith(": c-sweep")] == [
        "format 0 (of bf16): c-sweep",
        "format 1 (of e4m3): c-sweep",
        "format 2 (of e2m1): c-sweep",
    ]


def test_fewer_vectors_than_formats_are_refused() -> None:
    assert len(formats().vectors(3, seed=1).results) == 3
    with pytest.raises(ValueError, match=r"^vectors must be at least the 3 formats of the datapath, got 2$"):
        formats().vectors(2, seed=1)
    with pytest.raises(ValueError, match=r"^vectors must be at least the 3 formats of the datapath, got 2$"):
        cosim.run(formats(), vectors=2)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 4), (4, 1), (3, 2)])
def test_tiles_of_any_shape_hold_the_whole_stimulus(m: int, n: int) -> None:
    """On the diagonals; the elements beside them are mixed."""
    subject = tile("sm_70", "mma.m8n8k4.f32.f16.f16.f32", m, n)
    stimulus = generate(OperandShape.of_instruction(subject.instruction), 300 * min(m, n), 5)
    board = Scoreboard.of(subject, 300, seed=5)
    for elements in board.vectors.results:
        board.took()
        board.gave(sum(e.products.expected[e.row] << 32 * place for place, e in enumerate(elements)))
    assert board.mismatches == 0
    counted = board.classes()
    for name, rows in stimulus.counts().items():
        assert counted.get(name, 0) == rows, name
    assert counted.get("mixed", 0) == 300 * (m * n - min(m, n))


VOLTA_ENTRY = golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")


@pytest.mark.parametrize(
    ("changes", "stages", "message"),
    [
        ({}, 0, "stages of a tile must be an integer from 1 to 8, got 0"),
        ({"n": 257}, 1, "n of a tile must be an integer from 1 to 256, got 257"),
        (
            {"k": 8},
            1,
            "a tile must be of an instruction of the catalogue, m and n aside; sm_70 mma.m8n8k4.f32.f16.f16.f32 differs",
        ),
    ],
)
def test_tile_that_cannot_be_is_refused_whatever_the_design(changes: dict[str, Any], stages: int, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Tile(dataclasses.replace(VOLTA_ENTRY, **changes), Implementation(stages=stages))


def test_formats_that_cannot_share_are_refused_whatever_the_design() -> None:
    units = formats().units
    other = dataclasses.replace(units[1], implementation=Implementation(stages=2))
    with pytest.raises(ValueError, match=r"^stages must be the same in all units of a multi-format datapath, got 1, 2$"):
        cosim.MultiFormat((units[0], other))
    longer = dataclasses.replace(units[1], operation=units[1].operation.changed(L=4))
    with pytest.raises(ValueError, match=r"^L times the width of a must be the same in all operations, got 16, 32 bits$"):
        cosim.MultiFormat((units[0], longer))


@pytest.mark.parametrize(
    "subject", [VOLTA, SCALED, formats(), OneUnit(Unit(name='"x"', operation=formats().units[0].operation))], ids=str
)
def test_subject_survives_the_job_file(subject: Subject) -> None:
    assert subject_from_table(json.loads(json.dumps(subject.as_table()))) == subject


@pytest.mark.parametrize("subject", [VOLTA, TWO_STEPS, SCALED, formats(0), formats(3)], ids=lambda subject: subject.name)
def test_generated_design_has_the_ports(subject: Subject) -> None:
    header = subject.verilog("top").split("\nmodule ")[0]
    for port, width in port_widths(subject).items():
        assert any(line.split()[2:4] == [port, str(width)] for line in header.splitlines() if len(line.split()) > 3), port


def test_mismatch_of_a_tile_names_the_element() -> None:
    board = Scoreboard.of(VOLTA, 5, seed=1)
    for number, elements in enumerate(board.vectors.results):
        board.took()
        result = sum(e.products.expected[e.row] << 32 * place for place, e in enumerate(elements))
        board.gave(result ^ ((number == 3) << 32 * 4))
    assert board.mismatches == 1
    assert board.first_mismatch is not None
    assert board.first_mismatch.startswith("vector 3, element [1][1] (")
    assert sum(board.classes().values()) == sum(board.result_classes().values()) == 5 * 6


def test_undefined_bits_of_one_element_of_a_tile() -> None:
    board = Scoreboard.of(VOLTA, 1, seed=1)
    elements = board.vectors.results[0]
    bits = [f"{e.products.expected[e.row]:032b}" for e in elements]
    bits[2] = "X" + bits[2][1:]
    board.took()
    board.gave("".join(reversed(bits)))
    assert board.first_mismatch is not None
    assert board.first_mismatch.startswith("vector 0, element [0][2] (")
    assert f"got      fp32 {bits[2]}: bits that are neither 0 nor 1" in board.first_mismatch


@pytest.mark.simulator
@pytest.mark.parametrize("subject", [TWO_STEPS, SCALED, CONVERTED, formats(2)], ids=lambda subject: subject.name)
def test_sound_design_passes(subject: Subject) -> None:
    report = cosim.run(subject, vectors=1000, seed=4)
    assert report.failures == ()
    elements = sum(map(len, subject.vectors(1000, seed=4).results))
    assert sum(report.classes.values()) == sum(report.result_classes.values()) == elements
    assert (report.unit, report.sent, report.received, report.waiting) == (subject.name, 1000, 1000, 0)
    assert report.classes_hit == len(report.classes)


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("subject", "faults", "said"),
    [
        (TWO_STEPS, {"c": "{c[31:0], c[63:32]}"}, "results differ"),
        (TWO_STEPS, {"d": "{d_inside[63:33], ~d_inside[32], d_inside[31:0]}"}, "1000 of 1000 results differ"),
        (TWO_STEPS, {"a": "{a[127:16], 16'd0}"}, "results differ"),
        (TWO_STEPS, {"out_valid": "1'b0"}, "no result for 1000 cycles although vectors are inside"),
        (CONVERTED, {"c": "64'd0"}, "results differ"),
        (formats(2), {"format": "2'd1"}, "results differ"),
        (formats(2), {"format": "{1'b0, format[0]}"}, "results differ"),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)  # fmt: skip
def test_broken_design_is_caught(subject: Subject, faults: dict[str, str], said: str, wrapped: Any) -> None:
    report = cosim.run(subject, vectors=1000, seed=4, design=wrapped(subject, faults))
    assert not report.passed
    assert said in " ".join(report.failures)
