"""Training on a unit: the same every time, worse where sums lose too much, and whole where nothing is lost."""

import json
from typing import Any

import pytest

import golden
from mmau.explore.network.product_arithmetic import Product
from mmau.explore.network.settings import check
from mmau.explore.network.workload import measure
from tests.mmau.explore.network.network_units import t_fdpa

pytestmark = pytest.mark.peer

pytest.importorskip("torch", reason="PyTorch (extra `torch`) is not installed")

from mmau.explore.network import training  # noqa: E402
from mmau.explore.network.training import errors, rounded  # noqa: E402
from mmau.frameworks.pytorch import torch  # noqa: E402

SHORT = {"steps": 3, "batch": 4, "tests": 8}


def measured(unit: golden.Unit, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    return measure(unit, check(settings), seed)


def test_training_is_the_same_every_time() -> None:
    unit = t_fdpa(L=32)
    found = measured(unit, SHORT, 5)
    assert found == measured(unit, SHORT, 5)
    assert found["loss"] != found["loss_fp32"]
    assert found["loss"] != measured(t_fdpa(L=32, F=8), SHORT, 5)["loss"]
    assert found["loss_fp32"] != training.train(check(SHORT), 6, None).loss
    assert found["loss_fp32"] == training.train(check(SHORT), 5, None).loss


def test_training_does_not_depend_on_threads() -> None:
    """And leaves PyTorch's as they were."""
    found, before = [], torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(measured(t_fdpa(L=32), {**SHORT, "steps": 2}, 3))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1]


def test_sums_are_as_long_as_the_text() -> None:
    found = measured(t_fdpa(L=32), SHORT, 0)
    assert found["longest_sum"] == {"forward": training.LENGTH, "backward": SHORT["batch"] * training.LENGTH}


def test_few_fraction_bits_cost_most_of_a_long_sum_and_promotion_gives_it_back() -> None:
    error = {
        (F, every): measured(t_fdpa(L=32, F=F), {**SHORT, "promote_every": every}, 1)["sum_error"]
        for F, every in ((8, 0), (8, 4), (25, 0))
    }
    assert error[8, 0] > 0.1 > error[8, 4] > error[25, 0]


def test_training_that_diverges_has_no_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    made = training.network

    def broken(seed: int) -> training.Attention:
        network = made(seed)
        network.query.data[0, 0] = float("nan")  # an infinity would saturate on the unit
        return network

    monkeypatch.setattr(training, "network", broken)
    found = measured(t_fdpa(L=32), SHORT, 0)
    assert (found["loss"], found["loss_fp32"], found["sum_error"]) == (None, None, None)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_texts_and_weights_follow_from_the_seed_alone() -> None:
    first, again, other = (training.texts(3, seed) for seed in (1, 1, 2))
    assert torch.equal(first.tokens, again.tokens)
    assert not torch.equal(first.tokens, other.tokens)
    before = torch.random.get_rng_state()
    networks = [training.network(seed).state_dict() for seed in (1, 1, 2)]
    assert torch.equal(torch.random.get_rng_state(), before)  # nobody else's draws are moved
    same = [all(torch.equal(networks[0][key], one[key]) for key in one) for one in networks]
    assert same == [True, True, False]


def test_errors_are_apart() -> None:
    """With operands that the format holds, quantisation loses nothing; with few of them, the sum loses nothing."""
    draws = torch.Generator().manual_seed(1)
    held = torch.randint(-7, 8, (4, 400), generator=draws).float()
    found = errors(held, held.t().contiguous(), Product(t_fdpa(F=8)))
    assert found.quantisation == 0
    assert found.sums > 1e-3
    few = torch.randn(4, 2, generator=draws)
    found = errors(few, few.t().contiguous(), Product(t_fdpa(F=25)))
    assert found.sums < 1e-6 < found.quantisation


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "fp16", "bf16", "tf32", "fp32"])
def test_rounded_numbers_are_the_nearest_of_the_format(name: str) -> None:
    unit = t_fdpa() if name == "fp32" else t_fdpa(a=name, b=name)
    operand = unit.a if name != "fp32" else unit.operation.d
    x = torch.randn(50, generator=torch.Generator().manual_seed(2))
    got = rounded(x, operand, unit.operation.d, 50)
    bits = operand.man_bits + 1
    assert ((got - x.double()).abs() <= x.double().abs() * 2.0**-bits + 2.0**-20).all()
    assert torch.equal(rounded(got.float(), operand, unit.operation.d, 50), got)


def test_the_example_of_the_guide_learns_on_the_unit(capsys: pytest.CaptureFixture[str]) -> None:
    from examples.network_on_unit import main

    assert main() > 0.9
    assert "(64, 512, 32)" in capsys.readouterr().out
