"""What `nvidia-smi`, which comes with the driver, says of the first device."""

import subprocess

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
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return {}
    values = [value.strip() for value in result.stdout.strip().split(",")]
    return dict(zip(FIELDS, values, strict=True)) if len(values) == len(FIELDS) else {}
