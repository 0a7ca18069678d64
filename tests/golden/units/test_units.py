"""Units from TOML: reading, and writing back; test_unit_refusals.py has the tables that are refused."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import golden
from golden.units.unit import Array
from golden.units.unit_file import unit_from_table, unit_to_toml
from tests.golden.rows import distinct_instructions
from tests.golden.strategies import operations

EXAMPLE = """
name = "my-fdpa"
operation = "T-FDPA"       # a comment
L = 16
F = 25
rho = "RZ-FP32"
truncation = "RZ"
e_zero = -133
a = "fp16"
b = "fp16"
c = "fp32"

[implementation]
encoding = "twos-complement"
stages = 4
"""

T_FDPA: dict[str, Any] = {
    "name": "u", "operation": "T-FDPA", "L": 16, "F": 25, "rho": "RZ-FP32", "e_zero": -133,
    "a": "fp16", "b": "fp16", "c": "fp32",
}  # fmt: skip
TR_FDPA = {"name": "u", "operation": "TR-FDPA", "L": 4, "F": 24, "F2": 31, "a": "fp16", "b": "fp16", "c": "fp32"}


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "unit.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_unit_of_a_file(tmp_path: Path) -> None:
    unit = golden.load_unit(written(tmp_path, EXAMPLE))
    assert unit.name == "my-fdpa"
    assert unit.operation == golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32").operation
    assert unit.implementation == golden.Implementation(encoding="twos-complement", stages=4)


@pytest.mark.parametrize(
    "extra",
    [
        *(
            {"encoding": encoding, "stages": stages}
            for encoding in ("sign-magnitude", "ones-complement")
            for stages in (0, 8)
        ),
        {"max_exp": "pairwise", "reduction": "adder-tree", "leading_zeros": "anticipate", "result_exp": "parallel"},
        {"adder": "sklansky"},
        {"adder": "kogge-stone"},
        {"multiplier": "carry-save"},
        {"multiplier": "booth"},
    ],
    ids=str,
)
def test_implementation_never_changes_a_result(extra: dict[str, Any]) -> None:
    a, b = np.random.default_rng(3).integers(0, 1 << 15, (2, 50, 16), np.uint16)
    c = np.random.default_rng(4).integers(0, 1 << 32, 50, np.uint32)
    plain, built = unit_from_table(T_FDPA), unit_from_table(T_FDPA | {"implementation": extra})
    assert (plain.dot(a, b, c, engine="reference") == built.dot(a, b, c, engine="reference")).all()


def test_file_with_a_wrong_key_names_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, EXAMPLE.replace("F = 25", "F = 250"))
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}: F must be an integer from 1 to 128, got 250$"):
        golden.load_unit(path)


@pytest.mark.parametrize(
    "text", ["name = ", "L = 16\nL = 17", "= 3", b"name = '\xff\xfe'"], ids=["cut", "twice", "no key", "latin"]
)
def test_file_that_is_not_toml(text: str | bytes, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}: not a TOML file: .+"):
        golden.load_unit(path)


def test_file_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.toml"):
        golden.load_unit(tmp_path / "nowhere.toml")


def read_back(unit: golden.Unit, tmp_path: Path) -> golden.Unit:
    return golden.load_unit(written(tmp_path, unit_to_toml(unit)))


def test_every_operation_of_the_catalogue_is_read_back_as_written(tmp_path: Path) -> None:
    operations = {instruction.operation for instruction in distinct_instructions()}
    assert operations
    for operation in operations:
        unit = golden.Unit(name="back", operation=operation, implementation=golden.Implementation(stages=3))
        assert read_back(unit, tmp_path) == unit


def test_array_is_read_back_as_written_and_is_no_part_of_a_step(tmp_path: Path) -> None:
    array = Array(rows=8, columns=4, steps=16, feed="systolic", decoders="edge", double_buffer=True)
    datapath = dataclasses.replace(unit_from_table(T_FDPA), implementation=golden.Implementation(stages=1))
    unit = dataclasses.replace(datapath, array=array)
    assert read_back(unit, tmp_path) == unit
    assert unit.step == datapath


@pytest.mark.parametrize("name", ["two\nlines", "tab\t", "\x00", ""], ids=ascii)
def test_name_that_cannot_be_printed_is_refused(name: str) -> None:
    """It would leave the comment that opens a Verilog file, among other things."""
    with pytest.raises(ValueError, match=r"^key name must be a non-empty string of printable characters, got "):
        golden.Unit(name=name, operation=unit_from_table(T_FDPA).operation)


@pytest.mark.parametrize("name", ['quo"te', "back\\slash", "µ-unit", "two words"], ids=ascii)
def test_name_of_any_printable_characters_is_read_back(name: str, tmp_path: Path) -> None:
    assert read_back(golden.Unit(name=name, operation=unit_from_table(T_FDPA).operation), tmp_path).name == name


@pytest.mark.slow
@pytest.mark.parametrize("kind", golden.OPERATIONS)
@given(data=st.data())
def test_random_unit_is_read_back(kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    unit = golden.Unit(name="drawn", operation=data.draw(operations(kind)))
    assert read_back(unit, tmp_path_factory.mktemp("unit")) == unit


@pytest.mark.parametrize(
    ("table", "defaults"),
    [
        (T_FDPA, {"truncation": "RZ"}),
        (T_FDPA | {"operation": "ST-FDPA"}, {"truncation": "RZ", "K_block": 32}),
        (TR_FDPA, {"rho": "RNE-FP32", "truncation": "RD"}),
        (TR_FDPA | {"operation": "GTR-FDPA"}, {"rho": "RNE-FP32", "truncation": "RD"}),
        ({"name": "u", "operation": "E-FDPA", "L": 4, "a": "fp16", "b": "fp16", "c": "fp32"}, {"rho": "RNE-FP32"}),
    ],
    ids=lambda value: value.get("operation"),
)
def test_keys_left_out_have_the_published_values(table: dict[str, Any], defaults: dict[str, Any]) -> None:
    parameters = unit_from_table(table).operation.parameters()
    assert {key: parameters[key] for key in parameters if key not in table} == defaults


def test_hypothetical_cdna3_unit_is_symmetric(tmp_path: Path) -> None:
    """Paper 000, figure 3: CDNA3 with every RD replaced by RZ. −0.625 and 0.625 at 2^23 both come to half."""
    text = """
    name = "cdna3-rz"
    operation = "GTR-FDPA"
    L = 16
    F = 24
    F2 = 31
    truncation = "RZ"
    a = "e5m2fnuz"
    b = "e5m2fnuz"
    c = "fp32"
    """
    hypothetical = golden.load_unit(written(tmp_path, text))
    real = golden.instruction("gfx942", "v_mfma_f32_16x16x32_bf8_bf8")
    assert hypothetical.operation == real.operation.changed(truncation="RZ")
    x, y = np.zeros((2, 2, 16), np.uint8)
    for k, (p, q) in enumerate([(-(2.0**13), 2.0**10), (-0.5, 1.0), (-0.25, 1.0), (-0.125, 1.0)]):
        x[:, k] = [real.a.encode(p), real.a.encode(-p)]
        y[:, k] = real.b.encode(q)
    c = np.array([2.0**23, -(2.0**23)], np.float32)
    assert hypothetical.dot(x, y, c, engine="reference").tolist() == [-0.5, 0.5]
    long_x, long_y = (np.concatenate([side, np.zeros_like(side)], axis=1) for side in (x, y))
    assert real.dot(long_x, long_y, c, engine="reference").tolist() == [-1.0, 0.5]


@pytest.mark.parametrize(("K", "fits"), [(1, True), (15, True), (16, True), (48, True), (17, False), (24, False)])
def test_length_of_a_product_below_L_or_a_multiple(K: int, fits: bool) -> None:
    unit = unit_from_table(T_FDPA)
    operands = (np.zeros((2, K), np.uint16), np.zeros((2, K), np.uint16), np.zeros(2, np.uint32))
    if fits:
        assert unit.dot(*operands, engine="reference").tolist() == [0, 0]
    else:
        message = f"K must be a multiple of L=16 of T-FDPA where it is larger, got K={K}"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            unit.dot(*operands)


@pytest.mark.parametrize("shape", [(3, 0), ()], ids=["K of 0", "no axis"])
def test_product_without_K(shape: tuple[int, ...]) -> None:
    message = f"a must have shape [..., K] with K at least 1, got {shape}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        unit_from_table(T_FDPA).dot(np.zeros(shape, np.uint16), np.zeros(shape, np.uint16), np.zeros((), np.uint32))
