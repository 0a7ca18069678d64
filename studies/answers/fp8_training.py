"""The trainings behind docs/evidence/explore/fp8-accumulation.md.

`python -m studies.answers.fp8_training SPACE.toml FOLDER STORE` trains on every point and reference of the space with
each of its workloads `network`, from several seeds, and from further seeds in fp32 alone, which shows how much trainings
vary with their seed alone. Each training is a task (`jobs`) whose result is recorded when it ends, so that an interrupted
run resumes. At the end fp8-accumulation.json, the page and its plot are written into FOLDER.
"""

import json
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import golden
from golden.files import check_output, write_atomically
from golden.unit_file import unit_from_table, unit_to_toml
from mmau.explore.design_space import Space
from mmau.explore.network.settings import check
from mmau.explore.network.workload import measure, measure_fp32
from mmau.explore.space_file import load_space
from mmau.jobs import Record, Store, Task, program, run
from mmau.jobs.provenance import digest_of_sources, provenance
from studies.answers.fp8_accumulation import page

OUTCOME = "fp8-accumulation.json"

SEEDS = 2
"""Trainings of each unit."""

SEEDS_FP32 = 10
"""Trainings in fp32."""

SECONDS_A_TASK = 1800.0
"""Far beyond what a training takes, half a minute on a busy machine."""

DEFINITIONS = (
    "golden/operations/*.py", "golden/steps.py", "golden/specials.py", "golden/rounding.py", "golden/conversion.py",
    "golden/format*.py", "golden/chain.py", "golden/ordered_chain.py", "golden/gemm_order.py", "mmau/explore/network/*.py",
)  # fmt: skip
"""Sources that decide a result. The engines are not among them: they return what the definitions say."""


def tasks(space: Space, seeds: int, seeds_fp32: int, depends: dict[str, str]) -> Iterator[Task]:
    """Every training, seed after seed, so that an interrupted run has whole seeds."""
    for seed in range(seeds_fp32):
        yield Task(f"fp32, seed {seed}", {"unit": None, "settings": {}, "seed": seed}, depends)
    for seed in range(seeds):
        for point in (*space.points(), *space.reference_points()):
            if point.unit is None:
                raise ValueError(f"{point.name} is no unit: {point.message}")
            for settings in workloads(space):
                content = {"unit": unit_to_toml(point.unit), "settings": settings, "seed": seed}
                yield Task(f"{point.name}, promote_every={settings['promote_every']}, seed {seed}", content, depends)


def workloads(space: Space) -> list[dict[str, Any]]:
    """The settings of the space's workloads `network`, whole."""
    given = [] if space.accuracy is None else list(space.accuracy.workloads.values())
    tables = [{"kind": one} if isinstance(one, str) else dict(one) for one in given]
    return [asdict(check(table)) for table in tables if table["kind"] == "network"]


def work(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work of a task: one training."""
    golden.set_threads(1)
    if content["unit"] is None:
        return measure_fp32(content["settings"], content["seed"])
    return measure(unit_from_table(tomllib.loads(content["unit"])), content["settings"], content["seed"])


def outcome(space: Space, records: Sequence[Record], made_with: dict[str, str]) -> dict[str, Any]:
    """The contents of fp8-accumulation.json: a row for each training."""
    rows = []
    for record in records:
        if record.done and record.task.content["unit"] is not None:
            unit = unit_from_table(tomllib.loads(record.task.content["unit"]))
            rows.append({"unit": unit.name, **unit.operation.parameters(), **record.result})
    return {
        "what": "one network trained on units, forward and backward, beside fp32",
        "space": space.text,
        "made_with": made_with,
        "fp32": [record.result for record in records if record.done and record.task.content["unit"] is None],
        "trainings": rows,
        "not_done": {record.task.name: f"{record.status}: {record.message}" for record in records if not record.done},
    }


def main() -> int:
    if len(sys.argv) != 4:
        print("usage: python -m studies.answers.fp8_training SPACE.toml FOLDER STORE", file=sys.stderr)
        return 2
    space, folder, store_folder = load_space(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    check_output(folder / OUTCOME)
    made_with = {**provenance(), "torch": version("torch")}
    depends = {
        "definitions": digest_of_sources(DEFINITIONS),
        "torch": made_with["torch"],
        "processor": made_with["processor"],
    }
    with Store(store_folder, "answers-fp8") as store:
        records = run(
            tasks(space, SEEDS, SEEDS_FP32, depends), work, store, seconds=SECONDS_A_TASK, retry=True, unit="trainings"
        )
    found = outcome(space, records, made_with)
    for name, content in {OUTCOME: _json(found), **page(found)}.items():
        write_atomically(folder / name, content)
    return int(bool(found["not_done"]))


def _json(found: dict[str, Any]) -> bytes:
    return json.dumps(found, indent=1, ensure_ascii=False).encode() + b"\n"


if __name__ == "__main__":
    sys.exit(program("answers-fp8", main))
