"""A kernel in Triton's interpreter, with Hopper's products: `python examples/frameworks/on_triton.py` (extra `triton`)."""

# mypy: disable-error-code="name-defined, no-untyped-def, untyped-decorator"

import os

os.environ["TRITON_INTERPRET"] = "1"  # before triton is imported

import torch
import triton
import triton.language as tl

from mmau.frameworks import triton_dot


@triton.jit
def product(a_ptr, b_ptr, d_ptr, N: tl.constexpr):
    rows, columns = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    a, b = tl.load(a_ptr + rows * N + columns), tl.load(b_ptr + rows * N + columns)
    tl.store(d_ptr + rows * N + columns, tl.dot(a, b))


a = torch.zeros(32, 32, dtype=torch.float16)
a[0, :2] = torch.tensor([2048.0, 0.75])  # 2^11 + 3·2^-14: three quarters of the last place of fp32
b = torch.zeros(32, 32, dtype=torch.float16)
b[:2, 0] = torch.tensor([1.0, 2.0**-12])
d = torch.empty(32, 32)
product[(1,)](a, b, d, 32)
print(f"by itself: {d[0, 0]:.8g}")
with triton_dot.on("sm_90"):
    product[(1,)](a, b, d, 32)
print(f"as sm_90:  {d[0, 0]:.8g}")
