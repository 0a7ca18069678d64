"""The probe tried on known units: every distinct arithmetic of the catalogue, and units drawn at random.

    python -m studies.probe_sweep docs/evidence/probing.json --units 1100 --minutes 60

The file holds one entry a unit and a summary. An interrupted sweep resumes from it: it tries the units that lack an
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
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import golden
from golden.chain import Chain
from golden.comparison import differing
from golden.engines import Batch, run
from golden.files import write_atomically
from golden.native.engine import set_threads
from golden.stimulus import generate
from mmau.jobs import DONE, Processes, Task, program
from mmau.jobs.task import Limits
from mmau.jobs.task import name_of as name_of_work
from mmau.probe.device_under_test import DeviceUnderTest, dut_of_instruction, dut_of_unit
from mmau.probe.loop import Finding, probe
from studies.probe_sweep.random_units import TABLED, TABLES, random_chained_unit, random_unit, table_unit

FRESH = 1 << 17
"""Vectors that no probe has seen, on which what was found is compared with the truth."""

FRESH_SEED = 90_001
VERSION = 2

RECOVERED = ("same", "alike")

KINDS = ("catalogue", "random", "chains", "tables")

CHAINS = 100
"""Units with a table [chain] at most: one for ten without."""

Truth = tuple[str, DeviceUnderTest, Chain]


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
    """The name of the unit in an entry."""
    if kind == "tables":
        return table_unit(number).name
    if kind != "catalogue":
        return f"{'chained' if kind == 'chains' else kind} {number}"
    instruction = catalogue()[number]
    return f"{instruction.arch} {instruction.name}"


def truth(kind: str, number: int) -> Truth:
    """A unit of the catalogue, or one with random parameters, the same one in every sweep."""
    name = name_of(kind, number)
    if kind == "catalogue":
        instruction = catalogue()[number]
        return name, dut_of_instruction(instruction), instruction.chain
    if kind in ("chains", "tables"):
        chained = kind == "chains"
        unit = random_chained_unit(random.Random(f"chained unit {number}"), name) if chained else table_unit(number)
        dut = dut_of_unit(unit)
        return name, dut, unit.chain_over(dut.shape.K)
    unit = random_unit(number, name)
    return name, dut_of_unit(unit), Chain(unit.operation)


def tried(name: str, dut: DeviceUnderTest, chain: Chain, vectors: int) -> dict[str, Any]:
    """One entry: what the probe made of a device under test, held against the truth."""
    began = time.process_time()
    finding = probe(dut, vectors)
    seconds = time.process_time() - began
    entry: dict[str, Any] = {
        "unit": name, "operation": chain.operation.name, "verdict": verdict(finding, dut, chain),
        "asked": finding.vectors - finding.validated, "questions": finding.questions, "revisions": finding.revisions,
        "seconds": round(seconds, 1),
    }  # fmt: skip
    if entry["verdict"] not in RECOVERED:
        table = {} if chain.is_plain or chain.fp16_order is not None else {"chain": vars(chain.table)}
        entry |= {"true": chain.operation.parameters() | table, "found": str(finding.model), "missed": finding.missed}
    return entry


def verdict(finding: Finding, dut: DeviceUnderTest, chain: Chain) -> str:
    """`same`: the truth, key by key. `alike`: other keys, and the same results on fresh vectors. `wrong`: other results.
    `unexplained`: the probe says itself that it has not found it."""
    if not finding.is_whole() or finding.model is None:
        return "unexplained"
    if finding.model.chain == chain:
        return "same"
    fresh = generate(dut.shape, FRESH, FRESH_SEED).operands
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
    modules = {name: module.__file__ for name, module in sys.modules.items() if name.startswith("mmau.probe.")}
    digest = hashlib.sha256()
    for _, path in sorted(modules.items()):
        digest.update(Path(str(path)).read_bytes())
    return digest.hexdigest()[:16]


def resumed(path: Path, vectors: int) -> dict[str, Any]:
    """The state of a sweep with as many vectors, or a new one."""
    if path.exists():
        before: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if (before.get("version"), before.get("vectors")) == (VERSION, vectors):
            for kind in KINDS:
                before["entries"].setdefault(kind, [])
            return before
        print(f"{path} is of another version or number of vectors: beginning anew", file=sys.stderr)
    return {"version": VERSION, "vectors": vectors, "entries": {kind: [] for kind in KINDS}}


def count_of(kind: str, units: int) -> int:
    """The units of a kind in a whole sweep, which has so many random ones."""
    tables = len(TABLES) * len(TABLED)
    return {"catalogue": len(catalogue()), "random": units, "chains": min(units // 10, CHAINS), "tables": tables}[kind]


def left(state: dict[str, Any], units: int, digest: str, kinds: Sequence[str] = KINDS) -> Iterator[tuple[str, int]]:
    """Kind and number of the units to try, one of each kind in turn, so that a sweep that ends early has tried all."""
    done = {
        entry["unit"]
        for entries in state["entries"].values()
        for entry in entries
        if entry["verdict"] in RECOVERED or entry["sources"] == digest
    }
    for number in range(max(count_of(kind, units) for kind in kinds)):
        for kind in kinds:
            if number < count_of(kind, units) and name_of(kind, number) not in done:
                yield kind, number


def entry_of(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work of a task: the entry of one unit."""
    set_threads(1)
    return tried(*truth(content["kind"], content["number"]), content["vectors"])


def main(argv: list[str] | None = None) -> int:
    """Run or go on; the exit status, 1 where a unit could not be tried."""
    parser = argparse.ArgumentParser(prog="python -m studies.probe_sweep", description="The probe on units that are known.")
    parser.add_argument("output", type=Path, help="JSON, read again to go on")
    parser.add_argument("--units", type=int, default=1100, help="drawn at random (1100)")
    parser.add_argument("--vectors", type=int, default=1_000_000, help="random vectors of each validation (1000000)")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no unit after so many")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="at once (one a core)")
    parser.add_argument("--kind", choices=KINDS, help="try units of this kind alone (all)")
    parser.add_argument("--anew", action="store_true", help="try every unit, whatever the file holds")
    arguments = parser.parse_args(argv)
    if arguments.anew:
        arguments.output.unlink(missing_ok=True)
    state = resumed(arguments.output, arguments.vectors)
    digest = sources()  # before the processes start: of what they run, whatever is written meanwhile
    tasks = [
        Task(name_of(kind, number), {"kind": kind, "number": number, "vectors": arguments.vectors})
        for kind, number in left(state, arguments.units, digest, KINDS if arguments.kind is None else (arguments.kind,))
    ]
    limits, status = Limits(start=None if math.isinf(arguments.minutes) else 60 * arguments.minutes), 0
    with (
        tempfile.TemporaryDirectory(prefix="mmau-probing-") as scratch,
        closing(Processes(arguments.processes).outcomes(name_of_work(entry_of), tasks, limits, Path(scratch))) as outcomes,
    ):
        for outcome in outcomes:
            if outcome.status == DONE:
                kind, entry = outcome.task.content["kind"], outcome.result | {"sources": digest}
                enter(state, kind, entry, arguments.units)
                write_atomically(arguments.output, json_text(state).encode())
                print(f"{kind}, {len(state['entries'][kind])}: {entry}", file=sys.stderr, flush=True)
            else:
                print(f"{outcome.task.name} {outcome.status}: {outcome.message}", file=sys.stderr, flush=True)
                status = 1
    return status


def enter(state: dict[str, Any], kind: str, entry: dict[str, Any], units: int) -> None:
    """Put an entry into its place, instead of an older one, and sum up anew."""
    entries = {known["unit"]: known for known in state["entries"][kind]} | {entry["unit"]: entry}
    names = [name_of(kind, number) for number in range(count_of(kind, units))]
    state["entries"][kind] = [entries[name] for name in names if name in entries]
    state["summary"] = {key: summary(state["entries"][key]) for key in KINDS}


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
    sys.exit(program("probing", main))
