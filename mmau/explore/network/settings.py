"""The keys of the workload `network`: the training of its network, and the order of the unit's steps."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from golden.checks import check_int, unknown


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of the workload `network`.

    Attributes:
        promote_every, split_k: order of the unit's steps, as in gemm.toml, forward and backward.
        steps: number of steps of the optimiser, Adam, whose rate falls to zero.
        batch, tests: texts a step (2 at least, for they are normalised together), and those that the network is tested on.
        rate: the learning rate of the first step.
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
