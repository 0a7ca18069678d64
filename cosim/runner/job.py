"""What the runner tells the testbench inside the simulator: a small JSON file, named by an environment variable."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rtl.designs.design import Design

JOB_VARIABLE = "MMAU_COSIM_JOB"
"""Environment variable that names the job file."""


@dataclass(frozen=True)
class Job:
    """One run, as the testbench needs it.

    Attributes:
        design: what is simulated, or what the Verilog of one's own should be, as `Design.as_table` writes it.
        vectors, seed: of the stimulus.
        simulator: for the report.
        ports: this project's port names to the names in the Verilog.
        report_file: where the testbench leaves its report.
        ports_file: where it leaves what is wrong with the ports instead.
    """

    design: dict[str, Any]
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


def write_job(
    folder: Path, design: Design, vectors: int, seed: int, simulator: str, ports: dict[str, str]
) -> tuple[Path, Job]:
    """The job file and what is in it; what an earlier run left there is removed."""
    job_file = folder / "job.json"
    report_file, ports_file = folder / "report.json", folder / "ports.txt"
    job = Job(design.as_table(), vectors, seed, simulator, ports, str(report_file), str(ports_file))
    for left_over in (report_file, ports_file):
        left_over.unlink(missing_ok=True)
    job_file.write_text(json.dumps(asdict(job)), encoding="utf-8")
    return job_file, job
