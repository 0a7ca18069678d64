"""The facts on the page of a GPU, from what the job handed over: the object of docs/evidence/h100.json."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from golden.names import parse_name
from studies.h200 import state as states
from studies.h200.state import STAGES, State
from studies.h200.summary import agreed, of_unknown_code
from studies.microbenchmarks.run import POINTS, read_points
from studies.sparse_and_integer.hypotheses import REPORT

SELF_TEST, RECORDINGS, TILES, _, VOLUME = STAGES

SOFTWARE = ("cupy-cuda13x", "numpy", "nvidia-cuda-nvrtc")
"""Packages whose versions are part of the facts."""

MOST_CODES = 4
"""So many NaN codes are named; where there are more, payloads of operands are among them."""


def facts(state: State, unpacked: Path, logs: Path) -> dict[str, Any]:
    """Everything that the page says.

    Args:
        state: that of the last call. unpacked: what `studies.h200.unpack` wrote, and the hypotheses of the tiles.
        logs: machine.txt (`pip list`), one log of `mmau probe` for each instruction, and wmma.txt, the disassembly.

    Raises:
        ValueError: the job is not complete, or something of it did not agree. OSError: a file is missing.
    """
    if not state.complete() or not agreed(state):
        raise ValueError(
            "the job must be complete and nothing may differ before its page is written; its summary says what is"
        )
    tests = state.done[SELF_TEST]
    return {
        "machine": state.device | {key: state.runs[0][key] for key in ("driver", "largest_sm_clock", "memory_clock")},
        "software": _software((logs / "machine.txt").read_text(encoding="utf-8")),
        "runs": [{key: run[key] for key in ("started", "commit", "first_results", "sm_clock", "temperature", "power")}
                 for run in state.runs],
        "self-test": {"engine": tests["engine"]["compared"], "kernels": len(tests) - 1},
        "machine code unknown": of_unknown_code(state),
        "recordings": _groups(state.done[RECORDINGS]),
        "orders": {name: {"rows": entry["order_rows"], "wrong": entry["orders"]}
                   for name, entry in state.done[RECORDINGS].items() if entry["orders"]},
        "volume": _groups(state.done[VOLUME]),
        "generators": dict(sum((Counter(entry["vectors"]) for entry in state.done[VOLUME].values()), Counter[str]())),
        "tiles": _tiles(json.loads((unpacked / "tiles" / REPORT).read_text(encoding="utf-8"))),
        "probe": {path.stem: _probed(path.read_text(encoding="utf-8")) for path in _probe_logs(logs)},
        "wmma": _wmma((logs / "wmma.txt").read_text(encoding="utf-8")),
        "timed": _timed(unpacked / "microbenchmarks" / POINTS),
    }  # fmt: skip


def group_of(name: str) -> str:
    """An instruction's name without its N where only N differs: `wgmma.m64nNk16.f16.f16.f16`."""
    return name.replace(f"n{parse_name(name).n}k", "nNk", 1) if name.startswith("wgmma.") else name


def _groups(entries: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """By group: instructions, results, differing ones, NaN results by code, results that are −0, those with another e_zero,
    and how many of them it changes."""
    found: dict[str, dict[str, Any]] = {}
    for name, entry in entries.items():
        of_it = found.setdefault(group_of(name), {
            "instructions": 0, "results": 0, "differ": 0, "nans": {}, "negative zeros": 0, "e_zero": [0, 0], "seconds": 0.0,
        })  # fmt: skip
        of_it["instructions"] += 1
        of_it["results"] += sum(entry["vectors"].values())
        of_it["differ"] += sum(entry["mismatches"].values())
        of_it["nans"] = dict(Counter(of_it["nans"]) + Counter(entry["nans"]))
        of_it["negative zeros"] += entry["negative_zeros"]
        of_it["e_zero"] = [of_it["e_zero"][0] + entry["e_zero_results"], of_it["e_zero"][1] + entry["e_zero_cases"]]
        of_it["seconds"] = round(of_it["seconds"] + entry["seconds"], 2)
    for of_it in found.values():
        most = sorted(of_it["nans"].items(), key=lambda item: (item[0] == "others", -item[1]))
        rest = sum(count for _, count in most[MOST_CODES:])
        of_it["nans"] = dict(most[:MOST_CODES]) | ({"others": rest} if rest else {})
    return found


def _software(text: str) -> dict[str, str]:
    found = dict(re.findall(r"^(\S+) +(\d\S*)$", text, re.MULTILINE))
    return {name: found[name] for name in ("Python", *SOFTWARE)}


def _tiles(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By instruction: results, the hypotheses that get none wrong, and the fewest that another one gets wrong."""
    return {
        name: {
            "compared": found["compared"], "explained by": found["explained_by"],
            "others wrong": min((count for count in found["wrong"].values() if count), default=0),
        }
        for name, found in report.items()
    }  # fmt: skip


def _probe_logs(logs: Path) -> list[Path]:
    return sorted(path for path in logs.glob("*.log") if path.with_suffix(".toml").exists())


def _probed(log: str) -> dict[str, Any]:
    """The finding of the probe: the operation, each key's value and, where it could not tell, the values alike; the vectors
    that it chose, and its validation."""
    section = re.search(r"^found +(.*?)^tree", log, re.MULTILINE | re.DOTALL)
    evidence = re.search(r"^evidence +(\d+) vectors, none not reproduced", log, re.MULTILINE)
    validated = re.search(r"^validation +(\d+) random vectors, no difference", log, re.MULTILINE)
    if section is None or evidence is None or validated is None:
        raise ValueError("a log of mmau probe must say what was found, its evidence and a validation without difference")
    operation, *lines = (line.strip() for line in section[1].splitlines())
    keys = {}
    for line in lines:
        parts = re.fullmatch(r"(\w+)(?: = (\S+))?(?: +the same results with ([^:]*):.*)?", line)
        if parts is None:
            raise ValueError(f"a log of mmau probe has a line that is no key: {line!r}")
        keys[parts[1]] = [parts[2] or operation, parts[3] or ""]
    return {"operation": operation, "keys": keys, "vectors": int(evidence[1]), "validated": int(validated[1])}


def _wmma(listing: str) -> dict[str, list[dict[str, int]]]:
    """By function of the listing: its matrix instructions, once for each architecture, in the listing's order."""
    found: dict[str, list[dict[str, int]]] = {}
    for part in listing.split("Function : ")[1:]:
        words = re.findall(r"\*/\s+([A-Z]\S+)", part)
        found.setdefault(part.split()[0], []).append(dict(Counter(words)))
    return found


def _timed(path: Path) -> list[list[Any]]:
    """Of each timed loop: name, unit, latency of one turn alone, the largest throughput, and its warps and ILP."""
    points = read_points(path)
    return [_best([p for p in points if p.name == name and not p.note]) for name in dict.fromkeys(p.name for p in points)]


def _best(points: Iterable[Any]) -> list[Any]:
    first, *_ = of_it = list(points)
    best = max(of_it, key=lambda point: point.throughput)
    return [first.name, first.unit, first.latency, best.throughput, best.warps, best.ilp]


def load_state(folder: Path) -> State:
    """The state of a call's folder.

    Raises:
        ValueError: as `studies.h200.state.load`, or there is none.
    """
    state = states.load(folder)
    if not state.planned:
        raise ValueError(f"{folder} must hold the state of the job, {states.FILE}; it holds none")
    return state
