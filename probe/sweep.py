"""The probe tried on units that are known: every distinct arithmetic of the catalogue, and units drawn at random.

    python -m probe.sweep docs/probing.json --units 1000 --minutes 60

The file holds one entry a unit and a summary. A sweep that was interrupted goes on from it: it tries the units that lack an
entry, and those that an older probe did not recover; with --anew it tries all. Each entry names the sources of the probe
that made it.
"""

import argparse
import hashlib
import json
import math
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from functools import lru_cache
from multiprocessing import get_context, parent_process
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Any

import numpy as np

import golden
from golden.chain import Chain, ConvertedChain
from golden.comparison import differing
from golden.engines import Batch, run
from golden.files import write_atomically
from golden.native.engine import set_threads
from golden.stimulus import generate
from golden.unit import Unit
from probe.box import Box, box_of_instruction, box_of_unit
from probe.loop import Finding, probe
from probe.units import random_operation

FRESH = 1 << 17
"""Vectors that no probe has seen, on which what was found is compared with the truth."""

FRESH_SEED = 90_001
VERSION = 2

RECOVERED = ("same", "alike")

KINDS = ("catalogue", "random")

Truth = tuple[str, Box, Chain | ConvertedChain]


@lru_cache(maxsize=1)
def catalogue() -> tuple[golden.Instruction, ...]:
    """One instruction for each distinct arithmetic of the catalogue, in an order that mixes the architectures."""
    seen: dict[object, golden.Instruction] = {}
    for instruction in golden.instructions():
        seen.setdefault((instruction.chain, instruction.k), instruction)
    mixed = list(seen.values())
    random.Random("catalogue").shuffle(mixed)
    return tuple(mixed)


def name_of(kind: str, number: int) -> str:
    """What an entry calls the unit."""
    if kind == "random":
        return f"random {number}"
    instruction = catalogue()[number]
    return f"{instruction.arch} {instruction.name}"


def truth(kind: str, number: int) -> Truth:
    """A unit of the catalogue, or one with random parameters, the same one in every sweep."""
    name = name_of(kind, number)
    if kind == "catalogue":
        instruction = catalogue()[number]
        return name, box_of_instruction(instruction), instruction.chain
    unit = Unit(name=name, operation=random_operation(random.Random(f"unit {number}")))
    return name, box_of_unit(unit), Chain(unit.operation)


def tried(name: str, box: Box, chain: Chain | ConvertedChain, vectors: int) -> dict[str, Any]:
    """One entry: what the probe made of a box, held against the truth."""
    began = time.process_time()
    finding = probe(box, vectors)
    seconds = time.process_time() - began
    entry: dict[str, Any] = {
        "unit": name, "operation": chain.operation.name, "verdict": verdict(finding, box, chain),
        "asked": finding.vectors - finding.validated, "questions": finding.questions, "revisions": finding.revisions,
        "seconds": round(seconds, 1),
    }  # fmt: skip
    if entry["verdict"] not in RECOVERED:
        entry |= {"true": chain.operation.parameters(), "found": str(finding.model), "missed": finding.missed}
    return entry


def verdict(finding: Finding, box: Box, chain: Chain | ConvertedChain) -> str:
    """`same`: the truth, key by key. `alike`: other keys, and the same results on fresh vectors. `wrong`: other results.
    `unexplained`: the probe says itself that it has not found it."""
    if not finding.is_whole() or finding.model is None:
        return "unexplained"
    if finding.model.chain == chain:
        return "same"
    fresh = generate(box.shape, FRESH, FRESH_SEED).operands
    d = run(None, chain, Batch(*fresh))
    differs = finding.model.differs(fresh, d) | differing(finding.model.run(fresh), d, chain.operation)
    return "wrong" if np.any(differs) else "alike"


def summary(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts and medians."""
    if not entries:
        return {}
    counts = Counter(entry["verdict"] for entry in entries)
    seconds, asked = [entry["seconds"] for entry in entries], [entry["asked"] for entry in entries]
    return {
        "units": len(entries),
        "recovered": counts["same"] + counts["alike"],
        **{word: counts[word] for word in ("same", "alike", "wrong", "unexplained")},
        "median_seconds": round(median(seconds), 1), "largest_seconds": max(seconds),
        "median_asked": int(median(asked)), "largest_asked": max(asked),
        "by_operation": {
            name: f"{sum(e['verdict'] in RECOVERED for e in entries if e['operation'] == name)} of {count}"
            for name, count in sorted(Counter(entry["operation"] for entry in entries).items())
        },
    }  # fmt: skip


def sources() -> str:
    """A digest of what decides the outcome of the probe: the modules that are loaded of it."""
    modules = {name: module.__file__ for name, module in sys.modules.items() if name.startswith("probe.")}
    digest = hashlib.sha256()
    for _, path in sorted(modules.items()):
        digest.update(Path(str(path)).read_bytes())
    return digest.hexdigest()[:16]


def resumed(path: Path, vectors: int) -> dict[str, Any]:
    """The state of a sweep with as many vectors, or a new one."""
    if path.exists():
        before: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if (before.get("version"), before.get("vectors")) == (VERSION, vectors):
            return before
        print(f"{path} is of another version or number of vectors: beginning anew", file=sys.stderr)
    return {"version": VERSION, "vectors": vectors, "entries": {kind: [] for kind in KINDS}}


def left(state: dict[str, Any], units: int, digest: str) -> Iterator[tuple[str, int]]:
    """Kind and number of the units to try, one of each kind in turn, so that a sweep that ends early has tried both."""
    done = {
        entry["unit"]
        for entries in state["entries"].values()
        for entry in entries
        if entry["verdict"] in RECOVERED or entry["sources"] == digest
    }
    for number in range(max(units, len(catalogue()))):
        for kind, count in zip(KINDS, (len(catalogue()), units), strict=True):
            if number < count and name_of(kind, number) not in done:
                yield kind, number


def begin() -> None:
    """In each process: one thread of the engine, and an end once the process that started this one is gone."""
    set_threads(1)
    parent = parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        os._exit(1)

    Thread(target=end, daemon=True).start()


def outcome(kind: str, number: int, vectors: int) -> tuple[str, dict[str, Any]]:
    """The entry of one unit."""
    return kind, tried(*truth(kind, number), vectors)


def outcomes(
    units: Iterable[tuple[str, int]], vectors: int, processes: int, ends: float
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Entries as they come, from several processes; no unit is begun after `ends` (monotonic clock, s)."""
    with ProcessPoolExecutor(processes, get_context("spawn"), initializer=begin) as pool:
        running: set[Future[tuple[str, dict[str, Any]]]] = set()
        for unit in units:
            if time.monotonic() > ends:
                break
            running.add(pool.submit(outcome, *unit, vectors))
            if len(running) == processes:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (one.result() for one in done)
        yield from (one.result() for one in as_completed(running))


def main(argv: list[str] | None = None) -> int:
    """Run or go on."""
    parser = argparse.ArgumentParser(prog="python -m probe.sweep", description="The probe on units that are known.")
    parser.add_argument("output", type=Path, help="JSON, read again to go on")
    parser.add_argument("--units", type=int, default=1000, help="drawn at random (1000)")
    parser.add_argument("--vectors", type=int, default=1_000_000, help="random vectors of each validation (1000000)")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no unit after so many")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="at once (one a core)")
    parser.add_argument("--anew", action="store_true", help="try every unit, whatever the file holds")
    arguments = parser.parse_args(argv)
    if arguments.anew:
        arguments.output.unlink(missing_ok=True)
    state = resumed(arguments.output, arguments.vectors)
    ends = time.monotonic() + 60 * arguments.minutes
    digest = sources()  # before the processes start: of what they run, whatever is written meanwhile
    units = list(left(state, arguments.units, digest))
    for kind, entry in outcomes(units, arguments.vectors, arguments.processes, ends):
        entry["sources"] = digest
        entries = {known["unit"]: known for known in state["entries"][kind]} | {entry["unit"]: entry}
        count = len(catalogue()) if kind == "catalogue" else arguments.units
        names = [name_of(kind, number) for number in range(count)]
        state["entries"][kind] = [entries[name] for name in names if name in entries]
        state["summary"] = {key: summary(state["entries"][key]) for key in KINDS}
        write_atomically(arguments.output, json_text(state).encode())
        print(f"{kind}, {len(entries)}: {entry}", file=sys.stderr, flush=True)
    return 0


def json_text(state: dict[str, Any]) -> str:
    """The state, an entry a line."""
    head = {key: state[key] for key in ("version", "vectors", "summary")}
    lines = json.dumps(head, indent=1)[:-2]
    kinds = [
        f'  "{kind}": [\n' + ",\n".join("   " + json.dumps(entry) for entry in entries) + "\n  ]"
        for kind, entries in state["entries"].items()
    ]
    return lines + ',\n "entries": {\n' + ",\n".join(kinds) + "\n }\n}\n"


if __name__ == "__main__":
    sys.exit(main())
