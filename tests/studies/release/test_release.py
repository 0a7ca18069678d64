"""Parts of a release that need no compiler."""

import base64
import hashlib
import json
import re
import subprocess
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from golden import commit as built
from studies.release import committed_tree as release_tree
from studies.release.__main__ import (
    FOLDER,
    _tagged,
    bill_of_materials,
    pinned,
    recordings_archive,
    required,
    sources,
)
from studies.release.committed_tree import Tree, checked_out, exported
from tests.docs.documents import ROOT


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository in the place of the project's."""
    root = tmp_path / "clone"
    (root / "golden").mkdir(parents=True)
    (root / "golden" / "file.py").write_text("x = 1\n")
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    monkeypatch.setattr(release_tree, "ROOT", root)
    return root


def test_tree_holds_the_commit_and_nothing_else(repository: Path, tmp_path: Path) -> None:
    (repository / "notes.txt").write_text("not followed")
    (tmp_path / "tree").mkdir()
    tree = exported(checked_out(), tmp_path / "tree")
    assert sorted(path.name for path in tree.folder.rglob("*") if path.is_file()) == ["commit.txt", "file.py"]
    assert (tree.folder / "golden" / "commit.txt").read_text() == tree.commit + "\n"


def test_changed_file_is_refused(repository: Path) -> None:
    (repository / "golden" / "file.py").write_text("x = 2\n")
    with pytest.raises(ValueError, match=r"^a release is built from a commit, and 1 files differ from it: commit them$"):
        checked_out()


@pytest.mark.site
def test_tagged_wheel_has_one_time(tmp_path: Path) -> None:
    """Also in the files that are written when the wheel gets its platform."""
    pytest.importorskip("wheel", reason="needs the extra `release`")
    epoch = 1_700_000_000
    files = {
        "x-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n",
        "x-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: x\nVersion: 1.0\n",
    }
    lines = [f"{name},sha256={digest_of(text)},{len(text)}" for name, text in files.items()]
    built = tmp_path / "x-1.0-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(built, "w") as archive:
        for name, text in {**files, "x-1.0.dist-info/RECORD": "\n".join([*lines, "x-1.0.dist-info/RECORD,,\n"])}.items():
            archive.writestr(zipfile.ZipInfo(name, time.gmtime(epoch)[:6]), text)
    tagged = _tagged(built, "manylinux_2_17_x86_64", epoch)
    assert tagged.name == "x-1.0-py3-none-manylinux_2_17_x86_64.whl"
    assert {member.date_time for member in zipfile.ZipFile(tagged).infolist()} == {time.gmtime(epoch)[:6]}


def digest_of(text: str) -> str:
    """As the file RECORD of a wheel has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


@pytest.mark.slow
def test_recordings_are_the_same_bytes_each_time_and_can_be_cited(tmp_path: Path) -> None:
    archives = []
    for name in ("once", "again"):
        (tmp_path / name).mkdir()
        archives.append(recordings_archive(Tree(ROOT, "c" * 40, 1_700_000_000), tmp_path / name))
    assert archives[0].read_bytes() == archives[1].read_bytes()
    with tarfile.open(archives[0]) as archive:
        names = {name.removeprefix("mmau-recordings/") for name in archive.getnames()}
        citation = archive.extractfile("mmau-recordings/CITATION.cff")
        assert citation is not None
        text = citation.read().decode()
    held = {path.relative_to(ROOT / FOLDER).as_posix() for path in (ROOT / FOLDER).rglob("*") if path.is_file()}
    assert names == held | {"LICENSE", "CITATION.cff"}
    assert re.findall(r"^[a-z-]+:", text, re.MULTILINE).count("type:") == 1
    assert "type: dataset" in text
    assert f"commit: {'c' * 40}" in text
    assert "type: software" not in text
    assert not re.search("^license:", text, re.MULTILINE), "the rows of others have licences of their own"
    for name, commit, licence in sources(ROOT):
        assert f'  - type: data\n    title: "{name}"' in text, "a reference is no `dataset` in the format's schema"
        assert f'commit: "{commit}"\n    license: {licence}' in text
    assert '- name: "F. A. Khattak"\n      - name: "M. Mikaitis"' in text


@pytest.mark.site
def test_bill_of_materials_is_what_the_wheel_holds_and_brings(tmp_path: Path) -> None:
    """Nothing that only builds or tests the project; the same bytes each time."""
    pytest.importorskip("cyclonedx", reason="needs the extra `release`")
    files = []
    for name in ("once", "again"):
        (tmp_path / name).mkdir()
        files.append(bill_of_materials(Tree(ROOT, "c" * 40, 1_700_000_000), tmp_path / name))
    assert files[0].read_bytes() == files[1].read_bytes()
    bill = json.loads(files[0].read_text())
    assert [each["name"] for each in bill["components"]] == ["ml-dtypes", "numpy"]
    inside = {each["name"]: each for each in bill["metadata"]["component"]["components"]}
    assert set(inside) == {"llvm-project", *(name for name, _, _ in sources(ROOT))}
    assert inside["llvm-project"]["licenses"] == [{"expression": "Apache-2.0 WITH LLVM-exception"}]
    depends = {each["ref"]: each.get("dependsOn", []) for each in bill["dependencies"]}
    assert depends["mmau"] == ["ml-dtypes", "numpy"]
    assert depends["ml-dtypes"] == ["numpy"]


@pytest.mark.attack("release")
@pytest.mark.parametrize("version", [None, "1.0"])
def test_required_package_of_another_version_is_refused(version: str | None) -> None:
    pins = pinned((ROOT / "constraints.txt").read_text()) | {"numpy": version or ""}
    if version is None:
        del pins["numpy"]
    message = (
        rf"^constraints\.txt must have the version of numpy that is installed, [\d.]+, got {version}: correct it, or set up"
    )
    with pytest.raises(ValueError, match=message):
        required(["ml_dtypes"], pins)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path, Path], str]]:
    """The commit that a package in a folder tells, with a release's file beside it."""

    def commit(root: Path, released: Path, *parts: str) -> str:
        built.commit.cache_clear()
        monkeypatch.setattr(built, "ROOT", root)
        monkeypatch.setattr(built, "RELEASED", released)
        return built.commit(parts) if parts else built.commit()

    yield commit
    built.commit.cache_clear()


def test_package_tells_its_own_commit_and_no_other(told: Callable[..., str], repository: Path, tmp_path: Path) -> None:
    """Installed inside somebody's repository; in a folder of packages that is one; in a clone, changes included."""
    installed, released = repository / "venv" / "site-packages", tmp_path / "commit.txt"
    installed.mkdir(parents=True)
    assert told(installed, released) == "unknown"
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repository, capture_output=True, text=True, check=True).stdout
    assert told(repository, released) == head.strip()
    released.write_text("a" * 40 + "\n")
    assert told(installed, released) == told(repository, released) == "a" * 40
    released.unlink()
    (repository / "golden" / "file.py").write_text("x = 2\n")
    assert told(repository, released, "golden") == head.strip() + "+"
