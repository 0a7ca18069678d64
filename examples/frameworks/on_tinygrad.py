"""A product of tinygrad with Ampere's tiles: `python examples/frameworks/on_tinygrad.py` (extra `tinygrad`)."""

import os

os.environ |= {"DEV": "PYTHON::sm_80", "TC_OPT": "2"}  # before tinygrad is imported

from tinygrad import Tensor, dtypes

from mmau.frameworks import tinygrad_wmma

a = Tensor([[2.0**12, 2.0**-14, -(2.0**12)] + [0.0] * 13] * 16).cast(dtypes.bfloat16).realize()
b = Tensor.ones(16, 16, dtype=dtypes.bfloat16).contiguous().realize()
print(f"by itself: {a.matmul(b, dtype=dtypes.float).numpy()[0, 0]:.3g}")
with tinygrad_wmma.on("sm_80", "bf16"):
    d = a.matmul(b, dtype=dtypes.float).numpy()
print(f"as sm_80:  {d[0, 0]:.3g}")
