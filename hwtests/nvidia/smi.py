"""The report of `nvidia-smi`, which comes with the driver, on the first device."""

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
"""The report's word to the program's."""


def queried() -> dict[str, str]:
    """Word to value, with units, as the program writes them; empty where it is missing or refuses."""
    command = ["nvidia-smi", "--id=0", f"--query-gpu={','.join(FIELDS.values())}", "--format=csv,noheader"]
    try:
        result = run_tool(command, timeout=60)
        result.check_returncode()
    except (OSError, subprocess.SubprocessError):
        return {}
    values = [value.strip() for value in result.stdout.strip().split(",")]
    return dict(zip(FIELDS, values, strict=True)) if len(values) == len(FIELDS) else {}
