"""The network of the workload `network`, and the texts that it learns from: made here, so that nothing is downloaded.

A text has 4,096 tokens. Each is drawn evenly from ten, except a small share that is the token of the text's class.
To find the class a network must sum weak evidence over the whole text: here by attention, whose sums have one product for
each position.
"""

from dataclasses import dataclass
from typing import Any

from mmau.explore.network.pytorch import torch

CLASSES = 10
LENGTH = 4096
"""Tokens of a text."""

SHARE = 0.04
"""The share of tokens that are the class. With it, each class differs by some five standard deviations of its count."""

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
    draws = torch.Generator().manual_seed(seed)
    classes = torch.randint(CLASSES, (count,), generator=draws)
    is_class = torch.rand(count, LENGTH, generator=draws) < SHARE
    others = torch.randint(CLASSES, (count, LENGTH), generator=draws)
    return Texts(torch.where(is_class, classes[:, None], others), classes)


class Attention(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
    """Attention from learned queries to all tokens, and a classifier: tokens [texts, LENGTH] to logits [texts, CLASSES].

    The sums that the queries gather differ little between texts, and are batch-normalised.
    """

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(CLASSES, WIDTH)
        self.query = torch.nn.Parameter(0.1 * torch.randn(QUERIES, WIDTH))
        self.value = torch.nn.Linear(WIDTH, WIDTH)
        self.norm = torch.nn.BatchNorm1d(QUERIES * WIDTH)
        self.hidden = torch.nn.Linear(QUERIES * WIDTH, HIDDEN)
        self.logits = torch.nn.Linear(HIDDEN, CLASSES)

    def forward(self, tokens: Any) -> Any:
        keys = self.embedding(tokens)
        weights = (self.query @ keys.mT / WIDTH**0.5).softmax(-1)
        gathered = weights @ self.value(keys)  # [texts, QUERIES, WIDTH], sums of LENGTH products
        return self.logits(self.hidden(self.norm(gathered.flatten(1))).relu())


def network(seed: int) -> Attention:
    """The network, its weights drawn from a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Attention()
