"""Which device conformance runs on: this machine's NVIDIA GPU; where CuPy is missing and hip-python is not, its AMD GPU."""

from importlib.util import find_spec

from hwtests.device import Device


def open_device() -> Device:
    """The device.

    Raises:
        DeviceError: no usable device; one line for the user.
    """
    if find_spec("cupy") is None and find_spec("hip") is not None:
        from hwtests.amd.hip_device import HipDevice

        return HipDevice()
    from hwtests.nvidia.cupy_device import CudaDevice

    return CudaDevice()
