"""A network of PyTorch whose matrix products a unit computes: `python examples/network_on_unit.py` (extra `torch`).

It trains a classifier of ten kinds of noise on a Hopper-like FP8 unit, forward in e4m3 and backward with gradients in e5m2,
with sums promoted to fp32 after every fourth instruction.
"""

import golden
from mmau.explore.network.mapping import map_module
from mmau.explore.network.product_arithmetic import Product
from mmau.frameworks.pytorch import torch

STEPS = 30
BATCH = 64


def main() -> float:
    """Accuracy on the last batch."""
    torch.manual_seed(0)
    forward = Product(golden.instruction("sm_90", "wgmma.m64n8k32.f32.e4m3.e4m3"), promote_every=4)
    backward = Product(golden.instruction("sm_90", "wgmma.m64n8k32.f32.e5m2.e4m3"), promote_every=4)
    network = torch.nn.Sequential(torch.nn.Linear(512, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
    on_unit = map_module(network, forward, gradient=backward)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    kinds = torch.randn(10, 512)
    accuracy = 0.0
    for _ in range(STEPS):
        classes = torch.randint(10, (BATCH,))
        logits = on_unit(0.3 * kinds[classes] + torch.randn(BATCH, 512))
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(logits, classes).backward()
        optimiser.step()
        accuracy = float((logits.argmax(1) == classes).double().mean())
    print(f"accuracy {accuracy:.0%}; products of each layer (M, K, N): {on_unit.products}")
    return accuracy


if __name__ == "__main__":
    main()
