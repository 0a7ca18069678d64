"""Compile every kernel of an architecture ahead of its use, on all cores, into a folder that later processes and other
machines read (golden.native.cubins).

    MMAU_CUBINS=DIR python -m hwtests.prebuild sm_90

A cubin's name says all that it depends on, so a machine takes those made elsewhere if its NVRTC has the same version. What
the kernels disassemble to is kept beside them where a disassembler is at hand.
"""

import multiprocessing
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import golden
from golden.chain import ORDERS, ConvertedChain
from golden.native.cubins import cubin, folder, key_of
from golden.native.cuda import INCLUDE, source
from golden.native.nvrtc import CompileError
from hwtests.microbenchmarks.run import benchmarks
from hwtests.nvidia.comparison import comparison_source
from hwtests.nvidia.disassembly import known_machine_code
from hwtests.nvidia.kernel import target_of
from hwtests.nvidia.kernels import kernels_of
from hwtests.nvidia.sparse_and_integer import kernel_of_instruction
from hwtests.nvidia.volume import fill_source
from hwtests.sparse_and_integer_probe import instructions_of
from hwtests.tally import chain_with_another_e_zero


class Source(NamedTuple):
    """Something to compile. holds_instruction: whether what it disassembles to is worth keeping."""

    text: str
    target: str
    include: Path | None
    holds_instruction: bool


def sources(arch: str) -> Iterator[Source]:
    """Everything that an architecture's conformance, probe and microbenchmarks compile, in the order of its first use."""
    entries, target = golden.instructions(arch), target_of(arch)
    for entry in entries:
        yield Source(source(entry.chain, entry.k), arch, INCLUDE, False)
    for entry in entries:
        yield from (Source(kernel.source, kernel.target, None, True) for kernel in kernels_of(entry))
    for entry in entries:
        if isinstance(entry.chain, ConvertedChain):  # whose other orders are scored beside it
            for order in ORDERS:
                yield Source(source(replace(entry.chain, order=order), entry.k), arch, INCLUDE, False)
    for instruction in instructions_of(arch):
        kernel = kernel_of_instruction(instruction)
        yield Source(kernel.source, kernel.target, None, True)
    for benchmark in benchmarks(arch):
        yield from (Source(text, target, None, False) for text in benchmark.sources.values())
    for entry in entries:
        for chain in (entry.chain, chain_with_another_e_zero(entry.chain)):
            if chain is not None:
                yield Source(comparison_source(chain, entry.k), target, INCLUDE, False)
        yield Source(fill_source(entry), target, INCLUDE, False)


def build(made: Source) -> str:
    """Compile one; returns why it cannot be compiled, empty where it can."""
    try:
        binary = cubin(made.text, made.target, made.include)
        if made.holds_instruction:
            known_machine_code(binary)
    except CompileError as error:
        return str(error)
    return ""


def prebuild(wanted: Iterable[Source], seconds: float, processes: int | None = None) -> int:
    """Compile sources, each once, until all are done or the time is up; what is left is compiled at its first use.

    Returns:
        How many were compiled or found.

    Raises:
        ValueError: no folder for cubins.
    """
    kept_in = folder()
    if kept_in is None:
        raise ValueError("MMAU_CUBINS must name the folder that cubins are kept in")
    deadline = time.monotonic() + seconds
    distinct = list(dict.fromkeys(wanted))
    missing = [made for made in distinct if not (kept_in / f"{key_of(made.text, made.target, made.include)}.cubin").exists()]
    if not missing or seconds <= 0:
        return len(distinct) - len(missing)
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        pending: set[Future[str]] = {pool.submit(build, made) for made in missing}
        while pending and time.monotonic() < deadline:
            _, pending = wait(pending, timeout=max(0.0, deadline - time.monotonic()), return_when=FIRST_COMPLETED)
        pool.shutdown(wait=True, cancel_futures=True)
    return len(distinct) - len(pending)


if __name__ == "__main__":
    print(f"{prebuild(sources(sys.argv[1]), float('inf')):,} kernels")
