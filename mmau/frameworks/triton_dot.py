"""Triton's interpreter with the dot products of a named part: kernels with `tl.dot` and `tl.dot_scaled` run without a GPU.

    os.environ["TRITON_INTERPRET"] = "1"       # before triton is imported
    with triton_dot.on("sm_90"):
        my_kernel[grid](…)

A block of K is one chain of instructions from the accumulator: `acc = tl.dot(a, b, acc)` continues it, `acc += tl.dot(a, b)`
starts from +0 and adds in fp32. `max_num_imprecise_acc = n` promotes the sum of n products of FP8; 0, which the interpreter
gives where a kernel says nothing, means the default of the CUDA backend: never.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

import golden
from golden.arithmetic.formats import FP32
from golden.products.operand_parts import PASSES
from mmau.frameworks.core import Part, multiply, scaled_instruction_of

try:
    from triton._C.libtriton import ir
    from triton.runtime import interpreter
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] != "triton":
        raise
    message = "triton_dot needs Triton, which is not installed: pip install 'mmau[triton]'"
    raise ModuleNotFoundError(message, name="triton") from error

FORMATS = {
    "fp16": "fp16", "bf16": "bf16", "fp32": "fp32", "fp8e4nv": "e4m3", "fp8e5": "e5m2", "fp8e4b8": "e4m3fnuz",
    "fp8e5b16": "e5m2fnuz",
}  # fmt: skip
"""The format of each of Triton's dtypes."""

SCALED = {"E2M1": "e2m1", "E4M3": "e4m3", "E5M2": "e5m2"}
"""The format of each element type of `tl.dot_scaled`."""

Codes = npt.NDArray[Any]


@contextmanager
def on(arch: str, **keys: Any) -> Iterator[Part]:
    """Context manager: the interpreter's dot products are computed as on a part.

    Args:
        arch: an architecture of the catalogue.
        keys: other fields of `mmau.frameworks.core.Part`, of which fp8_promote is not used.
    """
    part, builder = Part(arch, **keys), interpreter.interpreter_builder
    builder.create_dot, builder.create_dot_scaled = _Dot(part), _DotScaled(part)
    try:
        yield part
    finally:
        del builder.create_dot, builder.create_dot_scaled


class _Dot:
    """Replaces the builder's `create_dot`."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def __call__(self, a: Any, b: Any, d: Any, input_precision: Any, max_num_imprecise_acc: int) -> Any:
        left, right = _format(self.part, a), _format(self.part, b)
        if left == right == "fp32" and input_precision == ir.INPUT_PRECISION.TF32x3:
            return self._in_passes("tf32x3", a, b, d)
        if left == right == "fp32" and input_precision == ir.INPUT_PRECISION.TF32:
            left = right = "tf32"
        elif "fp32" in (left, right) and input_precision not in (ir.INPUT_PRECISION.TF32, ir.INPUT_PRECISION.IEEE):
            raise ValueError(f"tl.dot with input_precision {input_precision} cannot be computed as on {self.part.arch}")
        instruction = self.part.instruction(left, right, _format(self.part, d))
        every = -(-max_num_imprecise_acc // instruction.k) if max_num_imprecise_acc and a.data.itemsize == 1 else 0
        order = golden.GemmOrder(promote_every=every) if every else self.part.order
        x, y, z = _codes(a.data, instruction.a), _codes(b.data, instruction.b), _codes(d.data, instruction.c)
        return _handle(_batched(instruction, x, y, z, order), d)

    def _in_passes(self, passes: str, a: Any, b: Any, d: Any) -> Any:
        """The products of the parts of fp32 operands, summed from +0 and then added to the accumulator, as the compiler
        writes them."""
        form, pairs = PASSES[passes]
        instruction = self.part.instruction(form.name, form.name, _format(self.part, d))
        together = -(-len(pairs) * a.data.shape[-1] // instruction.k)
        order = golden.GemmOrder(passes=passes, promote_every=together)
        x, y, z = _codes(a.data, FP32), _codes(b.data, FP32), _codes(d.data, instruction.c)
        return _handle(_batched(instruction, x, y, z, order), d)


class _DotScaled:
    """Replaces the builder's `create_dot_scaled`."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def __call__(
        self, lhs: Any, lhs_scale: Any, lhs_format: Any, rhs: Any, rhs_scale: Any, rhs_format: Any, fast_math: bool,
        lhs_k_pack: bool, rhs_k_pack: bool, acc: Any,
    ) -> Any:  # fmt: skip
        names = [str(kind).rpartition(".")[2] for kind in (lhs_format, rhs_format)]
        scales = [scale for scale in (lhs_scale, rhs_scale) if scale is not None]
        if not set(names) <= set(SCALED) or not scales or acc.data.ndim != 2:
            raise ValueError(
                f"tl.dot_scaled of {' by '.join(names)} cannot be computed as on {self.part.arch}: take matrices of "
                f"{', '.join(SCALED)} with scales"
            )
        a = _unpacked(lhs.data, 1 if lhs_k_pack else 0) if names[0] == "E2M1" else lhs.data
        b = _unpacked(rhs.data, 0 if rhs_k_pack else 1) if names[1] == "E2M1" else rhs.data
        K = a.shape[1]
        block = K // scales[0].data.shape[-1]
        scale = "ue8m0" if scales[0].dtype.is_int() else "ue4m3"
        instruction = scaled_instruction_of(self.part.arch, SCALED[names[0]], SCALED[names[1]], block, scale)
        assert instruction.scale is not None
        one = instruction.scale.encode(1)
        alpha = np.full((len(a), K // block), one, np.uint8) if lhs_scale is None else lhs_scale.data.view(np.uint8)
        beta = np.full((b.shape[1], K // block), one, np.uint8) if rhs_scale is None else rhs_scale.data.view(np.uint8)
        operands = a.view(np.uint8), b.view(np.uint8), _codes(acc.data, instruction.c), alpha, beta.T
        return _handle(
            multiply(instruction, *operands[:3], scale_a=operands[3], scale_b=operands[4], order=self.part.order), acc
        )


def _format(part: Part, handle: Any) -> str:
    name = str(handle.dtype.scalar)
    if name not in FORMATS:
        raise ValueError(f"tl.dot of {name} cannot be computed as on {part.arch}: take {', '.join(FORMATS)}")
    return FORMATS[name]


def _codes(data: Codes, operand: golden.Format) -> Codes:
    """The data's bits, as the format's codes."""
    return np.ascontiguousarray(data).view(f"uint{operand.storage_bits}")


def _batched(instruction: golden.Instruction, a: Codes, b: Codes, c: Codes, order: golden.GemmOrder) -> Codes:
    """The products of matrices, or of batches of them."""
    if c.ndim == 2:
        product: Codes = multiply(instruction, a, b, c, order=order)
        return product
    return np.stack([_batched(instruction, x, y, z, order) for x, y, z in zip(a, b, c, strict=True)])


def _handle(codes: Codes, like: Any) -> Any:
    return interpreter.TensorHandle(codes.view(like.data.dtype), like.dtype.scalar)


def _unpacked(packed: Codes, axis: int) -> Codes:
    """Codes of e2m1, two in a byte along an axis, the low half first."""
    halves = np.stack([packed & 0xF, packed >> 4], axis + 1)
    shape = list(packed.shape)
    shape[axis] *= 2
    return halves.reshape(shape).astype(np.uint8)
