"""Build a release into a folder: `python -m studies.release dist` (extra `release`).

A source archive, a wheel for each platform, the bill of materials of the wheels and of what they require, the
recordings as an archive of their own, and the release's notes. Everything is built twice, and the bytes are compared.
"""

import argparse
import io
import json
import os
import re
import shutil
import stat
import sys
import tarfile
import tempfile
import tomllib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from golden.processes import run_tool
from studies.release import compiler
from studies.release.committed_tree import Tree, checked_out, exported, write_archive
from studies.release.compiler import TARGETS

LLVM_LICENCE = "Apache-2.0 WITH LLVM-exception"


def bill_of_materials(tree: Tree, out: Path) -> Path:
    """Write the bill, and check it against CycloneDX's schema.

    Raises:
        ValueError: a required package has no version in constraints.txt, or another one is installed here.
    """
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.model.contact import OrganizationalEntity
    from cyclonedx.output.json import JsonV1Dot6
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    project = tomllib.loads((tree.folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_OID, tree.commit))
    bom.metadata.timestamp = datetime.fromtimestamp(tree.epoch, UTC)
    bom.metadata.component = root = Component(
        name="mmau",
        version=project["version"],
        type=ComponentType.LIBRARY,
        bom_ref="mmau",
        description=project["description"],
        licenses=_licences(project["license"]),
        components=[_native_runtime(), *_recordings(tree.folder)],
    )
    root.supplier = OrganizationalEntity(name=project["authors"][0]["name"])
    pins = pinned((tree.folder / "constraints.txt").read_text(encoding="utf-8"))
    needed = required(project["dependencies"], pins)
    components = {name: _package(name, pins[name]) for name in needed}
    bom.components.update(components.values())
    bom.register_dependency(root, [components[name] for name in _names(project["dependencies"])])
    for name, below in needed.items():
        bom.register_dependency(components[name], [components[each] for each in below])
    text = JsonV1Dot6(bom).output_as_string(indent=1)
    if wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ValueError(f"the bill of materials must follow CycloneDX's schema, got {wrong}")
    file = out / "mmau.cdx.json"
    file.write_text(text + "\n", encoding="utf-8")
    return file


def pinned(constraints: str) -> dict[str, str]:
    """The exact version of each package of constraints.txt, by canonical name."""
    lines = (line.partition("==") for line in constraints.splitlines() if "==" in line and not line.startswith("#"))
    return {canonicalize_name(name): version.strip() for name, _, version in lines}


def required(dependencies: list[str], pins: dict[str, str]) -> dict[str, list[str]]:
    """All packages that the dependencies bring, and what each of them requires itself.

    Raises:
        ValueError: as `bill_of_materials`.
    """
    found: dict[str, list[str]] = {}
    waiting = _names(dependencies)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        installed = metadata.version(name)
        if pins.get(name) != installed:
            raise ValueError(
                f"constraints.txt must have the version of {name} that is installed, {installed}, got {pins.get(name)}: "
                "correct it, or set up .venv again"
            )
        found[name] = sorted({each for each in _names(metadata.requires(name) or []) if each != name})
        waiting += found[name]
    return dict(sorted(found.items()))


def _names(requirements: list[str]) -> list[str]:
    """The packages of requirements that hold here, without extras."""
    parsed = [Requirement(each) for each in requirements]
    return [canonicalize_name(each.name) for each in parsed if each.marker is None or each.marker.evaluate({"extra": ""})]


def _package(name: str, version: str) -> Any:
    from cyclonedx.model.component import Component
    from packageurl import PackageURL

    said = metadata.metadata(name).json
    licences = _licences(str(said["license_expression"])) if "license_expression" in said else []
    return Component(
        name=name, version=version, bom_ref=name, purl=PackageURL("pypi", None, name, version), licenses=licences
    )


def _native_runtime() -> Any:
    """LLVM's part of the native library, which wheels link statically (compiler.py)."""
    from cyclonedx.model.component import Component
    from packageurl import PackageURL

    said = run_tool([sys.executable, "-m", "ziglang", "c++", "--version"])
    said.check_returncode()
    (version,) = re.findall(r"clang version ([\d.]+)", said.stdout)
    return Component(
        name="llvm-project", version=version, bom_ref="llvm-project", licenses=_licences(LLVM_LICENCE),
        purl=PackageURL("github", "llvm", "llvm-project", f"llvmorg-{version}"),
        description="libc++, libc++abi, libunwind and compiler-rt, linked into golden/native/_mmau.so of the wheels",
    )  # fmt: skip


def _recordings(folder: Path) -> Iterator[Any]:
    """Sources of recordings that others made."""
    from cyclonedx.model.component import Component, ComponentType

    for name, commit, licence in sources(folder):
        yield Component(
            name=name, version=commit, type=ComponentType.DATA, bom_ref=f"{name}@{commit}", licenses=_licences(licence),
            description="recordings of silicon in hwtests/recordings, with the licence's notice",
        )  # fmt: skip


def sources(folder: Path) -> list[tuple[str, str, str]]:
    """Repository, commit and licence of each source of recordings that others made."""
    index = json.loads((folder / "hwtests" / "recordings" / "index.json").read_text(encoding="utf-8"))
    others = [entry for entry in index.values() if entry["source"]]
    return sorted({(re.split(r"[ ,]", entry["source"])[0], entry["commit"], entry["licence"]) for entry in others})


def _licences(expression: str) -> list[Any]:
    from cyclonedx.model.license import DisjunctiveLicense, LicenseExpression

    return [LicenseExpression(expression) if " " in expression else DisjunctiveLicense(id=expression)]


def build_sdist(tree: Tree, folder: Path) -> Path:
    """Build the source archive."""
    _pip_build(tree, folder, "--sdist", os.environ)
    (archive,) = folder.glob("*.tar.gz")
    _without_times(archive, tree.epoch)
    return archive


def build_wheel(tree: Tree, folder: Path, platform: str) -> Path:
    """The wheel of one of `TARGETS`."""
    target, processor = TARGETS[platform]
    with_program = folder / f"c++-{processor}"
    with_program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{compiler.__file__}" {target} "$@"\n', encoding="utf-8")
    with_program.chmod(with_program.stat().st_mode | stat.S_IXUSR)
    settings = {
        "CXX": str(with_program),
        "CMAKE_ARGS": f"-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR={processor}",
        "SKBUILD_BUILD_DIR": str(folder / f"build-{processor}"),
    }
    _pip_build(tree, folder, "--wheel", os.environ | settings)
    (built,) = folder.glob("*-linux_*.whl")
    with_program.unlink()
    return _tagged(built, platform, tree.epoch)


def _pip_build(tree: Tree, folder: Path, kind: str, environment: Mapping[str, str]) -> None:
    _run(["build", kind, "--outdir", str(folder), str(tree.folder)], tree.epoch, environment)


def _run(module: Sequence[str], epoch: int, environment: Mapping[str, str]) -> None:
    """Run a Python program of packaging with the time of all files; its messages go to this process's standard error."""
    settings = {**environment, "SOURCE_DATE_EPOCH": str(epoch)}
    run_tool([sys.executable, "-m", *module], env=settings, stderr=None).check_returncode()


def _tagged(wheel: Path, platform: str, epoch: int) -> Path:
    """Give a wheel another platform. The files that say so get the one time, too."""
    _run(["wheel", "tags", "--remove", "--platform-tag", platform, str(wheel)], epoch, os.environ)
    (tagged,) = wheel.parent.glob(f"*-{platform}.whl")
    return tagged


def _without_times(archive: Path, epoch: int) -> None:
    """Write a source archive again with one time and owner for all files, in order of names."""
    with tarfile.open(archive) as read:
        write_archive(archive.with_suffix(".new"), epoch, [(each, read.extractfile(each)) for each in read.getmembers()])
    archive.with_suffix(".new").replace(archive)


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
