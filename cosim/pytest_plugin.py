"""The pytest fixture `mmau_cosim`, which comes with the installation: co-simulation as a test in one's own project.

    def test_my_dut(mmau_cosim):
        report = mmau_cosim("dut.toml", unit="unit.toml", vectors=2000)
        assert report.passed

Loading this module imports nothing but pytest: a run of pytest that does not ask for the fixture does not wait for it.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from cosim import Dut, Report
    from golden import Unit
    from rtl import Design


class Cosimulation(Protocol):
    """The type of the fixture `mmau_cosim`."""

    def __call__(
        self,
        dut: "str | Path | Dut | None" = None,
        *,
        unit: "str | Path | Unit | Design",
        vectors: int = 20000,
        seed: int = 0,
        waves: "str | Path | None" = None,
        **options: Any,
    ) -> "Report":
        """Co-simulate a design with the golden model of a unit, by `cosim.run`.

        Args:
            dut: how the design is built and driven: the path of a `dut.toml`, or what `cosim.load_dut` made of it; None for
                the generated design. Paths count from the folder of the test's file.
            unit: what it should compute: the path of a unit's TOML file, or a unit, or another design of this project.
            vectors, seed: of the stimulus; the same ones give the same run.
            waves: where to leave a waveform, or None.
            options: others of `cosim.run`: `simulator`, `work_dir` …

        Returns:
            The report. Its table, and where it failed its first mismatch, are printed: pytest shows them beside a failure.

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
        vectors: int = 20000,
        seed: int = 0,
        waves: "str | Path | None" = None,
        **options: Any,
    ) -> "Report":
        import cosim
        import golden

        design = golden.load_unit(folder / unit) if isinstance(unit, str | Path) else unit
        mine = cosim.load_dut(folder / dut) if isinstance(dut, str | Path) else dut
        wave_file = None if waves is None else folder / waves
        report = cosim.run(design, vectors=vectors, seed=seed, dut=mine, waves=wave_file, **options)
        print(cosim.summary([report], seed))
        for name in ("seed", "vectors", "received", "mismatches"):
            request.node.user_properties.append((f"mmau_{name}", getattr(report, name)))
        return report

    return cosimulate
