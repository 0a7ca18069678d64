"""Build a release into a folder: `python -m studies.release dist` (extra `release`).

A source archive, a wheel for each platform, the bill of materials of the wheels and of what they require, the
recordings as an archive of their own, and the release's notes. Everything is built twice, and the bytes are compared.
"""

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from golden.processes import run_tool
from studies.release.committed_tree import checked_out, exported
from studies.release.compiler import TARGETS
from studies.release.materials import bill_of_materials
from studies.release.notes import release_notes
from studies.release.packages import build_sdist, build_wheel
from studies.release.recordings import recordings_archive


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.release", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder to write; files of other names stay")
    folder: Path = parser.parse_args().folder
    try:
        commit = checked_out()
        with tempfile.TemporaryDirectory() as once, tempfile.TemporaryDirectory() as again:
            first, second = _built(commit, Path(once)), _built(commit, Path(again))
            different = [name for name in first if first[name].read_bytes() != second[name].read_bytes()]
            if different:
                sys.exit(f"two builds differ in {', '.join(different)}: nothing is written")
            check = [sys.executable, "-m", "twine", "check", "--strict", *map(str, _packages(first))]
            run_tool(check, stdout=None, stderr=None).check_returncode()
            folder.mkdir(parents=True, exist_ok=True)
            for name, file in first.items():
                shutil.copy(file, folder / name)
                print(f"{folder / name}: {file.stat().st_size:,} bytes, the same in two builds")
    except ValueError as error:
        sys.exit(f"python -m studies.release: {error}")


def _built(commit: str, scratch: Path) -> dict[str, Path]:
    """All files of a release, by name."""
    tree = exported(commit, scratch / "tree")
    out = scratch / "out"
    out.mkdir()
    files = [build_sdist(tree, out), *(build_wheel(tree, out, platform) for platform in TARGETS)]
    files += [bill_of_materials(tree, out), recordings_archive(tree, out), release_notes(tree, out)]
    return {file.name: file for file in files}


def _packages(files: Mapping[str, Path]) -> list[Path]:
    """Of the files of a release those that a package index takes: the wheels and the source archive, not the recordings'."""
    return [file for name, file in files.items() if re.fullmatch(r"mmau-\d.*(\.whl|\.tar\.gz)", name)]


if __name__ == "__main__":
    main()
