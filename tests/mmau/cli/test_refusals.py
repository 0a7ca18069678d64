"""Requests that a command refuses: status 2, one line, and no file is touched.

refusals.json holds each request and what is said of it; `python -m tests.mmau.cli.test_refusals` writes what is said
now, whose diff you read.
"""

import json
import os
import shlex
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

import golden
from golden.files import write_atomically
from mmau.cli import main
from tests.docs.documents import ROOT
from tests.mmau.cli.unit_texts import TINY
from tests.mmau.explore.texts import MEASURED, SMALL

SAID = Path(__file__).with_name("refusals.json")

PAIR = """name = "pair"
operation = "T-FDPA"
L = 2
F = 25
rho = "RZ-FP32"
e_zero = -133
a = "fp16"
b = "fp16"
c = "fp32"
"""
FORMATS = '\n[formats]\na = "fp16"\nb = "fp16"\nc = "fp32"\nd = "fp32"\nK = 2\n'


def lay_out(folder: Path) -> None:
    """The files that requests name: units, designs, operands, a program, a file that is read-only."""
    simd = (ROOT / "tests/third_party/simd/dut.toml").read_text(encoding="utf-8")
    for name in ("../lanes", "dot2_simd.sv"):
        simd = simd.replace(f'"{name}', f'"{ROOT}/tests/third_party/simd/{name}')
    texts = {
        "unit.toml": TINY, "long.toml": TINY.replace("L = 2", "L = 257"), "key.toml": f"{TINY}g = 1\n", "pair.toml": PAIR,
        "other.toml": PAIR.replace("pair", "other"), "less.toml": PAIR.replace("F = 25", "F = 24"),
        "clocked.toml": f"{TINY}\n[implementation]\nclock_ns = 5.0\n", "dut.toml": simd + FORMATS, "bare.toml": simd,
        "mine.sv": "module mine; endmodule\n", "mine.toml": f'top = "mine"\nsources = ["mine.sv"]\n{FORMATS}',
        "my program.py": "print()\n", "kept.json": "{}",
        "space.toml": SMALL + MEASURED, "wrong.toml": SMALL.replace("from = 8, to = 10", "from = 200, to = 210") + MEASURED,
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "kept.json").chmod(0o444)
    (folder / "link.v").symlink_to("pair.toml")
    ones = np.ones((20, 16), np.uint16)
    np.savez(folder / "v.npz", a=ones, b=ones, c=np.zeros(20, np.uint32))
    np.savez(folder / "scaled.npz", a=ones, b=ones, c=np.zeros(20, np.uint32), scale_a=np.zeros((20, 1), np.uint8))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def said_of(line: str, folder: Path) -> tuple[int, str, str]:
    """Status, stdout and stderr of a request in this folder, without the places of this machine."""
    words = shlex.split(line.replace("PYTHON", sys.executable))
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        status = main.main(words)
    known = len({each.name for each in golden.instructions() + golden.sparse_instructions()})
    text = err.getvalue().replace(f"the {known} known", "the COUNT known").replace(str(folder), "FOLDER")
    text = text.replace(str(ROOT), "ROOT").replace(sys.executable, "PYTHON")
    return status, out.getvalue(), text


@pytest.mark.parametrize(("line", "said"), json.loads(SAID.read_text(encoding="utf-8")).items(), ids=lambda text: text[:60])
def test_request_is_refused_in_one_line(line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(tmp_path)
    before = contents(tmp_path)
    assert said_of(line, tmp_path) == (2, "", f"{said}\n")
    assert contents(tmp_path) == before


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        lay_out(Path(name))
        lines = {
            line: said_of(line, Path(name))[2].removesuffix("\n") for line in json.loads(SAID.read_text(encoding="utf-8"))
        }
    quoted = [
        f"{json.dumps(line, ensure_ascii=False)}: {json.dumps(said, ensure_ascii=False)}" for line, said in lines.items()
    ]
    write_atomically(SAID, ("{\n" + ",\n".join(quoted) + "\n}\n").encode())
