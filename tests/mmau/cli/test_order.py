"""`mmau order`: the order of a product is found and written, or the elements that no order gives are named."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import FP32
from golden.operations import FMA
from golden.units.unit_file import unit_to_toml
from mmau.cli.main import main
from tests.mmau.cli.schemas import check_object

WGMMA = golden.instruction("sm_90", "wgmma.m64n128k16.f32.bf16.bf16")


def files(folder: Path, d: Any) -> list[str]:
    for name, array in {"a": operands()[0], "b": operands()[1], "d": d}.items():
        np.save(folder / f"{name}.npy", array)
    return ["order", *(word for name in "abd" for word in (f"--{name}", str(folder / f"{name}.npy")))]


def operands() -> list[Any]:
    made = [
        np.random.default_rng(seed).standard_normal(shape).astype("f4") for seed, shape in ((1, (12, 320)), (2, (320, 16)))
    ]
    return [(x.view("u4") >> np.uint32(16)).astype(np.uint16) for x in made]


def test_an_order_is_found_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order = golden.GemmOrder(split_k=2, split_tile=64)
    d = golden.gemm(WGMMA, *operands(), order=order).view(np.float32)
    words = [*files(tmp_path, d), "--part", "H100", "--format", "bf16", "-o", str(tmp_path / "gemm.toml")]
    assert main(words) == 0
    assert "this order gives every element, of " in capsys.readouterr().out
    found = golden.load_order(tmp_path / "gemm.toml")
    assert found.model is not None
    assert (golden.gemm(None, *operands(), order=found).view(np.float32) == d).all()
    assert main([*words, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    check_object(printed)
    assert printed["order"] == (tmp_path / "gemm.toml").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.attack("order outside of the grammar")
def test_elements_that_no_order_gives_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    d = golden.gemm(WGMMA, *operands()).view(np.float32).copy()
    d.view("u4")[3, 5] ^= 1
    words = [*files(tmp_path, d), "--part", "H100", "--format", "bf16", "--seconds", "5", "--instr", WGMMA.name]
    assert main([*words, "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    check_object(printed)
    assert (printed["order"], printed["unexplained"], printed["nearest"]["elements"]) == (None, [[3, 5]], 191)


def test_wrong_requests_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = files(tmp_path, np.zeros((12, 15), np.float32))
    assert main([*words, "--part", "H100"]) == 2
    assert "dtype uint16 does not say a format: give --format" in capsys.readouterr().err
    assert main([*words, "--part", "H100", "--format", "bf16"]) == 2
    assert "A must be [M, K], B [K, N] and D [M, N]; got (12, 320), (320, 16) and (12, 15)" in capsys.readouterr().err
    np.save(tmp_path / "d.npy", np.zeros((12, 16), np.float32))
    assert main([*words, "--part", "MI999", "--format", "bf16"]) == 2
    assert "part must be an architecture or a part such as H100, A100 or MI300X; got 'MI999'" in capsys.readouterr().err
    (tmp_path / "a.npy").write_bytes(b"no array")
    assert main([*words, "--part", "H100", "--format", "bf16"]) == 2
    assert "a.npy: not a .npy file: " in capsys.readouterr().err


@pytest.mark.slow
def test_the_order_of_a_kernel_on_cuda_cores_is_found_for_a_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """32 lanes with a slice of K each, as in a kernel of few rows; and stripes that lanes add as a tree."""
    unit = golden.Unit(name="fma", operation=FMA(a=FP32, b=FP32, c=FP32))
    (tmp_path / "unit.toml").write_text(unit_to_toml(unit), encoding="utf-8")
    a, b = (
        np.random.default_rng(seed).standard_normal(shape, np.float32) for seed, shape in ((1, (2, 256)), (2, (256, 16)))
    )
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    words = ["order", *(word for name in "abd" for word in (f"--{name}", str(tmp_path / f"{name}.npy")))]
    for order in (
        golden.GemmOrder(promote_every=4, split_k=32, split_tile=1),
        golden.GemmOrder(stripes=(32, 1), stripe_order="butterfly"),
    ):
        np.save(tmp_path / "d.npy", golden.gemm(unit, a, b, order=order))
        assert main([*words, "--unit", str(tmp_path / "unit.toml"), "-o", str(tmp_path / "gemm.toml")]) == 0
        found = golden.load_order(tmp_path / "gemm.toml")
        assert (golden.gemm(None, a, b, order=found) == np.load(tmp_path / "d.npy")).all()
    assert main([*words, "--unit", str(tmp_path / "unit.toml"), "--instr", "x"]) == 2
    assert "--instr names an instruction of --part; leave it out with --unit" in capsys.readouterr().err
