"""Vectors as a test for riscv-arch-test: every row is there, with the model's d, under the encodings that LLVM has."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import golden
from mmau.cli import main, vectors

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
    (tmp_path / "riscv_arch_test.h").write_text(HEADER)
    made = tmp_path / "test.s"
    preprocess = f"cc -E -P -x assembler-with-cpp -I {tmp_path} {tmp_path}/test.S -o {made}".split()
    subprocess.run(preprocess, check=True, timeout=60)
    assemble = ["llvm-mc", "-triple=riscv64", "-mattr=+v,+m", "-filetype=obj", str(made), "-o", str(tmp_path / "test.o")]
    done = subprocess.run(assemble, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_every_instruction_of_the_architecture_has_an_encoding() -> None:
    names = {i.name[: i.name.index(".vv") + 3] for i in golden.instructions(vectors.ARCH)}
    assert names == set(vectors.ENCODINGS)
