"""A promise that is written again for a release never loses what was promised before."""

import json
import shutil
from pathlib import Path

import pytest

from tests.promises import remake
from tests.promises.old_files import FILES

LISTS = ("python-names.txt", "command-line.json", "schemas/list.json")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the promised lists, which are written instead."""
    shutil.copytree(FILES / "schemas", tmp_path / "schemas")
    for name in LISTS[:2]:
        shutil.copy(FILES / name, tmp_path / name)
    monkeypatch.setattr(remake, "FILES", tmp_path)
    return tmp_path


def test_names_that_are_kept_are_written_down_again(folder: Path) -> None:
    lines = (folder / "python-names.txt").read_text().splitlines(keepends=True)
    (folder / "python-names.txt").write_text("".join(lines[1:]))
    remake.main()
    assert lines[0] in (folder / "python-names.txt").read_text().splitlines(keepends=True)


@pytest.mark.attack("promise")
@pytest.mark.parametrize("name", LISTS)
def test_promise_that_is_broken_is_not_written_over(name: str, folder: Path) -> None:
    """A name, an option and a key that today does not have."""
    file = folder / name
    if name == "python-names.txt":
        file.write_text(file.read_text() + "golden.gone(x)\n")
        complaint = r"golden\.gone\(x\): is gone"
    elif name == "command-line.json":
        options = json.loads(file.read_text())
        options["gone"] = {}
        file.write_text(json.dumps(options))
        complaint = "mmau gone: is gone"
    else:
        schema = json.loads(file.read_text())
        schema["properties"]["gone"] = {"type": "string"}
        file.write_text(json.dumps(schema))
        complaint = r"list\.json \$\.gone: is gone"
    before = {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()}
    with pytest.raises(SystemExit, match=complaint):
        remake.main()
    assert {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()} == before
