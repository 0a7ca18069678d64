"""Compile every kernel of an architecture ahead of its use, on all cores, into a folder for later processes and other
machines (golden.native.cubins).

    MMAU_CUBINS=DIR python -m studies.h200.prebuild sm_90

A cubin is named by a digest of all that it depends on, so a machine takes those made elsewhere if its NVRTC has the same
version. The disassembly of the kernels is stored beside them if a disassembler is installed.
"""

import os
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

from golden.chain import ORDERS
from golden.native.cubins import cached, cubin, key_of
from golden.native.cuda import INCLUDE, source
from golden.native.nvrtc import CompileError
from golden.processes import Channel, Worker, in_parallel
from hwtests.nvidia.disassembly import known_machine_code
from hwtests.nvidia.gpu_comparison import comparison_source
from hwtests.nvidia.kernel import target_of
from hwtests.nvidia.kernels import kernels_of
from hwtests.nvidia.sparse_and_integer import kernel_of_instruction
from hwtests.nvidia.volume import fill_source
from hwtests.tally import chain_with_another_e_zero
from studies.h200.reference import of_floats
from studies.microbenchmarks.run import benchmarks
from studies.sparse_and_integer.__main__ import instructions_of

WORKER = (sys.executable, "-c", "from studies.h200.prebuild import serve; serve()")


class Source(NamedTuple):
    """Something to compile. holds_instruction: whether what it disassembles to is worth keeping."""

    text: str
    target: str
    include: Path | None
    holds_instruction: bool


def sources(arch: str) -> Iterator[Source]:
    """Everything that an architecture's conformance, probe and microbenchmarks compile, in the order of its first use."""
    entries, target = of_floats(arch), target_of(arch)
    for entry in entries:
        yield Source(source(entry.chain, entry.k), arch, INCLUDE, False)
    for entry in entries:
        yield from (Source(kernel.source, kernel.target, None, True) for kernel in kernels_of(entry))
    for entry in entries:
        if entry.fp16_order is not None:  # whose other orders are scored beside it
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


def serve() -> NoReturn:
    """In a worker process: compile one source after another."""
    channel = Channel()
    while True:
        table = channel.receive()
        channel.send("built", why_not=build(Source(**table | {"include": table["include"] and Path(table["include"])})))


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
    """Compile sources, each once, until all are done or the time is up; the others are compiled at their first use.

    Returns:
        How many were compiled or found.

    Raises:
        ValueError: no folder for cubins.
    """
    cubins = cached()
    if cubins is None:
        raise ValueError("MMAU_CUBINS must name the folder of the cubins, and is not set")
    deadline = time.monotonic() + seconds
    distinct = list(dict.fromkeys(wanted))
    missing = [made for made in distinct if cubins.read(key_of(made.text, made.target, made.include)) is None]
    if not missing or seconds <= 0:
        return len(distinct) - len(missing)
    idle: deque[Worker] = deque()

    def is_built(made: Source) -> bool:
        if time.monotonic() >= deadline:
            return False
        try:
            worker = idle.pop()
        except IndexError:
            worker = Worker(WORKER, env={"PYTHONPATH": os.pathsep.join(sys.path)})
        worker.send(made._asdict() | {"include": made.include and str(made.include)})
        try:
            while not worker.receive():
                pass
        except EOFError:  # the compiler has crashed; another worker goes on
            worker.end()
            return False
        idle.append(worker)
        return True

    try:
        done = in_parallel([partial(is_built, made) for made in missing], processes or len(os.sched_getaffinity(0)))
    finally:
        for worker in idle:
            worker.end()
    return len(distinct) - len(missing) + sum(done)


if __name__ == "__main__":
    print(f"{prebuild(sources(sys.argv[1]), float('inf')):,} kernels")
