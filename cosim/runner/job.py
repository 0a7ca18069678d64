"""What the runner tells the testbench inside the simulator: a small JSON file, named by an environment variable."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

JOB_VARIABLE = "MMAU_COSIM_JOB"
"""Environment variable that names the job file."""

ENDED = "the design ended the simulation"
"""Why a run stopped whose simulation was over before its vectors were."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One simulation, as the testbench needs it.

    Attributes:
        design: what is simulated, or what the Verilog of one's own should be, as `Design.as_table` writes it.
        vectors, seed: of the stimulus. first: number of its first vector in the run.
        selection: which of the vectors are sent, as `Selection.as_table` writes it; None for all.
        fail_fast: whether the first mismatch ends it.
        simulator: for the report.
        timing: how the Verilog is driven, as `Timing.as_table` writes it.
        compare: what may differ on purpose, the fields of `Compare`.
        results: dot products that go in and come out at once.
        parent: process that runs the simulator, without which it ends too.
        vector: the only vector, of a run in native code, in place of those of the seed: `row` as the program wrote it, and
            `classes`, the names of its classes by number; None where there is none.
        report_file, heartbeat_file: where the testbench leaves its report and its signs of life.
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
    parent: int
    report_file: str
    heartbeat_file: str
    vector: dict[str, Any] | None = None

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
