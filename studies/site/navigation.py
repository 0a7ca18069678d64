"""Patterns in the navigation of mkdocs.yml: `evidence/*` means every page that matches and is not named elsewhere."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

Entry = Any
"""A path, or a title with a path or with entries below it."""


def expanded(nav: Sequence[Entry], pages: Sequence[str]) -> list[Entry]:
    """The navigation with each pattern replaced by the pages that match, in the order of `pages`.

    Raises:
        ValueError: a pattern that no page matches.
    """
    named = {path for path in _paths(nav) if "*" not in path}
    return [found for entry in nav for found in _entries(entry, named, pages)]


def _paths(entry: Entry) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for below in entry.values() if isinstance(entry, dict) else entry:
            yield from _paths(below)


def _entries(entry: Entry, named: set[str], pages: Sequence[str]) -> list[Entry]:
    if isinstance(entry, str):
        return _matching(entry, named, pages) if "*" in entry else [entry]
    ((title, below),) = entry.items()
    if isinstance(below, str):
        return [{title: _matching(below, named, pages)}] if "*" in below else [entry]
    return [{title: [found for each in below for found in _entries(each, named, pages)]}]


def _matching(pattern: str, named: set[str], pages: Sequence[str]) -> list[Entry]:
    found = [page for page in pages if fnmatchcase(page, pattern) and page not in named]
    if not found:
        raise ValueError(f"the navigation's pattern {pattern} must match a page, got none; correct it in mkdocs.yml")
    return list(found)
