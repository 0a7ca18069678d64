"""The bars of the benchmark, without measuring: which are missed, and that the command says so and fails."""

from typing import Any

import pytest

from studies.cosim_speed import __main__ as command
from studies.cosim_speed.measurements import FirstVector, Speed

MET = Speed(unit="unit", bare=200.0, volume=100.0, empty=20.0, cocotb=10.0, golden=1.0)
QUICK = FirstVector("cocotb", cold=10.0, cached=2.0)


def test_what_reaches_its_bar_misses_none() -> None:
    assert MET.missed() == QUICK.missed() == []


@pytest.mark.parametrize(
    ("rates", "missed"),
    [
        ({"volume": 99.0}, ["unit: volume mode reaches 0.495 of the bare Verilator loop, must be at least 0.5"]),
        ({"cocotb": 9.0}, ["unit: cocotb mode reaches 0.450 of the empty cocotb loop, must be at least 0.5"]),
        ({"golden": 1e-9}, []),
    ],
)
def test_mode_that_is_too_slow_is_named(rates: dict[str, float], missed: list[str]) -> None:
    assert Speed(**{**vars(MET), **rates}).missed() == missed


def test_first_vector_that_is_too_late_is_named() -> None:
    assert FirstVector("volume", cold=10.25, cached=2.5).missed() == [
        "volume mode: one vector takes 10.25 s with an empty cache, must be at most 10.0 s",
        "volume mode: one vector takes 2.50 s with the model cached, must be at most 2.0 s",
    ]
    assert FirstVector("volume", 9.5, 1.3).line() == (
        "volume mode, one vector: 9.5 s with an empty cache, 1.3 s with the model cached"
    )


@pytest.mark.parametrize(
    ("volume", "cached", "status", "last"),
    [
        (100.0, 2.0, 0, ["no bar is missed"]),
        (90.0, 2.0, 1, [f"missed: {stages}: volume mode" for stages in (0, 3)]),
        (100.0, 3.0, 1, [f"missed: {mode} mode: one vector takes 3.00 s" for mode in ("cocotb", "volume")]),
    ],
)
def test_command_fails_where_a_bar_is_missed(
    volume: float, cached: float, status: int, last: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def speed_of(unit: Any) -> Speed:
        return Speed(**{**vars(MET), "unit": str(unit.implementation.stages), "volume": volume})

    monkeypatch.setattr(command, "check_tools", lambda simulator: None)
    monkeypatch.setattr(command, "speed_of", speed_of)
    monkeypatch.setattr(command, "first_vector", lambda arguments, mode: FirstVector(mode, 9.0, cached))
    assert command.main() == status
    lines = capsys.readouterr().out.splitlines()
    bars = (
        "bars: a mode reaches at least 0.5 of its loop; "
        "one vector takes at most 10 s with an empty cache, 2 s with the model cached"
    )
    assert bars in lines
    shown = lines[lines.index(bars) + 1 :]
    assert len(shown) == len(last)
    assert all(line.startswith(start) for line, start in zip(shown, last, strict=True))
