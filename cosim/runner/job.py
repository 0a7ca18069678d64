"""The job that the runner passes to the testbench inside the simulator: a small JSON file, named by an environment
variable."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

JOB_VARIABLE = "MMAU_COSIM_JOB"
"""Environment variable that names the job file."""

ENDED = "the design ended the simulation"
"""The reason for a stop where the simulation ended before all vectors were sent and answered."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """The parameters of one simulation.

    Attributes:
        design: the generated design, or the reference of a user design, as `Design.as_table` writes it.
        vectors, seed: number of vectors and seed of the stimulus. first: number of the first vector in the run.
        selection: the vectors that are sent, as `Selection.as_table` writes it; None for all.
        fail_fast: whether the first mismatch ends the simulation.
        simulator: name of the simulator, for the report.
        timing: timing of the Verilog, as `Timing.as_table` writes it.
        compare: the permitted differences, the fields of `Compare`.
        results: dot products in a vector. widths: of c and d, as `OperandWidths.as_table` writes them.
        parent: number of the process that runs the simulator; the simulation ends with it.
        given: vectors in place of the stimulus of the seed: `rows`, each as a program of a volume run wrote it, and
            `classes`, the names of their classes by number; None for the stimulus of the seed.
        report_file, heartbeat_file: files of the testbench's report and heartbeat.
    """

    design: dict[str, Any]
    vectors: int
    seed: int
    first: int
    selection: dict[str, Any] | None
    fail_fast: bool
    simulator: str
    timing: dict[str, Any]
    compare: dict[str, Any]
    results: int
    widths: dict[str, Any]
    parent: int
    report_file: str
    heartbeat_file: str
    given: dict[str, Any] | None = None

    @classmethod
    def from_environment(cls) -> "Job":
        """The job that the runner wrote for this simulation."""
        return cls(**json.loads(Path(os.environ[JOB_VARIABLE]).read_text(encoding="utf-8")))


def write_job(job: Job) -> Path:
    """Write the job file beside that of the heartbeat, and return its path."""
    job_file = Path(job.heartbeat_file).with_name("job.json")
    job_file.write_text(json.dumps(asdict(job)), encoding="utf-8")
    return job_file
