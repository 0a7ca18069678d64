"""draft"""

import sys, time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
import numpy as np
import golden
from golden.chain import ORDERS, Chain, ConvertedChain
from golden.comparison import differing
from golden.conversion import CONVERSIONS, FP64_CONVERSIONS
from golden.native.engine import compute
from golden.rounding import OVERFLOWS
from golden.stimulus import Operands, OperandShape, volume

AnyChain = Chain | ConvertedChain
Model = Callable[[Operands], Any]


def with_keys(chain, **keys):
    return replace(chain, operation=chain.operation.changed(**keys))


def changed(chain) -> Iterator[tuple[str, Any]]:
    op = chain.operation
    for key in ("F", "F2", "e_zero"):
        if hasattr(op, key):
            for by in (-1, 1):
                yield f"{key}{by:+}", {key: getattr(op, key) + by}
    rho = getattr(op, "rho", None)
    if rho:
        mode, fmt = rho.split("-")
        for other in CONVERSIONS | FP64_CONVERSIONS:
            if other != rho and (other.endswith("-" + fmt) or (fmt == "E8M13" and other == "RZ-FP32")):
                yield f"rho {other}", {"rho": other}
    if hasattr(op, "truncation"):
        for t in ("RZ", "RD", "RO"):
            if t != op.truncation:
                yield f"truncation {t}", {"truncation": t}
    for key in ("sticky", "flush_inputs", "flush_results"):
        if getattr(op, key, None) is False:
            yield key, {key: True}
    if hasattr(op, "overflow"):
        for o in OVERFLOWS:
            if o != op.overflow:
                yield f"overflow {o}", {"overflow": o}
    for key in ("G",):
        if hasattr(op, key):
            for v in (getattr(op, key) // 2, getattr(op, key) * 2):
                yield f"{key}={v}", {key: v}


def lengths(chain, K):
    op = chain.operation
    key = "P" if op.name == "FTZ-AddMul" else "L"
    for L in (op.length // 2, op.length * 2):
        if L < 1 or L > K or K % L:
            continue
        if op.name == "FMA":
            continue
        try:
            yield f"{key}={L}", replace(chain, operation=op.with_length(L))
        except ValueError:
            pass


ORD = {
    "reversed": lambda K: np.arange(K)[::-1],
    "even, then odd": lambda K: np.r_[0:K:2, 1:K:2],
    "first two swapped": lambda K: np.r_[1, 0, 2:K],
}


def mutants(chain, shape) -> Iterator[tuple[str, Model]]:
    K = shape.K

    def native(c):
        return lambda x: compute(c, *x)

    for name, keys in changed(chain):
        try:
            yield name, native(with_keys(chain, **keys))
        except (ValueError, TypeError) as e:
            pass
    for name, c in lengths(chain, K):
        yield name, native(c)
    if isinstance(chain, ConvertedChain):
        for o in ORDERS:
            if o != chain.order:
                yield f"order {o}", native(replace(chain, order=o))
        yield "c first", native(Chain(chain.operation)) if False else native(replace(chain, order="in-order"))
    elif K > chain.operation.length and shape.scale is None:
        for name, o in ORD.items():
            p = o(K)
            yield (
                f"order {name}",
                (
                    lambda p: (
                        lambda x: compute(
                            chain, np.ascontiguousarray(x.a[:, p]), np.ascontiguousarray(x.b[:, p]), x.c, None, None
                        )
                    )
                )(p),
            )


def needed(chain, shape, limit=1 << 20, seed=1):
    live = dict(mutants(chain, shape))
    seen = {}
    first, size = 0, 1024
    while live and first < limit:
        st = volume.rows(shape, seed, first, size)
        x = st.operands
        want = compute(chain, *x)
        for name in list(live):
            d = differing(live[name](x), want, chain.operation)
            if d.any():
                r = int(np.flatnonzero(d)[0])
                n = int(d.sum())
                seen[name] = (first + r + 1, volume.NAMES[st.label[r]], n / size * 1e6)
                del live[name]
        first += size
        size = min(size * 2, 1 << 15)
    return seen, list(live)


if __name__ == "__main__":
    pat = sys.argv[1:]
    LIST = [
        ("sm_90", n)
        for n in (
            "mma.m16n8k16.f64.f64.f64.f64",
            "mma.m16n8k4.f32.tf32.tf32.f32",
            "mma.m16n8k8.f32.tf32.tf32.f32",
            "mma.m16n8k8.f32.bf16.bf16.f32",
            "mma.m16n8k16.f32.bf16.bf16.f32",
            "mma.m16n8k8.f32.f16.f16.f32",
            "mma.m16n8k16.f32.f16.f16.f32",
            "mma.m16n8k8.f16.f16.f16.f16",
            "mma.m16n8k16.f16.f16.f16.f16",
            "wgmma.m64n8k32.f32.e4m3.e4m3",
            "wgmma.m64n8k32.f32.e4m3.e5m2",
            "wgmma.m64n8k32.f32.e5m2.e5m2",
            "wgmma.m64n8k32.f16.e4m3.e4m3",
            "wgmma.m64n8k32.f16.e5m2.e5m2",
            "mma.m16n8k32.f16.e4m3.e4m3.f16",
            "mma.m16n8k32.f16.e5m2.e5m2.f16",
            "mma.m16n8k32.f32.e4m3.e4m3.f32",
            "mma.m16n8k32.f32.e5m2.e4m3.f32",
            "mma.m16n8k32.f32.e5m2.e5m2.f32",
        )
    ]
    LIST += [
        ("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.f32.ue8m0"),
        ("sm_120", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"),
        ("sm_120", "mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0"),
        ("gfx942", "v_mfma_f32_16x16x16_bf16"),
        ("gfx942", "v_mfma_f32_16x16x32_fp8_bf8"),
        ("gfx90a", "v_mfma_f32_16x16x16f16"),
        ("gfx908", "v_mfma_f32_16x16x16f16"),
        ("gfx942", "v_mfma_f32_16x16x4_f32"),
    ]
    for a, n in LIST:
        if pat and not any(p in n for p in pat):
            continue
        i = golden.instruction(a, n)
        t = time.process_time()
        seen, never = needed(i.chain, OperandShape.of_instruction(i))
        slow = {k: v for k, v in seen.items() if v[0] > 3000}
        print(
            f"{n}  [{time.process_time() - t:.0f}s] max {max(v[0] for v in seen.values())}\n   NEVER {never}\n   slow",
            {k: (v[0], v[1]) for k, v in slow.items()},
            flush=True,
        )
