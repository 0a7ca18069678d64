"""Public projects that peer tests run beside the models, each at one commit, from a folder that the user names.

`python -m tests.peers FOLDER` clones them there; `MMAU_PEERS=FOLDER make peer` then runs the tests. Nothing of them is
part of this project: a test unpacks the commit beside the clone, and builds it there.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

VARIABLE = "MMAU_PEERS"


@dataclass(frozen=True)
class Peer:
    """A public repository at a commit."""

    url: str
    commit: str
    licence: str


PEERS = {
    "hardware_rounding_error_predictor": Peer(
        "https://github.com/NaciCankaya/hardware_rounding_error_predictor", "3f7cdf7", "Apache-2.0"
    ),
    "gpu-simulator": Peer("https://github.com/badasherez/gpu-simulator", "30703fc", "MIT"),
    "riscv-isa-sim": Peer("https://github.com/riscv-software-src/riscv-isa-sim", "55b4658", "BSD-3-Clause"),
    "softfloat": Peer("https://github.com/ucb-bar/berkeley-softfloat-3", "a0c6494", "BSD-3-Clause"),
    "cvfpu": Peer("https://github.com/openhwgroup/cvfpu", "0ad2cd7", "SHL-0.51"),
    "pulp-cvfpu": Peer("https://github.com/pulp-platform/cvfpu", "e5aa6a0", "SHL-0.51"),
    "redmule": Peer("https://github.com/pulp-platform/redmule", "ef6f08a", "SHL-0.51"),
    "fpu-sp": Peer("https://github.com/taneroksuz/fpu-sp", "14f7f9f", "MIT"),
    "hardfloat": Peer("https://github.com/bsg-external/HardFloat", "aaf5736", "BSD-3-Clause"),
    "dawsonjon-fpu": Peer("https://github.com/dawsonjon/fpu", "c45d5e0", "MIT"),
    "common_cells": Peer("https://github.com/pulp-platform/common_cells", "6aeee85", "SHL-0.51"),
}


def unpacked(name: str) -> Path:
    """The folder with the files of a peer's commit; skips the test where the user has not fetched it."""
    root = os.environ.get(VARIABLE)
    if not root or not (Path(root) / name).exists():
        pytest.skip(f"{name} is not fetched: python -m tests.peers FOLDER, and {VARIABLE}=FOLDER")
    made = Path(root) / f"{name}-{PEERS[name].commit}"
    if not made.exists():
        archive = subprocess.run(
            ["git", "-C", str(Path(root) / name), "archive", PEERS[name].commit], capture_output=True, check=True
        )
        partial = Path(tempfile.mkdtemp(dir=root))
        subprocess.run(["tar", "-x", "-C", str(partial)], input=archive.stdout, check=True)
        try:
            partial.rename(made)
        except OSError:  # another worker was faster
            shutil.rmtree(partial)
    return made


def fetch(folder: Path) -> None:
    """Clone every peer that is not there yet."""
    for name, peer in PEERS.items():
        if not (folder / name).exists():
            subprocess.run(["git", "clone", "--quiet", peer.url, str(folder / name)], check=True)
        print(f"{name}: {peer.url} at {peer.commit} ({peer.licence})")


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
