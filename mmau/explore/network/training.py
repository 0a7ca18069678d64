"""Training the network on a unit, and in fp32, from the same numbers."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mmau.explore.network.context import Texts, network, texts
from mmau.explore.network.error_sources import Errors, errors
from mmau.explore.network.mapping import MappedModule, map_module
from mmau.explore.network.product_arithmetic import Product
from mmau.explore.network.pytorch import torch
from mmau.explore.network.settings import Settings

TEST_SEED = 1 << 40
"""Seed of the texts that the network is tested on, the same for every training."""


@dataclass(frozen=True)
class Trained:
    """The result of a training, on texts that the training did not see.

    Attributes:
        loss: mean cross-entropy (nats); None where it is not finite: the training diverged.
        accuracy: share of texts whose class was found.
        longest: products of the longest sum, of the forward and of the backward pass; 0 in fp32.
        errors: of the longest forward sums, in the trained network; None in fp32.
    """

    loss: float | None
    accuracy: float
    longest: tuple[int, int]
    errors: Errors | None


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch on one thread: the order of its sums, such as a gradient's over a batch, depends on the number of threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@one_thread()
def train(training: Settings, seed: int, product: Product | None) -> Trained:
    """Train and test a network whose products, forward and backward, are on a unit; in PyTorch's fp32 where that is None.

    Args:
        seed: of the first weights and of the texts.
    """
    model = network(seed)
    run = model if product is None else map_module(model, product)
    optimiser = torch.optim.Adam(model.parameters(), lr=training.rate)
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / training.steps)
    seen = texts(training.steps * training.batch, seed)
    for step in range(training.steps):
        part = slice(step * training.batch, (step + 1) * training.batch)
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(run(seen.tokens[part]), seen.classes[part]).backward()
        optimiser.step()
        falling.step()
    shapes = [] if product is None else [shape for each in run.products.values() for shape in each]
    loss, accuracy = tested(run, texts(training.tests, TEST_SEED))
    longest, found = (0, 0), None
    if product is not None:
        longest = max(K for _, K, _ in shapes), max(max(M, N) for M, _, N in shapes)
        found = errors(*longest_operands(run, texts(training.batch, TEST_SEED)), product)
    return Trained(loss if math.isfinite(loss) else None, accuracy, longest, found)


def tested(run: Any, unseen: Texts) -> tuple[float, float]:
    """Loss and accuracy of a network on texts."""
    run.eval()
    with torch.no_grad():
        logits = run(unseen.tokens)
        loss = float(torch.nn.functional.cross_entropy(logits, unseen.classes))
        return loss, float((logits.argmax(1) == unseen.classes).double().mean())


def longest_operands(run: MappedModule, unseen: Texts) -> tuple[Any, Any]:
    """Operands a and b of the forward product whose sums are the longest."""
    operands: list[tuple[Any, Any]] = []
    run.on_product = lambda layer, a, b: operands.append((a, b))
    with torch.no_grad():
        run(unseen.tokens)
    return max(operands, key=lambda pair: pair[0].shape[-1])
