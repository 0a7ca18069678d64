"""The worker of a campaign on this machine's processor: `python -m hwtests.cpu.processor_worker ARCH`.

It receives a job and sends events as `hwtests.conform.campaign_worker` does.
"""

import sys

from hwtests.conform.campaign_worker import main
from hwtests.cpu.host_processor import ProcessorDevice

if __name__ == "__main__":
    sys.exit(main(lambda _: ProcessorDevice(sys.argv[1])))
