"""What the runner tells the testbench inside the simulator: a small JSON file, named by an environment variable."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from golden import Unit, load_unit
from golden.unit import unit_to_toml

JOB_VARIABLE = "MMAU_COSIM_JOB"
"""Environment variable that names the job file."""


@dataclass(frozen=True)
class Job:
    """One run, as the testbench needs it.

    Attributes:
        unit_file: the unit, as TOML.
        vectors, seed: of the stimulus.
        simulator: for the report.
        ports: this project's port names to the design's.
        report_file: where the testbench leaves its report.
        ports_file: where it leaves what is wrong with the design's ports instead.
    """

    unit_file: str
    vectors: int
    seed: int
    simulator: str
    ports: dict[str, str]
    report_file: str
    ports_file: str

    def unit(self) -> Unit:
        """What the design should be."""
        return load_unit(self.unit_file)

    @classmethod
    def from_environment(cls) -> "Job":
        """The job that the runner left for this simulation."""
        return cls(**json.loads(Path(os.environ[JOB_VARIABLE]).read_text(encoding="utf-8")))


def write_job(folder: Path, unit: Unit, vectors: int, seed: int, simulator: str, ports: dict[str, str]) -> tuple[Path, Job]:
    """The job file and what is in it; the unit goes beside it, and what an earlier run left there is removed."""
    unit_file, job_file = folder / "unit.toml", folder / "job.json"
    unit_file.write_text(unit_to_toml(unit), encoding="utf-8")
    job = Job(str(unit_file), vectors, seed, simulator, ports, str(folder / "report.json"), str(folder / "ports.txt"))
    for left_over in (job.report_file, job.ports_file):
        Path(left_over).unlink(missing_ok=True)
    job_file.write_text(json.dumps(asdict(job)), encoding="utf-8")
    return job_file, job
