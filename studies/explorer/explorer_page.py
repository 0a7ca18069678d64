"""Writes the page as one file that contains style, data, engine and scripts, so that it opens from a disk."""

import base64
import json
import sys
import tempfile
from functools import cache
from pathlib import Path

from golden import html
from golden.html import Markup, element
from golden.processes import run_tool
from studies.explorer import catalogue

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


FOLDER = Path(__file__).parent

SCRIPTS = ("numbers.js", "engine.js", "trace.js", "presets.js", "page.js")
"""The scripts, each after those that it needs."""


def page() -> str:
    """The whole page.

    Raises:
        RuntimeError: the engine could not be compiled.
    """
    body = [
        element("style", Markup(_text("page.css"))),
        Markup(_text("page.html")),
        element("script", Markup(_data()), id="data", type="application/json"),
        element("script", Markup(base64.b64encode(compiled()).decode()), id="engine", type="text/plain"),
        element("script", Markup(scripts())),
    ]
    return html.page("MMAU instruction explorer", *body)


def scripts() -> str:
    """The page's scripts as one."""
    return '"use strict";\n' + "\n".join(_text(name) for name in SCRIPTS)


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _data() -> str:
    """JSON inside a script element: `<` would end it early."""
    return json.dumps(catalogue.data(), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
