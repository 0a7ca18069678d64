"""Source archive and wheels of a tree. The same commit gives the same bytes, on any machine with the same tools."""

import os
import stat
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from golden.processes import run_tool
from studies.release import compiler
from studies.release.archive import write_archive
from studies.release.committed_tree import Tree


def build_sdist(tree: Tree, folder: Path) -> Path:
    """Build the source archive."""
    _pip_build(tree, folder, "--sdist", os.environ)
    (archive,) = folder.glob("*.tar.gz")
    _without_times(archive, tree.epoch)
    return archive


def build_wheel(tree: Tree, folder: Path, platform: str) -> Path:
    """The wheel of one of `compiler.TARGETS`."""
    target, processor = compiler.TARGETS[platform]
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
