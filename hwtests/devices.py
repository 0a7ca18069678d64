"""Which device conformance runs on: this machine's GPU, of the vendor that the architecture asked for has. Where none is
asked for, NVIDIA's; its AMD GPU where CuPy is missing and hip-python is not."""

from importlib.util import find_spec

from hwtests.device import Device


def open_device(arch: str | None = None) -> Device:
    """The device.

    Args:
        arch: the architecture that it should have, None for any.

    Raises:
        DeviceError: no usable device; one line for the user.
    """
    is_amd = find_spec("cupy") is None and find_spec("hip") is not None if arch is None else arch.startswith("gfx")
    if is_amd:
        from hwtests.amd.hip_device import HipDevice

        return HipDevice()
    from hwtests.nvidia.cupy_device import CudaDevice

    return CudaDevice()
