"""What the runner tells the testbench inside the simulator: a small JSON file, named by an environment variable."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

JOB_VARIABLE = "MMAU_COSIM_JOB"
"""Environment variable that names the job file."""


@dataclass(frozen=True)
class Job:
    """One run, as the testbench needs it.

    Attributes:
        design: what is simulated, or what the Verilog of one's own should be, as `Design.as_table` writes it.
        vectors, seed: of the stimulus.
        simulator: for the report.
        timing: how the Verilog is driven, as `Timing.as_table` writes it.
        compare: what may differ on purpose, the fields of `Compare`.
        results: dot products that go in and come out at once.
        report_file: where the testbench leaves its report.
    """

    design: dict[str, Any]
    vectors: int
    seed: int
    simulator: str
    timing: dict[str, Any]
    compare: dict[str, Any]
    results: int
    report_file: str

    @classmethod
    def from_environment(cls) -> "Job":
        """The job that the runner left for this simulation."""
        return cls(**json.loads(Path(os.environ[JOB_VARIABLE]).read_text(encoding="utf-8")))


def write_job(folder: Path, job: Job) -> Path:
    """The job file; the report of an earlier job is removed."""
    job_file = folder / "job.json"
    Path(job.report_file).unlink(missing_ok=True)
    job_file.write_text(json.dumps(asdict(job)), encoding="utf-8")
    return job_file
