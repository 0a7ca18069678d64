"""Links between pages and files outside docs/: the README is the front page, and sources that pages link to are copied."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

PAGES = {
    "README.md": "index.md",
    "docs/README.md": "questions.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "hwtests/recordings/README.md": "reference/recordings.md",
    "tests/data/README.md": "evidence/data.md",
}
"""Documents that have another place in the site, and that place. docs/README.md would be the front page otherwise."""

_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")


def place(path: str) -> str | None:
    """The path in the site of a file of the project; None if the site does not have it. Paths are relative, with slashes."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"sources/{path}" if (ROOT / path).is_file() else None


def with_site_links(text: str, document: str) -> str:
    """A document's text with its relative links as the site needs them.

    Args:
        document: its path in the project.
    """
    own = place(document)
    assert own is not None

    def linked(found: re.Match[str]) -> str:
        target = _target(document, found[2])
        site = place(target) if target is not None else None
        return found[0] if site is None else f"{found[1]}{os.path.relpath(site, os.path.dirname(own) or '.')}{found[3]}"

    return _LINK.sub(linked, text)


def linked_sources(text: str, document: str) -> Iterator[str]:
    """The files outside docs/ that a document links to and that are no pages of the site."""
    for found in _LINK.finditer(text):
        target = _target(document, found[2])
        if target is not None and (place(target) or "").startswith("sources/"):
            yield target


def _target(document: str, link: str) -> str | None:
    """The project's file that a relative link names; a folder's is its README. None for links to elsewhere."""
    if "://" in link or link.startswith(("mailto:", "/")):
        return None
    path = os.path.normpath(os.path.join(os.path.dirname(document), link))
    if (ROOT / path).is_dir():
        path = f"{path}/README.md"
    return None if path.startswith("..") or not (ROOT / path).is_file() else path
