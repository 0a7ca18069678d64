"""The project's documents: their code blocks, their links, and the commands, paths and names that they mention."""

import importlib.util
import os
import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

DOCUMENTS = tuple(
    path
    for pattern in ("*.md", "docs/**/*.md", "hwtests/**/*.md", "tests/**/*.md", "examples/**/*.md")
    for path in sorted(ROOT.glob(pattern))
    if path.name != "CHANGELOG.md"
)
"""Every document that describes the tree as it is; the changelog names what is gone, too."""

INSTALLED = ("golden", "rtl", "cosim", "hwtests", "mmau")
"""The packages of the wheel."""

PACKAGES = (*INSTALLED, "studies")

LANGUAGES = ("python", "toml", "sh", "makefile", "systemverilog", "c", "text")
"""The kinds of fenced blocks. `text` is what the line before it prints, or a picture; all others are checked."""

EXAMPLE_PAGES = tuple(ROOT / "docs" / "guides" / name for name in ("frameworks.md", "explore-network.md"))
"""Pages whose Python is that of programs under examples/, which need PyTorch and the like: `make peer` runs them."""

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it starts (line of its first line of code), its language and its text."""

    document: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


@cache
def blocks(document: Path) -> tuple[Block, ...]:
    """A document's fenced blocks, in order."""
    text = document.read_text(encoding="utf-8")
    return tuple(
        Block(document, text.count("\n", 0, found.start()) + 2, found[2], textwrap.dedent(found[3]))
        for found in _FENCE.finditer(text)
    )


def all_blocks(*languages: str) -> list[Block]:
    """The blocks of those languages in every document."""
    return [block for document in DOCUMENTS for block in blocks(document) if block.language in languages]


def prose(document: Path) -> str:
    """A document without its fenced blocks."""
    return _FENCE.sub("", document.read_text(encoding="utf-8"))


def links(document: Path) -> list[str]:
    """The targets of a document's links, those to the web aside."""
    return [target for target in _LINK.findall(prose(document)) if not target.startswith("http")]


def code_spans(document: Path) -> list[str]:
    """The text between backticks in a document's prose; in tables, `\\|` is `|`."""
    return [span.replace("\\|", "|") for span in _CODE.findall(prose(document))]


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a shell block, as words; comments are dropped, lines that end in a backslash are joined."""
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words


def is_module(name: str) -> bool:
    """Whether a module can be imported. An editable installation also finds modules whose file has gone since."""
    spec = importlib.util.find_spec(name)
    return spec is not None and (spec.origin is None or Path(spec.origin).is_file())


@cache
def files() -> frozenset[str]:
    """Files and folders of the project, from its root, without what is built or installed."""
    skipped = {".git", ".venv", "build", "dist", "__pycache__", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
    found = set()
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in skipped or (name, Path(folder).name) == ("build", "cosim")]
        found |= {(Path(folder) / name).relative_to(ROOT).as_posix() for name in (*folders, *names)}
    return frozenset(found)
