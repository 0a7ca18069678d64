"""The worker of the job: a separate process on the device, which sends its results (hwtests.conform.process).

python -m studies.h200.job_worker
"""

import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from golden.processes import Channel
from hwtests.conform.campaign_worker import run_of
from hwtests.conform.process import COLD_SECONDS
from hwtests.device import DeviceError, first_line
from studies.h200.job_stages import ARCH, PREBUILD, Job, Stages
from studies.h200.timed_device import Bench


def main(open_bench: Callable[[], Bench]) -> int:
    """Receive the job, run it and send events; return the exit status."""
    channel = Channel()
    given = channel.receive()
    job = Job(**given | {"targets": tuple(given["targets"])})
    try:
        device = open_bench()
        about = device.describe()
        if about.arch != ARCH:
            raise DeviceError(f"this job is for {ARCH}, and this machine's GPU, {about.device}, is {about.arch}")
        channel.send("device", **asdict(about), engine=device.engine, run=run_of(device), allow=COLD_SECONDS)
        channel.send("prebuilt", **prebuilt(device, job), allow=COLD_SECONDS)
        Stages(device, job, lambda **content: channel.send("item", **content)).run()
    except (ValueError, OSError) as error:
        channel.send("error", message=str(error))
        return 2
    return 0


def prebuilt(device: Bench, job: Job) -> dict[str, Any]:
    """Compile ahead for the remaining seconds of that stage, and at most half of the remaining call. If it is not possible,
    for lack of disk space or memory, kernels are compiled at their first use: a note says why."""
    seconds = min(job.budgets.get(PREBUILD, float("inf")), (job.ends - time.monotonic()) / 2)
    if seconds <= 0:
        return {"kernels": 0, "note": "no time is left to compile ahead"}
    try:
        return {"kernels": device.prebuild(seconds), "note": ""}
    except (OSError, RuntimeError) as error:
        return {"kernels": 0, "note": f"nothing is compiled ahead: {first_line(error)}"}


if __name__ == "__main__":
    from studies.h200.timed_device import CudaBench

    sys.exit(main(CudaBench))
