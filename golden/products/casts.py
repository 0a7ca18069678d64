"""Casts of fp32 and fp16 to FP8 as compilers and libraries do them, each as the roundings that follow one another.

>>> from golden.products.casts import cast
>>> import numpy as np
>>> float(cast("triton.sm_89.fp32-e4m3", np.float32([400.199585]))[0])
384.0
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from golden.arithmetic.formats import FORMATS, Format
from golden.arrays import bits_dtype, float_dtype
from golden.checks import check_choice

Numbers = npt.NDArray[np.float64]


class Cast(NamedTuple):
    """A cast.

    Attributes:
        steps: a rounding, RNE, RNA or RZ, and the format, one after the other.
        saturates: whether a number beyond the largest becomes the largest; else an infinity or NaN, what the format has.
        source: who says so.
    """

    steps: tuple[tuple[str, str], ...]
    saturates: bool
    source: str


CASTS = {
    "torch.fp32-e4m3": Cast((("RNE", "e4m3"),), True, "PyTorch 2.13 on a CPU: tensor.to(torch.float8_e4m3fn), by a test"),
    "torch.fp32-e5m2": Cast((("RNE", "e5m2"),), False, "PyTorch 2.13 on a CPU: tensor.to(torch.float8_e5m2), by a test"),
    "triton.sm_89.fp32-e4m3": Cast(
        (("RZ", "fp16"), ("RNE", "e4m3")), True,
        "reported with values on sm_89: FlashML-org/FreeToken#85, triton-lang/triton#11753",
    ),
    "triton.sm_80.fp16-e5m2": Cast((("RNA", "e5m2"),), True, "reported with a value: triton-lang/triton#11753"),
}  # fmt: skip
"""The casts by name: who casts, on which part, from and to which format."""


def cast(name: str, numbers: Any) -> Any:
    """Numbers cast to FP8, as an array of the format's float dtype.

    Args:
        name: a key of `CASTS`. numbers: an array of float32 or float16.

    Raises:
        ValueError: an unknown name. TypeError: no such array.
    """
    check_choice("cast", name, CASTS)
    if getattr(numbers, "dtype", None) not in (np.float32, np.float16):
        raise TypeError(
            f"a cast takes an array of float32 or float16, got {getattr(numbers, 'dtype', type(numbers).__name__)}"
        )
    with np.errstate(invalid="ignore"):  # of a signalling NaN
        chosen, values = CASTS[name], np.asarray(numbers, np.float64)
    for number, (mode, form) in enumerate(chosen.steps):
        is_last = number == len(chosen.steps) - 1
        values, codes = _rounded(values, FORMATS[form], mode, chosen.saturates if is_last else mode == "RZ")
    return codes.view(float_dtype(FORMATS[chosen.steps[-1][1]]))


@cache
def _positive(form: Format) -> tuple[Numbers, npt.NDArray[np.int64]]:
    """The finite numbers of a format from +0 on, and their codes."""
    codes = [code for code in range(form.codes // 2) if form.decode(code).cls.name not in ("NAN", "INFINITY")]
    return np.array([float(form.value(code) or 0) for code in codes]), np.array(codes)


def _rounded(values: Numbers, form: Format, mode: str, saturates: bool) -> tuple[Numbers, Any]:
    """Numbers rounded to a format: their values, and their codes. A difference of two neighbours is exact in fp64."""
    numbers, codes = _positive(form)
    size = np.where(np.isnan(values), 0, np.abs(values))
    low = np.clip(np.searchsorted(numbers, size, "right") - 1, 0, len(numbers) - 1)
    high = np.minimum(low + 1, len(numbers) - 1)
    beyond = 2 * numbers[-1] - numbers[-2]  # the next number, were there one
    above = np.where(high == low, beyond, numbers[high])
    down, up = size - numbers[low], above - size
    tie = codes[low] % 2 == 1 if mode == "RNE" else np.ones(low.shape, bool)
    goes_up = (mode != "RZ") & ((up < down) | ((up == down) & tie & (down > 0)))
    over = (goes_up & (high == low)) | (size > beyond)
    at = np.where(goes_up & ~over, high, low)
    assert form.nan is not None
    special = form.nan if form.infinity is None else form.infinity
    found = np.where(over & (not saturates), special, codes[at])
    found = np.where(np.isnan(values), form.nan, np.where(np.isinf(values) & (not saturates), special, found))
    sign = np.signbit(values).astype(np.int64) << (form.width - 1)
    bits = (found | sign).astype(bits_dtype(form))
    dtype = float_dtype(form)
    assert dtype is not None
    return bits.view(dtype).astype(np.float64), bits
