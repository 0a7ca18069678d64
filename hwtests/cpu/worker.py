"""The worker of a campaign on this machine's processor: `python -m hwtests.cpu.worker ARCH`, as `hwtests.conform.worker`."""

import sys

from hwtests.conform.worker import main
from hwtests.cpu.device import ProcessorDevice

if __name__ == "__main__":
    sys.exit(main(lambda: ProcessorDevice(sys.argv[1])))
