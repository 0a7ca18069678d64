"""Writes the page as one file that contains style, data, engine and scripts, so that it opens from a disk."""

import base64
import json
from pathlib import Path

from golden import html
from golden.html import Markup, element
from studies.explorer import catalogue, wasm_engine

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
        element("script", Markup(base64.b64encode(wasm_engine.compiled()).decode()), id="engine", type="text/plain"),
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
