"""Workloads of tensors in files: what is read, what is refused, and what is measured on them."""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import golden
from golden.units.unit import Unit
from mmau.explore.accuracy import measure, with_files
from mmau.explore.accuracy.tensor_files import Tensor, tensor_of

UNIT = Unit(name="mine", operation=golden.instruction("sm_80", "mma.m16n8k16.f32.bf16.bf16.f32").operation)
RNG = np.random.default_rng(3)


def safetensors(path: Path, arrays: dict[str, np.ndarray[Any, Any]], **changed: Any) -> Path:
    """A file as the format's page describes it."""
    names = {"float32": "F32", "float16": "F16", "bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "int64": "I64"}
    header: dict[str, Any] = {"__metadata__": {"format": "np"}}
    data = b""
    for name, array in arrays.items():
        places = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": names[array.dtype.name], "shape": list(array.shape), "data_offsets": places} | changed
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
def test_safetensors_are_read(tmp_path: Path, dtype: Any) -> None:
    first, second = (RNG.standard_normal(shape).astype(dtype) for shape in ((3, 8), (2, 5, 8)))
    path = safetensors(tmp_path / "m.safetensors", {"one": first, "layers.0.weight": second})
    assert np.array_equal(Tensor(path, "one").rows(), first.astype(np.float64))
    assert np.array_equal(Tensor(path, "layers.0.weight").rows(), second.astype(np.float64).reshape(10, 8))


def test_state_dicts_are_read_and_nothing_else_of_pytorch_s(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")
    weight = torch.randn(4, 8, dtype=torch.bfloat16)
    torch.save({"layer.weight": weight}, tmp_path / "m.pt")
    assert np.array_equal(Tensor(tmp_path / "m.pt", "layer.weight").rows(), weight.double().numpy())
    torch.save({"layer": print}, tmp_path / "code.pt")
    with pytest.raises(ValueError, match=r"code\.pt must be a state dict that PyTorch loads with weights_only"):
        Tensor(tmp_path / "code.pt", "layer").rows()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"dtype": "I64"}, "one must have a dtype of F64, F32, F16, BF16, F8_E4M3, F8_E5M2, got I64"),
        ({"shape": [3, 9]}, r"one has the shape \[3, 9\] of F32, and bytes 0 to 96 of 96"),
        ({"data_offsets": [8, 104]}, r"one has the shape \[3, 8\] of F32, and bytes 8 to 104 of 96"),
        ({"data_offsets": 3}, "cannot unpack"),
    ],
)
def test_a_damaged_header_is_one_message(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    path = safetensors(tmp_path / "m.safetensors", {"one": np.zeros((3, 8), np.float32)}, **changed)
    with pytest.raises(ValueError, match=rf"m\.safetensors: {message}"):
        Tensor(path, "one").rows()


def test_what_is_no_tensor_is_refused(tmp_path: Path) -> None:
    path = safetensors(tmp_path / "m.safetensors", {"one": np.full((3, 8), np.inf, np.float32)})
    (tmp_path / "short.safetensors").write_bytes(b"\xff" * 9)
    for name, message in {
        "m.safetensors:two": "tensor must be one of one; got 'two'",
        "m.safetensors:one": "one must be finite",
        "short.safetensors:one": "its header cannot have",
    }.items():
        with pytest.raises(ValueError, match=message):
            tensor_of("a", name, tmp_path).rows()
    for given, kind, message in (
        (3, TypeError, r"a must name a tensor as PATH:NAME, such as .*; got 3"),
        ("m.safetensors", ValueError, "a must name a tensor as PATH:NAME"),
        ("m.gguf:one", ValueError, r"a must be a file \.npz, \.safetensors, \.pt, \.pth, \.bin, got m\.gguf"),
        ("no.npz:one", FileNotFoundError, r"a: there is no file .*no\.npz"),
    ):
        with pytest.raises(kind, match=message):
            tensor_of("a", given, tmp_path)
    assert path.is_file()


def test_pairs_of_rows_are_measured_with_their_factors(tmp_path: Path) -> None:
    """One row each of A and B, so that every pair is the same, computed with fractions."""
    a, b = RNG.standard_normal((1, 32)) * 3, RNG.standard_normal((1, 32)) / 5
    np.savez(tmp_path / "t.npz", a=a, b=b)
    table = {"kind": "tensors", "a": "t.npz:a", "b": "t.npz:b"}
    found = measure(UNIT, with_files(table, tmp_path), 100, 0)
    assert found["rows"] == found["finite_rows"] == 100
    real = sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[0], b[0], strict=True))
    x, y = (each.astype(ml_dtypes.bfloat16) for each in (a, b))
    d = float(UNIT.dot(x, y, np.zeros(1, np.float32)).view(np.float32)[0])
    wanted = -20 * math.log10(abs((Fraction(d) - real) / real))
    assert found["total_snr_db"] == pytest.approx(wanted, rel=1e-12)


def test_tensors_of_other_lengths_and_changed_files_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", a=np.ones((2, 32)), b=np.ones((2, 16)), c=np.ones((2, 17)))
    with pytest.raises(ValueError, match="tensors must have the same last axis, K; a has 32, b has 16"):
        measure(UNIT, with_files({"kind": "tensors", "a": "t.npz:a", "b": "t.npz:b"}, tmp_path), 100, 0)
    table = with_files({"kind": "tensors", "a": "t.npz:a", "b": "t.npz:a"}, tmp_path)
    assert measure(UNIT, table, 100, 0)["rows"] == 100
    np.savez(tmp_path / "t.npz", a=np.ones((2, 32)) * 2)
    with pytest.raises(ValueError, match="is no longer the file of sha256"):
        measure(UNIT, table, 100, 0)
