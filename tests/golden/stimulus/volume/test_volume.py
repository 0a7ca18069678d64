"""The stimulus at volume: the same bits in any batch, with every instruction set; classes and corners match their names."""

import hashlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import golden
from golden.arithmetic.format import Format
from golden.arithmetic.formats import E2M3, E4M3, E4M3FNUZ, E8M13, FP16, FP32, INT8, INT32, UE8M0, UINT8, Cls
from golden.operations.t_fdpa import TFDPA
from golden.stimulus import OperandShape, Stimulus, Tiles, volume
from golden.stimulus.volume.fill import CornerTable
from tests.golden.native.native_rows import INSTRUCTION_SETS, has_instruction_set
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


DIGESTS = {
    "fp16": "3157ca515a616f09a8dc02b2c4460cd8",
    "fp64": "d80bb3efa504dc47a0b65bc1460f7f62",
    "tf32": "922cd7c015fef612c21f7448df731412",
    "fp8 to E8M13": "13bdadba730ef463537ec602acf4c66b",
    "fnuz": "1bd2b0e7097b10c2c2e60697a1f7a61f",
    "one product": "900f1ccf4f379438cd48eaf79dee55c2",
    "scaled fp6": "0a7078a8ac3d00b98dba24bd0d5597e0",
    "scaled fp4": "6c9a0b743588021fa3a2c0dbb5a5e695",
    "odd lengths": "81f335e4922e5d3fdb5fce01528dd21d",
    "many products": "80a5b835e1e050b651c1686cd63ff733",
    "int8": "4655380d7ebfacf6650580ee62ba9e78",
    "uint8 and int8": "3bdb93d356963ff253231442173eb23c",
    "uint8": "3d865d9b55dd3abf3515206a7e0d1402",
    "odd blocks": "e10a627c878c157a11108eb8cf971209",
}
"""SHA-256 of the first rows of a seed, its first half: a row stays the same from version to version."""


def content(stimulus: Stimulus) -> bytes:
    """The bytes of rows and labels."""
    arrays = [*stimulus.operands, stimulus.label]
    return b"".join(np.ascontiguousarray(array).tobytes() for array in arrays if array is not None)


@pytest.mark.parametrize("name", SHAPES)
def test_rows_of_a_seed_stay(name: str) -> None:
    assert hashlib.sha256(content(volume.rows(SHAPES[name], 7, 3, 1000))).hexdigest()[:32] == DIGESTS[name]


@pytest.mark.parametrize("isa", INSTRUCTION_SETS)
def test_every_instruction_set_gives_the_same_rows(isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_instruction_set(isa):
        pytest.skip(f"this processor has no {isa}")
    for shape in SHAPES.values():
        monkeypatch.setenv("MMAU_ISA", "portable")
        expected = content(volume.rows(shape, 7, 3, 500))
        monkeypatch.setenv("MMAU_ISA", isa)
        assert content(volume.rows(shape, 7, 3, 500)) == expected


def test_rows_do_not_depend_on_the_batch() -> None:
    whole = volume.rows(HOPPER, 5, 1000, 300)
    parts = [volume.rows(HOPPER, 5, first, count) for first, count in ((1000, 1), (1001, 250), (1251, 49))]
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


def test_bits_are_uniform_and_independent() -> None:
    """Of the class `bits`: every bit of each operand, and beside the same one of the next product, row and operand."""
    rows = volume.rows(HOPPER, 5, 0, 32_000)
    chosen = rows.operands.rows(rows.label == CLASSES.index("bits"))
    a, b = (np.unpackbits(codes.view(np.uint8), axis=1) for codes in (chosen.a, chosen.b))
    c = np.unpackbits(chosen.c[:, None].view(np.uint8), axis=1)
    for bits in (a, b, c):
        assert abs(bits.mean(axis=0) - 0.5).max() < 0.06
    assert abs(np.concatenate([a, b, c], axis=1).mean() - 0.5) < 0.002
    for one, other in ((a[:, :-16], a[:, 16:]), (a[:-1], a[1:]), (a, b)):
        assert abs((one ^ other).mean() - 0.5) < 0.003


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
    landmarks = {0, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0x7E00, 0x7C01}  # of IEEE 754: 0, subnormals, 1, the ends, NaNs
    special = set(rows.operands.a[rows.label == CLASSES.index("specials")].ravel().tolist())
    assert {code | sign for code in landmarks for sign in (0, 0x8000)} <= special
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
    """So a tie stays a tie; but in the quarter of the rows whose last bits may change."""
    shape, seed, count = SHAPES[name], 9, 540
    rows, table = volume.rows(shape, seed, 0, count), volume.corner_table(shape, seed)
    sums: dict[int, set[int | None]] = {}
    for row, label in enumerate(table.about[:, 0].tolist()):
        sums.setdefault(label, set()).add(odd_part(exact_sum(shape, table.operands, row)))
    same, shifts = [], set()
    for row in range(1, count, 2):
        total = exact_sum(shape, rows.operands, row)
        same.append(odd_part(total) in sums[int(rows.label[row])])
        shifts.add(None if not total else total.numerator.bit_length() - total.denominator.bit_length())
    assert np.mean(same) > 0.7
    assert len(shifts) > 20


def odd_part(total: Fraction | None) -> int | None:
    """A binary number without its sign and its power of two."""
    return None if total is None else abs(total.numerator) // ((total.numerator & -total.numerator) or 1)


def test_apart_rows_have_large_products_far_above_the_others() -> None:
    """By every distance up to the widest published alignment, and beyond it."""
    rows = volume.rows(HOPPER, 3, 0, 32_000)
    chosen = rows.operands.rows(rows.label == CLASSES.index("apart"))
    leads = np.sort(decoded_leads(FP16, chosen.a) + decoded_leads(FP16, chosen.b), axis=1)
    distances = leads[:, -1] - leads[:, -2]
    assert set(range(36)) <= set(distances.tolist())
    few = (leads >= leads[:, -1:]).sum(axis=1)
    assert (few == 1).mean() > 0.4
    assert few.max() > 1


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
