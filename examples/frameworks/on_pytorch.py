"""A layer of PyTorch with Hopper's products: `python examples/frameworks/on_pytorch.py` (extra `torch`)."""

import torch

import golden
from mmau.frameworks import torch_mode

layer = torch.nn.Linear(256, 64, dtype=torch.bfloat16)
x = torch.ones(32, 256, dtype=torch.bfloat16, requires_grad=True)
with torch_mode.on("sm_90", order=golden.GemmOrder(split_k=4, split_tile=64)) as mode:
    layer(x).sum().backward()
for product in mode.products:
    print("M, N, K =", *product)
