"""The stimulus at volume: library and NumPy give the same bits in any batch; classes and corners match their names."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import golden
from golden.arithmetic.format import Format
from golden.arithmetic.formats import E2M3, E4M3, E4M3FNUZ, E8M13, FORMATS, FP16, FP32, INT8, INT32, UE8M0, UINT8, Cls
from golden.operations.t_fdpa import TFDPA
from golden.stimulus import OperandShape, Tiles, volume
from golden.stimulus.volume.corner_table import CornerTable
from golden.stimulus.volume.corners import variations
from golden.stimulus.volume.plan import Plan
from golden.stimulus.volume.words import Key, Stream
from tests.golden.native.native_rows import INSTRUCTION_SETS, has_instruction_set, needs_native
from tests.volume import one_in

CLASSES = volume.CLASSES


def shape_of(arch: str, name: str) -> OperandShape:
    return OperandShape.of(golden.instruction(arch, name))


HOPPER = shape_of("sm_90", "mma.m16n8k16.f32.f16.f16.f32")

SHAPES = {
    "fp16": HOPPER,
    "fp64": shape_of("sm_90", "mma.m16n8k4.f64.f64.f64.f64"),
    "tf32": shape_of("sm_90", "mma.m16n8k8.f32.tf32.tf32.f32"),
    "fp8 to E8M13": shape_of("sm_90", "wgmma.m64n16k32.f32.e4m3.e5m2"),
    "fnuz": shape_of("gfx942", "v_mfma_f32_16x16x32_fp8_bf8"),
    "one product": shape_of("gfx908", "v_mfma_f32_32x32x1f32"),
    "scaled fp6": shape_of("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e3m2.e2m3.f32.ue8m0"),
    "scaled fp4": shape_of("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"),
    "odd lengths": OperandShape(a=FP16, b=E4M3, c=FP16, d=FP16, K=7),
    "many products": OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=100),
    "int8": shape_of("x86-amx", "tdpbssd.m16n16k16"),
    "uint8 and int8": OperandShape(a=UINT8, b=INT8, c=INT32, d=INT32, K=7),
    "uint8": OperandShape(a=UINT8, b=UINT8, c=INT32, d=INT32, K=1),
    "odd blocks": OperandShape(a=E2M3, b=E4M3FNUZ, c=FP32, d=E8M13, K=50, scale=UE8M0, block_size=12),
}

each = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


def assert_same(x: Tiles, y: Tiles) -> None:
    for name, codes in vars(x).items():
        expected = vars(y)[name]
        assert (codes is None) == (expected is None)
        if codes is not None:
            assert codes.dtype == expected.dtype
            np.testing.assert_array_equal(codes, expected, name)


def assert_engines_agree(shape: OperandShape, m: int, n: int, count: int, seed: int = 7) -> None:
    (x, labels), (y, expected) = (volume.tiles(shape, m, n, seed, 3, count, engine=engine) for engine in volume.ENGINES)
    np.testing.assert_array_equal(labels, expected)
    assert_same(x, y)


@pytest.mark.slow
@needs_native
@each
def test_engines_agree(shape: OperandShape) -> None:
    assert_engines_agree(shape, 1, 1, 400)
    assert_engines_agree(shape, 3, 5, 33)


@needs_native
@pytest.mark.long
def test_engines_agree_on_every_shape_of_the_catalogue() -> None:
    shapes = {OperandShape.of(instruction) for instruction in golden.instructions()}
    assert len(shapes) > 100
    for shape in shapes:
        assert_engines_agree(shape, 1, 1, 1000, seed=2)
        assert_engines_agree(shape, 2, 3, 50, seed=2)


@needs_native
@pytest.mark.long
def test_engines_agree_on_every_pair_of_formats() -> None:
    operands = [operand for operand in FORMATS.values() if operand.exp_bits and operand.signed]
    for a, b in product(operands, operands):
        for K, scale, block in ((5, None, None), (16, None, None), (32, FORMATS["ue4m3"], 16)):
            c = FORMATS["fp64" if "fp64" in (a.name, b.name) else "fp32"]
            shape = OperandShape(a=a, b=b, c=c, d=c, K=K, scale=scale, block_size=block)
            assert_engines_agree(shape, 1, 1, 200)


@needs_native
@pytest.mark.parametrize("isa", INSTRUCTION_SETS)
def test_every_instruction_set_gives_the_same_rows(isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_instruction_set(isa):
        pytest.skip(f"this processor has no {isa}")
    monkeypatch.setenv("MMAU_ISA", isa)
    for shape in (HOPPER, SHAPES["fp64"], SHAPES["scaled fp4"], SHAPES["int8"]):
        assert_engines_agree(shape, 1, 1, 300)


@pytest.mark.parametrize("engine", [pytest.param("native", marks=needs_native), "numpy"])
def test_rows_do_not_depend_on_the_batch(engine: str) -> None:
    whole = volume.rows(HOPPER, 5, 1000, 300, engine=engine)
    parts = [volume.rows(HOPPER, 5, first, count, engine=engine) for first, count in ((1000, 1), (1001, 250), (1251, 49))]
    np.testing.assert_array_equal(whole.label, np.concatenate([part.label for part in parts]))
    for whole_codes, *codes in zip(whole.operands[:3], *(part.operands[:3] for part in parts), strict=True):
        np.testing.assert_array_equal(whole_codes, np.concatenate(codes))


def test_rows_are_tiles_of_one_row_and_one_column() -> None:
    rows = volume.rows(HOPPER, 5, 40, 100)
    tiles, labels = volume.tiles(HOPPER, 1, 1, 5, 40, 100)
    np.testing.assert_array_equal(rows.operands.a, tiles.a[:, 0])
    np.testing.assert_array_equal(rows.operands.c, tiles.c[:, 0, 0])
    np.testing.assert_array_equal(rows.label, labels)


def test_far_rows_and_other_seeds_are_others() -> None:
    first, far, other = (volume.rows(HOPPER, seed, start, 2000).operands.a for seed, start in ((1, 0), (1, 1 << 40), (2, 0)))
    assert (first != far).mean() > 0.6
    assert (first != other).mean() > 0.6
    assert volume.rows(HOPPER, (1 << 64) - 1, (1 << 62), 2).operands.a.shape == (2, 16)


def test_every_other_row_varies_a_corner_and_the_classes_take_turns() -> None:
    stimulus = volume.rows(HOPPER, 1, 0, 8000)
    assert stimulus.names == (*CLASSES, *golden.stimulus.CORNERS)
    np.testing.assert_array_equal(stimulus.label[0::2], np.arange(4000) % len(CLASSES))
    with_cases = {name for name, corner in golden.stimulus.CORNERS.items() if corner.cases(HOPPER)}
    assert {stimulus.names[label] for label in stimulus.label[1::2].tolist()} == with_cases


@pytest.mark.slow
@each
def test_codes_are_operands(shape: OperandShape) -> None:
    """`dot` of a unit checks dtypes, shapes and code ranges."""
    operands = volume.rows(shape, 3, 0, 600).operands
    for codes, operand in ((operands.a, shape.a), (operands.b, shape.b), (operands.c, shape.c)):
        assert codes.dtype == np.dtype(f"uint{operand.storage_bits}")
        assert int(codes.max()) < operand.codes
        used = int(np.bitwise_or.reduce(codes.astype(np.uint64).ravel()))
        assert used == operand.codes - 1  # every bit is used


def test_words_are_uniform_and_those_of_one_stream_unlike_anothers() -> None:
    key = Key.of(5, np.arange(1000, dtype=np.uint64))
    first, second = (key.word(stream, np.arange(64)[None, :]) for stream in (Stream.A, Stream.B))
    for bit in range(32):
        for words in (first, second):
            assert 0.49 < ((words >> np.uint32(bit)) & np.uint32(1)).mean() < 0.51
    assert 15.8 < np.bitwise_count(first ^ second).mean() < 16.2
    assert len(np.unique(first)) > 63_998 - 64


def decoded_leads(operand: Format, codes: np.ndarray) -> np.ndarray:
    """Exponents of the leading bits; the codes are finite and not zero."""
    parts = [operand.decode(code) for code in codes.ravel().tolist()]
    return np.reshape([x.sig.bit_length() - 1 + x.exp - operand.man_bits for x in parts], codes.shape)


def tiles_of_class(name: str, count: int) -> Tiles:
    tiles, labels = volume.tiles(HOPPER, 16, 8, 3, 0, count)
    chosen = labels == CLASSES.index(name)
    return Tiles(*(None if x is None else x[chosen] for x in vars(tiles).values()))


def test_products_of_a_normal_tile_have_the_exponents_of_one_row() -> None:
    tiles = tiles_of_class("normal", 800)
    leads = decoded_leads(FP16, tiles.a)[:, :, None, :] + decoded_leads(FP16, tiles.b)[:, None, :, :]
    assert (leads == leads[:, :1, :1, :]).all()
    spreads = np.ptp(leads[:, 0, 0, :], axis=1)
    assert spreads.max() > 31
    assert spreads.min() == 0


def test_pairs_cancel_in_every_element_of_a_tile() -> None:
    """But for last bits, which about half of the tiles change."""
    tiles = tiles_of_class("cancel", 400)
    a, b = (codes.view(np.float16).astype(np.float64) for codes in (tiles.a, tiles.b))
    ordered = np.sort(a[:, :, None, :] * b[:, None, :, :], axis=3)
    cancels = (ordered == -ordered[..., ::-1]).all(axis=3)
    assert 0.5 < cancels.mean() < 0.95
    assert (cancels.mean(axis=(1, 2)) == 1).any()


def test_c_takes_a_product_away() -> None:
    """In `completed`: the exact sum of c and one product is a last bit of c at most, or what c has no bits for."""
    rows = volume.rows(HOPPER, 3, 0, 16 * 60)
    chosen = np.flatnonzero(rows.label == CLASSES.index("completed"))
    exact = 0
    for row in chosen.tolist():
        a, b = (x[row].view(np.float16).astype(np.float64) for x in (rows.operands.a, rows.operands.b))
        c = float(rows.operands.c[row : row + 1].view(np.float32)[0])
        exact += bool((a * b == -c).any())
    assert 0.5 < exact / len(chosen) < 0.9


def test_specials_and_tiny_hold_every_kind_of_code() -> None:
    rows = volume.rows(HOPPER, 3, 0, 8000)

    def kinds(name: str) -> set[Cls]:
        codes = rows.operands.a[rows.label == CLASSES.index(name)]
        return {FP16.decode(code).cls for code in codes.ravel().tolist()}

    assert kinds("specials") == set(Cls)
    assert {Cls.ZERO, Cls.SUBNORMAL} < kinds("tiny")
    assert kinds("huge") <= {Cls.ZERO, Cls.SUBNORMAL, Cls.NORMAL}


@pytest.mark.parametrize("name", ["tf32", "fp8 to E8M13", "fp16"])
def test_sums_of_huge_are_about_the_largest_result_where_the_formats_reach_it(name: str) -> None:
    """Neither all infinite nor all finite."""
    shape = OperandShape(a=SHAPES[name].a, b=SHAPES[name].b, c=FP16, d=FP16, K=8) if name != "tf32" else SHAPES[name]
    rows = volume.rows(shape, 4, 0, 8000)
    huge = rows.label == CLASSES.index("huge")
    rho, e_zero = ("RZ-FP32", -133) if name == "tf32" else ("RNE-FP16", -21)
    operation = TFDPA(a=shape.a, b=shape.b, c=shape.c, rho=rho, L=8, F=25, e_zero=e_zero)
    unit = golden.Unit(name="sum", operation=operation)
    d = unit.dot(*rows.operands.rows(huge))
    infinite = (d & (shape.d.codes // 2 - 1)) == (shape.d.infinity or 0)
    assert 0.15 < infinite.mean() < 0.85


def exact_sum(shape: OperandShape, table: Any, row: int) -> Fraction | None:
    """c and all products, under their scales, exactly; None where one is special."""
    a, b, c, scale_a, scale_b = table
    total = shape.c.value(int(c[row]))
    for k in range(shape.K):
        factors = [shape.a.value(int(a[row, k])), shape.b.value(int(b[row, k]))]
        if shape.scale is not None and shape.block_size is not None:
            block = k // shape.block_size
            factors += [shape.scale.value(int(scale_a[row, block])), shape.scale.value(int(scale_b[row, block]))]
        if total is None or None in factors:
            return None
        term = Fraction(1)
        for factor in factors:
            assert factor is not None
            term *= factor
        total += term
    return total


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(3, ["fp16", "odd lengths", "scaled fp4", "odd blocks"]))
def test_a_varied_corner_has_its_corners_sum_at_another_exponent(name: str) -> None:
    """So a tie stays a tie; but where a last bit was changed."""
    shape, seed, count = SHAPES[name], 9, 540
    rows = volume.rows(shape, seed, 0, count)
    table = volume.corner_table(shape, seed)
    index = np.arange(1, count, 2)
    varied = variations(Plan(shape), table, Key.of(seed, index.astype(np.uint64)))
    shifts, compared = set(), 0
    for row, source, nudge in zip(index.tolist(), varied.row.tolist(), varied.nudge_odds.tolist(), strict=True):
        got, of_corner = exact_sum(shape, rows.operands, row), exact_sum(shape, table.operands, source)
        assert (got is None) == (of_corner is None)
        if nudge or not got or not of_corner:
            assert nudge or got == of_corner
            continue
        ratio = abs(got / of_corner)
        assert ratio.numerator & (ratio.numerator - 1) == ratio.denominator & (ratio.denominator - 1) == 0
        shifts.add(ratio)
        compared += 1
    assert compared > 60
    assert len(shifts) > 8


def test_corner_table_holds_every_case_once() -> None:
    table = volume.corner_table(HOPPER, 1)
    cases = [corner.cases(HOPPER) for corner in golden.stimulus.CORNERS.values()]
    held = np.bincount(table.about[:, 0], minlength=len(volume.NAMES))[len(CLASSES) :]
    np.testing.assert_array_equal(held, cases)


@pytest.mark.slow
def test_corner_table_of_very_many_products_holds_a_share_of_each_corner() -> None:
    shape = OperandShape(a=E4M3, b=E4M3, c=FP32, d=FP32, K=2048)
    table = volume.corner_table(shape, 1)
    assert len(table) * shape.K <= 1 << 22
    held = np.bincount(table.about[:, 0], minlength=len(volume.NAMES))[len(CLASSES) :]
    cases = [corner.cases(shape) for corner in golden.stimulus.CORNERS.values()]
    np.testing.assert_array_equal(held > 0, np.array(cases) > 0)


def test_blob_says_how_long_it_is() -> None:
    table = volume.corner_table(SHAPES["odd blocks"], 1)
    assert isinstance(table, CornerTable)
    rows, size = np.frombuffer(table.blob[:16], np.int64).tolist()
    assert (rows, size) == (len(table), len(table.blob))
    assert size % 8 == 0
