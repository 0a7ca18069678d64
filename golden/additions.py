"""IEEE 754 additions of whole arrays, outside of the instructions: those of promotion, split-K and stream-K."""

import numpy as np
import numpy.typing as npt

from golden.arrays import BitArray, bits_dtype
from golden.chain import Chain
from golden.engines import Batch, run
from golden.formats import BF16, FP16, FP32, FP64, Format
from golden.operations import FMA, Operation
from golden.operations.t_fdpa import TruncatedFDPA
from golden.specials import nvidia_nan, quiet_nan


class Additions:
    """Sums of an operation's results, round to nearest even in fp32, in fp64 where d is fp64; nothing is flushed.

    A NaN is written as the operation writes it where that is fixed, as NVIDIA's adders do too: 0x7FFFFFFF after T-, ST- and
    GST-FDPA; else as the quiet, positive one without payload.

    Attributes:
        wide: the format of the sums.
        engine: the engine that adds; None for the fastest there is.
    """

    def __init__(self, operation: Operation, engine: str | None) -> None:
        self.wide = FP64 if operation.d is FP64 else FP32
        self.engine = engine
        self._d = operation.d
        self._written_nan = nvidia_nan if isinstance(operation, TruncatedFDPA) else quiet_nan
        self._addition = Chain(FMA(a=self.wide, b=self.wide, c=self.wide))

    def add(self, x: BitArray, y: BitArray) -> BitArray:
        """x + y, codes of the wide format: the multiply-adds x·1 + y."""
        factors = x.reshape(-1, 1)
        ones = np.full_like(factors, self.wide.encode(1))
        total = run(self.engine, self._addition, Batch(factors, ones, y.reshape(-1)))
        nan = self._written_nan(self.wide)
        if nan != quiet_nan(self.wide):
            total[total == quiet_nan(self.wide)] = nan
        return total.reshape(x.shape)

    def widened(self, codes: BitArray, source: Format) -> BitArray:
        """Codes of fp16, bf16, fp32 or fp64 in the wide format: exact. A NaN stays some NaN."""
        if source is BF16:
            shifted: BitArray = codes.astype(bits_dtype(FP32)) << np.uint32(16)
            return shifted
        if source is not FP16:
            return codes
        with np.errstate(invalid="ignore"):  # of a signalling NaN
            return codes.view("float16").astype("float32").view(bits_dtype(FP32))

    def rounded(self, totals: BitArray) -> BitArray:
        """Totals of the wide format rounded to nearest even in d."""
        if self._d is self.wide:
            return totals
        return _rounded_to_fp16(totals, self._nan) if self._d is FP16 else _rounded_to_bf16(totals, self._nan)

    @property
    def _nan(self) -> int:
        return self._written_nan(self._d)


def _is_nan(codes: BitArray) -> npt.NDArray[np.bool_]:
    """Of fp32."""
    return (codes & 0x7FFFFFFF) > 0x7F800000


def _rounded_to_fp16(codes: BitArray, nan: int) -> BitArray:
    with np.errstate(over="ignore", invalid="ignore"):
        halves: BitArray = codes.view("float32").astype("float16").view(bits_dtype(FP16))
    halves[_is_nan(codes)] = nan
    return halves


def _rounded_to_bf16(codes: BitArray, nan: int) -> BitArray:
    """By adding half of the last place that stays, and just less to an even one; a carry moves into the exponent."""
    halves: BitArray = ((codes + ((codes >> 16) & 1) + 0x7FFF) >> 16).astype(bits_dtype(BF16))
    halves[_is_nan(codes)] = nan
    return halves
