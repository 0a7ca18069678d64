"""This machine's processor compared with the model; and the message if it lacks the instructions."""

import json
from pathlib import Path

import pytest

import golden
from hwtests.conform.check import check
from hwtests.conform.instruction_progress import Progress
from hwtests.cpu.host_processor import ARCHITECTURES, Processor, ProcessorDevice, kernel_of, this_processor
from hwtests.device import AbsentError, DeviceError
from mmau.cli import main


def flags_here() -> frozenset[str]:
    try:
        return this_processor().flags
    except DeviceError:
        return frozenset()


HERE = [i for arch in ARCHITECTURES for i in golden.instructions(arch) if set(kernel_of(i).flags) <= flags_here()]
"""The features of this machine's processor."""

LIVE = [i for i in HERE if i.m == 1 or i.k in (2, 4, 16, 32, 64)]

BARE = Processor("bare, family 6, model 1, stepping 1", "0x1", frozenset({"fpu", "avx512f"}))
"""A processor with AVX-512 and none of its dot products."""


@pytest.mark.skipif(not LIVE, reason="this processor has no dot product of the catalogue")
@pytest.mark.parametrize("instruction", LIVE, ids=lambda i: i.name)
def test_processor_agrees_with_the_model(instruction: golden.Instruction) -> None:
    progress = Progress()
    check(ProcessorDevice(instruction.arch), instruction, 100_000, 11, progress, lambda: None)
    assert progress.total() >= 100_000
    assert (progress.wrong(), progress.status) == (0, "running")


def test_processor_without_the_architecture() -> None:
    message = (
        "this (machine's )?processor, bare, family 6, model 1, stepping 1, has no x86-amx: amx_tile is not among its flags"
    )
    with pytest.raises(DeviceError, match=f"^{message}$"):
        ProcessorDevice("x86-amx", BARE)


def test_processor_of_an_architecture_without_kernels() -> None:
    with pytest.raises(
        DeviceError, match=r"^processors of x86-amx, x86-avx512 are conformed to, and aarch64 is none of these$"
    ):
        ProcessorDevice("aarch64", BARE)


def test_processor_without_the_instruction() -> None:
    device = ProcessorDevice("x86-avx512", BARE)
    with pytest.raises(AbsentError, match=r"^this processor does not have it: avx512_bf16 not among its flags$"):
        device.load(golden.instruction("x86-avx512", "vdpbf16ps"))


@pytest.mark.slow
@pytest.mark.skipif(not HERE, reason="this processor has no dot product of the catalogue")
def test_command_records_what_is_here_and_goes_on_where_it_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    instruction, report = HERE[0], tmp_path / "report.json"
    argv = ["conform", "--arch", instruction.arch, "--instr", instruction.name, "--report", str(report)]
    assert main.main([*argv, "--vectors", "30000", "--record", str(tmp_path)]) == 0
    assert main.main([*argv, "--vectors", "40000", "--record", str(tmp_path)]) == 0
    (progress,) = json.loads(report.read_text())["instructions"].values()
    assert sum(progress["vectors"].values()) >= 40_000
    (entry,) = json.loads((tmp_path / "index.json").read_text()).values()
    assert entry["rows"] >= 20_000
    assert capsys.readouterr().out.count(" 0 differ") == 2


@pytest.mark.slow
@pytest.mark.skipif("amx_tile" in flags_here(), reason="this processor has AMX")
def test_command_on_a_processor_without_the_architecture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["conform", "--arch", "x86-amx", "--report", str(tmp_path / "report.json")]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "processor" in captured.err
