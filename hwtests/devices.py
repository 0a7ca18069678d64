"""Selects the device that conformance runs on: this machine's GPU of the vendor that the requested architecture belongs to.

If no architecture is requested, it is the NVIDIA GPU, or the AMD GPU if CuPy is missing and hip-python is installed.
"""

from importlib.util import find_spec

from hwtests.device import Device


def open_device(arch: str | None = None) -> Device:
    """Open this machine's GPU.

    Args:
        arch: the architecture that it must have, None for any.

    Raises:
        DeviceError: no usable device; one line for the user.
    """
    is_amd = find_spec("cupy") is None and find_spec("hip") is not None if arch is None else arch.startswith("gfx")
    if is_amd:
        from hwtests.amd.hip_device import HipDevice

        return HipDevice()
    from hwtests.nvidia.cupy_device import CudaDevice

    return CudaDevice()
