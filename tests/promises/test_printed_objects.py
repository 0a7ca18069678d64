"""Objects that 1.0.0 printed as JSON are what today's schemas say, and today's objects have every key that those had."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from mmau.cli import main
from mmau.cli.json_objects import SCHEMAS, VERSIONS, schema_of
from tests.docs.documents import ROOT
from tests.mmau.cli.schemas import check_object, name_of, validator
from tests.promises.old_files import FILES

PRINTED = sorted((FILES / "printed").glob("*.json"))

COMMANDS = {
    "compare": "compare --a=-2^13,-.5,-.25,-.125 --b=2^10,1,1,1 --c=2^23 --on sm_70",
    "distinguish": "distinguish unit.toml spec.toml",
    "distinguish-equal": "distinguish unit.toml unit.toml",
    "eval": "eval --unit unit.toml --input vectors.npz --output d2.npz",
    "explain": "eval --explain --unit unit.toml --input vectors.npz --row 3",
    "list": "list --arch sm_70",
    "rtl": "rtl --unit unit.toml -o unit.v",
    "vectors": "vectors --unit unit.toml --vectors 20 -o vectors2.txt",
}
"""How the objects that are cheap to print again were printed."""


def missing(old: Any, new: Any, where: str = "$") -> list[str]:
    """The keys of an old object, by their paths, that a new one lacks. Elements of lists are compared in order."""
    if isinstance(old, dict) and isinstance(new, dict):
        lost = [f"{where}.{key}" for key in old if key not in new]
        return lost + [path for key in old if key in new for path in missing(old[key], new[key], f"{where}.{key}")]
    if isinstance(old, list) and isinstance(new, list):
        return [path for pair in zip(old, new, strict=False) for path in missing(*pair, f"{where}[]")]
    return []


@pytest.mark.slow
def test_every_schema_has_a_file_with_its_version() -> None:
    assert sorted(path.stem for path in SCHEMAS.glob("*.json")) == sorted(VERSIONS)
    for name in VERSIONS:
        schema = validator(name, closed=False).schema
        assert schema["title"] == schema["properties"]["schema"]["const"] == schema_of(name)
        assert "schema" in schema["required"]


def test_every_schema_is_on_the_page_of_promises() -> None:
    page = (ROOT / "docs" / "reference" / "promises.md").read_text(encoding="utf-8")
    rows = [f"| `{schema_of(name)}` | [{name}.json](../../mmau/cli/schemas/{name}.json) |" for name in sorted(VERSIONS)]
    assert [row for row in rows if row not in page] == []


@pytest.mark.parametrize("file", PRINTED, ids=lambda path: path.stem)
def test_old_object_is_as_its_schema_says(file: Path) -> None:
    check_object(json.loads(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", COMMANDS)
def test_object_of_today_has_every_key_of_the_old_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in ("unit.toml", "spec.toml", "vectors.npz"):
        (tmp_path / file).write_bytes((FILES / file).read_bytes())
    monkeypatch.chdir(tmp_path)
    main.main([*COMMANDS[name].split(), "--json"])
    old, new = json.loads((FILES / "printed" / f"{name}.json").read_text()), json.loads(capsys.readouterr().out)
    assert missing(old, new) == []
    assert old["schema"] == new["schema"]


@pytest.mark.attack("promise")
@pytest.mark.parametrize("file", PRINTED, ids=lambda path: path.stem)
def test_key_of_another_type_is_noticed(file: Path) -> None:
    """Every key of the object itself, one at a time."""
    found = json.loads(file.read_text(encoding="utf-8"))
    for key in found.keys() - {"schema"}:
        changed = found | {key: [[["no such type"]]]}
        assert not validator(name_of(found), closed=True).is_valid(changed), key


@pytest.mark.attack("promise")
def test_lost_and_undescribed_keys_are_noticed() -> None:
    old = json.loads((FILES / "printed" / "cosim.json").read_text())
    lost = deepcopy(old)
    del lost["reports"][0]["classes"]
    assert missing(old, lost) == ["$.reports[].classes"]
    with pytest.raises(AssertionError, match="'classes' is a required property"):
        check_object(lost)
    with pytest.raises(AssertionError, match="'more' was unexpected"):
        check_object(old | {"more": 1})
    with pytest.raises(AssertionError, match=r"mmau\.cosim/9"):
        check_object(old | {"schema": "mmau.cosim/9"})
