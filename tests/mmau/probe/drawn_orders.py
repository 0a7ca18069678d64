"""Orders drawn by seed from all that a gemm.toml can say, in the numbers of kernels, and what kernels gave in them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import golden
from golden.arithmetic.formats import FORMATS
from golden.products.gemm_order import GemmOrder, instruction_products
from golden.products.k_layout import k_widths
from golden.products.operand_parts import PASSES
from mmau.probe.product_order import GivenProduct

INSTRUCTIONS = {
    "bf16": ("sm_90", "wgmma.m64n128k16.f32.bf16.bf16"),
    "fp16": ("sm_80", "mma.m16n8k16.f32.f16.f16.f32"),
    "e4m3": ("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3"),
    "fp32": ("sm_90", "wgmma.m64n128k8.f32.tf32.tf32"),
    "bf16 of AMD": ("gfx942", "v_mfma_f32_16x16x16_bf16"),
}


OTHERS: dict[str, tuple[str, str] | None] = {
    "e4m3 with scales": ("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3"),
    "e4m3 in blocks": ("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0"),
    "e5m2": ("sm_90", "wgmma.m64n128k32.f32.e5m2.e5m2"),
    "fp16 into fp16": ("sm_80", "mma.m16n8k16.f16.f16.f16.f16"),
    "fp32 by bf16": ("sm_90", "wgmma.m64n128k16.f32.bf16.bf16"),
    "fp64": ("sm_90", "mma.m16n8k16.f64.f64.f64.f64"),
    "fp32 on CUDA cores": None,  # multiply-adds
}


def drawn(seed: int, among: Any) -> tuple[GivenProduct, Any, GemmOrder]:
    """A product of one of some instructions, what computed it, and the order."""
    rng = np.random.default_rng(seed)
    named = list(among)[seed % len(among)]
    name = named.split()[0]
    fma: Any = golden.OPERATIONS["FMA"]
    model: Any = golden.instruction(*among[named]) if among[named] else golden.Unit(
        name="fma", operation=fma(a="fp32", b="fp32", c="fp32")
    )  # fmt: skip
    M, N, K = 20, 24, int(rng.choice([256, 500, 1000]))
    if model.operation.block_size is not None:
        K = K // 32 * 32
    a, b = drawn_operands(rng, name, M, N, K)
    draw, scales = Draw(rng, model, name, (M, N, K)), {}
    if named == "e4m3 with scales":
        order = draw.scaled()
        groups, (rows, columns) = -(-K // (32 * order.promote_every)), order.scale_block
        shapes = (-(-M // rows), groups), (groups, -(-N // columns))
        scales = {
            f"scale_{x}": np.exp2(rng.integers(-3, 4, s)).astype("f4") * 0.8125 for x, s in zip("ab", shapes, strict=True)
        }
    else:
        order = draw.order()
    if model.operation.block_size is not None:
        shapes = (M, K // 32), (K // 32, N)
        scales = {f"scale_{x}": rng.integers(125, 130, s).astype("u1") for x, s in zip("ab", shapes, strict=True)}
    return product_of(model, name, order, a, b, **scales), model, order


def drawn_operands(rng: Any, name: str, M: int, N: int, K: int) -> list[Any]:
    """Codes of numbers from 2^-6 to 2^7, of both signs."""
    form = FORMATS[name]
    made = []
    for shape in ((M, K), (K, N)):
        exponent = rng.integers(form.bias - 6, form.bias + 7, shape)
        sign, mantissa = rng.integers(0, 2, shape), rng.integers(0, 1 << form.man_bits, shape)
        codes = (sign << form.exp_bits | exponent) << form.man_bits | mantissa
        made.append(codes.astype(f"u{form.storage_bits // 8}"))
    return made


@dataclass(frozen=True)
class Draw:
    """An order for a product of shape [M, K]·[K, N], drawn key by key."""

    rng: Any
    model: golden.Instruction | golden.Unit
    name: str
    shape: tuple[int, int, int]

    def one(self, choices: Any) -> Any:
        """One of the choices."""
        return choices[int(self.rng.integers(len(choices)))]

    def order(self) -> GemmOrder:
        """An order of one to three respects in which it is no chain, with keys of operands and of the result."""
        operation = self.model.operation
        if self.name == "fp32" and self.k > 1 and (self.model.a.name == "bf16" or not self.rng.integers(3)):
            return self.passes()
        kinds = [self.promotion, self.split, self.stripes, self.k_order]
        if operation.d.name == "fp64":
            kinds.remove(self.promotion)
        if operation.block_size is not None:
            kinds.remove(self.k_order)
        while True:
            keys: dict[str, Any] = {}
            for number in self.rng.permutation(len(kinds))[: self.rng.integers(1, 4)]:
                keys |= kinds[number]()
            if operation.d.name == "fp32" and operation.block_size is None:
                keys |= self.operands_and_result(keys)
            if keys.get("epilogue"):
                keys |= {"alpha": 0.75, "beta": 0.5}
            try:
                order = GemmOrder(**keys)
                order.check(self.model)
            except ValueError:  # keys that do not go together
                continue
            return order

    def passes(self) -> GemmOrder:
        """Several passes over parts of fp32, whose sums may be promoted, and split into whole tiles."""
        names = [name for name, (form, _) in PASSES.items() if form == self.model.a]
        tile, passes = self.one([size for size in (8, 16, 32, 64) if size % self.k == 0]), self.one(names)
        together = len(PASSES[passes][1]) * tile
        keys: dict[str, Any] = {"passes": passes, "pass_tile": tile}
        if self.rng.integers(2):
            keys["promote_every"] = together // self.k
        if self.rng.integers(2):
            keys |= {"split_k": int(self.rng.integers(2, 5)), "split_tile": together * self.one([1, 2])}
        return GemmOrder(**keys)

    def scaled(self) -> GemmOrder:
        """Scales at promotion, whose groups may be split into whole tiles."""
        every = self.one([1, 2, 4, 8])
        keys: dict[str, Any] = {"promote_every": every, "scale_at": "promotion"}
        keys["scale_block"] = self.one([(1, 1), (1, 8), (1, 24), (20, 24)])
        if self.rng.integers(2):
            keys |= {"split_k": self.one([2, 3, 4]), "split_tile": every * 32 * self.one([1, 2])}
        return GemmOrder(**keys, output=self.one([None, "bf16"]), epilogue=self.one([(), (), ("bias",)]))

    @property
    def k(self) -> int:
        """Products of an instruction."""
        return instruction_products(self.model)

    def tile(self) -> int:
        """Products of a tile of K."""
        return int(self.one([size for size in (*((1, 4) if self.k == 1 else ()), 16, 32, 64, 128) if size % self.k == 0]))

    def promotion(self) -> dict[str, Any]:
        return {"promote_every": int(self.rng.integers(1, 17))}

    def split(self) -> dict[str, Any]:
        keys: dict[str, Any] = {"split_k": int(self.rng.integers(2, 17)), "split_tile": self.one([None, 8, self.tile()])}
        parts = keys["split_k"]
        orders: list[Any] = [None, tuple(reversed(range(parts)))]
        if parts <= 8:
            orders += [tuple(self.rng.permutation(parts).tolist())] * 2
        if parts in (4, 8, 16):
            orders += ["butterfly", "pairs"]
        return {**keys, "split_order": self.one(orders)}

    def stripes(self) -> dict[str, Any]:
        number = self.one([2, 4, 8, *((16, 32, 64, 128, 256) if self.k == 1 else ())])
        any_order = self.rng.permutation(number).tolist() if number <= 8 else reversed(range(number))
        orders = [None, "butterfly", "pairs", tuple(any_order)]
        orders += [((0, 2), (3, 1)), ((0, 3), (1, 2))] if number == 4 else []
        return {"stripes": (number, self.tile()), "stripe_order": self.one(orders)}

    def k_order(self) -> dict[str, Any]:
        M, N, K = self.shape
        tile = self.tile()
        kind = self.one(["reverse", "residue", *(("width", "workers", "tiles") if self.k > 1 else ())])
        if kind == "reverse":
            return {"k_order": "reverse", "k_tile": tile}
        if kind == "residue" and K % tile:
            return {"residue": "first", "k_tile": tile}
        if self.k == 1:
            return {}
        assert isinstance(self.model, golden.Instruction)
        if kind == "width" and k_widths(self.model):
            return {"k_order": self.one(k_widths(self.model))}
        if kind == "workers":
            return {"k_order": "stream-k", "tile": (16, 16), "workers": int(self.rng.integers(3, 17))}
        count = -(-K // self.k)
        return {
            "k_order": "stream-k",
            "tile": (16, 16),
            "tiles": [self.pieces(count) for _ in range(-(-M // 16) * -(-N // 16))],
        }

    def pieces(self, count: int) -> list[list[int]]:
        """One to three pieces of an output tile, in any order."""
        inner = sorted(self.rng.choice(np.arange(1, count), int(self.rng.integers(0, 3)), replace=False).tolist())
        cuts = [list(cut) for cut in zip([0, *inner], [*inner, count], strict=True)]
        return [cuts[at] for at in self.rng.permutation(len(cuts))]

    def operands_and_result(self, keys: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if self.name == "fp32" and self.k > 1:
            made["convert"] = self.one(["rne", "rna", "rz"])
        elif self.name != "e4m3" and self.rng.integers(2):
            made["output"] = self.one(["bf16", "fp16"])
            made["split_sum"] = self.one(["fp32", "workspace", "in-place"]) if "split_k" in keys else "fp32"
        made["epilogue"] = self.one(
            [(), (), (), ("alpha",), ("beta",), ("alpha", "beta"), ("alpha-beta", "bias"), ("bias",)]
        )
        return made


def product_of(model: Any, name: str, order: GemmOrder, a: Any, b: Any, **scales: Any) -> GivenProduct:
    """The product that a kernel gives in an order, with what it reads beside A and B."""
    M, N = len(a), b.shape[1]
    rng = np.random.default_rng(4)
    c = rng.standard_normal((M, N), np.float32) if {"beta", "alpha-beta"} & {*order.epilogue} else None
    bias = rng.standard_normal(N, np.float32) if "bias" in order.epilogue else None
    d = np.asarray(golden.gemm(model, a, b, None if c is None else c.view("u4"), order=order, bias=bias, **scales))
    out = order.result_format(model)
    return GivenProduct(
        a=a, b=b, d=d.view(f"u{out.storage_bits // 8}"), formats=(FORMATS[name], FORMATS[name], out),
        c=None if c is None else c.view("u4"), bias=None if bias is None else bias.view("u4"),
        alpha=order.alpha if "alpha" in order.epilogue or "alpha-beta" in order.epilogue else 1.0,
        beta=order.beta if c is not None else 1.0,
        **{key: scale.view(f"u{scale.itemsize}") for key, scale in scales.items()},
    )  # fmt: skip
