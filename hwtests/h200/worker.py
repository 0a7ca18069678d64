"""The worker of the job: a process of its own on the device, which emits what it finds (hwtests.conform.process).

python -m hwtests.h200.worker
"""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from hwtests.conform.process import COLD_SECONDS
from hwtests.conform.worker import run_of
from hwtests.device import DeviceError
from hwtests.h200.device import Bench
from hwtests.h200.stages import ARCH, Job, Stages

PREBUILD_SECONDS = 45.0
"""What compiling ahead may take of a call, less than the minute within which the first results must be there. What is left
is compiled at its first use."""


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
        emit("prebuilt", kernels=device.prebuild(min(PREBUILD_SECONDS, job.seconds / 2)), allow=COLD_SECONDS)
        Stages(device, job, lambda **content: emit("item", **content)).run()
    except (ValueError, OSError) as error:
        emit("error", message=str(error))
        return 2
    return 0


if __name__ == "__main__":
    from hwtests.h200.device import CudaBench

    sys.exit(main(CudaBench))
