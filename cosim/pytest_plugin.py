"""The pytest fixture `mmau_cosim`, which the installation registers: runs a co-simulation as a test of a user's project.

    def test_my_dut(mmau_cosim):
        report = mmau_cosim("dut.toml", unit="unit.toml", vectors=2000)
        assert report.passed

This module imports only pytest, so that tests without the fixture do not wait for other imports.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from cosim.dut.description import Dut
    from cosim.runner.report import Report
    from golden import Unit
    from rtl import Design


class Cosimulation(Protocol):
    """The type of the fixture `mmau_cosim`."""

    def __call__(
        self,
        dut: "str | Path | Dut | None" = None,
        *,
        unit: "str | Path | Unit | Design",
        waves: "str | Path | None" = None,
        **options: Any,
    ) -> "Report":
        """Co-simulate a design with the golden model of a unit, by `cosim.run`.

        Args:
            dut: the user design: the path of a `dut.toml`, or the result of `cosim.load_dut`; None for the generated
                design. Relative paths start at the folder of the test's file.
            unit: the reference: the path of a unit's TOML file, a unit, or another design of this project.
            waves: path for a waveform, or None.
            options: other fields of `cosim.Request`: `vectors`, `seed`, `simulator` …

        Returns:
            The report. Its table and, after a failure, its first mismatch are printed: pytest shows them with the failure.

        Raises:
            As `cosim.run`.
        """


@pytest.fixture
def mmau_cosim(request: pytest.FixtureRequest) -> Cosimulation:
    """Co-simulate a design with its golden model: report = mmau_cosim("dut.toml", unit="unit.toml", vectors=2000)."""
    folder = request.path.parent

    def cosimulate(
        dut: "str | Path | Dut | None" = None,
        *,
        unit: "str | Path | Unit | Design",
        waves: "str | Path | None" = None,
        **options: Any,
    ) -> "Report":
        import golden
        from cosim.dut.description import load_dut
        from cosim.runner.run import run
        from cosim.runner.text_report import summary

        design = golden.load_unit(folder / unit) if isinstance(unit, str | Path) else unit
        mine = load_dut(folder / dut) if isinstance(dut, str | Path) else dut
        wave_file = None if waves is None else folder / waves
        report = run(design, dut=mine, waves=wave_file, **options)
        print(summary([report], report.seed))
        for name in ("seed", "vectors", "received", "mismatches"):
            request.node.user_properties.append((f"mmau_{name}", getattr(report, name)))
        return report

    return cosimulate
