"""The processor as read from /proc/cpuinfo."""

import re

import pytest

from hwtests.cpu.host_processor import this_processor
from hwtests.device import DeviceError

CPUINFO = """\
processor\t: 0
cpu family\t: 6
model\t\t: 207
model name\t: Intel(R) Xeon(R) Processor
stepping\t: 2
microcode\t: 0x1
flags\t\t: fpu avx512f avx512_bf16 amx_tile

processor\t: 1
flags\t\t: fpu
"""


def test_first_processor_of_the_list() -> None:
    found = this_processor(CPUINFO)
    assert found.name == "Intel(R) Xeon(R) Processor, family 6, model 207, stepping 2"
    assert found.microcode == "0x1"
    assert found.flags == {"fpu", "avx512f", "avx512_bf16", "amx_tile"}


def test_processor_of_another_kind() -> None:
    message = r"this machine's processor, .*, is no x86 one, and no other is conformed to"
    with pytest.raises(DeviceError, match=f"^{message}$"):
        this_processor(re.sub("flags", "Features", CPUINFO))
