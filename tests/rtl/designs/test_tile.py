"""Tiles against golden's instructions: several in a row, with gaps at the input and stalls at the output."""

import dataclasses
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from amaranth import Const

import golden
from golden import Cls, Implementation, Instruction
from golden.arithmetic.formats import E4M3, E5M2, FP16, Format
from golden.chains.chain import to_fp16
from golden.comparison import differing
from golden.operations import FMA, GSTFDPA, TFDPA
from golden.stimulus import OperandShape, generate
from golden.units.unit import Array
from rtl import TileDesign, to_verilog
from rtl.designs.tile import MMATile
from rtl.designs.weight_array import WeightArray
from rtl.steps.fp8_to_fp16 import Convert
from tests.rtl.simulate import outputs, packed
from tests.rtl.stream import Handshake, ports_shown, stream_through
from tests.rtl.verilog.test_emit import verilator

SCALED = ("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0")


def small(arch: str, name: str, m: int, n: int) -> Instruction:
    """The catalogue's instruction with fewer rows and columns."""
    return dataclasses.replace(golden.instruction(arch, name), m=m, n=n)


def tiles(instruction: Instruction, count: int, seed: int) -> list[dict[str, Any]]:
    """A, B, C and scales of whole tiles, put together from rows of the stimulus."""
    i = instruction
    rows = max(i.m, i.n, i.m * i.n)
    found = []
    for number in range(count):
        operands = generate(OperandShape.of(i), rows, 1000 * seed + number).operands
        tile: dict[str, Any] = {
            "A": operands.a[: i.m],
            "B": operands.b[: i.n].T,
            "C": operands.c[: i.m * i.n].reshape(i.m, i.n),
        }
        if operands.scale_a is not None and operands.scale_b is not None:
            tile |= {"scale_a": operands.scale_a[: i.m], "scale_b": operands.scale_b[: i.n].T}
        found.append(tile)
    return found


def transfers(tile: MMATile, operands: dict[str, Any], rng: random.Random) -> list[dict[str, int]]:
    """The values of the input ports at each transfer; what is not read is noise. Of an array whose weights stay, the rows of
    A one after the other for each step, which takes `rows` times L products."""
    i, operation, array = tile.instruction, tile.instruction.operation, tile.array
    at_once = array.rows if array.keeps_weights else 1
    length, found = at_once * operation.length, []
    order = i.chain.order_over(i.k)
    for number in range(tile.steps * (i.m if array.keeps_weights else 1)):
        step, m = divmod(number, i.m) if array.keeps_weights else (number, 0)
        rows = slice(m, m + 1) if array.keeps_weights else slice(None)
        ks = order[step * length : (step + 1) * length]
        row = {
            "a": packed(operands["A"][rows, ks].reshape(-1).tolist(), i.a.width),
            "b": packed(operands["B"].T[:, ks].reshape(-1).tolist(), i.b.width),
            "c": packed(operands["C"].reshape(-1).tolist(), i.c.width),
        }
        if i.scale is not None and i.block_size is not None:
            starts = [part * operation.length // i.block_size for part in range(step * at_once, (step + 1) * at_once)]
            blocks = [start + place for start in starts for place in range(operation.scales_per_step)]
            row["scale_a"] = packed(operands["scale_a"][rows, blocks].reshape(-1).tolist(), i.scale.width)
            row["scale_b"] = packed(operands["scale_b"].T[:, blocks].reshape(-1).tolist(), i.scale.width)
        unread = [] if step == tile.shape.c_step and m == 0 else ["c"]
        for name in unread + ([name for name in row if name.endswith("b")] if m else []):
            row[name] = rng.getrandbits(len(getattr(tile, name)))
        found.append(row)
    return found


def check(
    instruction: Instruction,
    implementation: Implementation,
    count: int,
    in_idle: float,
    out_stall: float,
    array: Array | None = None,
) -> tuple[int, int]:
    """Send tiles, compare every element; returns the cycles that took, and the tile's latency."""
    made = tiles(instruction, count, seed=implementation.stages)
    expected = [instruction(**operands) for operands in made]
    tile = (WeightArray if array is not None and array.keeps_weights else MMATile)(instruction, implementation, array)
    rng = random.Random(7)
    rows = [row for operands in made for row in transfers(tile, operands, rng)]
    shown = [ports_shown(tile, row) for row in rows]
    results, cycles = stream_through(tile, Handshake.of_ports(tile), shown, count, in_idle, out_stall, noise=tile.a)
    d = instruction.d
    compared = 0
    for result, matrix in zip(results, expected, strict=True):
        for place, want in enumerate(matrix.reshape(-1).tolist()):
            got = (result >> (place * d.width)) & (d.codes - 1)
            compared += 1
            assert not differing(got, want, instruction.operation), (
                f"element {place}: {d.describe(got)}, not {d.describe(want)}"
            )
    assert compared == count * instruction.m * instruction.n
    return cycles, tile.latency


@pytest.mark.slow
@pytest.mark.parametrize("stages", [pytest.param(1, marks=pytest.mark.long), 3])
@pytest.mark.parametrize(
    ("arch", "name", "m", "n"),
    [
        pytest.param("sm_70", "mma.m8n8k4.f32.f16.f16.f16", 2, 2, marks=pytest.mark.long),
        ("sm_80", "mma.m16n8k16.f32.f16.f16.f32", 2, 1),
        pytest.param("sm_80", "mma.m16n8k8.f32.tf32.tf32.f32", 1, 2, marks=pytest.mark.long),
        pytest.param("sm_90", "mma.m16n8k16.f64.f64.f64.f64", 1, 1, marks=pytest.mark.long),
        pytest.param("sm_100", "tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0", 1, 1, marks=pytest.mark.long),
        (*SCALED, 1, 1),
        ("sm_90", "mma.m16n8k32.f16.e4m3.e5m2.f16", 1, 1),
        pytest.param("sm_100", "mma.m16n8k32.f32.e5m2.e4m3.f32", 1, 1, marks=pytest.mark.long),
        pytest.param("gfx908", "v_mfma_f32_32x32x8f16", 2, 1, marks=pytest.mark.long),
        pytest.param("gfx90a", "v_mfma_f32_32x32x4bf16", 1, 2, marks=pytest.mark.long),
        pytest.param("gfx90a", "v_mfma_f32_16x16x16f16", 1, 1, marks=pytest.mark.long),
        pytest.param("gfx942", "v_mfma_f32_16x16x16_f16", 1, 2, marks=pytest.mark.long),
        ("gfx942", "v_mfma_f32_16x16x32_fp8_bf8", 1, 1),
    ],
)
def test_tile_equals_golden_under_stalls(arch: str, name: str, m: int, n: int, stages: int) -> None:
    check(small(arch, name, m, n), Implementation(stages=stages), 4, in_idle=0.3, out_stall=0.4)


@pytest.mark.slow
@pytest.mark.parametrize("stages", [1, 2, 5])
def test_tiles_of_one_step_follow_each_other_every_cycle(stages: int) -> None:
    instruction = small("sm_70", "mma.m8n8k4.f32.f16.f16.f32", 1, 1)
    assert check(instruction, Implementation(stages=stages), 20, 0.0, 0.0) == (20 + stages, stages)


@pytest.mark.slow
@pytest.mark.parametrize("stages", [1, 2, 5])
def test_steps_of_a_tile_wait_for_each_other_and_the_next_tile_does_not(stages: int) -> None:
    instruction = small("sm_80", "mma.m16n8k4.f32.tf32.tf32.f32", 1, 1)
    instruction = dataclasses.replace(instruction, k=12)
    # A step after `stages` cycles, but the first of a tile right after the last of the one before.
    cycles = 8 * (2 * stages + 1) + stages
    assert check(instruction, Implementation(stages=stages), 8, 0.0, 0.0) == (cycles, 3 * stages)
    assert check(instruction, Implementation(stages=stages), 1, 0.0, 0.0) == (3 * stages + 1, 3 * stages)


def an_array(stages: int = 1, operation: golden.Operation | None = None, **keys: Any) -> golden.Unit:
    """A unit with an array."""
    shape: dict[str, Any] = {"a": "e4m3", "b": "e5m2", "c": "fp32", "L": 2, "F": 13, "rho": "RZ-FP32", "e_zero": -133}
    built = Implementation(stages=stages)
    return golden.Unit(name="fp8", operation=operation or TFDPA(**shape), implementation=built, array=Array(**keys))


def check_array(unit: golden.Unit, in_idle: float, out_stall: float, count: int = 5) -> tuple[int, int]:
    """`check` of the array of a unit."""
    design = TileDesign.of_unit(unit)
    return check(design.instruction, design.implementation, count, in_idle, out_stall, design.array)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("feed", "decoders", "rows", "columns", "stages", "steps", "double_buffer"),
    [
        ("systolic", "edge", 2, 3, 1, 4, True),
        ("broadcast", "edge", 1, 1, 1, 2, True),
        ("systolic", "each", 2, 3, 1, 1, False),
        ("systolic", "each", 3, 2, 2, 2, False),
        ("systolic", "each", 1, 3, 3, 1, True),
    ],
)
def test_array_equals_golden_with_and_without_stalls(
    feed: str, decoders: str, rows: int, columns: int, stages: int, steps: int, double_buffer: bool
) -> None:
    keys: dict[str, Any] = {"rows": rows, "columns": columns, "steps": steps, "feed": feed, "decoders": decoders}
    unit = an_array(stages, **keys, double_buffer=double_buffer)
    check_array(unit, 0.3, 0.4)
    check_array(unit, 0.0, 0.0)


@pytest.mark.slow
@pytest.mark.costly(4)
@pytest.mark.parametrize(
    ("feed", "decoders", "double_buffer", "rows", "columns", "stages", "steps", "depth"),
    [
        ("systolic", "edge", False, 2, 3, 1, 2, 3),
        ("systolic", "each", True, 3, 2, 1, 2, 7),
        ("broadcast", "edge", True, 2, 2, 2, 3, 2),
        ("broadcast", "each", False, 1, 1, 1, 1, 1),
        ("systolic", "edge", True, 2, 2, 3, 2, 1),
    ],
)
def test_array_whose_weights_stay_equals_golden(
    feed: str, decoders: str, double_buffer: bool, rows: int, columns: int, stages: int, steps: int, depth: int
) -> None:
    keys: dict[str, Any] = {"rows": rows, "columns": columns, "steps": steps, "feed": feed, "decoders": decoders}
    unit = an_array(stages, **keys, double_buffer=double_buffer, stationary="weights", depth=depth)
    check_array(unit, 0.3, 0.4)
    cycles, latency = check_array(unit, 0.0, 0.0)
    assert cycles == 5 * latency + 1


def test_ports_of_an_array_whose_weights_stay_hold_one_row_of_a_and_all_weights() -> None:
    unit = an_array(rows=4, columns=3, steps=2, stationary="weights", depth=5)
    text = to_verilog(TileDesign.of_unit(unit))
    assert "\n//   input  a           64  8 x e4m3 (w = 8) of a row\n" in text
    assert "\n//   input  b          192  8 x e5m2 (w = 8) of each column, read with the first row of each step\n" in text
    assert "\n//   input  c          480  5 rows of 3 x fp32 (w = 32), read with step 0\n" in text


def all_late(cycles: int) -> Any:
    """`MMATile._along` with the operands of every line as many cycles late."""
    along = MMATile._along
    return lambda self, m, side, lines, count, late: along(self, m, side, lines, count, [cycles] * len(late))


@pytest.mark.attack("datapath of the generator")
@pytest.mark.slow
@pytest.mark.costly(3)
@pytest.mark.parametrize("fault", ["weights too early", "sum not there yet", "no delay from row to row"])
def test_a_wrong_array_whose_weights_stay_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    double_buffer = fault == "sum not there yet"
    shape: dict[str, Any] = {"rows": 3, "columns": 2, "steps": 3, "depth": 4, "double_buffer": double_buffer}
    unit = an_array(2, feed="systolic", stationary="weights", **shape)
    if fault == "weights too early":
        monkeypatch.setattr(WeightArray, "_in_use", lambda self, m, since: Const(0, 1))
    elif fault == "sum not there yet":
        monkeypatch.setattr(WeightArray, "_is_there", lambda self, in_flight, returns: Const(1, 1))
    else:
        monkeypatch.setattr(WeightArray, "_along", all_late(1))
    with pytest.raises(AssertionError, match="element"):
        check_array(unit, 0.0, 0.0)


FP4: dict[str, Any] = {"a": "e2m1", "b": "e2m1", "c": "fp32", "scale": "ue4m3", "F": 25, "rho": "RZ-FP32", "e_zero": -133}
SCALES = GSTFDPA(L=16, G=16, K_block=16, **FP4)
NAN_OF_OPERANDS = FMA(a=FP16, b=FP16, c=FP16, nan="first")


@pytest.mark.slow
@pytest.mark.costly(4)
@pytest.mark.parametrize("stays", [{}, {"stationary": "weights", "depth": 3}], ids=["outputs", "weights"])
@pytest.mark.parametrize("operation", [SCALES, NAN_OF_OPERANDS], ids=["scales", "codes of NaN"])
def test_decoders_at_the_edge_serve_operations_that_read_more_than_elements(
    operation: golden.Operation, stays: dict[str, Any]
) -> None:
    check_array(an_array(1, operation, rows=2, columns=2, steps=2, feed="systolic", decoders="edge", **stays), 0.3, 0.4)


def test_elements_of_an_array_with_decoders_at_its_edge_have_none_of_their_own() -> None:
    text = to_verilog(TileDesign.of_unit(an_array(rows=2, columns=3, decoders="edge")))
    decoders = re.findall(r"^  unit_decode_(\w+?)(?:_2)? \w*decode_([xyz])\w* \(", text, flags=re.MULTILINE)
    assert sorted(decoders) == [("e4m3", "x")] * 4 + [("e5m2", "y")] * 6 + [("fp32", "z")] * 6


@pytest.mark.slow
def test_double_buffer_lets_the_next_result_begin_while_one_waits() -> None:
    keys: dict[str, Any] = {"rows": 2, "columns": 2, "steps": 6, "feed": "systolic"}
    one, _ = check_array(an_array(**keys), 0.0, 0.0, 6)
    two, _ = check_array(an_array(**keys, double_buffer=True), 0.0, 0.0, 6)
    assert (one, two) == (6 * 6 + 1 + 6 * 2, 6 * 6 + 1 + 2 + 1)


@pytest.mark.attack("datapath of the generator")
@pytest.mark.slow
@pytest.mark.parametrize("fault", ["no skew", "c of the next tile", "first result only"])
def test_a_wrong_systolic_array_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stages, steps = (3, 1) if fault == "c of the next tile" else (1, 4)
    unit = an_array(stages, rows=2, columns=3, steps=steps, feed="systolic")
    if fault == "no skew":
        monkeypatch.setattr(MMATile, "_along", all_late(0))
    elif fault == "c of the next tile":
        monkeypatch.setattr(MMATile, "_may_start", lambda self, m, first, in_transfer: first)
    else:
        monkeypatch.setattr(MMATile, "_collected", lambda self, m, ends: (self.out_ready, ends))
    with pytest.raises(AssertionError, match="element"):
        check_array(unit, 0.0, 0.0)


@pytest.mark.parametrize("operand", [E4M3, E5M2], ids=str)
def test_every_fp8_code_converts_to_fp16(operand: Format) -> None:
    component = Convert(operand)
    seen = outputs(component, [{"code": code} for code in range(256)], lambda get: get(component.converted))
    for code, got in enumerate(seen):
        want = to_fp16(operand, code)
        assert got == want or FP16.decode(got).cls is FP16.decode(want).cls is Cls.NAN, operand.describe(code)


VOLTA = golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32")
NO_TILE = "has no tile: the steps of a tile start from c and add products; got [chain]"


@pytest.mark.parametrize(
    ("instruction", "stages", "message"),
    [
        (VOLTA, 0, "stages of a tile must be an integer from 1 to 8, got 0"),
        (dataclasses.replace(VOLTA, n=257), 1, "n of a tile must be an integer from 1 to 256, got 257"),
        (
            dataclasses.replace(VOLTA, m=256, n=256), 1,
            "a tile must have at most 4096 products a step, m * n * L; got 256 * 256 * 4 = 262144: "
            "take fewer rows or columns",
        ),
        (
            dataclasses.replace(golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f16"), k=8), 1,
            "c and d of a tile of 2 steps must be one format, got fp16 and fp32",
        ),
        (golden.instruction("armv9-sme", "fmops.za.s.s"), 1, f"fmops.za.s.s {NO_TILE} subtract = True"),
        (
            golden.instruction("riscv-zvbdota", "vfwbdota.vv.bf16.k8"), 1,
            f"vfwbdota.vv.bf16.k8 {NO_TILE} add_c = last, addition = RO",
        ),
    ],
)  # fmt: skip
def test_tile_that_cannot_be_built_is_refused(instruction: Instruction, stages: int, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        TileDesign(instruction, Implementation(stages=stages))


PAIRS_OF_FOUR = "0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29"


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("arch", "name", "products"),
    [
        pytest.param("sm_90", "mma.m16n8k32.f16.e4m3.e5m2.f16", PAIRS_OF_FOUR, marks=pytest.mark.long),
        pytest.param("sm_90", "mma.m16n8k32.f32.e4m3.e4m3.f32", PAIRS_OF_FOUR, marks=pytest.mark.long),
        pytest.param(*SCALED, ", ".join(map(str, range(32))), marks=pytest.mark.long),
        pytest.param("sm_100", "mma.m16n8k32.f32.e5m2.e4m3.f32", PAIRS_OF_FOUR, marks=pytest.mark.long),
        ("gfx942", "v_mfma_f32_16x16x16_f16", "0, 1, 2, 3, 4, 5, 6, 7"),
    ],
)
def test_verilog_of_a_tile_is_lint_clean_and_says_how_to_feed_it(
    arch: str, name: str, products: str, tmp_path: Path
) -> None:
    instruction = small(arch, name, 2, 1)
    text = to_verilog(TileDesign(instruction, Implementation(stages=2)), "some_tile")
    assert text == to_verilog(TileDesign(instruction, Implementation(stages=2)), "some_tile")
    assert re.match(rf"// some_tile: 2 x 1 x {instruction.k} tile of {arch} {re.escape(name)}, generated by mmau .+\n", text)
    assert f"\n//   0: {products}\n" in text
    converted = "a and b are converted to fp16, the sum starts from 0, and c is added to it, rounded by RNE."
    assert (f"\n// {converted}\n" in text) == (instruction.fp16_order is not None)
    length, a = instruction.operation.length, instruction.a
    assert f"\n//   input  a         {2 * length * a.width:>4}  {length} x {a} (w = {a.width}) of each row\n" in text
    path = tmp_path / "tile.v"
    path.write_text(text)
    result = subprocess.run([verilator(), "--lint-only", "-Wall", path], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
