"""The network of the workload `network`, and the texts that it learns from: made here, so that nothing is downloaded.

A text has 4,096 tokens. Each is drawn evenly from ten, but for a small share that is a token of the text's own, its class. To
find it a network must gather faint evidence from the whole text: here by attention, whose sums have one product a position.
"""

from dataclasses import dataclass
from typing import Any

from explore.network.pytorch import load_torch

CLASSES = 10
LENGTH = 4096
"""Tokens of a text."""

SHARE = 0.04
"""Of the tokens, how many are the class. With it each class differs by some five standard deviations of its count."""

WIDTH = 16
QUERIES = 4
HIDDEN = 64


@dataclass(frozen=True)
class Texts:
    """Tokens [texts, LENGTH] and classes [texts]."""

    tokens: Any
    classes: Any


def texts(count: int, seed: int) -> Texts:
    """Texts drawn from a seed."""
    torch = load_torch()
    draws = torch.Generator().manual_seed(seed)
    classes = torch.randint(CLASSES, (count,), generator=draws)
    is_class = torch.rand(count, LENGTH, generator=draws) < SHARE
    others = torch.randint(CLASSES, (count, LENGTH), generator=draws)
    return Texts(torch.where(is_class, classes[:, None], others), classes)


def network(seed: int) -> Any:
    """Attention from learned queries to all tokens, and a classifier: a `torch.nn.Module` from tokens to logits."""
    torch = load_torch()
    nn = torch.nn

    class Attention(nn.Module):  # type: ignore[misc, name-defined]  # torch has no types here
        """Mean values of the tokens, weighted by how well their keys fit each query; batch-normalised, for they differ little
        between texts."""

        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(CLASSES, WIDTH)
            self.query = nn.Parameter(0.1 * torch.randn(QUERIES, WIDTH))
            self.value = nn.Linear(WIDTH, WIDTH)
            self.norm = nn.BatchNorm1d(QUERIES * WIDTH)
            self.hidden = nn.Linear(QUERIES * WIDTH, HIDDEN)
            self.logits = nn.Linear(HIDDEN, CLASSES)

        def forward(self, tokens: Any) -> Any:
            keys = self.embedding(tokens)
            weights = (self.query @ keys.mT / WIDTH**0.5).softmax(-1)
            gathered = weights @ self.value(keys)  # [texts, QUERIES, WIDTH], sums of LENGTH products
            return self.logits(self.hidden(self.norm(gathered.flatten(1))).relu())

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Attention()
