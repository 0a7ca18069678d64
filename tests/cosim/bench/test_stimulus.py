"""Stimulus of tiles and multi-format datapaths, and the detection of broken ones."""

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import cosim
import golden
from cosim.bench.products import DotProducts, Rows, Vector
from cosim.bench.protocol import Timing
from cosim.bench.scoreboard import Scoreboard
from cosim.bench.stimulus import TileSpecification, specification_of
from cosim.build.power_up import power_ups
from golden import Implementation, Unit
from golden.arithmetic.formats import FP16
from golden.engines.engine import fastest_engine
from golden.operations import FMA
from golden.stimulus import CORNERS, OperandShape, generate
from rtl import Design, TileDesign, UnitDesign
from rtl.designs.product_design import ProductDesign
from tests.rtl.designs.test_design import formats

OPERATIONS: dict[str, Any] = dict(golden.OPERATIONS)
"""The operations by name; each takes its own parameters, which only the running program knows."""


def tile(arch: str, name: str, m: int, n: int, stages: int = 1) -> TileDesign:
    return TileDesign(dataclasses.replace(golden.instruction(arch, name), m=m, n=n), Implementation(stages=stages))


VOLTA = tile("sm_70", "mma.m8n8k4.f32.f16.f16.f32", 2, 3)
TWO_STEPS = tile("sm_80", "mma.m16n8k16.f32.f16.f16.f32", 2, 1, stages=2)
SCALED = tile("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0", 1, 2)
CONVERTED = tile("sm_90", "mma.m16n8k32.f16.e4m3.e5m2.f16", 1, 2)
INTEGERS = tile("x86-amx", "tdpbusd.m16n16k16", 2, 1)


def vectors_of(design: Design, count: int, seed: int) -> list[Vector]:
    return [vector for chunk in specification_of(design).chunks(count, seed) for vector in chunk.vectors]


def dot_products(rows: Rows) -> DotProducts:
    """The rows as `DotProducts`."""
    assert isinstance(rows, DotProducts)
    return rows


def expected(vector: Vector) -> list[int]:
    """The code of each element."""
    return [element.products.expected[element.row] for element in vector.elements]


def joined(codes: Sequence[int], width: int = 32) -> int:
    """The codes side by side, the first in the lowest bits."""
    return sum(code << width * place for place, code in enumerate(codes))


def answered(board: Scoreboard, changed: Callable[[Vector, int], int | str] = lambda vector, result: result) -> Scoreboard:
    """The board after a design has returned golden's results, or what `changed` makes of them."""
    for vector in board.vectors():
        board.send(vector)
        width = vector.elements[0].products.result.width
        board.receive(changed(vector, joined(expected(vector), width)))
    return board


def unpacked(value: int, width: int, count: int) -> list[int]:
    return [value >> width * k & (1 << width) - 1 for k in range(count)]


@pytest.mark.parametrize("design", [VOLTA, TWO_STEPS, SCALED, CONVERTED], ids=lambda design: design.name)
def test_transfers_of_a_tile_hold_the_matrices_whose_product_is_expected(design: TileDesign) -> None:
    """The matrices in the ports' bits, by the documented layout, give the expected results as whole tiles."""
    i, made = design.instruction, vectors_of(design, 40, seed=2)
    L, steps = i.operation.length, i.k // i.operation.length
    order = sorted(range(i.k), key=lambda k: (k % 4 >= 2, k)) if i.fp16_order is not None else list(range(i.k))
    for vector in made:
        shown = vector.transfers
        assert len(shown) == steps
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
        assert i(a, b, c, *given).reshape(-1).tolist() == expected(vector)
    assert "mixed" in {element.products.made_by(element.row) for vector in made for element in vector.elements}


def test_c_is_noise_where_it_is_not_read() -> None:
    """Even a single tile detects a design that reads c at the wrong step."""
    first, second = vectors_of(TWO_STEPS, 1, seed=2)[0].transfers
    assert first["c"] != second["c"]


def test_formats_come_in_random_order_and_in_equal_shares() -> None:
    design = formats()
    made = vectors_of(design, 300, seed=1)
    numbers = [vector.transfers[0]["format"] for vector in made]
    assert [numbers.count(number) for number in range(3)] == [100, 100, 100]
    assert numbers != sorted(numbers)
    for number, vector in zip(numbers, made, strict=True):
        assert dot_products(vector.elements[0].products).operation is design.units[number].operation


def test_classes_of_each_format_count_by_themselves() -> None:
    board = Scoreboard(specification_of(formats()), 3000, seed=1)
    assert len(list(board.vectors())) == 3000
    assert [name for name in board.coverage.classes() if name.endswith(": c-sweep")] == [
        "format 0 (of bf16): c-sweep",
        "format 1 (of e4m3): c-sweep",
        "format 2 (of e2m1): c-sweep",
    ]


def test_fewer_vectors_than_formats_are_refused() -> None:
    assert len(vectors_of(formats(), 3, seed=1)) == 3
    with pytest.raises(ValueError, match=r"^vectors must be at least the 3 combinations of values of format, got 2$"):
        cosim.run(formats(), vectors=2)


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 4), (4, 1), (3, 2)])
def test_tiles_of_any_shape_hold_the_whole_stimulus(m: int, n: int) -> None:
    """The rows of corners are on the diagonals; the other elements are mixed, or repeat operands of the tile before."""
    design = tile("sm_70", "mma.m8n8k4.f32.f16.f16.f32", m, n)
    stimulus = generate(OperandShape.of(design.instruction), 300 * min(m, n), 5)
    board = answered(Scoreboard(specification_of(design), 300, seed=5))
    assert (board.received, board.mismatches) == (300, 0)
    counted = board.coverage.classes()
    for name, rows in stimulus.counts().items():
        if name in CORNERS:
            assert counted.get(name, 0) == rows, name
    mixed = 300 * (m * n - min(m, n))
    assert mixed * 3 // 4 <= counted.get("mixed", 0) <= mixed
    assert 0 < counted["repeated"] <= 300 * m * n // 8


def test_tile_that_the_catalogue_does_not_have_is_refused() -> None:
    other = dataclasses.replace(golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32"), k=8)
    message = "a tile must be of an instruction of the catalogue, m and n aside; sm_70 mma.m8n8k4.f32.f16.f16.f32 differs"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        TileSpecification(other)


def test_mismatch_of_a_tile_names_the_element() -> None:
    board = Scoreboard(specification_of(VOLTA), 5, seed=1)
    answered(board, lambda vector, result: result ^ ((vector.number == 3) << 32 * 4))
    assert board.mismatches == 1
    assert board.first_mismatch is not None
    assert board.first_mismatch.startswith("vector 3, element [1][1] (")
    assert sum(board.coverage.classes().values()) == sum(board.coverage.result_classes().values()) == 5 * 6


def test_undefined_bits_of_one_element_of_a_tile() -> None:
    board = Scoreboard(specification_of(VOLTA), 1, seed=1)
    answered(board, lambda vector, result: (bits := f"{result:0192b}")[:96] + "X" + bits[97:])
    assert board.first_mismatch is not None
    assert board.first_mismatch.startswith("vector 0, element [0][2] (")
    assert re.search(r"got      fp32 X[01]{31}: bits that are neither 0 nor 1", board.first_mismatch)


@pytest.mark.simulator
def test_sums_too_wide_for_the_native_engine_are_computed_by_the_reference() -> None:
    wide = OPERATIONS["GST-FDPA"](
        a="tf32", b="tf32", c="fp32", L=1, F=1, rho="RZ-FP32", e_zero=-139, G=1, K_block=1, scale="fp32",
    )  # fmt: skip
    board = answered(Scoreboard(specification_of(UnitDesign(Unit(name="wide", operation=wide))), 50, 0))
    outcome = board.outcome()
    assert (outcome.engine, outcome.received, outcome.mismatches, outcome.coverage) == ("reference", 50, 0, ())


@pytest.mark.parametrize(
    "design",
    [formats(2), *(pytest.param(design, marks=pytest.mark.long) for design in (TWO_STEPS, SCALED, CONVERTED))],
    ids=lambda design: design.name,
)
def test_sound_design_passes(design: Design) -> None:
    report = cosim.run(design, vectors=1000, seed=4)
    assert report.failures == ()
    elements = sum(len(vector.elements) for vector in vectors_of(design, 1000, seed=4))
    assert sum(report.classes.values()) == sum(report.result_classes.values()) == elements
    assert (report.unit, report.sent, report.received, report.waiting) == (design.name, 1000, 1000, 0)
    assert report.classes_hit == len(report.classes)
    simulations = len(power_ups("verilator", Timing.of_design(design), 1000, 4))
    assert simulations == (2 if design.implementation.stages else 1)
    assert (report.engine, report.checked, report.disagreements) == (fastest_engine(), simulations * 200, 0)


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("design", "faults", "message"),
    [
        pytest.param(TWO_STEPS, {"c": "{c[31:0], c[63:32]}"}, "results differ", marks=pytest.mark.long),
        pytest.param(
            TWO_STEPS,
            {"d": "{d_inside[63:33], ~d_inside[32], d_inside[31:0]}"},
            "1,000 of 1,000 results differ",
            marks=pytest.mark.long,
        ),
        pytest.param(TWO_STEPS, {"a": "{a[127:16], 16'd0}"}, "results differ", marks=pytest.mark.long),
        pytest.param(
            TWO_STEPS,
            {"out_valid": "1'b0"},
            "no result for 1000 cycles although vectors are inside",
            marks=pytest.mark.long,
        ),
        pytest.param(INTEGERS, {"c": "{c[31:0], c[63:32]}"}, "results differ", marks=pytest.mark.long),
        pytest.param(CONVERTED, {"c": "64'd0"}, "results differ", marks=pytest.mark.long),
        (formats(2), {"format": "2'd1"}, "results differ"),
        pytest.param(formats(2), {"format": "{1'b0, format[0]}"}, "results differ", marks=pytest.mark.long),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)  # fmt: skip
@pytest.mark.attack("designs by hand, in cosim")
def test_broken_design_is_caught(design: Design, faults: dict[str, str], message: str, wrapped: Any) -> None:
    report = cosim.run(design, vectors=1000, seed=4, dut=wrapped(design, faults))
    assert not report.passed
    assert message in " ".join(report.failures)


def test_fewer_vectors_than_kinds_are_vectors_of_some_kinds() -> None:
    """As a sample of a design's vectors may be; a run has one of each kind at least."""
    unit = Unit(name="sum", operation=FMA(a=FP16, b=FP16, c=FP16))
    specification = specification_of(ProductDesign(unit, lengths=(1, 2, 3, 4)))
    made = [vector for chunk in specification.chunks(3, 0) for vector in chunk.vectors]
    assert sorted(len(dot_products(vector.elements[0].products).stimulus.operands.a[0]) for vector in made) == [1, 2, 3]
    with pytest.raises(ValueError, match=r"^vectors must be at least the 4 numbers of transfers, got 3$"):
        specification.check_count(3)
