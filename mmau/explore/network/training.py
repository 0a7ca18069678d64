"""Trains the network of the workload `network` on a unit and, from the same numbers, in fp32; makes its texts and measures
its errors.

The texts are made here, so that nothing is downloaded. A text has 4,096 tokens. Each is drawn evenly from ten, except a
small share that is the token of the text's class. To find the class a network must sum weak evidence over the whole text:
here by attention, whose sums have one product for each position.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import golden
from mmau.explore.network.mapping import MappedModule, map_module
from mmau.explore.network.operator import matmul, quantised, scale_exponent
from mmau.explore.network.product_arithmetic import Product
from mmau.explore.network.settings import Settings
from mmau.frameworks.pytorch import torch

CLASSES = 10
LENGTH = 4096
"""Number of tokens of a text."""

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


class Errors(NamedTuple):
    """Root mean square errors of a product's elements, relative to that of the elements.

    Attributes:
        sums: the unit's results against exact sums of the same quantised operands.
        quantisation: those exact sums against a product of the operands as they were.
    """

    sums: float
    quantisation: float


def errors(a: Any, b: Any, product: Product) -> Errors:
    """The errors of a @ b, of fp32 tensors that `matmul` takes. Sums are in fp64, with an error of about 10^-14."""
    K = a.shape[-1]
    quantised_operands = [
        rounded(tensor, operand, product.unit.operation.d, K, product.infinities == "saturate")
        for tensor, operand in ((a, product.unit.a), (b, product.unit.b))
    ]
    truth, exact = a.double() @ b.double(), quantised_operands[0] @ quantised_operands[1]
    got = matmul(a, b, product).double()
    size = truth.square().mean().sqrt()
    sums, quantisation = (float((x - y).square().mean().sqrt() / size) for x, y in ((got, exact), (exact, truth)))
    return Errors(sums, quantisation)


def rounded(x: Any, operand: golden.Format, d: golden.Format, K: int, saturate: bool = False) -> Any:
    """The elements of a tensor after scaling and quantisation for the unit, in fp64."""
    s = scale_exponent(float(x.abs().max()), operand, d, K)
    codes = quantised(x * 2.0**s, operand, saturate)
    if operand.width <= 8:
        return values(operand)[codes.long()] * 2.0**-s
    dtype = {"fp16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32, "fp32": torch.float32}[operand.name]
    return codes.view(dtype).double() * 2.0**-s


@cache
def values(operand: golden.Format) -> Any:
    """The number of each code, in fp64; NaN for codes that are no number."""
    numbers = [operand.value(code) for code in range(operand.codes)]
    return torch.tensor([float("nan") if number is None else float(number) for number in numbers], dtype=torch.float64)


TEST_SEED = 1 << 40
"""Seed of the texts that the network is tested on, the same for every training."""


@dataclass(frozen=True)
class Trained:
    """The result of a training, on texts that the training did not see.

    Attributes:
        loss: mean cross-entropy (nats); None where it is not finite: the training diverged.
        accuracy: share of texts whose class was found.
        longest: products of the longest sum, of the forward and of the backward pass; 0 in fp32.
        errors: the errors of the longest forward sums, in the trained network; None in fp32.
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
    """Train and test a network. Its products, forward and backward, run on a unit, or in PyTorch's fp32 if `product` is
    None.

    Args:
        seed: seed of the first weights and of the texts.
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
