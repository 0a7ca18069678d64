"""IEEE 754 additions of whole arrays between and after instructions, for promotion, split-K, stream-K and epilogues."""

import numpy as np
import numpy.typing as npt

from golden.arithmetic.formats import BF16, FP16, FP32, FP64, Format
from golden.arithmetic.specials import nvidia_nan, quiet_nan
from golden.arrays import BitArray, bits_dtype
from golden.chains.chain import Chain
from golden.engines.engine import Batch, run
from golden.operations import FMA, Operation


class Additions:
    """Additions of an operation's results: RNE in fp32, or in fp64 if d is fp64; subnormals are not flushed.

    If the operation fixes the encoding of NaN, sums use it: 0x7FFFFFFF after T-, ST- and GST-FDPA, as NVIDIA's adders do.
    Otherwise a NaN sum is the quiet, positive NaN without payload.

    Attributes:
        wide: the format of the sums.
        engine: the engine that adds; None for the fastest one available.
    """

    def __init__(self, operation: Operation, engine: str | None) -> None:
        self.wide = FP64 if operation.d is FP64 else FP32
        self.engine = engine
        self._d = operation.d
        self._written_nan = nvidia_nan if operation.structure.nan == "ones" else quiet_nan
        self.addition = Chain(FMA(a=self.wide, b=self.wide, c=self.wide))

    def add(self, x: BitArray, y: BitArray) -> BitArray:
        """x + y, codes of the wide format, computed as the multiply-adds x·1 + y."""
        return self.multiply_add(x, np.full_like(x, self.wide.encode(1)), y)

    def multiply(self, x: BitArray, y: BitArray) -> BitArray:
        """x·y: the multiply-adds x·y + (−0), which keep the sign of a zero."""
        return self.multiply_add(x, y, np.full_like(x, self.wide.negative_zero))

    def multiply_add(self, x: BitArray, y: BitArray, z: BitArray) -> BitArray:
        """x·y + z, each rounded once; codes of the wide format in one shape."""
        total = run(self.engine, self.addition, Batch(x.reshape(-1, 1), y.reshape(-1, 1), z.reshape(-1)))
        nan = self.nan(self.wide)
        if nan != quiet_nan(self.wide):
            total[total == quiet_nan(self.wide)] = nan
        return total.reshape(x.shape)

    def widened(self, codes: BitArray, source: Format) -> BitArray:
        """Codes of fp16, bf16, fp32 or fp64 in the wide format, exactly; a NaN becomes any NaN."""
        return widened(codes, source)

    def rounded(self, totals: BitArray, output: Format) -> BitArray:
        """Totals of the wide format rounded to nearest even in the format of an output, which is not wider."""
        if output is self.wide:
            return (
                totals if self._d is self.wide else np.where(_is_nan(totals), bits_dtype(FP32).type(self.nan(FP32)), totals)
            )
        return (_rounded_to_fp16 if output is FP16 else _rounded_to_bf16)(totals, self.nan(output))

    def nan(self, output: Format) -> int:
        """The code of the NaN that a sum of a given format is written as."""
        return self._written_nan(output)


def widened(codes: BitArray, source: Format) -> BitArray:
    """Convert codes of fp16 or bf16 to fp32, exactly; codes of fp32 and fp64 are returned unchanged. A NaN becomes
    any NaN."""
    if source is BF16:
        shifted: BitArray = codes.astype(bits_dtype(FP32)) << np.uint32(16)
        return shifted
    if source is not FP16:
        return codes
    with np.errstate(invalid="ignore"):  # of a signalling NaN
        return codes.view("float16").astype("float32").view(bits_dtype(FP32))


def _is_nan(codes: BitArray) -> npt.NDArray[np.bool_]:
    return (codes & 0x7FFFFFFF) > 0x7F800000


def _rounded_to_fp16(codes: BitArray, nan: int) -> BitArray:
    with np.errstate(over="ignore", invalid="ignore"):
        halves: BitArray = codes.view("float32").astype("float16").view(bits_dtype(FP16))
    halves[_is_nan(codes)] = nan
    return halves


def _rounded_to_bf16(codes: BitArray, nan: int) -> BitArray:
    """RNE by adding half of the retained last place, or just less if that bit is even; a carry moves into the exponent."""
    halves: BitArray = ((codes + ((codes >> 16) & 1) + 0x7FFF) >> 16).astype(bits_dtype(BF16))
    halves[_is_nan(codes)] = nan
    return halves
