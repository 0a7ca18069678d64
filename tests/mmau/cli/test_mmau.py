"""The command line: what it prints, its exit status, and what it says of a wrong request."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import golden
from mmau.cli import main
from mmau.prove.records import Records
from tests.mmau.cli.unit_texts import TINY

HOPPER = ("sm_90", "mma.m16n8k16.f32.f16.f16.f32")
UNIT = f"{TINY}\n[implementation]\nstages = 2\n"


@pytest.mark.slow
@pytest.mark.parametrize("evidence", ["none", pytest.param("recorded", marks=pytest.mark.long)])
def test_list_prints_every_entry_with_its_evidence(
    evidence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an empty cache, the specifications that recorded evidence is compared with take seconds."""
    if evidence == "none":
        monkeypatch.setattr(Records, "of_operation", lambda self, operation: [])
    assert main.main(["list"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["arch", "instruction", "operation", "parameters", "evidence", "recorded", "simulated", "proved"]
    rows = [line for line in lines if line.split()[0] in golden.catalogue.ARCHITECTURES]  # remarks on evidence may follow
    assert len(rows) == len(golden.instructions()) + len(golden.sparse_instructions())
    line = next(line for line in lines if line.split()[:2] == list(HOPPER))
    shown = ["T-FDPA", "L=16", "F=25", "rho=RZ-FP32", "e_zero=-133", "truncation=RZ", "recorded", "13,637"]
    assert line.split()[2:10] == shown


@pytest.mark.slow
def test_list_as_json_for_one_architecture(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["list", "--arch", "cdna3", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["instructions"]
    assert {entry["arch"] for entry in entries} == {"gfx942"}
    assert len(entries) == len(golden.instructions("gfx942")) == 32
    fp8 = next(entry for entry in entries if entry["name"] == "v_mfma_f32_16x16x32_fp8_bf8")
    assert (fp8["a"], fp8["b"], fp8["operation"], fp8["parameters"]["F2"]) == ("e4m3fnuz", "e5m2fnuz", "GTR-FDPA", 31)


FP16_UNIT = """
name = "fp16-pair"
operation = "T-FDPA"
L = 2
F = 25
rho = "RZ-FP32"
e_zero = -133
a = "fp16"
b = "fp16"
c = "fp32"
"""


@pytest.mark.slow
def test_rtl_of_a_unit_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "u.toml").write_text(UNIT)
    output = tmp_path / "my-unit.v"
    assert main.main(["rtl", "--unit", str(tmp_path / "u.toml"), "-o", str(output), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report == {"schema": "mmau.rtl/1", "unit": "tiny", "output": str(output), "top": "my_unit", "latency": 2}
    assert "module my_unit(" in output.read_text()


@pytest.mark.slow
def test_rtl_to_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unit = tmp_path / "u.toml"
    unit.write_text(UNIT)
    assert main.main(["rtl", "--unit", str(unit), "-o", "-"]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("tiny: module unit in stdout\n  input  ")
    assert main.main(["rtl", "--unit", str(unit), "-o", str(tmp_path / "unit.v")]) == 0
    assert captured.out == (tmp_path / "unit.v").read_text()


@pytest.mark.slow
def test_rtl_of_several_units_on_one_datapath(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wide, narrow, output = tmp_path / "wide.toml", tmp_path / "narrow.toml", tmp_path / "both.v"
    wide.write_text(FP16_UNIT)
    narrow.write_text(FP16_UNIT.replace('"fp16-pair"', '"fp8-four"').replace("L = 2", "L = 4").replace('"fp16"', '"e5m2"'))
    argv = ["rtl", "--unit", str(wide), "--also", str(narrow), "-o", str(output)]
    assert main.main(argv) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"fp16-pair in 2 formats: module both in {output}\n")
    assert "  input  a           32  4 x e5m2 (w = 8); format = 1\n" in shown
    assert "//   input  format       1  which unit" in output.read_text()
    assert main.main([*argv, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unit"] == "fp16-pair in 2 formats"


@pytest.mark.slow
def test_rtl_of_an_instruction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "unit.v"
    assert main.main(["rtl", "--arch", "Volta", "--instr", "mma.m8n8k4.f16.f16.f16.f16", "-o", str(output)]) == 0
    assert "module unit in" in capsys.readouterr().out
    assert "//   input  a           64  4 x fp16 (w = 16)" in output.read_text()


@pytest.mark.slow
def test_rtl_of_a_tile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "tile.v"
    argv = ["rtl", "--arch", "sm_80", "--instr", "mma.m16n8k8.f32.tf32.tf32.f32", "--tile", "2x1", "--stages", "2"]
    assert main.main([*argv, "-o", str(output)]) == 0
    assert capsys.readouterr().out.startswith(
        f"sm_80 mma.m16n8k8.f32.tf32.tf32.f32, 2x1 tile: module tile in {output}\n  input  a          256  4 x tf32"
    )
    assert main.main([*argv, "-o", str(output), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["latency"] == 4
    assert "// tile: 2 x 1 x 8 tile of sm_80 mma.m16n8k8.f32.tf32.tf32.f32, generated by mmau" in output.read_text()


@pytest.mark.slow
def test_rtl_of_an_instruction_built_as_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["rtl", "--arch", "Volta", "--instr", "mma.m8n8k4.f16.f16.f16.f16", "-o", str(tmp_path / "u.v"), "--json"]
    assert main.main([*argv, "--stages", "3", "--encoding", "sign-magnitude"]) == 0
    assert json.loads(capsys.readouterr().out)["latency"] == 3
    assert '//   encoding = "sign-magnitude"\n//   stages = 3\n' in (tmp_path / "u.v").read_text()


def test_help_ends_with_status_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["eval", "--help"]) == 0
    assert "--unit UNIT.toml" in capsys.readouterr().out


@pytest.mark.slow
def test_golden_needs_no_hardware_packages() -> None:
    """golden imports on a machine without Amaranth, cocotb or CuPy, and imports no other package."""
    program = (
        "import sys\n"
        "for name in ('amaranth', 'cocotb', 'cupy', 'torch'): sys.modules[name] = None\n"
        "import golden\n"
        "golden.instructions()\n"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'rtl', 'cosim', 'hwtests', 'mmau'}))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argv", "status", "said"),
    [
        (["list", "--arch", "sm_70"], 0, "mma.m8n8k4.f32.f16.f16.f32"),
        (["conform"], 2, "mmau conform: conformance needs CuPy"),
        (["rtl", "--arch", "sm_70", "--instr", "x"], 2, "mmau rtl: needs the package amaranth, which is not installed"),
        (["cosim"], 2, "is not installed"),
    ],
)
def test_commands_need_only_the_packages_they_import(argv: list[str], status: int, said: str) -> None:
    """As on a GPU machine, which has neither Amaranth nor cocotb."""
    program = (
        "import sys\n"
        "for name in ('amaranth', 'cocotb', 'cocotb_tools', 'cupy'): sys.modules[name] = None\n"
        "from mmau.cli import main\n"
        f"sys.exit(main.main({argv!r}))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == status
    assert said in result.stdout + result.stderr
    assert "Traceback" not in result.stderr
