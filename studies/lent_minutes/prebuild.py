"""Compile every kernel of the list ahead of its use, on all cores, into a folder for later processes and other machines
(golden.native.cuda).

    MMAU_CUBINS=DIR python -m studies.lent_minutes.prebuild

A cubin is named by a digest of all that it depends on, so a machine takes those made elsewhere if its NVRTC has the same
version. The disassembly of the kernels is stored beside them if a disassembler is installed.
DIR.tar.xz, which it writes at the end, is DIR in a thirteenth of its size, for the way to another machine.
"""

import os
import sys
import tarfile
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

from golden.chains.chain import ORDERS
from golden.native.cuda import INCLUDE, cached, cubin, key_of, source
from golden.native.nvrtc import CompileError
from golden.processes import Channel, Worker, in_parallel
from hwtests.nvidia.disassembly import known_machine_code
from hwtests.nvidia.gpu_comparison import comparison_source
from hwtests.nvidia.kernels import kernels_of
from hwtests.nvidia.source import target_of
from hwtests.nvidia.volume import fill_source
from hwtests.tally import chain_with_another_e_zero
from studies.lent_minutes import models
from studies.lent_minutes.conversions import CONVERSIONS, kernel_source
from studies.lent_minutes.instructions import wanted
from studies.lent_minutes.reference import distinct
from studies.lent_minutes.work import ARCH
from studies.microbenchmarks.run import benchmarks

MOST_BYTES = 14 << 20
"""Bytes of all kernels at most, compressed, so that the tree with them stays within 64 MiB."""

WORKER = (sys.executable, "-c", "from studies.lent_minutes.prebuild import serve; serve()")


class Source(NamedTuple):
    """Something to compile. holds_instruction: whether what it disassembles to is worth keeping."""

    text: str
    target: str
    include: Path | None
    holds_instruction: bool


def sources() -> Iterator[Source]:
    """Everything that the list compiles, in the order of its first use."""
    instructions, target = wanted(), target_of(ARCH)
    for rows in distinct():
        yield Source(source(rows.chain, rows.k), ARCH, INCLUDE, False)
    for i in instructions:
        yield from (Source(kernel.source, kernel.target, None, True) for kernel in kernels_of(i))
        orders = [replace(i.chain, order=order) for order in ORDERS] if i.fp16_order is not None else []
        yield from (Source(source(chain, i.k), ARCH, INCLUDE, False) for chain in (i.chain, *orders))
        for chain in (i.chain, chain_with_another_e_zero(i.chain)):
            if chain is not None:
                yield Source(comparison_source(chain, i.k), target, INCLUDE, False)
        yield Source(fill_source(i), target, INCLUDE, False)
    for conversion in CONVERSIONS.values():
        yield Source(kernel_source(conversion), target, INCLUDE, False)
    yield from (Source(text, ARCH, INCLUDE, False) for text in models.sources())
    for benchmark in benchmarks(ARCH):
        yield from (Source(text, target, None, False) for text in benchmark.sources.values())


def serve() -> NoReturn:
    """In a worker process: compile sources one after another."""
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


def prebuild(given: Iterable[Source], processes: int | None = None) -> int:
    """Compile sources, each once; those that the compiler refuses are left to their first use, which says why.

    Returns:
        The number of kernels that were compiled or found.

    Raises:
        ValueError: no folder for cubins.
    """
    cubins = cached()
    if cubins is None:
        raise ValueError("MMAU_CUBINS must name the folder of the cubins, and is not set")
    every = list(dict.fromkeys(given))
    missing = [made for made in every if cubins.read(key_of(made.text, made.target, made.include)) is None]
    idle: deque[Worker] = deque()

    def is_built(made: Source) -> bool:
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
    return len(every) - len(missing) + sum(done)


def main() -> int:
    """Exit status: 0 every kernel is there, 1 some are not, or they are too large."""
    every = dict.fromkeys(sources())
    done, cubins = prebuild(every), cached()
    assert cubins is not None
    packed = cubins.folder.with_name(f"{cubins.folder.name}.tar.xz")
    with tarfile.open(packed, "w:xz") as archive:
        archive.add(cubins.folder, cubins.folder.name)
    size = packed.stat().st_size
    print(f"{done:,} of {len(every):,} kernels; {size / (1 << 20):.1f} MiB of {MOST_BYTES >> 20} at most: {packed}")
    return 0 if done == len(every) and size <= MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
