"""What the runner tells the testbench inside the simulator: a small JSON file, named by an environment variable."""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import golden
from cosim.bench.subject import MultiFormat, OneUnit, Subject, unit_from_toml
from cosim.bench.tile import Tile
from golden import Implementation

JOB_VARIABLE = "MMAU_COSIM_JOB"
"""Environment variable that names the job file."""


@dataclass(frozen=True)
class Job:
    """One run, as the testbench needs it.

    Attributes:
        subject: what the design should be, as `Subject.as_table` writes it.
        vectors, seed: of the stimulus.
        simulator: for the report.
        ports: this project's port names to the design's.
        report_file: where the testbench leaves its report.
        ports_file: where it leaves what is wrong with the design's ports instead.
    """

    subject: dict[str, Any]
    vectors: int
    seed: int
    simulator: str
    ports: dict[str, str]
    report_file: str
    ports_file: str

    @classmethod
    def from_environment(cls) -> "Job":
        """The job that the runner left for this simulation."""
        return cls(**json.loads(Path(os.environ[JOB_VARIABLE]).read_text(encoding="utf-8")))


def subject_from_table(table: dict[str, Any]) -> Subject:
    """What `Subject.as_table` wrote."""
    if "unit" in table:
        return OneUnit(unit_from_toml(table["unit"]))
    if "formats" in table:
        return MultiFormat(tuple(unit_from_toml(text) for text in table["formats"]))
    arch, name, m, n = (table["tile"][key] for key in ("arch", "name", "m", "n"))
    return Tile(replace(golden.instruction(arch, name), m=m, n=n), Implementation(**table["implementation"]))


def write_job(
    folder: Path, subject: Subject, vectors: int, seed: int, simulator: str, ports: dict[str, str]
) -> tuple[Path, Job]:
    """The job file and what is in it; what an earlier run left there is removed."""
    job_file = folder / "job.json"
    report_file, ports_file = folder / "report.json", folder / "ports.txt"
    job = Job(subject.as_table(), vectors, seed, simulator, ports, str(report_file), str(ports_file))
    for left_over in (report_file, ports_file):
        left_over.unlink(missing_ok=True)
    job_file.write_text(json.dumps(asdict(job)), encoding="utf-8")
    return job_file, job
