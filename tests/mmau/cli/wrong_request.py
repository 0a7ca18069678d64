"""Running the command line in this process."""

import pytest

from mmau.cli import main


def wrong(capsys: pytest.CaptureFixture[str], *argv: object) -> str:
    """The one message of a request that must end with status 2."""
    assert main.main([str(argument) for argument in argv]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err.strip()
