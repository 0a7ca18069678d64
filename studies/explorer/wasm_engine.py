"""The native engine's general path as a WebAssembly module, compiled by the clang that the package ziglang carries."""

import sys
import tempfile
from functools import cache
from pathlib import Path

from golden.processes import run_tool

SOURCE = Path(__file__).with_name("engine.cpp")
NATIVE = Path(__file__).parents[2] / "golden" / "native"

EXPORTS = ("mmau_memory", "mmau_memory_size", "mmau_dot", "mmau_count_records", "mmau_observe")
"""Functions that the page calls."""

FLAGS = (
    "-target", "wasm32-wasi", "-mexec-model=reactor", "-Os", "-std=c++17", "-fno-exceptions", "-fno-rtti",
    "-ffp-contract=off",  # no multiplication may be fused with an addition unasked
    "-Wl,--strip-all",
)  # fmt: skip


@cache
def compiled() -> bytes:
    """The module's bytes.

    Raises:
        RuntimeError: ziglang is not installed, or the compiler failed; with the compiler's text.
    """
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "engine.wasm"
        folders = [f"-I{NATIVE / 'include'}", f"-I{NATIVE / 'src'}"]
        exports = [f"-Wl,--export={name}" for name in EXPORTS]
        command = [sys.executable, "-m", "ziglang", "c++", *FLAGS, *folders, str(SOURCE), *exports, "-o", str(module)]
        result = run_tool(command)
        if result.returncode:
            raise RuntimeError(
                f"the engine was not compiled to WebAssembly (extra `site` has the compiler):\n{result.stderr}"
            )
        return module.read_bytes()
