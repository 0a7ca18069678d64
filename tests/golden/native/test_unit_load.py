"""`mmau_unit_load` reads what `golden.load_unit` reads, and refuses what it refuses."""

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache, partial
from math import lcm
from pathlib import Path

import numpy as np
import pytest

import golden
from golden.arithmetic.flags import BESIDE_NANS, TININESSES
from golden.arithmetic.formats import E4M3
from golden.arrays import bits_dtype
from golden.catalogue import parameter_set_units
from golden.native import catalogue_table
from golden.native.library import library, message
from golden.native.parameters import KEYS, Parameters, format_number, parameters
from golden.operations.base import UNRANKED
from golden.stimulus import OperandShape
from golden.stimulus.volume import fill
from golden.units.unit_file import load_unit, unit_to_toml
from rtl.designs.sample_units import sample_units

pytestmark = pytest.mark.skipif(library() is None, reason="the native library is not built")

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "units").glob("*.toml"))


class LoadedUnit(ctypes.Structure):
    """struct mmau_unit."""

    _fields_ = [("parameters", Parameters), ("rules", ctypes.c_int32), ("d", ctypes.c_int32)]


def loaded(path: Path, K: int = 0) -> LoadedUnit | str:
    """What the library reads of a file, or why it refuses it."""
    unit, text, lib = LoadedUnit(), ctypes.create_string_buffer(4096), library()
    assert lib is not None
    status = lib.mmau_unit_load(str(path).encode(), K, ctypes.byref(unit), text, len(text))
    return text.value.decode() if status else unit


@cache
def units() -> dict[str, golden.Unit]:
    """Units of every operation: those of designs and those of instructions."""
    return {unit.name: unit for unit in (*sample_units(), *parameter_set_units())}


def check_equal(found: LoadedUnit | str, unit: golden.Unit, K: int) -> None:
    assert isinstance(found, LoadedUnit), found
    expected = parameters(unit.chain_over(K), K)
    assert {key: getattr(found.parameters, key) for key in KEYS} == {key: getattr(expected, key) for key in KEYS}
    assert found.d == format_number(unit.d)
    tininess, beside = (getattr(unit.operation, key, None) for key in ("tininess", "beside_nan"))
    assert found.rules == (tininess == TININESSES[1]) + 2 * (beside == BESIDE_NANS[1])


def test_units_of_every_operation_are_read(tmp_path: Path) -> None:
    assert {unit.operation.name for unit in units().values()} == set(golden.OPERATIONS)
    for name, unit in units().items():
        path = tmp_path / "unit.toml"
        path.write_text(unit_to_toml(unit))
        L = unit.operation.length
        check_equal(loaded(path), unit, L)
        if unit.operation.rank != UNRANKED:
            many = lcm(4 * L, unit.operation.block_size or 1)
            check_equal(loaded(path, many), unit, many)
        assert name


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_read(path: Path) -> None:
    found = loaded(path)
    unit = load_unit(path)
    has_fields = unit.operation.carried is unit.operation and unit.operation.is_native
    if unit.controls or unit.sums is not None or unit.chain.adds or unit.chain.convert is not None or not has_fields:
        assert isinstance(found, str)
    else:
        check_equal(found, unit, unit.operation.length)


def changed() -> Iterator[tuple[str, str]]:
    """Texts of units with one line left out, given twice, unknown, or with another value."""
    others = ["0", "-1", "1_0", "5000", "07", '"RZ"', '"fp16"', '"int8"', "true", "1.5", "", '"RNE-FP16"', '"RO"', "[1]"]
    for name, unit in units().items():
        if unit not in sample_units():
            continue
        lines = unit_to_toml(unit).split("\n[implementation]")[0].splitlines()
        for at, line in enumerate(lines):
            key = line.partition(" = ")[0]
            for value in (None, *others):
                other = [] if value is None else [f"{key} = {value}"]
                yield name, "\n".join([*lines[:at], *other, *lines[at + 1 :]])
            yield name, "\n".join([*lines, line])
        yield name, "\n".join([*lines, "colour = 3"])


def changed_formats() -> Iterator[tuple[str, str]]:
    """The same of the tables [formats.NAME] of the examples."""
    others = [
        "0",
        "-1",
        "1",
        "15",
        "16",
        "62",
        "63",
        "16384",
        "-16385",
        "'merged'",
        "'fnuz'",
        "'ieee'",
        "true",
        "false",
        "1.5",
    ]
    for path in EXAMPLES:
        text, _, table = path.read_text().partition("\n[formats.")
        header, *lines = table.splitlines() or [""]
        for at, line in enumerate(lines):
            key = line.partition(" = ")[0]
            for other in ([], [line, line], *([f"{key} = {value}"] for value in others)):
                yield path.stem, "\n".join([text, f"[formats.{header}", *lines[:at], *other, *lines[at + 1 :]])
        for more in ("colour = 3", "pad_bits = 0", "bits = 8", f"[formats.{header}") if lines else ():
            yield path.stem, f"{text}\n[formats.{table}\n{more}"


def test_scales_of_one_side_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "unit.toml"
    unit = next(unit for unit in sample_units() if unit.operation.name == "ST-FDPA")
    text = unit_to_toml(unit)
    path.write_text(text.replace("\nF = ", '\nscales = "both"\nF = '))
    check_equal(loaded(path), unit, unit.operation.length)
    path.write_text(text.replace("\nF = ", '\nscales = "b"\nF = '))
    reason = 'scales must be "both" here: golden alone computes scales of one side; got "b"'
    assert loaded(path) == f"{path}: {reason}"


@pytest.mark.slow
def test_what_golden_refuses_is_refused(tmp_path: Path) -> None:
    """Every key of every operation is left out, given twice and given wrong values: both readers agree on each text, but for
    elements that are integers and fixed-point numbers."""
    path, lib, accepted, refused = tmp_path / "unit.toml", library(), 0, 0
    assert lib is not None
    for name, text in (*changed(), *changed_formats()):
        path.write_text(text)
        found = loaded(path)
        try:
            unit = load_unit(path)
        except (ValueError, OSError):
            assert isinstance(found, str), f"{name}: {text}"
            assert found.startswith(f"{path}: ")
            refused += 1
        else:
            # golden alone computes elements without fields, and fixed-point numbers
            if unit.operation.carried is not unit.operation or not unit.operation.is_native:
                assert isinstance(found, str), f"{name}: {text}"
                continue
            K = unit.operation.length
            if status := lib.mmau_check(bytes(parameters(unit.chain_over(K), K))):  # too wide a sum, which golden computes
                assert found == f"{path}: {message(status)}"
                continue
            check_equal(found, unit, K)
            accepted += 1
    assert accepted > 100
    assert refused > 1000


TEXT = """# a unit
name = 'mine' # its name
operation="T-FDPA"
a = "fp16"
b = "fp16" # not "bf16"
c = "fp32"
L = 1_6
F = +25
rho = "RZ-FP32"
e_zero = -133

[implementation]
stages = 2 # skipped, with all of its keys
"""


def test_text_is_read_as_toml(tmp_path: Path) -> None:
    path = tmp_path / "unit.toml"
    path.write_text(TEXT)
    check_equal(loaded(path, 48), load_unit(path), 48)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("L = 1_6", "L = 16\nL = 16", "L is given twice"),
        ("L = 1_6", "", "T-FDPA is missing L"),
        ("L = 1_6", "L = 0x10", "L must be an integer, got 0x10"),
        ("L = 1_6", "L = 16\nh = 1", "T-FDPA has no key h"),
        ("F = +25", "F = 129", message(11)),
        ('"T-FDPA"', '"T-FPDA"', "operation must be one of FMA, FTZ-AddMul, "),
        ('c = "fp32"', 'c = "fp33"', 'c must be one of fp64, fp32, tf32, fp16, bf16, e5m2, '),
        ('c = "fp32"', "c = fp32", 'c must be one of fp64, '),
        ("[implementation]", "[sums]", "[sums] is not read here: golden alone computes it"),
        ("[implementation]", '[chain]\nadd_c = "last"\n[implementation]', "[chain] add_c is not read here: "),
        ("# a unit", 'a.b = 1', "a key must be letters, digits, _ and -, got a.b"),
        ("# a unit", 'unit', "a line must be key = value, got unit"),
    ],
)  # fmt: skip
def test_refusals_name_the_rule(old: str, new: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "unit.toml"
    path.write_text(TEXT.replace(old, new, 1))
    found = loaded(path)
    assert isinstance(found, str)
    assert found.startswith(f"{path}: {said}")


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert loaded(tmp_path / "none.toml") == f"{tmp_path / 'none.toml'}: cannot be read"
    assert str(loaded(tmp_path)).startswith(f"{tmp_path}: ")


def test_table_of_keys_is_up_to_date() -> None:
    """`python -m golden.native.catalogue_table` writes it."""
    assert catalogue_table.UNITS.read_text() == catalogue_table.units_text()


BITS = 32768
"""Width of operand_t of mmau_pkg."""


def packed(codes: list[int], width: int) -> ctypes.Array[ctypes.c_uint32]:
    """Codes as a packed vector of the package."""
    number = sum(code << k * width for k, code in enumerate(codes))
    return (ctypes.c_uint32 * (BITS // 32)).from_buffer_copy(number.to_bytes(BITS // 8, "little"))


def unpacked(vector: ctypes.Array[ctypes.c_uint32], count: int, width: int) -> list[int]:
    number = int.from_bytes(bytes(vector), "little")
    assert number >> count * width == 0
    return [number >> k * width & (1 << width) - 1 for k in range(count)]


WIDE = TEXT.replace('"fp16"', '"tf32"').replace("1_6", "1024")


@pytest.mark.slow
def test_stimulus_and_dot_products_of_the_package(tmp_path: Path) -> None:
    """DPI's functions, called here: the rows are those of `mmau_fill_rows`, and their results golden's, up to 1,024 elements
    of 32 bits."""
    lib = library()
    assert lib is not None
    path = tmp_path / "unit.toml"
    for toml in (*map(unit_to_toml, sample_units()), WIDE):
        path.write_text(toml)
        unit = load_unit(path)
        words, text = (ctypes.c_int32 * len(KEYS))(), ctypes.c_char_p()
        assert lib.mmau_dpi_load(str(path).encode(), 0, words, ctypes.byref(text)) == 0
        operation, L = unit.operation, unit.operation.length
        blocks = 0 if operation.block_size is None else -(-L // operation.block_size)
        scale = operation.scale_format or E4M3
        shape, count = OperandShape.of_operation(operation), 40
        arrays = [np.zeros((count, L), bits_dtype(operand)) for operand in (operation.a, operation.b)]
        arrays += [np.zeros(count, bits_dtype(operation.c))]
        arrays += [np.zeros((count, blocks), bits_dtype(scale)) for _ in range(2)]
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
        of_rows = (ctypes.c_uint64(5), ctypes.c_int64(0), ctypes.c_int64(count))
        assert lib.mmau_fill_rows(ctypes.byref(fill.parameters(shape)), None, *of_rows, *pointers, None) == 0, unit.name
        a, b, c, alpha, beta = arrays
        expected = unit.dot(
            a,
            b if "b" in operation.operands else None,
            c if "c" in operation.operands else None,
            alpha if blocks else None,
            beta if blocks else None,
        )
        for row in range(count):
            out = [packed([], 1) for _ in range(4)]
            of_c = (ctypes.c_uint32 * 2)()
            x, y, p, q = out
            assert lib.mmau_dpi_stimulus(words, None, ctypes.c_int64(5), ctypes.c_int64(row), x, y, of_c, p, q) == 0
            assert unpacked(x, L, operation.a.width) == a[row].tolist(), unit.name
            assert unpacked(y, L, operation.b.width) == b[row].tolist()
            assert int.from_bytes(bytes(of_c), "little") == int(c[row])
            assert unpacked(p, blocks, scale.width) == alpha[row].tolist()
            assert unpacked(q, blocks, scale.width) == beta[row].tolist()
            d = (ctypes.c_uint32 * 2)()
            assert lib.mmau_dpi_dot(words, x, y, of_c, p, q, d) == 0
            assert int.from_bytes(bytes(d), "little") == int(expected[row]), unit.name


@pytest.mark.skipif(shutil.which("cc") is None, reason="cc is not on PATH")
def test_example_in_c(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    lib = library()
    assert lib is not None
    program, folder = tmp_path / "own_unit", root / "golden" / "native" / "include"
    shared = tmp_path / "libmmau.so.0"  # the name that the library has where it is installed
    shutil.copy(lib._name, shared)
    sources = [root / "examples" / "c" / "own_unit.c", shared]
    run = partial(subprocess.run, capture_output=True, text=True, timeout=120)
    done = run(["cc", *sources, "-I", folder, "-o", program, f"-Wl,-rpath,{tmp_path}"])
    assert done.returncode == 0, done.stderr
    unit = load_unit(root / "examples" / "systemverilog" / "unit.toml")
    a, b = (np.array([*codes, *[0] * 4], np.uint16) for codes in ([0x3C00, 0x4000, 0x4200, 0x4400], [0x3800] * 4))
    d = int(unit.dot(a, b, np.array(0x41200000, np.uint32)))
    assert run([program, root / "examples" / "systemverilog" / "unit.toml"]).stdout == f"d = {d:08x}\n"
    refused = run([program, tmp_path / "none.toml"])
    assert (refused.returncode, refused.stderr) == (2, f"{tmp_path / 'none.toml'}: cannot be read\n")
