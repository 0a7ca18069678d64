"""The probe tried on units that are known: every distinct arithmetic of the catalogue, and units drawn at random.

    python -m probe.sweep docs/probing.json --units 1000 --minutes 60

The file holds one entry a unit and a summary; a sweep that was interrupted goes on from it, with the same sources alone.
"""

import argparse
import hashlib
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from statistics import median
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
VERSION = 1

Truth = tuple[str, Box, Chain | ConvertedChain]


def catalogue() -> Iterator[Truth]:
    """One instruction for each distinct arithmetic of the catalogue, in an order that mixes the architectures."""
    seen: dict[object, golden.Instruction] = {}
    for instruction in golden.instructions():
        seen.setdefault((instruction.chain, instruction.k), instruction)
    mixed = list(seen.values())
    random.Random("catalogue").shuffle(mixed)
    for instruction in mixed:
        yield f"{instruction.arch} {instruction.name}", box_of_instruction(instruction), instruction.chain


def drawn(units: int) -> Iterator[Truth]:
    """Units with random parameters, the same ones in every sweep."""
    for number in range(units):
        unit = Unit(name=f"random {number}", operation=random_operation(random.Random(f"unit {number}")))
        yield unit.name, box_of_unit(unit), Chain(unit.operation)


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
    if entry["verdict"] not in ("same", "alike"):
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
            name: f"{sum(e['verdict'] in ('same', 'alike') for e in entries if e['operation'] == name)} of {count}"
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


def resumed(path: Path, head: dict[str, Any]) -> dict[str, Any]:
    """The state of a sweep that began with the same head, or a new one."""
    if path.exists():
        before: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if all(before.get(key) == value for key, value in head.items()):
            return before
        print(f"{path} is of other sources or another number of vectors: beginning anew", file=sys.stderr)
    return head | {"entries": {"catalogue": [], "random": []}}


def main(argv: list[str] | None = None) -> int:
    """Run or go on."""
    parser = argparse.ArgumentParser(prog="python -m probe.sweep", description="The probe on units that are known.")
    parser.add_argument("output", type=Path, help="JSON, read again to go on")
    parser.add_argument("--units", type=int, default=1000, help="drawn at random (1000)")
    parser.add_argument("--vectors", type=int, default=1_000_000, help="random vectors of each validation (1000000)")
    parser.add_argument("--minutes", type=float, default=None, help="stop after so many")
    arguments = parser.parse_args(argv)
    set_threads(1)
    state = resumed(arguments.output, {"version": VERSION, "sources": sources(), "vectors": arguments.vectors})
    ends = None if arguments.minutes is None else time.monotonic() + 60 * arguments.minutes
    done = {entry["unit"] for entries in state["entries"].values() for entry in entries}
    for kind, (name, box, chain) in interleaved(catalogue(), drawn(arguments.units)):
        if name in done:
            continue
        if ends is not None and time.monotonic() > ends:
            break
        entries = state["entries"][kind]
        entries.append(tried(name, box, chain, arguments.vectors))
        state["summary"] = {key: summary(state["entries"][key]) for key in state["entries"]}
        write_atomically(arguments.output, json_text(state).encode())
        print(f"{kind}, {len(entries)}: {entries[-1]}", file=sys.stderr, flush=True)
    return 0


def interleaved(catalogued: Iterator[Truth], random_ones: Iterator[Truth]) -> Iterator[tuple[str, Truth]]:
    """One of each kind in turn, so that a sweep that ends early has tried both."""
    for pair in zip_longest(catalogued, random_ones):
        yield from ((kind, truth) for kind, truth in zip(("catalogue", "random"), pair, strict=True) if truth is not None)


def json_text(state: dict[str, Any]) -> str:
    """The state, an entry a line."""
    head = {key: value for key, value in state.items() if key != "entries"}
    lines = json.dumps(head, indent=1)[:-2]
    kinds = [
        f'  "{kind}": [\n' + ",\n".join("   " + json.dumps(entry) for entry in entries) + "\n  ]"
        for kind, entries in state["entries"].items()
    ]
    return lines + ',\n "entries": {\n' + ",\n".join(kinds) + "\n }\n}\n"


if __name__ == "__main__":
    sys.exit(main())
