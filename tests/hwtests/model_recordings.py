"""Recordings made by the model, in temporary folders of tests: they exercise the format and claim nothing of silicon."""

import numpy as np

import golden
from golden.recordings.recording import OWN, VERSION, Header, Recording
from golden.stimulus import NAMES, OperandShape, generate

SCALED = ("sm_120", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0")
PLAIN = ("sm_90", "mma.m16n8k16.f32.f16.f16.f32")


def made_by_the_model(arch: str, name: str, rows: int = 200) -> Recording:
    """A recording whose device is the golden model itself."""
    instruction = golden.instruction(arch, name)
    stimulus = generate(OperandShape.of(instruction), rows, seed=1)
    header = Header(
        version=VERSION, arch=arch, instruction=name, kind="silicon", device="golden model, not a device", driver="none",
        runtime="none", compiler="none", date="2000-01-01", seed=1, names=NAMES, who=OWN, licence="Apache-2.0",
    )  # fmt: skip
    return Recording(header, stimulus.operands, instruction.dot(*stimulus.operands), np.asarray(stimulus.label))
