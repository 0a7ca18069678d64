"""The network of the workload `network`, and the pictures that it learns: made here, so that nothing is downloaded.

A picture of 32 × 32 points holds one sinusoidal grating under noise. Its class is the grating's direction, one of ten; phase and wavelength are
drawn anew for each, so that no single point says anything about the class. A small convolutional network tells them apart.
"""

import math
from typing import Any

from explore.network.pytorch import load_torch

SIZE = 32
"""Points along each side of a picture."""

CLASSES = 10
CHANNELS = 16
HIDDEN = 64
WAVELENGTHS = (4.0, 8.0)
"""Points; the shortest and the longest."""

NOISE = 1.0
"""Standard deviation of the noise; a grating's amplitude is 1."""


def pictures(count: int, seed: int) -> tuple[Any, Any]:
    """Pictures [count, 1, SIZE, SIZE] in fp32 and their classes [count]."""
    torch = load_torch()
    draws = torch.Generator().manual_seed(seed)
    classes = torch.randint(CLASSES, (count,), generator=draws)
    phase, wave = torch.rand(2, count, 1, 1, generator=draws, dtype=torch.float64)
    wavelength = WAVELENGTHS[0] + wave * (WAVELENGTHS[1] - WAVELENGTHS[0])
    angle = (classes * (math.pi / CLASSES)).reshape(-1, 1, 1)
    y, x = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    along = x * angle.cos() + y * angle.sin()
    grating = torch.cos(2 * math.pi * (along / wavelength + phase))
    noise = torch.randn(count, SIZE, SIZE, generator=draws, dtype=torch.float64)
    return (grating + NOISE * noise).float().unsqueeze(1), classes


def network(seed: int) -> Any:
    """Two convolutions and two linear layers; the first linear layer sums 4,096 products an element, and the convolutions'
    weight gradients 256 a picture of the batch."""
    torch = load_torch()
    nn = torch.nn
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        features = CHANNELS * (SIZE // 2) ** 2
        return nn.Sequential(
            nn.Conv2d(1, CHANNELS, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1), nn.ReLU(), nn.Flatten(),
            nn.Linear(features, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES),
        )  # fmt: skip
