"""The work of one task: a part of what is wanted of a unit. It runs in a worker, which keeps what parts share."""

import tomllib
from pathlib import Path
from typing import Any

import explore.accuracy
import explore.cost
import golden
from explore.run.proof import co_simulate
from golden import Unit
from golden.unit_file import unit_from_table


def work(content: dict[str, Any], folder: Path) -> Any:
    """The result of a part: what `explore.accuracy`, `explore.cost` or `explore.run.proof` say, plain JSON."""
    golden.set_threads(1)  # a worker has one core
    unit = unit_of(content["unit"])
    match content["part"]:
        case "accuracy":
            wanted = (content["workload"], content["rows"], content["seed"], content["references"])
            return explore.accuracy.measure(unit, *wanted)
        case "cost":
            return explore.cost.measure(unit, content["wanted"], folder)
        case "proof":
            return co_simulate(unit, content["vectors"], content["seed"], folder)
        case part:
            raise ValueError(f"no such part of a point: {part!r}")


def unit_of(text: str) -> Unit:
    """The unit of a TOML text."""
    return unit_from_table(tomllib.loads(text))
