"""`mmau eval`: arrays in a file in, d out; what an array may be, and where the output may go."""

import json
import os
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import golden
from golden.arithmetic.formats import INTEGERS
from golden.arrays import bits_dtype
from golden.recordings.npz import read_npz
from mmau.cli import main
from tests.mmau.cli.wrong_request import wrong

HOPPER = ("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
BY_NAME = ["--arch", HOPPER[0], "--instr", HOPPER[1]]

UNIT = """
name = "mine"
operation = "T-FDPA"
L = 8
F = 25
rho = "RZ-FP32"
e_zero = -133
a = "{a}"
b = "{b}"
c = "{c}"
"""


def operands(rows: int = 20) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 1 << 16, (2, rows, 16), dtype=np.uint16)
    return {"a": a, "b": b, "c": rng.integers(0, 1 << 32, rows, dtype=np.uint32)}


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """A folder of its own for the output beside a good input."""
    np.savez(tmp_path / "v.npz", **operands())
    return tmp_path / "v.npz"


def evaluate(*argv: object) -> int:
    return main.main(["eval", *(str(argument) for argument in argv)])


def test_writes_what_dot_gives(vectors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = vectors.with_name("d")
    assert evaluate(*BY_NAME, "--input", vectors, "--output", output) == 0
    assert capsys.readouterr().out == f"sm_90 {HOPPER[1]}: 20 results in {output}\n"
    with np.load(output, allow_pickle=False) as saved:
        np.testing.assert_array_equal(saved["d"], golden.instruction(*HOPPER).dot(**operands()))


def test_of_a_unit_chains_over_K(vectors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unit, output = vectors.with_name("u.toml"), vectors.with_name("d.npz")
    unit.write_text(UNIT.format(a="fp16", b="fp16", c="fp32"))
    assert evaluate("--unit", unit, "--input", vectors, "--output", output, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "schema": "mmau.eval/1",
        "unit": "mine",
        "results": 20,
        "output": str(output),
    }
    with np.load(output, allow_pickle=False) as saved:
        np.testing.assert_array_equal(saved["d"], golden.load_unit(unit).dot(**operands()))


def test_takes_scales_and_floats(tmp_path: Path) -> None:
    name = "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 16, (2, 5, 64), dtype=np.uint8)
    scale_a, scale_b = rng.integers(0, 127, (2, 5, 4), dtype=np.uint8)
    c = rng.standard_normal(5, dtype=np.float32)
    np.savez(tmp_path / "v.npz", a=a, b=b, c=c, scale_a=scale_a, scale_b=scale_b)
    argv = ["--arch", "Blackwell", "--instr", name, "--input", tmp_path / "v.npz", "--output", tmp_path / "d.npz"]
    assert evaluate(*argv) == 0
    with np.load(tmp_path / "d.npz", allow_pickle=False) as saved:
        assert saved["d"].dtype == np.float32
        assert saved["d"].tobytes() == golden.instruction("sm_100", name).dot(a, b, c, scale_a, scale_b).tobytes()


SOME = sorted({*golden.FORMATS} - {*INTEGERS} - {"fp64", "ue8m0", "ue4m3"})
DTYPES: dict[str, np.dtype[Any]] = {
    **{
        name: np.dtype(name)
        for name in (
            "uint8", "int8", "bool", "S1", "uint16", "int16", "float16", ">u2", ">f2", "uint32", "int32", "float32", "U1",
            ">u4", "float64", "uint64", "complex64", "datetime64[s]",
        )
    },
    **{
        name: np.dtype(getattr(ml_dtypes, name))
        for name in (
            "bfloat16", "float8_e5m2", "float8_e4m3fn", "float8_e4m3", "float8_e5m2fnuz", "float8_e4m3fnuz",
            "float8_e8m0fnu", "float6_e3m2fn", "float6_e2m3fn", "float4_e2m1fn", "int4", "uint4",
        )
    },
}  # fmt: skip
ITS_OWN_FLOAT = {"fp16": "float16", "tf32": "float32", "fp32": "float32"}
"""The floats that NumPy has for a format, and so a file."""


def numpy_names(dtype: np.dtype[Any]) -> str:
    """NumPy's name of the type once it is read from a file."""
    return str(dtype) if dtype.kind != "V" and dtype.str != "<f1" else f"raw bytes (V{dtype.itemsize})"


@pytest.mark.slow
@pytest.mark.parametrize("format_name", SOME)
def test_no_other_dtype_is_taken_for_a_format(
    format_name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each dtype that a file may hold, for each format: taken by its bits, or its own float's, or refused."""
    monkeypatch.chdir(tmp_path)
    operand = golden.FORMATS[format_name]
    bits = bits_dtype(operand)
    unit, a = Path("u.toml"), format_name if format_name != "fp32" else "fp16"
    unit.write_text(UNIT.format(a=a, b="fp16", c="fp32"))
    which = "c" if format_name == "fp32" else "a"
    taken = []
    for name, dtype in DTYPES.items():
        arrays = {
            "a": np.zeros((3, 8), bits_dtype(golden.FORMATS[a])),
            "b": np.zeros((3, 8), np.uint16),
            "c": np.zeros(3, "u4"),
        }
        arrays[which] = np.zeros(arrays[which].shape, dtype)
        np.savez("v.npz", **arrays, allow_pickle=False)
        argv = ["eval", "--unit", unit, "--input", "v.npz", "--output", "d.npz"]
        if name in (str(bits), ITS_OWN_FLOAT.get(format_name)):
            assert main.main([str(argument) for argument in argv]) == 0
            capsys.readouterr()
            taken.append(name)
            Path("d.npz").unlink()
            continue
        said = wrong(capsys, *argv)
        if numpy_names(dtype) == f"raw bytes (V{bits.itemsize})":
            assert said == (
                f"mmau eval: {which} holds raw bytes (V{bits.itemsize}), as np.savez writes arrays of ml_dtypes, which do "
                f"not say their format; save {which}.view(np.{bits}), the codes of {format_name}"
            )
        else:
            float_too = f" or {ITS_OWN_FLOAT[format_name]}" if format_name in ITS_OWN_FLOAT else ""
            assert re.fullmatch(
                rf"mmau eval: {which} must have dtype {bits}{float_too} for {format_name}, got \S.*", said
            ), said
        assert not Path("d.npz").exists()
    assert len(taken) == (2 if format_name in ITS_OWN_FLOAT else 1)


def test_to_stdout(vectors: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for name in ("-", "/dev/stdout"):
        assert evaluate(*BY_NAME, "--input", vectors, "--output", name) == 0
        captured = capfdbinary.readouterr()
        assert captured.err == f"sm_90 {HOPPER[1]}: 20 results in stdout\n".encode()
        written = vectors.with_name("from_stdout.npz")
        written.write_bytes(captured.out)
        np.testing.assert_array_equal(read_npz(written, ["d"])["d"], golden.instruction(*HOPPER).dot(**operands()))
    assert {path.name for path in vectors.parent.iterdir()} == {"v.npz", "from_stdout.npz"}


@pytest.mark.parametrize("kind", ["itself", "symlink", "hard link", "unit"])
def test_input_as_output_is_refused_before_anything_is_destroyed(
    kind: str, vectors: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, given = vectors.with_name("other.npz"), vectors
    model: list[object] = [*BY_NAME]
    match kind:
        case "itself":
            output = vectors.parent / "." / vectors.name
        case "symlink":
            output.symlink_to(vectors)
        case "hard link":
            os.link(vectors, output)
        case "unit":
            output.write_text(UNIT.format(a="fp16", b="fp16", c="fp32"))
            model, given = ["--unit", output], output
    before = {path.name: path.read_bytes() for path in vectors.parent.iterdir()}
    said = wrong(capsys, "eval", *model, "--input", vectors, "--output", output)
    assert said == f"mmau eval: output {output} must be another file than the input, which is {given}; name another output"
    assert {path.name: path.read_bytes() for path in vectors.parent.iterdir()} == before


SCALED = ["--arch", "sm_120", "--instr", "mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0"]


def shaped(K: int, **other: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {"a": (20, K), "b": (20, K), "c": (20,)} | other


@pytest.mark.parametrize(
    ("model", "shapes", "said"),
    [
        (BY_NAME, shaped(15), "a must have shape (20, 16) (the last axis is K), got (20, 15)"),
        (BY_NAME, shaped(16, a=()), "a must have shape (16,) (the last axis is K), got ()"),
        (BY_NAME, shaped(16, b=(16,)), "b must have shape (20, 16) (that of a), got (16,)"),
        (BY_NAME, shaped(16, c=(3,)), "c must have shape (20,) (that of a without K), got (3,)"),
        (BY_NAME, shaped(16, scale_b=(20, 1)), "scale_b must be absent: T-FDPA has no scales"),
        (["--unit", "u.toml"], shaped(0), "a must have shape [..., K] with K at least 1, got (20, 0)"),
        (["--unit", "u.toml"], shaped(12), "K must be a multiple of L=8 of T-FDPA where it is larger, got K=12"),
        (["--unit", "u.toml"], shaped(16, c=()), "c must have shape (20,) (that of a without K), got ()"),
        (SCALED, shaped(64), "scale_a is missing: GST-FDPA takes one ue8m0 scale a block"),
        (
            SCALED, shaped(64, scale_a=(20, 2), scale_b=(20, 4)),
            "scale_b must have shape (20, 2) (one scale for every 32 elements), got (20, 4)",
        ),
    ],
    ids=str,
)  # fmt: skip
def test_shapes_are_refused_before_data_are_read(
    model: list[str],
    shapes: dict[str, tuple[int, ...]],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A few megabytes of compressed zeros may claim gigabytes. What is said is what `dot` says."""
    monkeypatch.chdir(tmp_path)
    Path("u.toml").write_text(UNIT.format(a="fp16", b="fp16", c="fp32"))
    byte = model is SCALED
    arrays: dict[str, Any] = {
        name: np.zeros(shape, "u4" if name == "c" else "u1" if byte or name.startswith("scale") else "u2")
        for name, shape in shapes.items()
    }
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        (golden.load_unit("u.toml") if "--unit" in model else golden.instruction(model[1], model[3])).dot(**arrays)
    np.savez("v.npz", **arrays)
    monkeypatch.setattr("golden.recordings.npz._array", lambda *_: pytest.fail("data were read"))
    assert wrong(capsys, "eval", *model, "--input", "v.npz", "--output", "d.npz") == f"mmau eval: {said}"
