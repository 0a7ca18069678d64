"""Record the products on this machine's GPU: sampled elements of D, digests of the operands, the kernels that ran.

python -m studies.library_products.record h100.npz --probes probes.npz       # twice: the first call makes probes.npz
"""

import argparse
import hashlib
import json
import math
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from golden.recordings.npz import npz_bytes
from hwtests.device import first_line
from studies.library_products.drawn_codes import SCALE_A, SCALE_B, STREAMS, A, B, C, codes
from studies.library_products.recorded_products import (
    Case,
    cases,
    probe_operands,
    sampled,
    scale_shapes,
    scales,
)  # fmt: skip

DTYPES = {
    "fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32, "fp64": torch.float64, "int8": torch.int8,
    "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2,
}  # fmt: skip

DEVICE = "cuda"

TRITON_FORMS = {"triton": 0, "triton-plus": 1, "triton-imprecise": 2}


def tensors(
    case: Case, probes: Mapping[str, np.ndarray[Any, Any]]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """A, B and C on the GPU: random codes drawn there, probe data from the file that was made before."""
    if case.operands != "random":
        a, b = (torch.from_numpy(probes[f"{probe_key(case)}.{side}"]).to(DEVICE).view(DTYPES[case.a]) for side in "ab")
        return a, b, None
    shapes = {"a": (case.M, case.K), "b": (case.K, case.N), "c": (case.N,) if case.route == "linear" else (case.M, case.N)}
    found = []
    for stream, (side, shape) in zip((A, B, C), shapes.items(), strict=True):
        name = getattr(case, side)
        if name:
            index = torch.arange(math.prod(shape), device=DEVICE, dtype=torch.int64).view(shape)
            drawn, size = codes(name, STREAMS * case.seed + stream, index), DTYPES[name].itemsize
            found.append(drawn.view(torch.uint8).view(*shape, 8)[..., :size].contiguous().view(DTYPES[name])[..., 0])
    return found[0], found[1], found[2] if case.c else None


def probe_key(case: Case) -> str:
    """Name of the probe data of a case."""
    return f"{case.operands}.{case.a}.{case.M}x{case.N}x{case.K}"


def write_probes(path: Path) -> None:
    """Write all probe data ahead of time, for a machine whose time is short."""
    arrays = {}
    for case in cases():
        if case.operands != "random" and f"{probe_key(case)}.a" not in arrays:
            made, size = probe_operands(case), DTYPES[case.a].itemsize
            for side in "ab":
                arrays[f"{probe_key(case)}.{side}"] = getattr(made, side).astype(f"u{size}").view(f"i{size}")
    path.write_bytes(npz_bytes(arrays))


def compute(case: Case, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor | None) -> torch.Tensor:
    """Compute the product by the case's route."""
    route = case.route
    torch.backends.cuda.matmul.allow_tf32 = route == "mm-tf32"
    if route in TRITON_FORMS:
        return by_triton(case, a, b)
    if route == "mm-fp32":
        return torch.mm(a, b, out_dtype=torch.float32)
    if route == "bmm":
        return torch.bmm(torch.stack([a, a]), torch.stack([b, b]))[1]
    if route == "linear":
        return torch.nn.functional.linear(a, b.t().contiguous(), c)
    if route == "addmm":
        assert c is not None
        return torch.addmm(c, a, b, beta=0.5, alpha=1.5)
    if route == "int":
        return torch._int_mm(a, b)
    if route in ("scaled-rows", "scaled-rows-fast", "scaled-blocks"):
        return with_scales(case, a, b)
    if route.startswith("scaled"):
        one = torch.ones((), device=DEVICE)
        into = torch.float32 if route.endswith("fp32") else torch.bfloat16
        columns = b.t().contiguous().t()
        return torch._scaled_mm(a, columns, one, one, out_dtype=into, use_fast_accum="fast" in route)
    return torch.mm(a, b)


def with_scales(case: Case, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product with scales of rows and columns, or of blocks."""
    made = []
    for stream, shape in zip((SCALE_A, SCALE_B), scale_shapes(case), strict=True):
        index = torch.arange(math.prod(shape), device=DEVICE, dtype=torch.int64).view(shape)
        made.append(scales(case, stream, index).to(torch.int32).view(torch.float32))
    columns = b.t().contiguous().t()
    if case.route != "scaled-blocks":
        fast = case.route.endswith("fast")
        return torch._scaled_mm(a, columns, made[0], made[1], out_dtype=torch.bfloat16, use_fast_accum=fast)
    return by_blocks(a, columns, made[0], made[1])


def by_blocks(a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor) -> torch.Tensor:
    """Compute the product with scales of blocks. PyTorch's layouts differ between versions, so each layout is tried."""
    from torch.nn.functional import ScalingType, scaled_mm

    major = scale_a.t().contiguous().t()
    rows = scale_b.t().contiguous()  # [N/128, K/128]
    padded = torch.nn.functional.pad(rows, (0, -rows.shape[1] % 4))
    errors = []
    layouts = {"[N/128, K/128]": rows, "padded to a multiple of 4 along K": padded}
    layouts |= {f"{name}, transposed": layout.t() for name, layout in layouts.items()}
    for name, layout in layouts.items():
        try:
            d = scaled_mm(
                a, b, major, ScalingType.BlockWise1x128, layout, ScalingType.BlockWise128x128, output_dtype=torch.bfloat16
            )
            torch.cuda.synchronize()
            return d
        except Exception as error:
            errors.append(f"{name}: {str(error)[:120]}")
    raise ValueError("; ".join(errors))


def by_triton(case: Case, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product by the kernel of `studies.library_products.triton_product`."""
    from studies.library_products.triton_product import product as kernel

    assert case.tile is not None
    d = torch.full((case.M, case.N), float("nan"), device=DEVICE)
    grid = (case.M // case.tile.M, case.N // case.tile.N)
    made = kernel[grid](a, b, d, case.N, case.K, *case.tile, FORM=TRITON_FORMS[case.route])
    text = made.asm["ptx"]
    mmas = sorted({word for line in text.splitlines() for word in line.split() if word.startswith(("mma.", "wgmma.mma"))})
    MMAS[case.name] = mmas
    return d


MMAS: dict[str, list[str]] = {}
"""The matrix instructions of a Triton kernel, by case."""


def kernels(case: Case, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor | None) -> list[str]:
    """Names of the kernels that a product launches."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        compute(case, a, b, c)
        torch.cuda.synchronize()
    ran = {event.name for event in seen.events() if event.device_type == torch.autograd.DeviceType.CUDA}
    return sorted({short(name) for name in ran if not any(word in name for word in OTHERS)})


OTHERS = ("elementwise", "Memset", "Memcpy", "at::native")
"""Words in the names of kernels that multiply nothing."""


def short(name: str) -> str:
    """The distinctive part of a kernel's name: CUTLASS's configuration, or the text before the arguments."""
    found = re.search(r"Kernel2<(\w+)", name)
    if found:
        return found.group(1)
    return "internal::gemvx::kernel" if "gemvx" in name else name.removeprefix("void ").split("(")[0].split("<")[0][:100]


def bits_of(of: torch.Tensor) -> np.ndarray[Any, Any]:
    """The codes of a tensor."""
    size = of.element_size()
    bits: np.ndarray[Any, Any] = of.contiguous().view(getattr(torch, f"int{8 * size}")).cpu().numpy().view(f"u{size}")
    return bits


def record(
    case: Case, probes: Mapping[str, np.ndarray[Any, Any]], names: bool
) -> tuple[dict[str, Any], np.ndarray[Any, Any]]:
    """Record one case: what is known of it, and the codes of D's sampled elements."""
    a, b, c = tensors(case, probes)
    d = compute(case, a, b, c)
    again = compute(case, a, b, c)
    rows, columns = sampled(case)
    sums = [int(bits_of(side)[part].astype(np.uint64).sum()) for side, part in ((a, rows), (b, (slice(None), columns)))]
    bits = bits_of(d)
    same = bool((d.contiguous().view(torch.uint8) == again.contiguous().view(torch.uint8)).all())
    about = {
        "case": asdict(case), "d": str(d.dtype).removeprefix("torch."),
        "digest": hashlib.sha256(bits.tobytes()).hexdigest(), "same_again": same,
        "sums": sums,
    }  # fmt: skip
    if names:
        try:
            about["kernels"] = kernels(case, a, b, c)
        except RuntimeError as error:  # a machine without the profiler's library
            about["kernels"] = [f"unknown: {first_line(error)}"]
    if case.name in MMAS:
        about["instructions"] = MMAS[case.name]
    return about, bits[np.ix_(rows, columns)]


def main() -> int:
    """Record every case for which there is time; a case that the library refuses is recorded with its message."""
    parser = argparse.ArgumentParser(prog="python -m studies.library_products.record")
    parser.add_argument("file", type=Path, help="of the products, .npz")
    parser.add_argument(
        "--probes", type=Path, required=True, help="of probe data; written, and nothing more, if it is not there"
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="after which no further product is begun (600)")
    given = parser.parse_args()
    if not given.probes.exists():
        write_probes(given.probes)
        return 0
    probes, ends = np.load(given.probes), time.monotonic() + given.seconds
    entries: dict[str, Any] = {}
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for case in cases():
        if time.monotonic() > ends:
            print(f"the time is up before {case.name}")
            break
        try:
            entries[case.name], arrays[case.name] = record(case, probes, names=True)
        except Exception as error:  # whatever the library raises is what is recorded
            why = f"{type(error).__name__}: {first_line(error)}"
            entries[case.name] = {"case": asdict(case), "refused": why}
    about = {
        "device": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
        "triton": version("triton"), "cases": entries,
    }  # fmt: skip
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    given.file.write_bytes(npz_bytes(arrays))
    print(f"{len(arrays) - 1} recorded, {len(entries) - len(arrays) + 1} refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
