"""The command of the job: wrong requests, and a machine without a GPU, end with status 2 and one line."""

import os
import re
from pathlib import Path

import pytest

from studies.h200 import __main__ as command


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--seconds", "15"), "--seconds must be more than 15, got 15"),
        (("--piece-bytes", "10"), "--piece-bytes must be from 1048576 to 67108864, got 10"),
    ],
)
def test_wrong_request_is_status_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = ("--state", str(tmp_path / "s"), "--out", str(tmp_path / "o"))
    assert command.main([*folders, *arguments]) == 2
    assert capsys.readouterr().err == f"studies.h200: {message}\n"


def test_one_folder_for_both_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--state", str(tmp_path), "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"studies.h200: --state and --out must be two folders, both are {tmp_path}\n"


@pytest.mark.slow
@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="this machine has an NVIDIA driver")
def test_no_gpu_is_status_2_and_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--state", str(tmp_path / "s"), "--out", str(tmp_path / "o"), "--seconds", "60"]) == 2
    assert re.fullmatch(
        r"studies\.h200: (conformance needs CuPy|no usable CUDA device|no CUDA).*\n", capsys.readouterr().err
    )
