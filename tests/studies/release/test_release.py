"""Parts of a release that need no compiler."""

import base64
import hashlib
import json
import re
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from golden import commit as built
from studies.release import committed_tree as release_tree
from studies.release.__main__ import (
    FOLDER,
    _packages,
    _tagged,
    bill_of_materials,
    pinned,
    recordings_archive,
    required,
    sources,
)
from studies.release.committed_tree import Tree, checked_out, exported
from studies.release.compiler import command
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


def test_instruction_sets_are_spelt_as_zig_spells_them() -> None:
    words = command("x86_64-linux-gnu.2.17", ["-march=x86-64-v3", "-O3", "a-x86-64-v3.cpp"])
    assert words[1:] == [
        "-m",
        "ziglang",
        "c++",
        "-target",
        "x86_64-linux-gnu.2.17",
        "-march=x86_64_v3",
        "-O3",
        "a-x86-64-v3.cpp",
        "-s",
    ]


def test_library_is_stripped_where_it_is_linked() -> None:
    """Symbols of debugging would name the folder of each build."""
    assert command("t", ["-c", "a.cpp"])[-2:] == ["-c", "a.cpp"]
    assert command("t", ["a.o", "-shared"])[-1] == "-s"


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


def test_index_takes_wheels_and_the_source_archive_but_not_the_recordings() -> None:
    wheel, archive = "mmau-1.0.0-py3-none-manylinux_2_17_x86_64.whl", "mmau-1.0.0.tar.gz"
    names = (wheel, archive, "mmau-recordings.tar.gz", "mmau.cdx.json", "release-notes.md")
    assert _packages({name: Path(name) for name in names}) == [Path(wheel), Path(archive)]


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


def test_required_packages_have_the_versions_of_the_tests() -> None:
    pins = pinned((ROOT / "constraints.txt").read_text())
    assert required(["numpy>=1.26,<3", "ml_dtypes>=0.5,<0.7"], pins) == {"ml-dtypes": ["numpy"], "numpy": []}


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


def test_installed_package_tells_its_own_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    """Also where it is installed inside somebody's repository, whose commit is not its own."""
    built.commit.cache_clear()
    monkeypatch.setattr(built, "ROOT", repository / "venv" / "site-packages")
    (repository / "venv" / "site-packages").mkdir(parents=True)
    released = tmp_path / "commit.txt"
    monkeypatch.setattr(built, "RELEASED", released)
    assert built.commit() == "unknown"
    released.write_text("a" * 40 + "\n")
    built.commit.cache_clear()
    assert built.commit() == "a" * 40
    built.commit.cache_clear()


def test_package_is_believed_where_its_folder_is_a_repository(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    """As where somebody keeps the folder of their installed packages in git."""
    built.commit.cache_clear()
    monkeypatch.setattr(built, "ROOT", repository)
    monkeypatch.setattr(built, "RELEASED", repository / "golden" / "commit.txt")
    (repository / "golden" / "commit.txt").write_text("a" * 40 + "\n")
    assert built.commit() == "a" * 40
    built.commit.cache_clear()


def test_clone_tells_its_commit_and_changes(monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    built.commit.cache_clear()
    monkeypatch.setattr(built, "ROOT", repository)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repository, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert built.commit() == head
    (repository / "golden" / "file.py").write_text("x = 2\n")
    assert built.commit(("golden",)) == head + "+"
    built.commit.cache_clear()
