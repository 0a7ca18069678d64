"""`mmau vectors`: what a reader of its own finds in the text, what `mmau eval` makes of the arrays, and what is refused."""

import json
import random
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.program import RowForm
from golden.recordings.npz import read_npz
from golden.stimulus import NAMES, OperandShape, complete_rows, generate
from golden.units.unit_file import load_unit, unit_from_table, unit_to_toml
from mmau.cli import main
from tests.golden.units.own_formats import own_unit
from tests.twin import stochastic_twin, twin

FMA = 'name = "fma"\noperation = "FMA"\na = "{0}"\nb = "{0}"\nc = "{0}"\n'
SCALED = """name = "scaled"
operation = "GST-FDPA"
L = 8
G = 4
K_block = 4
F = 35
rho = "RZ-FP32"
e_zero = -139
a = "e2m1"
b = "e2m1"
c = "fp32"
scale = "ue4m3"
"""
UNITS = {"fp32": FMA.format("fp32"), "fp64": FMA.format("fp64"), "scaled": SCALED}
HOPPER = ["--arch", "sm_90", "--instr", "mma.m16n8k16.f32.f16.f16.f32"]
FP8_AS_FP16 = ["--arch", "sm_90", "--instr", "mma.m16n8k32.f32.e4m3.e5m2.f32"]


@dataclass
class TextFile:
    """The text format as its documentation has it, read without any of the project's code."""

    header: list[str]
    rows: list[list[int]]

    @classmethod
    def read(cls, path: Path) -> "TextFile":
        lines = path.read_text(encoding="utf-8").splitlines()
        header = [line for line in lines if line.startswith("#")]
        assert lines[: len(header)] == header
        return cls(header, [[int(code, 16) for code in line.split(" ")] for line in lines[len(header) :]])

    @property
    def unit(self) -> str:
        return "".join(line[1:].removeprefix(" ") + "\n" for line in self.header)


def parts(row: list[int], K: int, scales: int = 0) -> tuple[list[int], list[int], list[int], list[int], int, int]:
    """a, b, scale_a, scale_b, c, d of a line."""
    assert len(row) == 2 * K + 2 * scales + 2
    ends = np.cumsum([K, K, scales, scales])
    return (*(row[end - size : end] for end, size in zip(ends, (K, K, scales, scales), strict=True)), row[-2], row[-1])  # type: ignore[return-value]


def written(tmp_path: Path, *options: str) -> Path:
    path = tmp_path / "v.txt"
    assert main.main(["vectors", *options, "-o", str(path)]) == 0
    return path


def unit_file(tmp_path: Path, name: str) -> str:
    path = tmp_path / f"{name}.toml"
    path.write_text(UNITS[name])
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_text_is_what_the_reference_and_the_twin_compute(name: str, tmp_path: Path) -> None:
    """The unit in the header is the unit; every d is the reference engine's; FMA's and some of the others' also the twin's,
    which computes on fractions."""
    file = TextFile.read(written(tmp_path, "--unit", unit_file(tmp_path, name)))
    (tmp_path / "read.toml").write_text(file.unit)
    unit = load_unit(tmp_path / "read.toml")
    assert unit == load_unit(tmp_path / f"{name}.toml")
    operation = unit.operation
    assert len(file.rows) == complete_rows(OperandShape.of_operation(operation), 1)
    sampled = set(random.Random(1).sample(range(len(file.rows)), 300))
    for number, row in enumerate(file.rows):
        a, b, scale_a, scale_b, c, d = parts(row, operation.length, operation.scales_per_step)
        assert operation.step(a, b, c, scale_a, scale_b) == d
        if number in sampled:
            assert twin.same(operation, d, twin.dot(operation, a, b, c, scale_a, scale_b))


def test_text_of_an_instruction_holds_its_whole_dot_product(tmp_path: Path) -> None:
    instruction = golden.instruction(FP8_AS_FP16[1], FP8_AS_FP16[3])
    file = TextFile.read(written(tmp_path, *FP8_AS_FP16, "--vectors", "200", "--seed", "3"))
    rows = [parts(row, 32) for row in file.rows]
    a, b = (np.array([row[n] for row in rows], np.uint8) for n in range(2))
    c, d = (np.array([row[n] for row in rows], np.uint32) for n in (4, 5))
    assert instruction.dot(a, b, c, engine="reference").tolist() == d.tolist()
    assert "## seed = 3" in file.header
    assert tomllib.loads(file.unit)["a"] == "fp16"


@pytest.mark.parametrize(
    ("arch", "instr"),
    [
        ("riscv-zvbdota", "vfwbdota.vv.bf16.k8"), ("armv9-sme", "fmopa.za.s.h"), ("armv9-sme", "fmops.za.s.s"),
        ("gfx1201", next(i.name for i in golden.instructions("gfx1201") if i.order != "in-order")),
    ],
)  # fmt: skip
@pytest.mark.attack(
    "a header that states the steps of an instruction and leaves out what its chain does with c, order or sign"
)
def test_header_of_an_instruction_is_the_unit_that_computes_its_vectors(arch: str, instr: str, tmp_path: Path) -> None:
    instruction = golden.instruction(arch, instr)
    file = TextFile.read(written(tmp_path, "--arch", arch, "--instr", instr, "--vectors", "200"))
    (tmp_path / "read.toml").write_text(file.unit)
    unit = load_unit(tmp_path / "read.toml")
    assert f"## steps of {instruction.operation.length} products, chained as [chain] says" in file.header
    wrong = 0
    for row in file.rows:
        a, b, _, _, c, d = parts(row, instruction.k)
        assert unit.chain_over(instruction.k)(a, b, c) == d
        wrong += unit.step.chain_over(instruction.k)(a, b, c) != d
    assert wrong


def test_header_of_sums_does_not_say_that_steps_are_chained(tmp_path: Path) -> None:
    keys = {"name": "sums", "operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32", "sums": {"tree": [["p0", "p1"], "c"]}}
    (tmp_path / "sums.toml").write_text(unit_to_toml(unit_from_table(keys)))
    header = TextFile.read(written(tmp_path, "--unit", str(tmp_path / "sums.toml"), "--vectors", "20")).header
    assert "## sums of 2 products and c, added as [sums] says" in header
    assert not [line for line in header if "is c of the next" in line]


def test_codes_have_the_digits_of_their_format(tmp_path: Path) -> None:
    lines = written(tmp_path, "--unit", unit_file(tmp_path, "scaled")).read_text().splitlines()
    line = r"([0-9a-f] ){16}([0-9a-f]{2} ){4}[0-9a-f]{8} [0-9a-f]{8}"
    vectors = [vector for vector in lines if not vector.startswith("#")]
    assert len(vectors) > 1000
    assert all(re.fullmatch(line, vector) for vector in vectors)


def test_rows_are_those_of_the_stimulus_and_pieces_fit_together(tmp_path: Path) -> None:
    """More rows than are made at a time."""
    file = TextFile.read(written(tmp_path, "--unit", unit_file(tmp_path, "fp32"), "--vectors", "10000", "--seed", "7"))
    unit = load_unit(tmp_path / "fp32.toml")
    operands = generate(OperandShape.of_operation(unit.operation), 10000, seed=7).operands
    assert [row[:3] for row in file.rows] == np.column_stack([operands.a, operands.b, operands.c]).tolist()


@pytest.mark.parametrize("options", [HOPPER, FP8_AS_FP16], ids=["plain", "fp16 work"])
def test_arrays_run_through_eval(options: list[str], tmp_path: Path) -> None:
    """`mmau eval` reads the file and computes the same d; the metadata is JSON, and nothing is pickled."""
    vectors, d = str(tmp_path / "v.npz"), str(tmp_path / "d.npz")
    assert main.main(["vectors", *options, "--vectors", "500", "-o", vectors]) == 0
    assert main.main(["eval", *options, "--input", vectors, "--output", d, "--engine", "reference"]) == 0
    with np.load(vectors, allow_pickle=False) as arrays:
        metadata = json.loads(arrays["metadata"].tobytes())
        assert sorted(arrays) == ["a", "b", "c", "d", "label", "metadata"]
        assert arrays["d"].tolist() == read_npz(d, ("d",))["d"].tolist()
        assert arrays["label"].max() < len(NAMES)
    assert metadata["classes"] == list(NAMES)
    assert (metadata["arch"], metadata["seed"], metadata["vectors"], metadata["level"]) == ("sm_90", 0, 500, None)


def test_arrays_and_text_of_scales_are_the_same(tmp_path: Path) -> None:
    unit, vectors = unit_file(tmp_path, "scaled"), tmp_path / "v.npz"
    text = TextFile.read(written(tmp_path, "--unit", unit, "--seed", "2"))
    assert main.main(["vectors", "--unit", unit, "--seed", "2", "-o", str(vectors)]) == 0
    arrays = read_npz(vectors, ("a", "b", "scale_a", "scale_b", "c", "d"))
    assert np.column_stack([*arrays.values()]).tolist() == text.rows


@pytest.mark.slow
def test_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Level 2 has more than level 1, which is the default; --json says what was written."""
    unit, counts = unit_file(tmp_path, "fp32"), []
    for options in ([], ["--level", "1"], ["--level", "2"]):
        capsys.readouterr()
        path = str(tmp_path / "v")
        assert main.main(["vectors", "--unit", unit, *options, "-o", path, "--json"]) == 0
        said: dict[str, Any] = json.loads(capsys.readouterr().out)
        counts.append(said["vectors"])
        assert said["output"] == path
        assert said["format"] == "text"
        assert len(TextFile.read(Path(path)).rows) == said["vectors"]
    assert counts[0] == counts[1] < counts[2] / 3


def test_text_to_stdout(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    unit = unit_file(tmp_path, "fp32")
    path = written(tmp_path, "--unit", unit, "--vectors", "50")
    capfdbinary.readouterr()
    assert main.main(["vectors", "--unit", unit, "--vectors", "50", "-o", "-"]) == 0
    captured = capfdbinary.readouterr()
    assert captured.out == path.read_bytes()
    assert captured.err == b"fma: 50 vectors in stdout\n"


def test_nothing_half_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error after the first piece leaves what was there."""
    unit, path = unit_file(tmp_path, "fp32"), tmp_path / "v.txt"
    path.write_text("what was there\n")
    made: list[int] = []

    def question(form: RowForm, columns: Any) -> bytes:
        made.append(len(columns))
        if len(made) > 1:
            raise ValueError("of a sudden")
        return b"0\n"

    monkeypatch.setattr(RowForm, "question", question)
    assert main.main(["vectors", "--unit", unit, "--vectors", "10000", "-o", str(path)]) == 2
    assert path.read_text() == "what was there\n"
    assert {entry.name for entry in tmp_path.iterdir()} == {"fp32.toml", "v.txt"}


def test_random_bits_are_a_column_and_an_array(tmp_path: Path) -> None:
    """Both hold what the twin computes; `mmau eval` takes the array, and refuses one that is missing."""
    unit = ["--unit", "examples/units/stochastic-fma-fp16.toml"]
    found = TextFile.read(written(tmp_path, *unit, "--vectors", "300"))
    loaded = unit_from_table(tomllib.loads(found.unit))
    assert "a[0] … a[0] fp16, b[0] … b[0] fp16, c fp16, random uint10, d fp16" in found.header[1]
    assert len(found.rows) == 300
    for a, b, c, random_bits, d in found.rows:
        assert twin.same(loaded.operation, d, stochastic_twin.dot(loaded.operation, "A", 10, random_bits, [a], [b], c))
    path, out = tmp_path / "v.npz", tmp_path / "d.npz"
    assert main.main(["vectors", *unit, "--vectors", "300", "-o", str(path)]) == 0
    assert main.main(["eval", *unit, "--input", str(path), "--output", str(out)]) == 0
    arrays = np.load(path)
    assert arrays["random"].dtype == np.uint16
    assert [row[3] for row in found.rows] == arrays["random"].tolist()
    assert np.array_equal(np.load(out)["d"], arrays["d"])
    np.savez(path, **{name: arrays[name] for name in "abc"})
    assert main.main(["eval", *unit, "--input", str(path), "--output", str(out)]) != 0


def test_vectors_have_no_column_of_the_missing_side(tmp_path: Path) -> None:
    path, text, arrays, d = (tmp_path / name for name in ("unit.toml", "v.txt", "v.npz", "d.npz"))
    path.write_text(unit_to_toml(own_unit("groups of a under ue4m3")))
    assert main.main(["vectors", "--unit", str(path), "--vectors", "20", "-o", str(text)]) == 0
    assert "scale_a[1] ue4m3, c fp32" in text.read_text()
    assert "scale_b" not in text.read_text()
    assert main.main(["vectors", "--unit", str(path), "--vectors", "20", "-o", str(arrays)]) == 0
    with np.load(arrays) as found:
        made = {name: found[name] for name in found.files}
    assert "scale_b" not in made
    assert main.main(["eval", "--unit", str(path), "--input", str(arrays), "--output", str(d)]) == 0
    with np.load(d) as found:
        assert (found["d"] == made["d"]).all()


def test_metadata_are_a_column_and_an_array(tmp_path: Path) -> None:
    """Both hold what the twin computes of the elements that they select; `mmau eval` takes the arrays."""
    unit = ["--unit", "examples/units/sparse-e4m3.toml"]
    found = TextFile.read(written(tmp_path, *unit, "--vectors", "200"))
    loaded = unit_from_table(tomllib.loads(found.unit))
    assert "b[0] … b[15] e4m3, metadata[0] … metadata[3] uint4, c fp32, d fp32" in found.header[1]
    for row in found.rows:
        a, b, codes, (c, d) = row[:8], row[8:24], row[24:28], row[28:]
        selected = [b[4 * group + place] for group, code in enumerate(codes) for place in (code & 3, code >> 2)]
        assert twin.same(loaded.operation, d, twin.dot(loaded.operation, a, selected, c))
    path, out = tmp_path / "v.npz", tmp_path / "d.npz"
    assert main.main(["vectors", *unit, "--vectors", "200", "-o", str(path)]) == 0
    assert main.main(["eval", *unit, "--input", str(path), "--output", str(out)]) == 0
    arrays = np.load(path)
    assert json.loads(arrays["about"].tobytes())["vectors"] == 200
    assert [list(row[24:28]) for row in found.rows] == arrays["metadata"].tolist()
    assert np.array_equal(np.load(out)["d"], arrays["d"])
    assert main.main(["eval", *unit, "--input", str(path), "--explain", "--row", "3"]) == 0
    np.savez(path, **{name: arrays[name] for name in ("a", "b", "c")})
    assert main.main(["eval", *unit, "--input", str(path), "--output", str(out)]) != 0
