"""The JSON schemas of 1.0.0 say of today's objects what they said then, also of keys that no old object has."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from mmau.cli.json_objects import SCHEMAS, VERSIONS, schema_of
from tests.promises.json_schemas import broken
from tests.promises.old_files import FILES

PROMISED = sorted((FILES / "schemas").glob("*.json"), key=lambda path: path.stem)
TODAY = {
    schema["title"]: schema for schema in (json.loads(path.read_text(encoding="utf-8")) for path in SCHEMAS.glob("*.json"))
}


def promised(name: str) -> Any:
    return json.loads((FILES / "schemas" / f"{name}.json").read_text(encoding="utf-8"))


def test_every_schema_is_held_with_its_version_and_an_object() -> None:
    assert [path.stem for path in PROMISED] == sorted(VERSIONS)
    assert {promised(name)["title"] for name in VERSIONS} >= {
        schema_of(name) for name, version in VERSIONS.items() if version == 1
    }
    printed = {json.loads(path.read_text(encoding="utf-8"))["schema"] for path in (FILES / "printed").glob("*.json")}
    assert printed == {promised(name)["title"] for name in VERSIONS}


@pytest.mark.parametrize("path", PROMISED, ids=lambda path: path.stem)
def test_promised_schema_is_kept(path: Path) -> None:
    """The old schema stays beside the new one: there is one of the same version."""
    old = promised(path.stem)
    assert broken(old, TODAY[old["title"]]) == []


@pytest.mark.attack("promise")
@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("explore", lambda here: here["properties"].pop("files"), "$.files: is gone"),
        ("explore", lambda here: here["properties"]["counts"]["properties"].pop("done"), "$.counts.done: is gone"),
        ("explore", lambda here: here["required"].remove("files"), "$: need no longer have files"),
        ("explore", lambda here: here["properties"]["schema"].update(const="mmau.explore/2"),
         "$.schema: is mmau.explore/2, was mmau.explore/1"),
        ("explore", lambda here: here["properties"]["not_done"]["additionalProperties"].update(type="integer"),
         "$.not_done.*: is of type integer, was string"),
        ("explore", lambda here: here["properties"]["not_done"].pop("additionalProperties"), "$.not_done.*: is gone"),
        ("prove", lambda here: here["properties"]["problem"].update(type=["string", "null"]),
         "$.problem: is of type null or string, was string"),
        ("prove", lambda here: here["properties"]["verdict"].pop("type"), "$.verdict: is of type any, was string"),
        ("prove", lambda here: here["properties"]["assumed"]["items"].update(type="object"),
         "$.assumed[]: is of type object, was string"),
        ("cosim", lambda here: here["$defs"]["row"]["properties"].popitem(), "is gone"),
        ("cosim", lambda here: here["$defs"]["report"]["properties"]["recorded"]["anyOf"].pop(),
         "$.reports[].recorded: has other alternatives"),
        ("vectors", lambda here: here["properties"]["format"].update(enum=["text"]),
         "$.format: is ['text'], was ['text', 'npz', 'riscv-arch-test']"),
    ],
)  # fmt: skip
def test_broken_promise_is_noticed(name: str, change: Any, complaint: str) -> None:
    today = deepcopy(promised(name))
    change(today)
    found = broken(promised(name), today)
    assert found
    assert all(complaint in each for each in found)


@pytest.mark.parametrize(
    "change",
    [
        lambda here: here["properties"].update(more={"type": "string"}),
        lambda here: here["required"].append("not_proved"),
        lambda here: here["properties"]["counterexample"].update(type="object"),
    ],
    ids=["key", "always", "never null"],
)
def test_more_keys_and_narrower_types_keep_the_promise(change: Any) -> None:
    today = deepcopy(promised("prove"))
    change(today)
    assert broken(promised("prove"), today) == []
