"""The recordings of silicon as an archive of its own, with a citation file, so that it can be deposited and cited."""

import io
import json
import tarfile
from pathlib import Path

from studies.release.archive import write_archive
from studies.release.committed_tree import Tree
from studies.release.materials import sources

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
    """The project's citation, of the data. No licence holds for all rows: those of others are references with theirs."""
    lines = (tree.folder / "CITATION.cff").read_text(encoding="utf-8").split("\nabstract:")[0].splitlines()
    kept = [line for line in lines if not line.startswith(("type:", "title:", "message:", "license:"))]
    added = [
        "message: If you use these recordings, please cite them as below, and the references whose rows you use.",
        "type: dataset",
        'title: "MMAU recordings: outputs of matrix multiply-accumulate units"',
        f"commit: {tree.commit}",
        "abstract: >-",
        "  Operands and results of matrix instructions on GPUs and processors, bit for bit. Rows that this project recorded",
        "  are under Apache-2.0; each folder of rows of others holds its LICENSE.",
        "references:",
    ]
    for name, commit, licence in sources(tree.folder):
        authors = [f"      - name: {json.dumps(each)}" for each in authors_of(tree.folder, name)]
        added += ["  - type: data", f"    title: {json.dumps(name)}", "    authors:", *authors]
        added += [f"    commit: {json.dumps(commit)}", f"    license: {licence}"]
        added += [f"    repository-code: https://github.com/{name}"]
    return "\n".join([*kept, *added]) + "\n"


def authors_of(folder: Path, source: str) -> list[str]:
    """Who recorded the rows of a source, as the index says."""
    index = json.loads((folder / FOLDER / "index.json").read_text(encoding="utf-8"))
    said = sorted({entry["who"] for entry in index.values() if entry["source"].startswith(source)})
    return [name for each in said for name in each.split(", ")]
