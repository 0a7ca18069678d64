"""Patterns in the site's navigation."""

import re

import pytest

from studies.site.generated_pages import instruction_pages
from studies.site.navigation import expanded


def test_pattern_stands_for_the_pages_not_named_elsewhere() -> None:
    nav = ["a.md", {"B": ["b/one.md", "b/*"]}, {"C": "c/*"}]
    pages = ["a.md", "b/one.md", "b/two.md", "b/three.md", "c/x.md"]
    assert expanded(nav, pages) == ["a.md", {"B": ["b/one.md", "b/two.md", "b/three.md"]}, {"C": ["c/x.md"]}]


def test_pattern_that_matches_nothing_is_refused() -> None:
    message = "the navigation's pattern d/* must match a page, got none; correct it in mkdocs.yml"
    with pytest.raises(ValueError, match=re.escape(message)):
        expanded(["d/*"], ["a.md"])


def test_headings_of_instruction_pages_differ() -> None:
    """Two arithmetics of the same formats, such as FP8 of Hopper's `mma` and `wgmma`, have headings of their own."""
    for path, text in instruction_pages():
        headings = [line for line in text.splitlines() if line.startswith("## ")]
        assert len(set(headings)) == len(headings), path
