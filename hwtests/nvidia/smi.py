"""What `nvidia-smi`, which comes with the driver, reports about the first device."""

import subprocess

from golden.processes import run_tool

FIELDS = {
    "driver": "driver_version",
    "uuid": "uuid",
    "sm_clock": "clocks.sm",
    "memory_clock": "clocks.mem",
    "largest_sm_clock": "clocks.max.sm",
    "temperature": "temperature.gpu",
    "power": "power.draw",
}
"""Key of a report to the name of the field in `nvidia-smi`."""


def queried() -> dict[str, str]:
    """The fields of the first device, with units as `nvidia-smi` writes them; empty if it is missing or fails."""
    command = ["nvidia-smi", "--id=0", f"--query-gpu={','.join(FIELDS.values())}", "--format=csv,noheader"]
    try:
        result = run_tool(command, timeout=60)
        result.check_returncode()
    except (OSError, subprocess.SubprocessError):
        return {}
    values = [value.strip() for value in result.stdout.strip().split(",")]
    return dict(zip(FIELDS, values, strict=True)) if len(values) == len(FIELDS) else {}
