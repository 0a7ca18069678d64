"""Vectors as a test for riscv-arch-test: every row is there, with the model's d, under the encodings that LLVM has."""

import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import golden
from mmau.analysis.disclosure import in_mode, reduction_of
from mmau.cli import main, riscv_arch_test
from tests.mmau.analysis.test_disclosure import element
from tests.twin.twin_numbers import decode

INSTRUCTIONS = [
    "vfwbdota.vv.bf16.k8", "vfqwbdota.vv.e4m3.k16", "vfqwbdota.vv.e5m2.k64", "vfqwbdota.alt.vv.e4m3.k16",
    "vqwbdotau.vv.s8.k32", "vqwbdotas.vv.u8.k16",
]  # fmt: skip

OF_LLVM = {
    "vfwbdota.vv": 0xB3161477, "vfqwbdota.vv": 0xBB161477, "vfqwbdota.alt.vv": 0xBF161477, "vqwbdotau.vv": 0xBB160477,
    "vqwbdotas.vv": 0xBF160477,
}  # fmt: skip
"""The words that LLVM's assembler writes for each with v8, v16, v12, 1."""

ALT = {"bf16": 0x1C8, "e4m3": 0x0C0, "e5m2": 0x1C0, "u8": 0x0C0, "s8": 0x1C0}
"""vtype of e16alt, e8 and e8alt, m1, ta, ma."""


def written(tmp_path: Path, name: str, vectors: int = 40) -> str:
    path = tmp_path / "test.S"
    options = ["--arch", "riscv-zvbdota", "--instr", name, "--vectors", str(vectors), "--format", "riscv-arch-test"]
    assert main.main(["vectors", *options, "-o", str(path)]) == 0
    return path.read_text()


def problems(text: str, name: str) -> list[str]:
    """The faults of a test: its rows are read back, and their d computed anew."""
    i, found = golden.instruction("riscv-zvbdota", name), []
    data = re.findall(r"^  \.(?:byte|half) (.*)\n  \.(?:byte|half) (.*)\n  \.word (.*)$", text, re.MULTILINE)
    macros = re.findall(
        r"^row_(\d+):\n  MMAU_ROW (\d)\n  RVTEST_SIGUPD\(x2, x5, x4, x13, row_\1, row_\1_str\)", text, re.MULTILINE
    )
    texts = re.findall(r'^row_(\d+)_str: \.string "row \1: .*: result (\d) must be (0x[0-9a-f]{8})"$', text, re.MULTILINE)
    count = int(re.findall(r"^#define SIGUPD_COUNT (\d+)$", text, re.MULTILINE)[0])
    if not len(data) == len(macros) == len(texts) == count:
        found.append(f"{len(data)} rows, {len(macros)} instructions, {len(texts)} results, {count} signatures")
    a, b = ([[int(code, 16) for code in row[side].split(", ")] for row in data] for side in (0, 1))
    types = [np.dtype(f"u{operand.storage_bits // 8}") for operand in (i.a, i.b)]
    c = np.array([int(row[2], 16) for row in data], np.uint32)
    d = i.dot(np.array(a, types[0]), np.array(b, types[1]), c, engine="reference")
    found += [f"row {n}" for n, (made, said) in enumerate(zip(d.tolist(), texts, strict=True)) if int(said[2], 16) != made]
    if [(number, result) for number, result, _ in texts] != macros:
        found.append("another result than the text says")
    return found


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_rows_and_results_are_the_models_and_words_are_those_of_llvm(name: str, tmp_path: Path) -> None:
    text, instruction = written(tmp_path, name), golden.instruction("riscv-zvbdota", name)
    assert problems(text, name) == []
    mnemonic, form = name[: name.index(".vv") + 3], name.split(".")[-2]
    (word,) = re.findall(r"^  \.word (0x[0-9a-f]{8})  // (\S+) v8, v16, v12, 0$", text, re.MULTILINE)
    assert (int(word[0], 16), word[1]) == (OF_LLVM[mnemonic] - (1 << 20), mnemonic)  # ci = 0
    assert f"  li x10, {ALT[form]:#x}\n" in text
    assert f"#   VLEN: {instruction.k * instruction.a.storage_bits}\n" in text


@pytest.mark.attack("a test whose result, operand or signature is another")
def test_a_row_that_is_wrong_is_seen(tmp_path: Path) -> None:
    name = "vfwbdota.vv.bf16.k8"
    text = written(tmp_path, name)
    assert problems(re.sub(r"must be 0x.", "must be 0x5", text, count=1), name) == ["row 0"]
    assert problems(text.replace("MMAU_ROW 1", "MMAU_ROW 2", 1), name) == ["another result than the text says"]
    assert problems(text.replace("COUNT 40", "COUNT 41"), name) == ["40 rows, 40 instructions, 40 results, 41 signatures"]


HEADER = r"""
#define RVTEST_BEGIN .text; begin:
#define LA(register, symbol) la register, symbol
#define RVTEST_SIGUPD(pointer, link, temp, value, label, text) sw value, 0(pointer); addi pointer, pointer, 8; TEXT(text)
#define TEXT(text) .pushsection .rodata; .word text; .popsection
#define RVTEST_CODE_END ebreak
#define RVTEST_DATA_BEGIN .data; scratch: .zero 64
#define RVTEST_DATA_END
#define RVTEST_SIG_SETUP
"""
"""Macros with the names of the framework's, and none of its text."""


@pytest.mark.skipif(not (shutil.which("llvm-mc") and shutil.which("cc")), reason="needs llvm-mc and a C preprocessor")
@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_it_assembles(name: str, tmp_path: Path) -> None:
    written(tmp_path, name)
    assemble(tmp_path)


def assemble(folder: Path, *options: str) -> None:
    """Assemble test.S of a folder."""
    (folder / "riscv_arch_test.h").write_text(HEADER)
    made = folder / "test.s"
    preprocess = f"cc -E -P -x assembler-with-cpp -I {folder} {folder}/test.S -o {made}".split()
    subprocess.run([*preprocess, *options], check=True, timeout=60)
    command = ["llvm-mc", "-triple=riscv64", "-mattr=+v,+m", "-filetype=obj", str(made), "-o", str(folder / "test.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_every_instruction_of_the_architecture_has_an_encoding() -> None:
    names = {i.name[: i.name.index(".vv") + 3] for i in golden.instructions(riscv_arch_test.ARCH)}
    assert names == set(riscv_arch_test.ENCODINGS)


LLVM_MATRIX = {
    "vfmmacc.vv": 0x53421457, "vfwmmacc.vv": 0x57421457, "vfqmmacc.vv": 0x5B421457, "vf8wmmacc.vv": 0x5F421457,
}  # fmt: skip
"""The words that LLVM's assembler writes for each with v8, v4, v20."""

E2M1 = """name = "riscv-e2m1"
operation = "E-FDPA"
L = 8
a = "e2m1"
b = "e2m1"
c = "bf16"
rho = "RNE-BF16"
overflow = "by-mode"
zero = "ieee"
flags = true
"""

MIXED = (
    E2M1.replace("e2m1", "mixed").replace('a = "mixed"', 'a = "fp16"').replace('b = "mixed"', 'b = "bf16"').replace("8", "1")
)
"""fp16 and bf16 into bf16: G = 1, so lambda = 1 and eight registers of C."""

MODES = {"rne": "RNE", "rtz": "RZ", "rdn": "RD", "rup": "RU", "rmm": "RNA"}

TILES = {
    "riscv-fp16": ("vfmmacc.vv", 4, 256, 0b011_0_0_0, 0x0C8, "['I', 'V', 'Zvvfp16mm']"),
    "riscv-fp8-rto": ("vfwmmacc.vv", 4, 256, 0b011_0_0_1, 0x0C8, "['I', 'V', 'Zvvofp8fp16mm']"),
    "riscv-rvbna": ("vfwmmacc.vv", 4, 512, 0b011_0_1_1, 0x0D0, "['I', 'V', 'Zvvbf16fp32mm']"),
    "riscv-e2m1": ("vfqmmacc.vv", 4, 256, 0b011_0_0_0, 0x1C8, "['I', 'V', 'Zvvofp4bf16mm']"),
    "riscv-mixed": ("vfmmacc.vv", 1, 128, 0b001_0_0_1, 0x1C8, "['I', 'V', 'Zvvfp16bf16mm', 'Zvvbf16mm']"),
}
"""Instruction, lambda, VLEN, the four fields at the top of vtype, its low bits, extensions."""


def disclosed(tmp_path: Path, name: str, lambdas: tuple[int, ...] = (4, 8)) -> Path:
    """The folder of a disclosure of a unit with its tests."""
    unit = Path("examples/units") / f"{name}.toml"
    if not unit.exists():
        unit = tmp_path / "unit.toml"
        unit.write_text({"riscv-e2m1": E2M1, "riscv-mixed": MIXED}[name])
    options = [f"--lambda={size}" for size in lambdas]
    made = [str(unit), *options, "--vectors", "60", "--riscv-arch-test", "-o", str(tmp_path / "made")]
    assert main.main(["disclose", *made]) == 0
    return tmp_path / "made"


def elements(words: str, width: int) -> list[int]:
    """The elements of bytes, the first one in the lowest bits."""
    data = [int(byte, 16) for byte in words.split(", ")]
    bits = [byte >> n & 1 for byte in data for n in range(8)]
    return [sum(bit << n for n, bit in enumerate(bits[k : k + width])) for k in range(0, len(bits), width)]


def wrong_rows(text: str, unit: golden.Unit, mode: str, rows_of_A: int) -> list[str]:
    """What is wrong in a test: its rows are read back, and their d computed on rational numbers; flags beside them."""
    found, o, r = [], unit.operation, reduction_of(unit)
    rept = rf"  \.rept {rows_of_A}\n  \.byte (.*)\n  \.endr\n"
    data = re.findall(rf"^{rept}{rept}  \.byte (.*)$", text, re.MULTILINE)
    said = re.findall(r'^row_(\d+)_str: \.string "row \1: \S+: element (\d+) must be (0x\w+)"$', text, re.MULTILINE)
    raised = dict(re.findall(r'^flags_(\d+)_str: \.string "row \1: \S+: fflags must be (0x\w+)"$', text, re.MULTILINE))
    offsets = re.findall(r"^  MMAU_ROW (\d+)$", text, re.MULTILINE)
    if text.count("RVTEST_SIGUPD(") != len(said) + len(raised) or f"SIGUPD_COUNT {len(said) + len(raised)}\n" not in text:
        found.append("signatures")
    numbers = 0
    for (row, element_of, d), (a, b, c), offset in zip(said, data, offsets, strict=True):
        codes = elements(a, o.a.width), elements(b, o.b.width), elements(c, o.c.width)[0]
        want = element(unit, *codes, r.products, r.rnd, mode) if not r.psm else None
        if want is not None and want & 0x7FFF:
            numbers += 1
            found += [f"row {row}"] * (int(d, 16) != want)
            exact = sum(
                (decode(o.a.name, x).value * decode(o.b.name, y).value for x, y in zip(*codes[:2], strict=True)), Fraction(0)
            )
            inexact = exact + decode(o.c.name, codes[2]).value != decode(o.c.name, want).value
            if row in raised and len(codes[0]) == r.products:
                found += [f"flags of row {row}"] * ((int(raised[row], 16) & 1) != inexact)
        if int(offset) * 8 != int(element_of) * o.c.width:
            found.append(f"element of row {row}")
    return found + ["few numbers"] * (not r.psm and numbers < 15)


@pytest.mark.parametrize("name", TILES)
def test_units_under_the_matrix_extension(name: str, tmp_path: Path) -> None:
    mnemonic, size, vlen, top, low, extensions = TILES[name]
    folder = disclosed(tmp_path, name, (size, 8))
    unit = golden.load_unit(folder / f"{name}.toml")
    for number, (frm, mode) in enumerate(MODES.items()):
        text = (folder / f"{name}-{frm}.S").read_text()
        assert wrong_rows(text, in_mode(unit, mode), mode, vlen // unit.operation.c.width // size) == []  # type: ignore[arg-type]
        (word,) = re.findall(r"^  \.word (0x[0-9a-f]{8})  // (\S+) v16, v8, v9$", text, re.MULTILINE)
        registers = 31 << 20 | 31 << 15 | 31 << 7
        assert (int(word[0], 16) ^ LLVM_MATRIX[mnemonic]) & ~registers == 0
        assert int(word[0], 16) & registers == 9 << 20 | 8 << 15 | 16 << 7
        assert word[1] == mnemonic
        assert f"  li x10, ({top:#x} << (__riscv_xlen - 7)) | {low:#x}\n" in text
        assert f"  csrwi frm, {number}\n" in text
        assert f"#   VLEN: {vlen}\n" in text
        assert f"# REQUIRED_EXTENSIONS: {extensions}\n" in text
        assert ("fflags = " in text) == unit.operation.parameters().get("flags", False)


def test_a_group_may_be_one_of_several_of_a_row(tmp_path: Path) -> None:
    """lambda = 4 is not disclosed: each element is two groups."""
    text = (disclosed(tmp_path, "riscv-fp16", (8,)) / "riscv-fp16-rne.S").read_text()
    assert "of 8 x 8 elements (lambda = 8, LMUL = 1)" in text
    assert wrong_rows(text, golden.load_unit("examples/units/riscv-fp16.toml"), "RNE", 8) == []


@pytest.mark.attack("a test whose result, flag, operand or signature is another")
def test_a_row_of_a_matrix_that_is_wrong_is_seen(tmp_path: Path) -> None:
    folder = disclosed(tmp_path, "riscv-e2m1")
    unit, text = golden.load_unit(folder / "riscv-e2m1.toml"), (folder / "riscv-e2m1-rne.S").read_text()
    assert wrong_rows(text, unit, "RNE", 4) == []
    assert wrong_rows(text, unit, "RZ", 4)  # as if frm were another
    assert wrong_rows((folder / "riscv-e2m1-rup.S").read_text(), unit, "RNE", 4)
    swapped = re.sub(r"(?<=0x)([1-9a-f])([0-9a-f])(?=, )", r"\2\1", text, count=40)
    assert wrong_rows(swapped, unit, "RNE", 4)
    folder = disclosed(tmp_path, "riscv-fp16")
    unit, text = golden.load_unit(folder / "riscv-fp16.toml"), (folder / "riscv-fp16-rne.S").read_text()
    flagged = re.sub(r"(fflags must be 0x0)(\d)", lambda found: found[1] + str(int(found[2]) ^ 1), text)
    assert all(each.startswith("flags") for each in wrong_rows(flagged, unit, "RNE", 4))
    assert len(wrong_rows(flagged, unit, "RNE", 4)) > 10
    assert "signatures" in wrong_rows(text.replace("SIGUPD_COUNT 1", "SIGUPD_COUNT 2"), unit, "RNE", 4)


@pytest.mark.skipif(not (shutil.which("llvm-mc") and shutil.which("cc")), reason="needs llvm-mc and a C preprocessor")
@pytest.mark.parametrize("name", ["riscv-fp16", "riscv-mixed"])
def test_a_matrix_test_assembles(name: str, tmp_path: Path) -> None:
    text = (disclosed(tmp_path, name) / f"{name}-rup.S").read_text()
    (tmp_path / "test.S").write_text(text)
    assemble(tmp_path, "-D__riscv_xlen=64")


def test_a_machine_that_no_vector_length_has_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wide = E2M1.replace("L = 8", "L = 128").replace("bf16", "fp64").replace("BF16", "FP64").replace("e2m1", "fp32")
    (tmp_path / "unit.toml").write_text(wide)
    made = [str(tmp_path / "unit.toml"), "--riscv-arch-test", "-o", str(tmp_path / "made")]
    assert main.main(["disclose", *made]) == 2
    assert "riscv-fp32: VLEN must be at most 65536 bits, and lambda = 64 takes 262144" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()
