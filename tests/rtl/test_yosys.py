"""The native Yosys as a child process: what it reads and writes, its log, and how it fails."""

import os
import sys
from pathlib import Path

import pytest

from mmau.cli import main
from rtl import MissingTool, YosysError, yosys
from rtl.yosys import LOG, run_yosys

WIRE = {"wire.v": "module top(input a, output y); assign y = a; endmodule\n"}


@pytest.mark.slow
def test_results_and_log_come_back_and_nothing_else_is_written(capfd: pytest.CaptureFixture[str]) -> None:
    found = run_yosys("read_verilog wire.v; proc\nwrite_verilog -noattr out.v", ["out.v", LOG], WIRE)
    assert "assign y = a;" in found["out.v"]
    assert "Executing PROC pass" in found[LOG]
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("read_verilog wire.v; no_such_pass", "ERROR: No such command: no_such_pass (type 'help' for a command overview)"),
        ("read_slang --top absent wire.v", "ERROR: Design elaboration failed; see full log for details"),
    ],
)
def test_an_error_ends_the_child_alone_and_its_log_is_kept(script: str, message: str) -> None:
    with pytest.raises(YosysError, match=r"^pyosys exited with status 1: ERROR: ") as error:
        run_yosys(script, [], WIRE)
    assert message in str(error.value)
    assert message in error.value.log


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "limit", "message"),
    [
        ("raise RuntimeError('trap\\n  in module 3')", None, "pyosys exited with status 1: in module 3"),
        ("import no_such", None, "pyosys exited with status 1: ModuleNotFoundError: No module named 'no_such'"),
        (
            f"open('{LOG}', 'w').write('ERROR: no flip-flops\\n'); raise SystemExit(1)", None,
            "pyosys exited with status 1: ERROR: no flip-flops",
        ),
        ("import os; os.abort()", None, "pyosys exited with status -6: no message"),
        ("pass", None, "pyosys exited with status 0: no message"),
        ("import time; time.sleep(100)", 0.2, "pyosys did not end within 0.2 s: no message"),
    ],
    ids=["exception", "no runtime", "error in its log", "killed", "no result", "hangs"],
)  # fmt: skip
def test_a_child_that_is_killed_or_gives_nothing_is_an_error(
    program: str, limit: float | None, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yosys, "python_program", lambda code: [sys.executable, "-c", program])
    with pytest.raises(YosysError) as error:
        run_yosys("", ["out.v"], {}, limit)
    assert str(error.value) == message


@pytest.mark.slow
def test_a_folder_of_the_user_does_not_stand_in_for_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyosys.py").write_text("raise SystemExit('of the user')")
    monkeypatch.chdir(tmp_path)
    assert run_yosys("read_verilog wire.v; write_json out.json", ["out.json"], WIRE)["out.json"]
    assert os.listdir() == ["pyosys.py"]


def test_without_the_package_one_message_names_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(yosys, "find_spec", lambda name: None)
    with pytest.raises(MissingTool) as error:
        run_yosys("", [], {})
    message = (
        "Verilog needs the package pyosys, which is not installed; install it with: pip install 'mmau[rtl]' (there are"
        " wheels for Linux with glibc, x86-64 and aarch64, and for macOS; elsewhere use a container of these)"
    )
    assert str(error.value) == message
    argv = ["rtl", "--arch", "Volta", "--instr", "mma.m8n8k4.f16.f16.f16.f16", "-o", "never.v"]
    assert (main.main(argv), capsys.readouterr().err) == (2, f"mmau rtl: {message}\n")
    assert not Path("never.v").exists()
