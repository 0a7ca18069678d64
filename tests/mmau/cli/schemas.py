"""Holds an object that a command printed to its schema."""

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from mmau.cli.json_objects import SCHEMAS, VERSIONS, schema_of


def check_object(found: Any) -> None:
    """Raise AssertionError where an object is not as its schema says, or has a key that the schema does not describe."""
    errors = [f"{error.json_path}: {error.message}" for error in validator(name_of(found), closed=True).iter_errors(found)]
    assert errors == [], "; ".join(errors)


def name_of(found: Any) -> str:
    """The name of an object's schema, which has the version that commands print today."""
    name = str(found["schema"]).removeprefix("mmau.").partition("/")[0]
    assert name in VERSIONS, found["schema"]
    assert found["schema"] == schema_of(name), found["schema"]
    return name


@cache
def validator(name: str, closed: bool) -> Draft202012Validator:
    """The validator of a schema as it is, or closed: without keys that it does not describe."""
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(_closed(schema) if closed else schema)


def _closed(schema: Any) -> Any:
    """A schema whose objects have only the keys that it describes, where it does not say that there are others."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: _closed(value) for key, value in schema.items()}
    return {"additionalProperties": False, **inner} if "properties" in inner else inner
