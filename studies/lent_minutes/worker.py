"""The worker of the list: a process on the device that does the open units of one item and reports what it finds.

python -m studies.lent_minutes.worker
"""

import sys
import time
from base64 import b64decode, b64encode
from dataclasses import asdict
from typing import Any

from golden.processes import Channel
from hwtests.conform.campaign_worker import run_of
from hwtests.device import DeviceError, first_line
from hwtests.nvidia.cupy_device import CudaDevice
from studies.lent_minutes.items import ITEMS
from studies.lent_minutes.work import ARCH, COLD_SECONDS, Entry, TimeUp


class _Telling:
    """`Progress` of a unit, told through a channel."""

    def __init__(self, channel: Channel, unit: str, ends: float, files: dict[str, bytes]) -> None:
        self._channel, self._unit, self._ends, self._files = channel, unit, ends, files

    def report(self, entry: Entry) -> None:
        self._channel.send("unit", unit=self._unit, entry=entry, allow=COLD_SECONDS)
        if time.monotonic() >= self._ends:
            raise TimeUp

    def keep(self, name: str, content: bytes) -> None:
        self._files[name] = content
        self._channel.send("file", file=name, content=b64encode(content).decode())

    def kept(self, name: str) -> bytes | None:
        return self._files.get(name)


def main() -> int:
    """Receive the request, do the open units, and send what is found; returns the exit status.

    The request: `item`, its name; `units`, what is known of each open one; `files`, what was kept, in base64; `ends`, by the
    clock of `time.monotonic`, which the processes of a machine share.
    """
    channel = Channel()
    given = channel.receive()
    files = {name: b64decode(content) for name, content in given["files"].items()}
    (item,) = [item for item in ITEMS if item.name == given["item"]]
    try:
        device = CudaDevice()
        about = device.describe()
        if about.arch != ARCH:
            raise DeviceError(f"this list is for {ARCH}, and this machine's GPU, {about.device}, is {about.arch}")
        channel.send("machine", machine=asdict(about), run=run_of(device) | {"item": item.name}, allow=COLD_SECONDS)
        work = item.work(device)
    except (ValueError, OSError) as error:
        channel.send("error", message=str(error))
        return 2
    for unit, entry in given["units"].items():
        telling = _Telling(channel, unit, given["ends"], files)
        try:
            telling.report(entry | {"status": "running"})
            found: dict[str, Any] = work.do(unit, entry, telling)
        except TimeUp:
            return 0
        except ValueError as error:
            found = entry | {"status": "failed", "detail": first_line(error)}
        except MemoryError as error:
            found = entry | {"status": "failed", "detail": f"out of memory: {first_line(error)}"}
        channel.send("unit", unit=unit, entry=found, allow=COLD_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
