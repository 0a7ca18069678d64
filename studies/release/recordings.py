"""The recordings of silicon as an archive of its own, with a citation file, so that it can be deposited and cited."""

import io
import tarfile
from pathlib import Path

from studies.release.archive import write_archive
from studies.release.tree import Tree

FOLDER = "hwtests/recordings"


def recordings_archive(tree: Tree, out: Path) -> Path:
    """Every file of the recordings' folder, the project's licence, and CITATION.cff of type dataset."""
    file = out / "mmau-recordings.tar.gz"
    names = sorted(path.relative_to(tree.folder).as_posix() for path in (tree.folder / FOLDER).rglob("*") if path.is_file())
    contents = {name.removeprefix(f"{FOLDER}/"): (tree.folder / name).read_bytes() for name in names}
    contents |= {"LICENSE": (tree.folder / "LICENSE").read_bytes(), "CITATION.cff": citation(tree).encode()}
    members = []
    for name, content in contents.items():
        member = tarfile.TarInfo(f"mmau-recordings/{name}")
        member.size = len(content)
        members.append((member, io.BytesIO(content)))
    write_archive(file, tree.epoch, members)
    return file


def citation(tree: Tree) -> str:
    """The project's citation, of the data."""
    lines = (tree.folder / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(("type:", "title:"))]
    added = [
        "type: dataset",
        'title: "MMAU recordings: outputs of matrix multiply-accumulate units"',
        f"commit: {tree.commit}",
    ]
    return "\n".join([*kept, *added]) + "\n"
