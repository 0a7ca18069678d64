"""The worker of the job: a process of its own on the device, which emits what it finds (hwtests.conform.process).

python -m hwtests.h200.worker
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from hwtests.conform.process import COLD_SECONDS
from hwtests.conform.worker import run_of
from hwtests.device import DeviceError, first_line
from hwtests.h200.device import Bench
from hwtests.h200.stages import ARCH, PREBUILD, Job, Stages


def emit(event: str, **content: Any) -> None:
    """An event, as a line of JSON."""
    print(json.dumps({"event": event} | content), flush=True)


def main(open_bench: Callable[[], Bench]) -> int:
    """Read the job, run it, emit events; returns the exit status."""
    given = json.load(sys.stdin)
    job = Job(**given | {"targets": tuple(given["targets"])})
    try:
        device = open_bench()
        about = device.describe()
        if about.arch != ARCH:
            raise DeviceError(f"this job is for {ARCH}, and this machine's GPU, {about.device}, is {about.arch}")
        emit("device", **asdict(about), engine=device.engine, run=run_of(device), allow=COLD_SECONDS)
        emit("prebuilt", **prebuilt(device, job), allow=COLD_SECONDS)
        Stages(device, job, lambda **content: emit("item", **content)).run()
    except (ValueError, OSError) as error:
        emit("error", message=str(error))
        return 2
    return 0


def prebuilt(device: Bench, job: Job) -> dict[str, Any]:
    """Compile ahead for what is left to that, and half of what is left of the call at most. Where it is not possible, for
    want of room on the disk or of memory, kernels are compiled at their first use: a note says why."""
    seconds = min(job.budgets.get(PREBUILD, float("inf")), (job.ends - time.monotonic()) / 2)
    if seconds <= 0:
        return {"kernels": 0, "note": "no time is left to compile ahead"}
    try:
        return {"kernels": device.prebuild(seconds), "note": ""}
    except (OSError, RuntimeError) as error:
        return {"kernels": 0, "note": f"nothing is compiled ahead: {first_line(error)}"}


if __name__ == "__main__":
    from hwtests.h200.device import CudaBench

    sys.exit(main(CudaBench))
