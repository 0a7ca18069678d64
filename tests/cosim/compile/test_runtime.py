"""The folder of a build."""

from pathlib import Path

import pytest

from cosim.compile.runtime import new_folder


@pytest.mark.attack("compiled designs that are stale")
def test_objects_of_an_earlier_build_are_removed_and_nothing_else(tmp_path: Path) -> None:
    build = tmp_path / "volume"
    new_folder(build)
    for name in ("all.o", "V.a", "mine.sv"):
        (build / name).touch()
    new_folder(build)
    assert [path.name for path in build.iterdir()] == ["mine.sv"]
