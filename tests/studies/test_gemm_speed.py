"""The benchmark of matrix products: every figure that is asked for, and a figure above it is not overlooked."""

import pytest

pytestmark = pytest.mark.peer

pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")
pytest.importorskip("triton", reason="Triton (extra `triton`) is not installed")

from mmau.jobs.provenance import processor  # noqa: E402
from studies import gemm_speed  # noqa: E402

FIGURES = ("overhead_of_torch_mode", "small_products", "scaled_fp8", "scaled_mx", "triton_interpreter", "one_instruction")


def found(figure: float, monkeypatch: pytest.MonkeyPatch) -> list[gemm_speed.Measurement]:
    """The measurements, where every one of them gives the same figure."""
    for name in FIGURES:
        monkeypatch.setattr(gemm_speed, name, lambda: figure)
    monkeypatch.setattr(gemm_speed, "beside_torch", lambda *_: figure)
    monkeypatch.setattr(gemm_speed, "memory", lambda n: figure)
    return gemm_speed.measured(small=False)


def test_every_figure_that_is_asked_for_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = found(1.0, monkeypatch)
    assert [most for _, most, _ in rows if most is not None] == [1.2, 3, 2, 2, 12, 10, 10, 10, 2]
    assert gemm_speed.missed(rows) == []
    page = gemm_speed.page(rows)
    assert "memory in use / operands, e4m3, 4096 cubed" in page
    assert page.startswith(f"{processor()}, one thread, native engine for ")
    assert page.endswith("above what was asked for: none")


@pytest.mark.attack("a matrix product that is slower, or larger, than was asked for")
def test_a_figure_above_what_is_asked_for_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = found(11.0, monkeypatch)
    named = gemm_speed.missed(rows)
    assert len(named) == 8
    assert not any("gfx942" in name or "Triton" in name for name in named)
    assert "; ".join(named) in gemm_speed.page(rows)


def test_memory_counts_operands_and_what_is_made_of_them() -> None:
    assert 1.5 < gemm_speed.memory(256) < 3
