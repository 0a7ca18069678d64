"""Builds the JSON objects that commands print. Each begins with the name of its schema, such as `mmau.cosim/1`, which is a
file in the folder `schemas`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from golden.arithmetic.conversion import Conversion

SCHEMAS = Path(__file__).with_name("schemas")
"""Folder of the schemas, one file `NAME.json` each (JSON Schema, draft 2020-12). Within a version keys may be added; no key
is removed and none changes its type."""

VERSIONS = {
    "compare": 1, "conform": 1, "cosim": 1, "distinguish": 1, "eval": 1, "evidence": 1, "explain": 1, "explore": 1,
    "list": 1, "order": 1, "probe": 1, "probe-features": 1, "probe-recording": 1, "prove": 1, "rtl": 1, "vectors": 1,
}  # fmt: skip
"""The version of each schema."""


def print_object(name: str, found: Mapping[str, Any]) -> None:
    """Print an object as one line of JSON that says which schema it follows.

    Args:
        name: a key of `VERSIONS`.
    """
    print(text(name, found))


def text(name: str, found: Mapping[str, Any]) -> str:
    """The line that `print_object` prints."""
    return json.dumps({"schema": schema_of(name), **found}, default=_named)


def _named(value: object) -> str:
    """A ρ, which keys hold by itself where its format is the user's, by its name."""
    if isinstance(value, Conversion):
        return value.name
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def schema_of(name: str) -> str:
    """The name of a schema with its version, as objects hold it under the key `schema`."""
    return f"mmau.{name}/{VERSIONS[name]}"
