"""examples/network_on_unit.py does what docs/guides/explore-network.md says of it."""

import pytest

from tests.docs.documents import ROOT


@pytest.mark.peer
def test_example_learns_on_the_unit(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")
    from examples.network_on_unit import main

    assert main() > 0.9
    assert "(64, 512, 32)" in capsys.readouterr().out


def test_document_shows_the_example() -> None:
    shown = (ROOT / "docs/guides/explore-network.md").read_text(encoding="utf-8")
    source = (ROOT / "examples/network_on_unit.py").read_text(encoding="utf-8")
    lines = [line for line in source.splitlines() if "Product(" in line or "map_module(network" in line]
    assert len(lines) == 3
    assert all(line.strip() in shown for line in lines)
