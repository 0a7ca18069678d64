"""Parts by the names that people give them, such as H100 or RTX 4090, and the architecture whose arithmetic each is read as.

>>> from golden.catalogue.parts import find_part
>>> find_part("RTX 3090").arch
'sm_80'
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Part:
    """A part that people name, such as a graphics card or a processor.

    Attributes:
        name: the name that it was asked for by. target: the compiler's name of its kind, such as sm_86.
        arch: the architecture of the catalogue whose arithmetic it is read as.
        note: what that rests on where the target is another, or empty.
    """

    name: str
    target: str
    arch: str
    note: str = ""


@cache
def _table() -> dict[str, tuple[str, str, str]]:
    """Each spelling of a part, whole and without the words beside the name, mapped to its target, architecture and note."""
    return {
        spelling: (row["target"], row["arch"], row.get("note", ""))
        for row in _rows()
        for name in (row["target"], *row["names"])
        for spelling in (words(name), _bare(name))
    }


_SPELLING = re.compile(r"[A-Za-z0-9]+(?:(?:[ _-]|(?<=[0-9])\.(?=[0-9]))[A-Za-z0-9]+)*")
_WORD = re.compile(r"[a-z]+|[0-9]+[a-z]*")

_MAKERS = re.compile(
    r"\b(?:nvidia|amd|geforce|radeon|instinct|tesla|jetson|generation|blackwell|laptop|workstation|server|max q|edition"
    r"|gpu|ti|super|(?:sxm|pcie|nvl)\d*|\d+\s?gb|hbm\d\w?)\b"
)
"""Words beside the name of a part: makers, families, sockets, sizes of memory, and what sells a chip anew."""


def words(name: str) -> str:
    """A name's words in lower case, joined by one blank: `sm_90`, `SM90` and `sm-90` all give `sm 90`."""
    return " ".join(_WORD.findall(name.lower()))


def is_spelt(name: object) -> bool:
    """Whether something can be the name of an architecture or a part: words joined by a blank, `-` or `_`."""
    return isinstance(name, str) and _SPELLING.fullmatch(name) is not None


def _bare(name: str) -> str:
    """A name's words without those beside the name of a part."""
    return words(_MAKERS.sub(" ", name.replace("-", " ").replace("_", " ").lower()))


def find_part(name: object) -> Part | None:
    """The part of a name, None if there is no such part. Case, makers and sizes of memory do not matter, nor what is
    behind a colon."""
    plain = name.partition(":")[0] if isinstance(name, str) else name
    if not isinstance(plain, str) or not is_spelt(plain):
        return None
    found = _table().get(words(plain)) or _table().get(_bare(plain))
    return None if found is None else Part(str(name), *found)


def part_names() -> list[str]:
    """The names of all parts, as people write them."""
    return [name for row in _rows() for name in (*row["names"], row["target"])]


def names_of(arch: str) -> list[str]:
    """The names of the parts of an architecture, without those that are only read as it."""
    return [name for row in _rows() if row["target"] == arch for name in row["names"] if not name.startswith(arch)]


@cache
def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tomllib.loads((files(__package__) / "parts.toml").read_text(encoding="utf-8"))["part"]
    return rows
