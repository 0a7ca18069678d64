"""Linux's description of this machine's processor."""

import platform
from dataclasses import dataclass
from pathlib import Path

from hwtests.device import DeviceError

CPUINFO = Path("/proc/cpuinfo")


@dataclass(frozen=True)
class Processor:
    """The first processor of a machine.

    Attributes:
        name: model name, family, model and stepping.
        microcode: revision of the microcode.
        flags: features, as the kernel spells them.
    """

    name: str
    microcode: str
    flags: frozenset[str]


def this_processor(text: str | None = None) -> Processor:
    """The processor that /proc/cpuinfo, or a text like it, describes.

    Raises:
        DeviceError: no such file, or no x86 processor in it.
    """
    if text is None:
        if not CPUINFO.exists():
            raise DeviceError(f"the processor is read from {CPUINFO}, which {platform.system()} does not have; Linux has it")
        text = CPUINFO.read_text(encoding="utf-8", errors="replace")
    first = text.partition("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    fields = {key.strip(): value.strip() for key, _, value in pairs}
    if "flags" not in fields:
        raise DeviceError(f"this machine's processor, {platform.machine()}, is no x86 one, and no other is conformed to")
    family, model, stepping = (fields.get(key, "unknown") for key in ("cpu family", "model", "stepping"))
    name = f"{fields.get('model name', 'unknown')}, family {family}, model {model}, stepping {stepping}"
    return Processor(name, fields.get("microcode", "unknown"), frozenset(fields["flags"].split()))
