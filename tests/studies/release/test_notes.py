"""The notes of a release are the changelog's section of its version."""

import re

import pytest

from studies.release.__main__ import section

CHANGELOG = (
    "# Changelog\n\n## Unreleased\n\n## 1.0.0 (2026-11-25)\n\nFirst.\n\n### Added\n\n- a\n\n## 0.1.0 (2026-01-01)\n\n- b\n"
)


def test_notes_are_the_section_of_the_version() -> None:
    assert section(CHANGELOG, "1.0.0") == "# MMAU 1.0.0 (2026-11-25)\n\nFirst.\n\n### Added\n\n- a\n"
    assert section(CHANGELOG, "0.1.0") == "# MMAU 0.1.0 (2026-01-01)\n\n- b\n"


@pytest.mark.parametrize(
    ("changelog", "complaint"),
    [
        (
            CHANGELOG.replace("## Unreleased\n", "## Unreleased\n\n- c\n"),
            'CHANGELOG.md must have no changes under "Unreleased" in a release; move them under 1.0.0',
        ),
        (
            CHANGELOG.replace("2026-11-25", "unreleased"),
            'CHANGELOG.md must have one section "## 1.0.0 (YYYY-MM-DD)", got 0',
        ),
    ],
)
def test_changelog_that_is_not_ready_is_refused(changelog: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}$"):
        section(changelog, "1.0.0")
