"""The command line: every option and make target, and what commands print and write for fixed inputs and seeds."""

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mmau.cli.parser import parser
from studies.command_reference import section
from tests.docs.documents import ROOT
from tests.promises.command_line import options
from tests.promises.old_files import FILES

VOLTA = "--arch sm_70 --instr mma.m8n8k4.f32.f16.f16.f32"
HOPPER = "--arch sm_90 --instr mma.m16n8k16.f32.f16.f16.f32"
PROGRAM = f"{sys.executable} {ROOT}/examples/program/idpa.py"

LINES = f"""
list --arch sm_70
list
evidence --arch sm_70
evidence {HOPPER}
eval --unit unit.toml --input vectors.npz --output new.npz
eval --unit unit.toml --input vectors.npz --output new.npz --engine reference
eval --explain --unit unit.toml --input vectors.npz --row 3
vectors --unit unit.toml --level 2 --seed 5 -o new.txt
vectors --unit unit.toml --vectors 500 --seed 6 -o new.npz
vectors {VOLTA} --vectors 500 --seed 7 -o new.txt
vectors --arch gfx90a --instr v_mfma_f32_32x32x8bf16_1k --vectors 200 -o new.txt
compare --a=-2^13,-.5,-.25,-.125 --b=2^10,1,1,1 --c=2^23
compare --a=-2^13,-.5,-.25,-.125 --b=2^10,1,1,1 --c=2^23 --on Volta --traces
distinguish unit.toml spec.toml
distinguish unit.toml unit.toml --prove 300
distinguish sm_80:mma.m16n8k16.f32.f16.f16.f32 sm_90:mma.m16n8k16.f32.f16.f16.f32
distinguish gfx908:v_mfma_f32_32x32x8f16 gfx90a:v_mfma_f32_32x32x8f16
conform --arch aarch64 --instr bfdot --program '{PROGRAM}' --vectors 500 --report new.json
rtl --unit unit.toml -o new.v
rtl {VOLTA} --tile 2x2 --stages 2 -o new.v
rtl --unit unit.toml --report -o new.v
cosim --unit unit.toml --vectors 400 --seed 4
cosim {VOLTA} --tile 2x1 --vectors 100
cosim --unit unit.toml --mode volume --vectors 40000 --seed 3
cosim --unit dot.toml --dut dot-dut.toml --vectors 300
cosim --unit dot.toml --dut wrong-dut.toml --vectors 300
prove --unit unit.toml --seconds 600
prove --unit dot.toml --dut dot-dut.toml --seconds 600
prove --unit dot.toml --dut wrong-dut.toml --seconds 600
explore tiny-space.toml --out out --jobs 1
probe --unit unit.toml --vectors 3000 -o new.toml --tree
probe --features unit.toml
probe --recording sm_70.mma.m8n8k4.f32.f16.f16.f32.npz
probe --program '{PROGRAM}' --formats 'a=int8 b=int8 c=int32 d=int32 K=4' --vectors 2000 -o new.toml
eval --unit gone.toml --input vectors.npz --output new.npz
eval --unit unit.toml --input vectors.npz --output gone/new.npz
eval --unit unit.toml --input d.npz --output new.npz
eval --nothing
list --arch sm_71
rtl --arch sm_70 --instr mma -o new.v
rtl --unit unit.toml --stages 2 -o new.v
cosim --unit unit.toml --vectors 0
cosim --unit dot.toml --dut unit.toml
prove {VOLTA} --dut dot-dut.toml
probe --unit unit.toml --seed x
explore unit.toml --out out
nothing
"""

MORE = {
    "dot.toml": 'name = "dot"\noperation = "E-FDPA"\nL = 1\nrho = "RNE-FP16"\na = "e2m1"\nb = "e2m1"\nc = "fp16"\n',
    "dot.sv": """// d = a b + c where c is 0 or the product is, as far as two bits of each tell.
module dot(input logic clk_i, input logic [3:0] a_i, b_i, input logic [15:0] c_i, output logic [15:0] d_o);
  always_ff @(posedge clk_i) d_o <= c_i ^ {12'd0, a_i & b_i};
endmodule
""",
    "wrong-dut.toml": """top = "dot"
sources = ["dot.sv"]
protocol = "fixed-latency"
latency = 1
clock = "clk_i"
[ports]
a = "a_i"
b = "b_i"
c = "c_i"
d = "d_o"
""",
    "tiny-space.toml": """name = "tiny"
[fixed]
operation = "T-FDPA"
a = "e2m1"
b = "e2m1"
c = "fp16"
L = 1
rho = "RZ-FP16"
e_zero = -20
[sweep]
F = [3, 4]
[accuracy]
workloads = ["normal"]
rows = 300
[cosimulation]
vectors = 300
""",
}
"""Files beside those of tests/promises/files. dot-dut.toml describes a sound design: the generated Verilog of dot.toml."""

VARIES = {
    "seconds", "device_seconds", "vectors_per_second", "started", "date", "version", "versions", "commit", "made_with",
    "compiler", "simulator", "software", "driver", "runtime", "processor", "platform", "time", "solvers", "by",
    "sources", "longest", "sha256",
}  # fmt: skip
"""Keys whose values differ between runs, machines or commits."""


def surface() -> dict[str, Any]:
    """Every option with its values and its help, and every make target."""
    found: dict[str, Any] = {
        f"mmau {command} {name}": value for command, known in options().items() for name, value in known.items()
    }
    for name, command in parser().commands.items():
        rows = [line.split(" | ") for line in section(name, command).splitlines() if line.count(" | ") == 2 and "`" in line]
        found |= {f"mmau {name}, help of {option}": text.removesuffix(" |") for _, option, text in rows}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return found | {f"make {name}": True for name in re.findall(r"^([a-z][a-z0-9-]*):", makefile, flags=re.MULTILINE)}


def printed(only: str) -> dict[str, Any]:
    """What each command line with this text prints and writes, with `--json`, and its exit status."""
    lines = [line for line in LINES.strip().splitlines() if only in line]
    return {_plain(line, Path("/nowhere")): _ran(line) for line in lines}


def _ran(line: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(FILES, folder, dirs_exist_ok=True)
        for file, text in MORE.items():
            (folder / file).write_text(text, encoding="utf-8")
        if "dot-dut" in line:
            _mmau("rtl --unit dot.toml -o sound.v", folder)
            (folder / "dot-dut.toml").write_text(_sound_dut(), encoding="utf-8")
        before = set(folder.rglob("*"))
        asked = line if line.split()[0] == "nothing" else f"{line} --json"
        run = _mmau(asked, folder)
        out: Any = json.loads(run.stdout) if run.stdout.startswith("{") else _plain(run.stdout, folder)
        files = sorted(
            path for path in set(folder.rglob("*")) - before if path.is_file() and path.suffix not in (".png", ".lock")
        )
        return {
            "status": run.returncode,
            "out": _short(_steady(out, folder)),
            "message": _plain(run.stderr, folder) if run.returncode == 2 else "",
            "files": {
                path.relative_to(folder).as_posix(): _digest(path, folder) for path in files if "out/" not in str(path)
            },
        }


def _sound_dut() -> str:
    return """top = "sound"
sources = ["sound.v"]
protocol = "combinational"
[ports]
a = "a"
b = "b"
c = "c"
d = "d"
"""


def _mmau(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mmau", *shlex.split(line)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=None, check=False)


def _steady(value: Any, folder: Path) -> Any:
    """A printed object without what differs between runs."""
    if isinstance(value, dict):
        return {key: "varies" if key in VARIES else _steady(each, folder) for key, each in value.items()}
    if isinstance(value, list):
        return [_steady(each, folder) for each in value]
    return _plain(value, folder) if isinstance(value, str) else value


def _plain(text: str, folder: Path) -> str:
    """A text without folders, commits, versions and times."""
    text = text.replace(sys.executable, "python").replace(str(folder), "FOLDER").replace(str(ROOT), "ROOT")
    text = re.sub(r"\b[0-9a-f]{40}\+?|\b[0-9a-f]{7,12}\+?(?=\))", "COMMIT", text)
    return re.sub(r"\b\d+(\.\d+)? s\b", "N s", re.sub(r"mmau \d+\.\d+\.\d+\S*", "mmau VERSION", text))


def _short(value: Any) -> Any:
    """An object whose large parts are digests."""
    if len(text := json.dumps(value, ensure_ascii=False)) <= 3000:
        return value
    if isinstance(value, dict):
        return {key: _short(each) if len(json.dumps(each)) > 600 else each for key, each in value.items()}
    return f"{type(value).__name__} of {len(value)}, {hashlib.sha256(text.encode()).hexdigest()[:24]}"


def _digest(path: Path, folder: Path) -> str:
    content = path.read_bytes()
    if path.suffix == ".json":
        content = json.dumps(_steady(json.loads(content), folder)).encode()
    elif path.suffix in (".txt", ".toml", ".v", ".csv"):
        content = _plain(content.decode(), folder).encode()
    return hashlib.sha256(content).hexdigest()[:24]
