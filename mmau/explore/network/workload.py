"""The workload `network` of a design space: trains one network on a unit and the same network in fp32."""

import math
from dataclasses import asdict
from typing import Any

import golden
from mmau.explore.network.product_arithmetic import Product
from mmau.explore.network.settings import Settings


def measure(unit: golden.Unit | golden.Instruction, settings: Settings, seed: int) -> dict[str, Any]:
    """Train the network with every matrix product on the unit, forward and backward, and once in fp32.

    Args:
        unit: the unit to whose formats operands are scaled and quantised (`mmau.explore.network.operator`).
        settings: the settings of the training.
        seed: the seed of the first weights and of the texts, the same for both trainings.

    Returns:
        Plain JSON: loss, accuracy (of the network trained and tested on the unit), loss_fp32, accuracy_fp32;
        longest_sum: products of the longest sum, {forward, backward}; sum_error and quantisation_error of the longest
        forward sums (`mmau.explore.network.training`), None where they are not finite; the settings and the seed. loss
        is None where the training diverged. The same on one machine with one version of PyTorch, whose fp32 may differ
        elsewhere.

    Raises:
        TypeError, ValueError: a unit that no network runs on. ModuleNotFoundError: no PyTorch.
    """
    product = Product(unit, settings.promote_every, settings.split_k)
    from mmau.explore.network.training import train  # PyTorch, which a space without networks does without

    on_unit, in_fp32 = (train(settings, seed, each) for each in (product, None))
    found = on_unit.errors
    return {
        "loss": on_unit.loss,
        "accuracy": on_unit.accuracy,
        "loss_fp32": in_fp32.loss,
        "accuracy_fp32": in_fp32.accuracy,
        "longest_sum": dict(zip(("forward", "backward"), on_unit.longest, strict=True)),
        "sum_error": None if found is None else _finite(found.sums),
        "quantisation_error": None if found is None else _finite(found.quantisation),
        "settings": asdict(settings),
        "seed": seed,
    }


def _finite(number: float) -> float | None:
    """A number that JSON has."""
    return number if math.isfinite(number) else None
