"""One step of the twin whose ρ rounds stochastically: random bits are an operand of the rounding alone."""

from collections.abc import Sequence
from typing import Any

from tests.twin import twin
from tests.twin.twin_numbers import INTEGER_ROUNDING, stochastic


class Stochastic:
    """An operation whose ρ is stochastic, of mode SR."""

    def __init__(self, operation: Any) -> None:
        self._operation = operation
        self.rho = f"SR-{str(operation.rho).partition('-')[2]}"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operation, name)


def variant_of(operation: Any, half: bool) -> str:
    """The variant of P3109 that a mode of ρ and a half stand for."""
    return {("RZ", False): "A", ("RZ", True): "B", ("RNE", False): "C"}[str(operation.rho).partition("-")[0], half]


def dot(
    operation: Any, variant: str, bits: int, random: int, a: Sequence[int], b: Sequence[int], c: int,
    scale_a: Sequence[int] = (), scale_b: Sequence[int] = (),
) -> int:  # fmt: skip
    """The code of d of one step with a random number of so many bits."""
    INTEGER_ROUNDING["SR"] = stochastic(variant, bits, random)
    return twin.dot(Stochastic(operation), a, b, c, scale_a, scale_b)
