"""Measured effect of mitigations."""

import numpy as np
import pytest

from studies.analysis import mitigation
from studies.analysis.mitigation import bias_without_c, compared, fp8_cases, fp16_output, subnormals


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mitigation, "ROWS", 48)
    monkeypatch.setattr(mitigation, "LENGTH", 1024)
    monkeypatch.setattr(mitigation, "TILES", 12)


def test_every_advice_helps() -> None:
    for case in [fp16_output(1), *fp8_cases(1), subnormals(1)]:
        assert case.measured.other * 3 < case.measured.risky, case
        assert case.measured.better > 0.6


def test_bias_goes_where_c_stays_outside() -> None:
    inside, outside = bias_without_c(1).values()
    assert inside.is_biased
    assert not outside.is_biased


def test_worse_way_is_called_worse() -> None:
    truth = np.ones(4)
    measured = compared(truth + 0.1, truth + 0.2, truth)
    assert (measured.better, measured.worse) == (0.0, 1.0)
    assert measured.other == pytest.approx(2 * measured.risky)
