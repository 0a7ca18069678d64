"""The C interface for simulators: one instruction in the registers of a wave, against golden under the kernels' layouts."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import IntegerFormat
from golden.native.library import library
from hwtests.amd import kernels, mfma
from hwtests.nvidia.mma import fp4_is_packed, fragments_of
from hwtests.nvidia.source import code_shift, container_bits, scale_columns_of_b, scale_rows_of_a

ROOT = Path(__file__).parents[3]
LIBRARY = library()
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="the native library is not installed")

FIELDS = ("version", "lanes", "a_registers", "b_registers", "c_registers", "d_registers", "m", "n", "k", "blocks", "operand",
          "layout")  # fmt: skip
NULL_POINTER, BAD_LAYOUT = 1, 31


def found(arch: str, name: str) -> tuple[int, Any, dict[str, int]]:
    """The status, the struct's bytes, and its first fields."""
    assert LIBRARY is not None
    tile = ctypes.create_string_buffer(1024)
    status = LIBRARY.mmau_find_tile(arch.encode(), name.encode(), tile)
    return status, tile, dict(zip(FIELDS, np.frombuffer(bytes(tile), np.int32, len(FIELDS)).tolist(), strict=True))


def instructions() -> list[golden.Instruction]:
    """Each shape and widths of formats whose registers the interface knows, once a family."""
    chosen: dict[object, golden.Instruction] = {}
    for i in golden.instructions():
        widths = tuple(x.width for x in (i.a, i.b, i.c, i.d))
        shape = (i.m, i.n, i.k, widths, i.block_size, i.a == golden.FORMATS["e2m1"])
        if i.name.startswith("mma."):
            chosen.setdefault((i.arch == "sm_120", shape), i)
        elif i.name.startswith("v_mfma") or (i.name.startswith("v_wmma") and kernels.has_kernel(i)):
            chosen.setdefault((i.arch, i.name.split("_")[-1][:3], shape), i)
    return list(chosen.values())


class Layout(NamedTuple):
    """Offsets of A, B, C and D by lane and place, bits between places of each, and how far a code of A or B lies above."""

    tables: tuple[Any, Any, Any, Any]
    bits: tuple[int, int, int, int]
    shifts: tuple[int, int]
    blocks: int


def layout_of(i: golden.Instruction) -> Layout:
    """As the kernels on silicon have it."""
    if i.name.startswith("v_mfma"):
        elements, blocks = mfma.per_lane(i), mfma.blocks(i)
        of_d = mfma.result_table(i.m, i.n, blocks, i.d.name == "fp64")
        of_factors = mfma.operand_table(i.m, i.k, elements), mfma.operand_table(i.n, i.k, elements)
        bits = (i.a.storage_bits, i.b.storage_bits, i.c.storage_bits, i.d.storage_bits)
        return Layout((*of_factors, of_d, of_d), bits, (0, 0), blocks)
    if i.name.startswith("v_wmma"):
        of_a, of_d = kernels.operand_table(i), kernels.result_table(i)
        of_result = i.d.width if i.arch == "gfx1201" else 32
        return Layout((of_a, of_a, of_d, of_d), (i.a.width, i.b.width, of_result, of_result), (0, 0), 1)
    packed, (with_c, with_d) = fp4_is_packed(i), fragments_of(i)
    bits = (container_bits(i.a, packed), container_bits(i.b, packed), i.c.storage_bits, i.d.storage_bits)
    shifts = code_shift(i.a, packed), code_shift(i.b, packed)
    return Layout((with_c.a, with_c.b, with_c.c, with_d.c), bits, shifts, with_c.tiles)


def registers(codes: Any, table: Any, bits: int, shift: int = 0) -> Any:
    """Elements in the registers of lanes, as words."""
    held = codes.ravel()[table].astype(object) << shift
    words = np.zeros((len(table), table.shape[1] * bits // 32), object)
    for place in range(table.shape[1]):
        words[:, place * bits // 32] += (held[:, place] & 0xFFFFFFFF) << (place * bits % 32)
        if bits == 64:
            words[:, place * 2 + 1] += held[:, place] >> 32
    return words.astype(np.uint32)


def scale_registers(scales: Any, table: Any) -> Any:
    """Byte s of the register of a lane that supplies a row is the scale of block s; other lanes hold what is not read."""
    words = np.full(32, 0xA5A5A5A5, np.uint32)
    for lane, row in enumerate(table[:, 0]):
        if row >= 0:
            words[lane] = sum(int(code) << (8 * block) for block, code in enumerate(scales[row]))
    return words


def pointer(array: Any) -> Any:
    return None if array is None else array.ctypes.data_as(ctypes.c_void_p)


@pytest.mark.slow
@pytest.mark.parametrize("i", instructions(), ids=lambda i: f"{i.arch}-{i.name}")
def test_wave_is_goldens(i: golden.Instruction) -> None:
    assert LIBRARY is not None
    status, tile, fields = found(i.arch, i.name)
    assert status == 0
    layout = layout_of(i)
    blocks, rng = layout.blocks, np.random.default_rng(i.k)
    assert (fields["version"], fields["lanes"], fields["blocks"]) == (1, len(layout.tables[0]), blocks)
    assert (fields["m"], fields["n"], fields["k"]) == (i.m, i.n, i.k)

    def drawn(*shape: int, operand: golden.Format, low: int = -4) -> Any:
        """Codes of small numbers, so that no sum is a NaN; of integers any codes."""
        numbers = rng.integers(low, 5, shape)
        if isinstance(operand, IntegerFormat):
            return rng.integers(0, operand.codes, shape).astype(f"u{operand.storage_bits // 8}")
        return np.vectorize(lambda x: operand.encode(int(x)), otypes=[f"u{operand.storage_bits // 8}"])(numbers)

    A, B = (drawn(blocks, rows, i.k, operand=x) for rows, x in ((i.m, i.a), (i.n, i.b)))
    C = drawn(blocks, i.m, i.n, operand=i.c)
    scales: list[Any] = [None, None]
    if i.scale is not None and i.block_size is not None:
        one = i.scale.encode(1)
        scales = [rng.integers(one - 3, one + 4, (rows, i.k // i.block_size)).astype(np.uint8) for rows in (i.m, i.n)]
    codes, shifts = (A, B, C), (*layout.shifts, 0)
    words = [registers(*held) for held in zip(codes, layout.tables[:3], layout.bits[:3], shifts, strict=True)]
    names = ("a_registers", "b_registers", "c_registers")
    assert [w.shape[1] for w in words] == [fields[name] for name in names]
    of_columns = None if scales[1] is None else np.ascontiguousarray(scales[1].T)
    D = np.stack([i(A[n], np.ascontiguousarray(B[n].T), C[n], scales[0], of_columns) for n in range(blocks)])
    expected = registers(D, layout.tables[3], layout.bits[3])
    got = np.zeros((fields["lanes"], fields["d_registers"]), np.uint32)
    if scales[0] is None:
        assert LIBRARY.mmau_run_tile(tile, *map(pointer, (*words, got))) == 0
    else:
        assert LIBRARY.mmau_run_tile(tile, *map(pointer, (*words, got))) == NULL_POINTER
        of_lanes = scale_registers(scales[0], scale_rows_of_a()), scale_registers(scales[1], scale_columns_of_b())
        assert LIBRARY.mmau_run_scaled_tile(tile, *map(pointer, (*words, *of_lanes, got))) == 0
    assert (got == expected).all()
    assert len(np.unique(got)) > 3
    if i.c == i.d and i.scale is None:  # D may be C
        assert LIBRARY.mmau_run_tile(tile, *map(pointer, (*words, words[2]))) == 0
        assert (words[2] == got).all()


def test_high_half_of_a_register_of_rdna3_stays() -> None:
    """A 16-bit D is the low half of its register; what the other half held remains, and that of C is not read."""
    assert LIBRARY is not None
    _, tile, fields = found("gfx1100", "v_wmma_f16_16x16x16_f16_w32")
    ones = np.full((32, fields["a_registers"]), 0x3C003C00, np.uint32)
    c, d = np.full((32, 8), 0x7E003800, np.uint32), np.full((32, 8), 0xABCD0000, np.uint32)
    assert LIBRARY.mmau_run_tile(tile, *map(pointer, (ones, ones, c, d))) == 0
    assert np.unique(d).tolist() == [0xABCD4C20]  # 16.5


@pytest.mark.attack("registers in the C interface")
def test_layouts_are_told_apart() -> None:
    """With two lanes of A exchanged the result is another: the comparison sees where elements lie."""
    assert LIBRARY is not None
    _, tile, fields = found("sm_80", "mma.m16n8k16.f32.f16.f16.f32")
    rng = np.random.default_rng(1)
    counts = (2 * fields[key] for key in ("a_registers", "b_registers"))
    a, b = (rng.standard_normal((32, count)).astype(np.float16).view(np.uint32) for count in counts)
    c, results = np.zeros((32, 4), np.uint32), []
    for lanes in (np.arange(32), np.roll(np.arange(32), 1)):
        moved, d = np.ascontiguousarray(a[lanes]), np.zeros_like(c)
        assert LIBRARY.mmau_run_tile(tile, *(x.ctypes.data_as(ctypes.c_void_p) for x in (moved, b, c, d))) == 0
        results.append(d)
    assert (results[0] != results[1]).mean() > 0.9


@pytest.mark.parametrize(
    ("arch", "name"),
    [
        ("sm_90", "wgmma.m64n128k16.f32.f16.f16"),
        ("sm_100", "tcgen05.m128n8k16.kind::f16.f32.f16.f16"),
        ("gfx1201", "v_wmma_i32_16x16x16_iu4_w64.s4.u4"),
        ("gfx1100", "v_dot2_f32_f16"),
    ],
)
def test_other_registers_are_refused(arch: str, name: str) -> None:
    assert LIBRARY is not None
    assert found(arch, name)[0] == BAD_LAYOUT
    LIBRARY.mmau_message.restype = ctypes.c_char_p
    assert LIBRARY.mmau_message(BAD_LAYOUT).decode().startswith("the instruction must be mma, v_mfma or v_wmma (")
    assert found("sm_90", "mma.m16n8k99")[0] == 3
    assert LIBRARY.mmau_find_tile(None, b"x", None) == 1


def test_struct_of_another_version_is_refused() -> None:
    assert LIBRARY is not None
    assert LIBRARY.mmau_tile_version() == 1
    _, tile, _ = found("sm_80", "mma.m16n8k16.f32.f16.f16.f32")
    ctypes.cast(tile, ctypes.POINTER(ctypes.c_int32))[0] = 2
    words = np.zeros(512, np.uint32).ctypes.data_as(ctypes.c_void_p)
    assert LIBRARY.mmau_run_tile(tile, words, words, words, words) == BAD_LAYOUT


def test_example_compiles_and_runs(tmp_path: Path) -> None:
    """In C, without Python: the header, the library and a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    assert LIBRARY is not None
    program, source = tmp_path / "one_wave", ROOT / "examples" / "simulator" / "one_wave.c"
    include = ROOT / "golden" / "native" / "include"
    for name in ("libmmau.so", "libmmau.so.0"):  # the names by which it is linked and loaded
        (tmp_path / name).symlink_to(LIBRARY._name)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{include}", f"-L{tmp_path}", f"-Wl,-rpath,{tmp_path}"]
    command = [compiler, *flags, str(source), "-lmmau", "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    for arguments, printed in (((), "16.5\n"), (("sm_80", "mma.m16n8k16.f32.f16.f16.f32"), "16.5\n")):
        ran = subprocess.run([program, *arguments], capture_output=True, text=True, check=True, timeout=60)
        assert ran.stdout == printed
    refused = subprocess.run([program, "sm_90", "wgmma.m64n8k16.f32.f16.f16"], capture_output=True, text=True, timeout=60)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("one_wave: the instruction must be mma, v_mfma")
