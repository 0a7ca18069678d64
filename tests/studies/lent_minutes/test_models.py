"""The item of golden's models as an engine: its data, what it compares, and a wrong engine."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from golden.arithmetic.formats import Cls
from golden.engines import engine
from golden.native.cuda import product_source, source
from studies.lent_minutes import models
from studies.lent_minutes.run import is_bad, line_of


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engine.ENGINES, "cuda", engine.ENGINES["native"])
    monkeypatch.setattr(models, "SHAPES", ((16, 16, 128), (15, 17, 144)))
    monkeypatch.setattr(models, "RESULTS", 6 * 16**2 - 6)
    monkeypatch.setattr(models, "SIZE", 48)


def compared(name: str, entry: dict[str, Any], reports: list[Any]) -> dict[str, Any]:
    device: Any = SimpleNamespace(xp=np, to_host=np.asarray)
    progress: Any = SimpleNamespace(report=reports.append)
    return models.Models(device).do(f"equal {name}", entry, progress)


@pytest.mark.parametrize("name", models.kinds())
def test_every_style_is_compared_once_more_from_where_it_was(name: str, small: None) -> None:
    reports: list[Any] = []
    found = compared(name, {"turns": 1, "vectors": {"wide": 256}, "mismatches": {"wide": 0}}, reports)
    assert list(found["vectors"].values()) == [256, 255] * 3
    assert list(found["vectors"]) == list(models.STYLES)
    assert not any(found["mismatches"].values())
    assert len(reports) == len(models.STYLES) - 1


def timed(name: str) -> dict[str, Any]:
    runtime = SimpleNamespace(deviceSynchronize=lambda: None)
    xp = SimpleNamespace(asarray=np.asarray, ones=np.ones, cuda=SimpleNamespace(runtime=runtime))
    device: Any = SimpleNamespace(xp=xp, to_host=np.asarray)
    nobody: Any = None
    return models.Models(device).do(f"speed {name}", {}, nobody)


def test_what_is_timed_is_compared_and_set_beside_the_card(small: None) -> None:
    found = timed("fp16 sm_80")
    assert found["vectors"]["timed"] >= 2 * 48
    assert found["mismatches"] == {"timed": 0}
    assert found["times_the_card"] == found["seconds"] / found["card_seconds"]
    assert line_of(found).endswith(" times as long as the card's own product of fp32")


@pytest.mark.attack("a kernel that is quick, and wrong in its last row")
def test_wrong_product_that_is_timed_is_found(small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(chain: Any, batch: Any) -> Any:
        d = engine.run_native(chain, batch)
        d[-1] ^= 1
        return d

    monkeypatch.setitem(engine.ENGINES, "cuda", wrong)
    found = timed("fp16 sm_80")
    assert found["mismatches"] == {"timed": 48}
    assert is_bad(found)


@pytest.mark.parametrize("name", models.kinds())
def test_every_kernel_that_runs_is_among_the_sources(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of all shapes, each with the K of its chain: what is not compiled ahead costs the item its first seconds."""
    kind, asked = models.kinds()[name], set[str]()

    def launched(chain: Any, batch: Any) -> Any:
        is_product = batch.c.ndim == 2 and batch.columns
        asked.add(product_source(chain, batch.a.shape[-1]) if is_product else source(chain, batch.a.shape[-1]))
        return engine.run_native(chain, batch)

    monkeypatch.setitem(engine.ENGINES, "cuda", launched)
    monkeypatch.setattr(models, "SIZE", 1024)
    for K in (*(K for _, _, K in models.SHAPES), models.SIZE):
        models.product(kind, models.matrices(kind, "near", np.random.default_rng(1), (3, 5, K)), "cuda")
    assert asked == set(models.sources_of(kind))


@pytest.mark.attack("an engine that writes the last bit of one element wrong")
def test_wrong_engine_is_counted(small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(chain: Any, batch: Any) -> Any:
        d = engine.run_native(chain, batch)
        d[-1, -1] ^= 1
        return d

    monkeypatch.setitem(engine.ENGINES, "cuda", wrong)
    found = compared("bf16 gfx942", {}, [])
    assert found["mismatches"] == dict.fromkeys(models.STYLES, 1)
    style, turn, m, n, got, expected = found["examples"][1]
    kind = models.kinds()["bf16 gfx942"]
    assert (style, turn, m, n, got ^ expected) == ("near", 1, 14, 16, 1)
    assert models.product(kind, models.operands_of(kind, turn), "native")[m, n] == expected


CHANGES: dict[str, list[dict[str, Any]]] = {
    "fp16 sm_80": [{"F": 23}, {"F": 25}, {"e_zero": -120}, {"flush_inputs": True}, {"flush_results": True}],
    "e4m3 sm_90 promoted": [{"F": 12}, {"F": 14}, {"flush_inputs": True}],
    "bf16 gfx942": [{"flush_inputs": True}, {"flush_results": True}],
    "nvfp4 sm_100": [{"F": 34}, {"flush_inputs": True}],
}
"""Engines that compute a neighbour of a kind's model."""


@pytest.mark.attack("an engine that computes with another parameter")
@pytest.mark.parametrize(("name", "changed"), [(name, each) for name in CHANGES for each in CHANGES[name]], ids=str)
def test_neighbour_is_told_from_the_model(
    name: str, changed: dict[str, Any], small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "SHAPES", ((64, 64, 128),))
    monkeypatch.setattr(models, "RESULTS", len(models.STYLES) * 64**2)

    def neighbour(chain: Any, batch: Any) -> Any:
        operation = chain.operation
        held = {key: value for key, value in changed.items() if hasattr(operation, key)}
        return engine.run_native(replace(chain, operation=operation.changed(**held)) if held else chain, batch)

    monkeypatch.setitem(engine.ENGINES, "cuda", neighbour)
    assert sum(compared(name, {}, [])["mismatches"].values()) > 0


def test_another_engine_is_another_unit_and_turns_have_their_own_data(monkeypatch: pytest.MonkeyPatch) -> None:
    before = models.units()
    monkeypatch.setattr(models, "product_source", lambda *_: "another kernel")
    assert not {unit for unit in before if models.OF_ENGINE in unit} & {*models.units()}
    kind, styles = models.kinds()["fp16 sm_80"], len(models.STYLES)
    monkeypatch.setattr(models, "SHAPES", ((16, 16, 128),))
    first, later = (models.operands_of(kind, turn) for turn in (1, 1 + styles))
    assert not any(np.array_equal(x, y) for x, y in zip(first[:3], later[:3], strict=True))


def test_data_are_what_their_style_says() -> None:
    rng = np.random.default_rng(1)
    for name, kind in models.kinds().items():
        for style in models.STYLES:
            a, b, c, *_ = models.matrices(kind, style, rng, (8, 8, 64))
            for operand, codes in ((kind.model.a, a), (kind.model.b, b), (kind.model.c, c)):
                classes = {operand.decode(int(code)).cls for code in codes.ravel()}
                assert classes - {Cls.NAN, Cls.INFINITY}, name
                assert bool({Cls.NAN, Cls.INFINITY} & classes) <= (style == "few specials"), (name, style)


def test_results_are_of_every_size() -> None:
    """Subnormal, normal and infinite where the format has them, few of them NaN: a rule for each is compared."""
    for name, kind in models.kinds().items():
        d = kind.model.operation.d
        drawn = models.matrices(kind, "wide", np.random.default_rng(2), (64, 64, 128))
        values = models.product(kind, drawn, "native").view(np.float32)
        nan, finite = np.isnan(values), np.isfinite(values) & (values != 0)
        assert nan.mean() < 0.25, name
        assert len(np.unique(np.frexp(values[finite])[1])) > 30, name
        if kind.model.a.exp_bits == d.exp_bits:
            assert np.isinf(values).any(), name
        smallest = models.product(kind, models.matrices(kind, "zeros", np.random.default_rng(3), (64, 64, 128)), "native")
        held = np.abs(smallest.view(np.float32))
        assert ((held > 0) & (held < 2.0**d.e_min)).any(), name
