"""CuPy's place on a machine without a GPU: NumPy's arrays, and kernels that do what their source says by golden's models. It
shows the whole of a program but the device, and claims nothing about any hardware. To be found before CuPy, on PYTHONPATH.

Kernels are not compiled. MMAU_STAND_IN names an instruction one element of whose tiles is wrong. The list is made shorter,
so that it ends in minutes.
"""

import hashlib
import os
import re
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy import *  # noqa: F403

import golden
import golden.native.cuda as cubins
from golden.engines import engine
from golden.stimulus import Operands, Tiles
from hwtests import on_host
from hwtests.nvidia import cupy_device
from hwtests.nvidia.gpu_comparison import comparison_source
from hwtests.nvidia.mma import ptx_name
from hwtests.nvidia.volume import fill_source
from hwtests.nvidia.wgmma import ptx_name as wgmma_ptx_name
from hwtests.tally import chain_with_another_e_zero, tally
from tests.hwtests.conform.stand_in import fill_tiles, write_counts
from tests.studies.lent_minutes.by_definition import converted, share

VERSION = "13.0"
"""NVRTC's, so that kernels that were compiled by it for a machine that has it count as brought along."""


class ndarray:  # type: ignore[no-redef]
    """No array is on a device here, and none is an instance."""


def asnumpy(array: Any) -> Any:
    return np.asarray(array)


def get_default_memory_pool() -> Any:
    return SimpleNamespace(free_all_blocks=lambda: None)


class CUDARuntimeError(Exception):
    pass


class OutOfMemoryError(Exception):
    pass


class CUDADriverError(Exception):
    pass


PATIENCE = 36_000.0
"""Seconds after which a worker counts as hanging: longer than a busy machine takes for anything."""

NAMES = (
    "mma.sp.m16n8k16.f32.tf32.tf32.f32", "mma.sp.m16n8k64.f32.e4m3.e5m2.f32", "wgmma.sp.m64n8k32.f16.f16.f16",
    "mma.sp.m16n8k64.satfinite.s32.s8.u8.s32", "mma.m8n8k32.s32.s4.u4.s32", "mma.m16n8k256.s32.b1.b1.s32.xor.popc",
    "wgmma.m64n8k32.satfinite.s32.u8.s8",
)  # fmt: skip
"""Those of item 1: every family and kind of operand."""

SOURCES: dict[bytes, str] = {}
"""By "binary", its source."""


def found_or_made(key: str, source: str, target: str, include: Any, folder: Any) -> bytes:
    """In the place of the compiler: the binary is a digest of the source behind an empty ELF header."""
    binary = bytes(64) + hashlib.sha256(source.encode()).digest()
    SOURCES[binary] = source
    return binary


def native(chain: Any, rows: Operands) -> Any:
    return engine.run("native", chain, engine.Batch(*rows))


@cache
def by_ptx() -> dict[str, golden.Instruction]:
    entries = golden.instructions("sm_90") + golden.sparse_instructions("sm_90")
    return {(wgmma_ptx_name if i.name.startswith("wgmma.") else ptx_name)(i): i for i in entries}


@cache
def by_source() -> dict[str, Any]:
    """Source of a kernel of the list to what it fills or compares: an instruction, a chain."""
    from studies.lent_minutes.instructions import wanted

    found: dict[str, Any] = {}
    for i in wanted():
        found.setdefault(fill_source(i), i)
        for chain in (i.chain, chain_with_another_e_zero(i.chain)):
            if chain is not None:
                found[comparison_source(chain, i.k)] = chain
    return found


class Function:
    def __init__(self, source: str, entry: str) -> None:
        self.source, self.entry = source, entry

    def __call__(self, grid: Any, block: Any, arguments: Any) -> None:
        getattr(self, self.entry)(*arguments)

    def run_tiles(self, a: Any, b: Any, c: Any, *rest: Any) -> None:
        (ptx,) = set(re.findall(r"(?:wg)?mma[\w:.]*\.aligned\.[\w:.]+", self.source))
        i = by_ptx()[ptx]
        d, metadata = rest[-2], rest[0] if i.sparse else None
        if metadata is not None:
            code = int(metadata[0]) & 15
            assert (metadata == code * 0x11111111).all()
            positions = i.selections[code]
            grouped = b.reshape(*b.shape[:2], -1, 2 * len(positions))
            b = grouped[..., list(positions)].reshape(*b.shape[:2], i.k)
        d[...] = on_host.model(i.chain, Tiles(a, b, c), native)
        if os.environ.get("MMAU_STAND_IN") == i.name:
            d[:, -1, -1] ^= 1

    def fill_tiles(self, corners: Any, seed: Any, first: Any, count: Any, *arrays: Any) -> None:
        fill_tiles(by_source()[self.source], corners, seed, first, count, *arrays)

    def compare_tiles(self, *arguments: Any) -> None:
        a, b, c, _, _, d, labels, _, every, m, n, counters, differences = arguments
        chain, chosen = by_source()[self.source], slice(None, None, int(every))
        tiles = on_host.every(Tiles(a, b, c), int(every))
        shown = SimpleNamespace(operation=chain.operation, d=chain.operation.d)
        expected = on_host.model(chain, tiles, native)
        found = tally(shown, tiles, labels[chosen], on_host.NAMES, 0, d[chosen], expected)  # type: ignore[arg-type]
        write_counts(found, counters, differences, int(m), int(n))

    def measure(self, counts: Any, sink: Any, iterations: Any) -> None:
        counts[:] = np.arange(len(counts)) + 20 * int(iterations)

    def convert(self, digests: Any, agree: Any, examples: Any, count: Any, fractions: Any) -> None:
        from studies.lent_minutes.conversions import CONVERSIONS, copies, kernel_source

        (conversion,) = [c for c in CONVERSIONS.values() if kernel_source(c) == self.source]
        for group in range(len(digests)):
            total = 0
            for fraction in range(int(fractions)):
                number = group << 23 | fraction
                code = converted(number, conversion.to, conversion.mode, conversion.saturates)
                total += share(number, code * copies(conversion))
                agree[group] += 1
            digests[group] = total % (1 << 64)


class Module:
    def load(self, binary: bytes) -> None:
        self._source = SOURCES[binary]

    def get_function(self, entry: str) -> Function:
        return Function(self._source, entry)


runtime = SimpleNamespace(
    CUDARuntimeError=CUDARuntimeError, getDeviceCount=lambda: 1, driverGetVersion=lambda: 13000,
    getDeviceProperties=lambda index: {"name": b"stand-in, not a device"}, runtimeGetVersion=lambda: 13000,
    deviceSynchronize=lambda: None,
)  # fmt: skip
cuda = SimpleNamespace(
    runtime=runtime, Device=lambda: SimpleNamespace(compute_capability="90"), function=SimpleNamespace(Module=Module),
    memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError), driver=SimpleNamespace(CUDADriverError=CUDADriverError),
)  # fmt: skip


def shorten() -> None:
    """Put the stand-in in the place of what only a device and its software have, and make every item small."""
    from studies.lent_minutes import conversions, cublaslt, instructions, models, products, run, work
    from studies.microbenchmarks import run as timed

    kept = [i for i in instructions.wanted() if i.name in NAMES]
    changes: tuple[tuple[Any, str, Any], ...] = (
        (cubins, "_compiled", found_or_made), (cubins, "version", lambda major: VERSION),
        (cupy_device, "version", lambda major: VERSION), (timed, "check_warps", lambda binary, warps: None),
        (cublaslt, "pointer", lambda array: int(array.ctypes.data)), (instructions, "wanted", lambda: kept),
        (instructions, "RESULTS", 30_000), (conversions, "FRACTIONS", 2), (work, "COLD_SECONDS", PATIENCE),
        (run, "HANG_SECONDS", PATIENCE), (run, "START_SECONDS", PATIENCE),
        (products, "LARGEST_OPERAND", 1 << 16), (products, "LARGEST_RESULT", 1 << 12),
        (products, "SHAPES", 3), (models, "RESULTS", 24_000), (models, "SIZE", 128),
        (models, "SHAPES", ((64, 64, 128), (65, 62, 80), (61, 66, 272))),
    )  # fmt: skip
    for module, name, value in changes:
        setattr(module, name, value)
    engine.ENGINES["cuda"] = engine.ENGINES["native"]


shorten()
