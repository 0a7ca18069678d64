"""Pages of docs/ that a program writes, with the plots and data that they show."""

from collections.abc import Mapping
from pathlib import Path

from golden.files import write_atomically

Files = Mapping[str, bytes]
"""The files of one page: name to content."""


def made_by(target: str) -> str:
    """The sentence that says which make target writes a page."""
    return f"`make {target}` writes this page."


def write_files(folder: Path, files: Files) -> None:
    """Write the files of a page into a folder, which is made where it is missing.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_atomically(folder / name, content)
