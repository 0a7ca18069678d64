"""The notes of a release: the version's section of CHANGELOG.md, which every change adds to."""

import re
from pathlib import Path

from studies.release.committed_tree import Tree


def release_notes(tree: Tree, out: Path) -> Path:
    """Write the release notes of the tree's version.

    Raises:
        ValueError: changes are listed under "Unreleased", or the version has no section with a date.
    """
    (version,) = re.findall(
        r'^version = "(.*)"$', (tree.folder / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE
    )
    text = section((tree.folder / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    file = out / f"mmau-{version}-notes.md"
    file.write_text(text, encoding="utf-8")
    return file


def section(changelog: str, version: str) -> str:
    """A version's section of a changelog.

    Raises:
        ValueError: as `release_notes`.
    """
    sections = dict(re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL))
    if sections.get("Unreleased", "").strip():
        raise ValueError(f'CHANGELOG.md must have no changes under "Unreleased" in a release; move them under {version}')
    dated = [name for name in sections if re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", name)]
    if len(dated) != 1:
        raise ValueError(f'CHANGELOG.md must have one section "## {version} (YYYY-MM-DD)", got {len(dated)}')
    return f"# MMAU {dated[0]}\n{sections[dated[0]].rstrip()}\n"
