"""The workload `network` of a design space: a network trained on a unit, beside the same in fp32."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import golden
from explore.network.product import Product
from golden.checks import check_int, unknown


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The keys of the workload's table.

    Attributes:
        promote_every, split_k: how the unit spends its steps, as in gemm.toml, forward and backward.
        steps: of the optimiser, which is Adam, its rate falling to zero.
        batch, tests: texts a step (2 at least, for they are normalised together), and those that the network is tested on.
        rate: of the first step.
    """

    promote_every: int = 0
    split_k: int = 1
    steps: int = 50
    batch: int = 8
    tests: int = 128
    rate: float = 0.01

    @property
    def name(self) -> str:
        """`network`, and the keys that differ from their defaults; no dots."""
        differing = [f.name for f in fields(self) if getattr(self, f.name) != f.default]
        return " ".join(["network", *(f"{key}={getattr(self, key)}" for key in differing)]).replace(".", "_")

    def __post_init__(self) -> None:
        check_int("promote_every", self.promote_every, 0, 1 << 30)
        check_int("split_k", self.split_k, 1, 1 << 30)
        for key, low in (("steps", 1), ("batch", 2), ("tests", 1)):
            check_int(key, getattr(self, key), low, 1 << 20)
        if isinstance(self.rate, bool) or not isinstance(self.rate, (int, float)) or not 0 < self.rate <= 1:
            raise ValueError(f"rate must be a number above 0 and at most 1, got {self.rate!r}")


def check(settings: Mapping[str, Any]) -> Settings:
    """The settings of a workload's table, `{kind = "network", promote_every = 4}`; keys left out have their defaults.

    Raises:
        TypeError, ValueError: an unknown key, or one out of range.
    """
    table = {key: value for key, value in settings.items() if key not in ("kind", "name")}
    allowed = [field.name for field in fields(Settings)]
    for key in table:
        if key not in allowed:
            raise ValueError(unknown("key of the workload network", key, allowed))
    return Settings(**table)


def measure(unit: golden.Unit | golden.Instruction, settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Train the network with every matrix product on the unit, forward and backward, and once in fp32.

    Args:
        unit: whose formats its operands are scaled and quantised to (`explore.network.scaling`).
        settings: as of `check`.
        seed: of the first weights and of the texts, the same for both trainings.

    Returns:
        Plain JSON: loss, accuracy (of the network trained and tested on the unit), loss_fp32, accuracy_fp32;
        longest_sum: products of the longest sum, {forward, backward}; sum_error and quantisation_error of the longest
        forward sums (`explore.network.errors`), None where they are not finite; the settings and the seed. loss is None
        where the training diverged. The same on one machine with one version of PyTorch, whose fp32 may differ
        elsewhere.

    Raises:
        TypeError, ValueError: settings that are wrong, or a unit that no network runs on. ModuleNotFoundError: no PyTorch.
    """
    return train_and_test(unit, check(settings), seed)


def train_and_test(unit: golden.Unit | golden.Instruction, chosen: Settings, seed: int) -> dict[str, Any]:
    """`measure` with settings that are checked."""
    product = Product(unit, chosen.promote_every, chosen.split_k)
    from explore.network.training import train  # PyTorch, which a space without networks does without

    on_unit, in_fp32 = (train(chosen, seed, each) for each in (product, None))
    found = on_unit.errors
    return {
        "loss": on_unit.loss,
        "accuracy": on_unit.accuracy,
        "loss_fp32": in_fp32.loss,
        "accuracy_fp32": in_fp32.accuracy,
        "longest_sum": dict(zip(("forward", "backward"), on_unit.longest, strict=True)),
        "sum_error": None if found is None else _finite(found.sums),
        "quantisation_error": None if found is None else _finite(found.quantisation),
        "settings": asdict(chosen),
        "seed": seed,
    }


def measure_fp32(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The training in fp32 alone: plain JSON with loss, accuracy, settings and seed; errors as of `measure`."""
    chosen = check(settings)
    from explore.network.training import train

    trained = train(chosen, seed, None)
    return {"loss": trained.loss, "accuracy": trained.accuracy, "settings": asdict(chosen), "seed": seed}


def _finite(number: float) -> float | None:
    """A number that JSON has."""
    return number if math.isfinite(number) else None
