"""PyTorch whose matrix products a named part computes: a context manager, without a change of the program.

    with torch_mode.on("sm_90"):
        loss = model(x).sum()
        loss.backward()

Within it the products of fp16, bf16 and FP8 tensors, forward and backward, have the bits of the part, in CPU memory on the
native engine, on a GPU on the cuda engine. Every operator that multiplies matrices and is not computed here is refused by
its name, and so is every dtype that the part does not multiply, and every operator of a library that is not PyTorch's own.
Compiled functions run uncompiled: a compiler turns some products into loops, which the mode cannot see. The report of a run
lists each kind of product with its instruction, order and conversions, and who says so.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import golden
from golden import html
from golden.arithmetic.formats import TF32
from golden.arrays import is_gpu_tensor
from golden.text import table
from mmau.frameworks.core import TF32_ROUNDINGS, Known, Part, instruction_of, multiply
from mmau.frameworks.pytorch import torch
from mmau.frameworks.scaled_mm import scaled_mm, scaled_mm_v2

COLUMNS = ("products", "M x N x K", "instruction", "evidence", "order", "order from", "operands", "operands from")


@dataclass(frozen=True)
class ProductRecord:
    """One product of a run.

    Attributes:
        shape: M, N and K. instruction: its label. evidence: that of its model, one of `golden.EVIDENCE`.
        order: the keys of its order that are not the defaults. order_source: who says that the library adds so.
        operands: what is done to the operands before the instruction. operands_source: who says so.
    """

    shape: tuple[int, int, int]
    instruction: str
    evidence: str
    order: str
    order_source: str
    operands: str = "as they are"
    operands_source: str = ""

    def cells(self, count: int) -> tuple[str, ...]:
        """The row of a table, for so many equal products."""
        return (
            str(count), "x".join(map(str, self.shape)), self.instruction, self.evidence, self.order, self.order_source,
            self.operands, self.operands_source,
        )  # fmt: skip


class ProductReport:
    """The products of a run, equal ones counted, as a table: text, and HTML in a notebook."""

    def __init__(self, records: Iterable[ProductRecord]) -> None:
        self.counts = Counter(records)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells of each kind of product, in the order in which they came first."""
        return [record.cells(count) for record, count in self.counts.items()]

    def __str__(self) -> str:
        return table([COLUMNS, *self.rows])

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        return str(html.table(COLUMNS, self.rows, "matrix products", numbers=[0]))


def order_text(order: golden.GemmOrder) -> str:
    """The keys of an order that are not the defaults, such as `promote_every = 4`; `one chain` without any."""
    return ", ".join(f"{key} = {value}" for key, value in order.chosen.items()) or "one chain"


def attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False, multiply: Callable[[Any, Any], Any] = torch.matmul,
) -> Any:  # fmt: skip
    """softmax(q·kᵀ·scale + mask)·v: two products, each rounded to the operands' dtype; scale and softmax in fp32.

    A fused kernel of a GPU keeps q·kᵀ in fp32 and takes v in tiles; this is the product that PyTorch's unfused path has.
    """
    if enable_gqa:
        groups = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(groups, -3), value.repeat_interleave(groups, -3)
    weights = multiply(query, key.mT).float() * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        before = torch.ones(weights.shape[-2:], dtype=torch.bool, device=weights.device).tril()
        weights = weights.masked_fill(~before, float("-inf"))
    if attn_mask is not None:
        is_kept = attn_mask.dtype == torch.bool
        weights = weights.masked_fill(~attn_mask, float("-inf")) if is_kept else weights + attn_mask
    nothing = (weights == float("-inf")).all(-1, keepdim=True)  # such a row is 0 in PyTorch, not NaN
    weights = weights.masked_fill(nothing, 0.0).softmax(-1).masked_fill(nothing, 0.0)
    return multiply(torch.nn.functional.dropout(weights, dropout_p).to(query.dtype), value)


WORDS = frozenset(
    (
        "mm", "bmm", "addmm", "addbmm", "baddbmm", "smm", "hspmm", "sspaddmm", "mv", "addmv", "dot", "vdot", "matmul",
        "linear", "conv", "conv1d", "conv2d", "conv3d", "convolution", "trilinear", "cdist", "lstm", "gru", "rnn",
        "attention", "transformer", "int4pack", "gemm", "inner", "addr",
    )
)  # fmt: skip
"""Words in the names of operators that multiply matrices."""

PHRASES = (
    "matrix_exp", "matrix_power", "euclidean_dist", "tensordot", "einsum", "chain_matmul", "multi_dot", "affine_grid",
    "per_sample_weights",
)  # fmt: skip
"""Parts of the names of further operators that multiply matrices."""

SOLVERS = ("linalg_", "cholesky", "geqrf", "ormqr", "triangular_solve", "spsolve")
"""Beginnings of the names of solvers and decompositions, after underscores."""

NOT_PRODUCTS = frozenset(
    ("linalg_vector_norm", "linalg_diagonal", "linalg_cross", "_linalg_check_errors", "upsample_linear1d",
     "upsample_linear1d_backward", "upsample_bilinear2d", "_upsample_bilinear2d_aa")
)  # fmt: skip
"""Operators whose names contain such a word but that multiply no matrices."""


def is_or_has_product(kernel: str) -> bool:
    """Whether an operator multiplies matrices, or is one of the solvers and decompositions that do so inside."""
    return is_product(kernel) or (kernel.lstrip("_").startswith(SOLVERS) and kernel not in NOT_PRODUCTS)


def is_product(kernel: str) -> bool:
    """Whether an operator of PyTorch multiplies matrices, by its name, such as `_scaled_mm`."""
    if kernel in NOT_PRODUCTS:
        return False
    return not WORDS.isdisjoint(kernel.split("_")) or any(phrase in kernel for phrase in PHRASES)


aten = torch.ops.aten

FORMATS = {
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
    torch.float32: "fp32",
    torch.float8_e4m3fn: "e4m3",
    torch.float8_e5m2: "e5m2",
    torch.float8_e4m3fnuz: "e4m3fnuz",
    torch.float8_e5m2fnuz: "e5m2fnuz",
}
"""The format of each dtype that some part multiplies."""

DTYPES = {name: dtype for dtype, name in FORMATS.items()} | {"int32": torch.int32}
"""The dtype of each format of a result."""


@contextmanager
def on(arch: str, **keys: Any) -> Iterator["GemmMode"]:
    """Context manager: PyTorch's matrix products are computed as on a part.

    Args:
        arch: an architecture of the catalogue. keys: other fields of `mmau.frameworks.core.Part`: order, fp8_promote, tf32,
            scale_result.
    """
    mode = GemmMode(Part(arch, **keys))
    with _uncompiled(), _Functions(mode), mode:
        yield mode


def _uncompiled() -> AbstractContextManager[Any]:
    """Within it, what was compiled runs as it is written; without the compiler there is nothing compiled.

    PyTorch 2.13 compiles nothing within a mode and runs nothing that it compiled before; earlier versions need not.
    """
    return torch.compiler.set_stance("force_eager") if "torch._dynamo" in sys.modules else nullcontext()


class GemmMode(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc]  # torch has no types here
    """Computes PyTorch's matrix products as a part does; see `on`.

    Attributes:
        part: the part. records: how each product so far was computed.
    """

    def __init__(self, part: Part) -> None:
        super().__init__()
        self.part = part
        self.records: list[ProductRecord] = []

    @property
    def products(self) -> list[tuple[int, int, int]]:
        """The shapes (M, N, K) of the products so far."""
        return [record.shape for record in self.records]

    def report(self) -> ProductReport:
        """The products so far with their instruction, order and conversions, and who says so: a table."""
        return ProductReport(self.records)

    supports_higher_order_operators = True  # so that they are refused here, by name

    def __torch_dispatch__(self, function: Any, types: Any, arguments: Any = (), keys: Any = None) -> Any:
        keys = keys or {}
        if isinstance(function, torch._ops.HigherOrderOperator):
            raise self.refusal(function.name())
        name = function.overloadpacket.__name__
        if function.namespace not in LIBRARIES or name in TAKEN_APART:
            raise self.refusal(function)
        if not is_or_has_product(name) and not _weighs(function, arguments, keys):
            if not _is_composite(function):
                return function(*arguments, **keys)
            with self:  # in inference mode they arrive whole, whatever they multiply inside
                return function.decompose(*arguments, **keys)
        tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
        if any(isinstance(tensor, torch._subclasses.FakeTensor) for tensor in tensors):
            return function(*arguments, **keys)  # a compiler asks for shapes
        if any(tensor.is_nested or tensor.layout != torch.strided for tensor in tensors):
            raise self.refusal(f"{function} of a sparse, nested or blocked tensor")
        product = PRODUCTS.get(function.overloadpacket)
        if product is not None:
            out = keys.pop("out", None)
            d = product(self, *arguments, **keys)
            return d if out is None else self._written(d, out, function)
        if _is_composite(function):
            with self:
                return function.decompose(*arguments, **keys)
        raise self.refusal(function)

    def refusal(self, what: Any) -> ValueError:
        return ValueError(f"{what} cannot be computed as on {self.part.arch}: {FIX}")

    def _written(self, d: Any, out: Any, function: Any) -> Any:
        """The result in the tensor that a call gives for it, which gets its shape, as PyTorch's own does."""
        if out.dtype != d.dtype:
            raise self.refusal(f"{function} with out of {out.dtype} for a result of {d.dtype}")
        return (out if out.shape == d.shape else out.resize_(d.shape)).copy_(d)

    def multiply(self, a: Any, b: Any, c: Any = None, alpha: float = 1.0, beta: float = 0.0) -> Any:
        """alpha·a@b + beta·c in the operands' dtype; c: fp32 [M, N] or None."""
        instruction = self.part.instruction(*(self.format(tensor) for tensor in (a, b)))
        epilogue = () if c is None else ("alpha-beta",)
        order = replace(self.part.order, epilogue=epilogue, alpha=float(alpha), beta=float(beta), output=FORMATS[a.dtype])
        rounding = None
        if instruction.a == TF32:
            rounding = self.part.tf32_rounding
            a, b = (as_tf32(tensor, rounding.value) for tensor in (a, b))
            rounding = rounding._replace(value=TF32_ROUNDINGS[rounding.value])
        return self.compute(instruction, a, b, c, order, operands=rounding)

    def compute(
        self, instruction: golden.Instruction, a: Any, b: Any, c: Any, order: golden.GemmOrder, *,
        promotion: str = "", operands: Known[str] | None = None, **keys: Any,
    ) -> Any:  # fmt: skip
        """golden's product of an instruction and an order, recorded.

        Args:
            promotion: who says after how many products a sum is promoted. operands: what was done to a and b, and who says
                so. keys: scale_a, scale_b and bias of `golden.gemm`.
        """
        shape = a.shape[0], b.shape[1], a.shape[1]
        source = promotion or ("the caller" if self.part.order != golden.GemmOrder() else "one chain unless the caller says")
        done = Known("as they are", "") if operands is None else operands
        self.records.append(ProductRecord(shape, instruction.label, instruction.evidence, order_text(order), source, *done))
        if 0 in shape:
            return self._empty(a, shape, instruction, order, c)
        return multiply(instruction, a.detach(), b.detach(), c, order=order, **keys)

    def format(self, tensor: Any) -> str:
        """The format of a tensor.

        Raises:
            ValueError: a dtype that no part multiplies, or a tensor that is neither in CPU memory nor on a GPU.
        """
        if tensor.dtype not in FORMATS:
            raise ValueError(f"a matrix product on {self.part.arch} must have operands of {_listed()}, got {tensor.dtype}")
        if tensor.device.type != "cpu" and not is_gpu_tensor(tensor):
            raise ValueError(
                f"a matrix product on {self.part.arch} must have operands in CPU memory or on a GPU, got {tensor.device}"
            )
        return FORMATS[tensor.dtype]

    def _empty(
        self, a: Any, shape: tuple[int, int, int], instruction: golden.Instruction, order: golden.GemmOrder, c: Any
    ) -> Any:
        """D of a product without products: beta·c."""
        out = DTYPES[order.result_format(instruction).name]
        d = a.new_zeros(shape[:2], dtype=torch.float32)
        return (d if c is None or not order.beta else order.beta * c).to(out)


LIBRARIES = frozenset(
    ("aten", "c10d", "_c10d_functional", "mkldnn", "mmau", "prim", "prims", "profiler", "quantized", "quantized_decomposed")
)
"""Libraries of operators whose names tell whether they multiply matrices: PyTorch's own, and this project's, which golden
computes."""

FIX = "write it with linear layers, matmul or scaled_dot_product_attention, or leave the context for it"


def _listed() -> str:
    return ", ".join(str(dtype).removeprefix("torch.") for dtype in FORMATS)


def _mm(mode: GemmMode, a: Any, b: Any, out_dtype: Any = None) -> Any:
    if out_dtype is not None and out_dtype != a.dtype:
        raise ValueError(f"aten.mm with out_dtype {out_dtype} cannot be computed as on {mode.part.arch}: {FIX}")
    return mode.multiply(a, b)


def _addmm(mode: GemmMode, c: Any, a: Any, b: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    return mode.multiply(a, b, c.float().expand(a.shape[0], b.shape[1]), alpha, beta)


def _bmm(mode: GemmMode, a: Any, b: Any, out_dtype: Any = None) -> Any:
    if not len(a):
        return a.new_zeros(0, a.shape[1], b.shape[2])
    return torch.stack([_mm(mode, x, y, out_dtype) for x, y in zip(a, b, strict=True)])


def _baddbmm(mode: GemmMode, c: Any, a: Any, b: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    added = c.expand(a.shape[0], a.shape[1], b.shape[2])
    return torch.stack([_addmm(mode, z, x, y, beta=beta, alpha=alpha) for z, x, y in zip(added, a, b, strict=True)])


def _in_place(product: Callable[..., Any]) -> Callable[..., Any]:
    """The operator that overwrites c."""
    return lambda mode, c, *arguments, **keys: c.copy_(product(mode, c, *arguments, **keys))


def as_tf32(x: Any, rounding: str) -> Any:
    """An fp32 tensor rounded to tf32, as one of `TF32_ROUNDINGS`; to be cut it stays as it is, and the instruction cuts."""
    if rounding == "rz":
        return x
    codes = x.contiguous().view(torch.int32)
    half = 0xFFF + (codes >> 13 & 1) if rounding == "rne" else 0x1000
    return torch.where(x.isfinite(), codes + half & ~0x1FFF, codes).view(torch.float32)


@cache
def _is_composite(function: Any) -> bool:
    """Whether PyTorch makes an operator of others."""
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(function.name(), "CompositeImplicitAutograd"))


@cache
def _place_of_weights(function: Any) -> int | None:
    """Where an operator takes weights of the rows of an embedding's bags, None for one that does not."""
    names = [argument.name for argument in function._schema.arguments]
    return names.index("per_sample_weights") if "per_sample_weights" in names else None


def _weighs(function: Any, arguments: Any, keys: Any) -> bool:
    """Whether a call weighs the rows of bags, forward or backward: a product with their table, or with its gradient."""
    place = _place_of_weights(function)
    return place is not None and (*arguments[place : place + 1], keys.get("per_sample_weights"))[0] is not None


def _mv(mode: GemmMode, a: Any, x: Any) -> Any:
    return mode.multiply(a, x.unsqueeze(1)).squeeze(1)


def _int_mm(mode: GemmMode, a: Any, b: Any) -> Any:
    """Integer sums, the same in every order."""
    instruction = instruction_of(mode.part.arch, "int8", "int8", "int32")
    zeros = a.new_zeros(a.shape[0], b.shape[1], dtype=torch.int32)
    return mode.compute(instruction, a, b, zeros, golden.GemmOrder()).view(torch.int32)


def _grouped_mm(mode: GemmMode, a: Any, b: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None) -> Any:
    """One product for each group, each like `mm`; `offs` has the ends of the groups along the side that they share."""
    if bias is not None or out_dtype not in (None, a.dtype):
        raise mode.refusal("aten._grouped_mm with a bias, or into another dtype,")
    if a.dim() == b.dim() == 3:
        return _bmm(mode, a, b)
    cuts = [slice(first, end) for first, end in pairwise([0, *offs.tolist()])]
    if a.dim() == b.dim() == 2:
        return torch.stack([_mm(mode, a[:, cut], b[cut]) for cut in cuts])
    if a.dim() == 2:
        return torch.cat([_mm(mode, a[cut], b[group]) for group, cut in enumerate(cuts)])
    return torch.cat([_mm(mode, a[group], b[:, cut]) for group, cut in enumerate(cuts)], 1)


def _scaled_mm(mode: GemmMode, *arguments: Any, **keys: Any) -> Any:
    return scaled_mm(mode, *arguments, **keys)


def _scaled_mm_v2(mode: GemmMode, *arguments: Any, **keys: Any) -> Any:
    return scaled_mm_v2(mode, *arguments, **keys)


def _whole_attention(mode: GemmMode, *arguments: Any, **keys: Any) -> Any:
    with mode:
        return attention(*arguments, **keys)


def _flash_attention(
    mode: GemmMode, query: Any, key: Any, value: Any, dropout_p: float = 0.0, is_causal: bool = False, *,
    attn_mask: Any = None, scale: float | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """The operator of attention on CPUs, by its two products; its backward operator is refused."""
    with mode:
        d = attention(query, key, value, attn_mask, dropout_p, is_causal, scale)
    return d, query.new_full(query.shape[:-1], float("nan"), dtype=torch.float32)  # what its backward pass would read


PRODUCTS: Mapping[Any, Callable[..., Any]] = {
    aten.mm: _mm,
    aten.addmm: _addmm,
    aten.addmm_: _in_place(_addmm),
    aten.bmm: _bmm,
    aten.baddbmm: _baddbmm,
    aten.baddbmm_: _in_place(_baddbmm),
    aten.mv: _mv,
    aten._int_mm: _int_mm,
    aten._grouped_mm: _grouped_mm,
    aten._scaled_mm: _scaled_mm,
    aten._scaled_mm_v2: _scaled_mm_v2,
    aten.scaled_dot_product_attention: _whole_attention,
    aten._scaled_dot_product_flash_attention_for_cpu: _flash_attention,
}
"""The operators that are computed here."""

TAKEN_APART = frozenset(("linalg_vecdot",))
"""Products that PyTorch multiplies element by element and adds, out of inference mode: no product would reach the mode."""


class _Functions(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
    """Sends scaled_dot_product_attention to `attention`, so that its products have gradients, and refuses TAKEN_APART.

    PyTorch's own functions call attention by its name in their module, within which a mode of functions is off: the name is
    another function's until the mode is left.
    """

    def __init__(self, mode: GemmMode) -> None:
        super().__init__()
        self.mode = mode

    def __enter__(self) -> Any:
        self._own = torch.nn.functional.scaled_dot_product_attention
        torch.nn.functional.scaled_dot_product_attention = attention
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        torch.nn.functional.scaled_dot_product_attention = self._own
        super().__exit__(*error)

    def __torch_function__(self, function: Any, types: Any, arguments: Any = (), keys: Any = None) -> Any:
        if function is self._own:
            return attention(*arguments, **(keys or {}))
        name = getattr(function, "__name__", "").partition(".")[0]
        if name in TAKEN_APART:
            raise self.mode.refusal(f"aten.{name}")
        return function(*arguments, **(keys or {}))
