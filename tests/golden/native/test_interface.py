"""The C interface: lookups, and every bad argument answered with an error code and nothing written."""

import ctypes
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import golden
from golden.native import catalogue_table
from golden.native.library import library, message
from golden.native.parameters import KEYS, Parameters, format_number, is_one_call, parameters
from tests.golden.native.native_rows import needs_native

pytestmark = needs_native

HOPPER = golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
LIB: Any = library()


class Batch(ctypes.Structure):
    """struct mmau_batch."""

    _fields_ = [
        *((key, ctypes.c_void_p) for key in ("a", "b", "c", "scale_a", "scale_b", "d")),
        *((key, ctypes.c_int64) for key in ("rows", "columns", "a_stride", "b_stride", "scale_a_stride", "scale_b_stride")),
    ]


class Found(ctypes.Structure):
    """struct mmau_instruction."""

    _fields_ = [("parameters", Parameters), ("m", ctypes.c_int32), ("n", ctypes.c_int32), ("d", ctypes.c_int32)]


def dot_batch(made: Parameters, batch: Batch, threads: int) -> str:
    """The message of `mmau_dot_batch`'s status."""
    return message(LIB.mmau_dot_batch(bytes(made), bytes(batch), threads))


def test_systemverilog_package_has_room_for_every_parameter() -> None:
    """DPI writes the whole struct into an array of the package's WORDS, whose size the library cannot see."""
    package = (Path(__file__).parents[3] / "golden" / "native" / "sv" / "mmau_pkg.sv").read_text()
    assert f"localparam int WORDS = {len(KEYS)}; " in package


def find(arch: bytes | None, name: bytes | None) -> tuple[int, Found]:
    found = Found()
    LIB.mmau_find.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p]
    return LIB.mmau_find(arch, name, ctypes.byref(found)), found


def test_every_instruction_is_found() -> None:
    """The library has all instructions except those of several roundings outside of their steps, as documented in mmau.h."""
    for instruction in golden.instructions():
        status, found = find(instruction.arch.encode(), instruction.name.encode())
        if not is_one_call(instruction.chain):
            assert status != 0
            continue
        assert status == 0, instruction.name
        assert bytes(found.parameters) == bytes(parameters(instruction.chain, instruction.k)), instruction.name
        assert (found.m, found.n) == (instruction.m, instruction.n)
        assert found.d == format_number(instruction.d)


@pytest.mark.parametrize(
    ("arch", "name", "rule"),
    [
        (b"sm_91", b"mma.m16n8k16.f32.f16.f16.f32", "arch must be one of sm_70, sm_75"),
        (b"sm_90", b"mma.m16n8k16.f32.f16.f16", "name must be an instruction of the architecture"),
        (b"sm_90", b"wgmma.m64n264k16.f32.f16.f16", "name must be an instruction of the architecture"),
        (b"sm_90", b"wgmma.m64n9k16.f32.f16.f16", "name must be an instruction of the architecture"),
        (b"sm_90", b"wgmma.m64n08k16.f32.f16.f16", "name must be an instruction of the architecture"),
        (b"sm_90", b"wgmma.m64n99999999999999999999k16.f32.f16.f16", "name must be an instruction of the architecture"),
        (b"sm_90", b"wgmma.m64nk16.f32.f16.f16", "name must be an instruction of the architecture"),
        (b"", b"", "arch must be one of"),
        (None, b"x", "a pointer that must not be NULL is NULL"),
        (b"sm_90", None, "a pointer that must not be NULL is NULL"),
    ],
)
def test_unknown_instruction(arch: bytes | None, name: bytes | None, rule: str) -> None:
    status, _ = find(arch, name)
    assert status
    assert message(status).startswith(rule)


def test_catalogue_in_the_library_is_current() -> None:
    written = (catalogue_table.PATH).read_text(encoding="utf-8")
    assert written == catalogue_table.text(), "run python -m golden.native.catalogue_table"


def hopper_batch(**changed: Any) -> tuple[Batch, np.ndarray, list[np.ndarray]]:
    """A valid batch of two rows with the given changes, its d, and its operands."""
    operands: list[np.ndarray] = [np.zeros((2, 16), np.uint16), np.zeros((2, 16), np.uint16), np.zeros(2, np.uint32)]
    d = np.full(2, 0xDEADBEEF, np.uint32)
    arrays: list[np.ndarray] = [*operands, d]
    fields = {key: array.ctypes.data for key, array in zip("abcd", arrays, strict=True)}
    return Batch(**(fields | {"rows": 2, "a_stride": 16, "b_stride": 16} | changed)), d, operands


@pytest.mark.parametrize(
    ("changed", "threads", "rule"),
    [
        ({"a": None}, 0, "a pointer that must not be NULL is NULL"),
        ({"d": None}, 0, "a pointer that must not be NULL is NULL"),
        ({"rows": -1}, 0, "rows and columns must not be negative"),
        ({"columns": -1}, 0, "rows and columns must not be negative"),
        ({"a_stride": -16}, 0, "strides must not be negative"),
        *(({}, threads, "threads must be from 0 to 1024") for threads in (-1, 1025, 2**31 - 1)),
    ],
)
def test_bad_batch_is_refused(changed: dict[str, Any], threads: int, rule: str) -> None:
    batch, d, _ = hopper_batch(**changed)
    assert dot_batch(parameters(HOPPER.chain, 16), batch, threads) == rule
    assert (d == 0xDEADBEEF).all()
    assert LIB.mmau_check(None) == 1
    assert LIB.mmau_dot_batch(None, bytes(batch), 0) == LIB.mmau_dot_batch(bytes(Parameters()), None, 0) == 1


def test_bad_code_is_refused() -> None:
    fp4 = golden.instruction("sm_120", "mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32")
    codes = np.zeros((1, 32), np.uint8)
    codes[0, 31] = 0x10
    d = np.full(1, 0xDEADBEEF, np.uint32)
    batch = Batch(codes.ctypes.data, codes.ctypes.data, d.ctypes.data, None, None, d.ctypes.data, 1, 0, 32, 32, 0, 0)
    refusal = "a byte of FP6, FP4, int4, uint4 or b1 must hold one code, its high bits zero"
    assert dot_batch(parameters(fp4.chain, 32), batch, 1) == refusal
    assert d[0] == 0xDEADBEEF


def test_messages_of_unknown_statuses() -> None:
    assert {message(status) for status in (-1, 1_000, 2**31 - 1)} == {"no such status"}


VALUES = (-(2**31), -1024, -2, -1, 0, 1, 2, 3, 4, 5, 8, 13, 15, 16, 32, 64, 128, 129, 1024, 1025, 2**30, 2**31 - 1)


@pytest.mark.slow
def test_random_parameters_are_refused_or_compute() -> None:
    """For every content of the fields: a refusal leaves d unchanged, an acceptance reads only the operands."""
    rng, refused, accepted = Random(17), 0, 0
    base = parameters(HOPPER.chain, 16)
    for _ in range(20_000):
        values = {key: getattr(base, key) for key in KEYS}
        values |= {key: rng.choice(VALUES) for key in rng.sample(KEYS, rng.choice((1, 2, 3, len(KEYS))))}
        made = Parameters(**values)
        if made.K > 1024:  # the buffers below hold no more
            made.K = 1024
        buffers = [np.zeros(8 * 1024, np.uint8) for _ in range(5)]
        d = np.full(1, 0xDEADBEEFDEADBEEF, np.uint64)
        batch = Batch(*(buffer.ctypes.data for buffer in buffers), d.ctypes.data, 1, 0, 0, 0, 0, 0)
        status = LIB.mmau_dot_batch(bytes(made), bytes(batch), 1)
        assert status == LIB.mmau_check(bytes(made))
        if status:
            refused += 1
            assert d[0] == 0xDEADBEEFDEADBEEF
            assert message(status) != "no such status"
        else:
            accepted += 1
    assert refused > 1000
    assert accepted > 100
