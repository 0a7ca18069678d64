"""JSON schemas of what commands print, and which changes of them break a program that reads it."""

from typing import Any

Schema = dict[str, Any]


def broken(promised: Schema, today: Schema) -> list[str]:
    """The places of the promised schema that today's does not keep as a reader may expect, each with the reason."""
    return _broken(promised, today, "$", promised.get("$defs", {}), today.get("$defs", {}))


def _broken(promised: Schema, today: Schema, where: str, old_parts: Schema, new_parts: Schema) -> list[str]:
    old, new = _resolved(promised, old_parts), _resolved(today, new_parts)
    if reason := _reason(old, new):
        return [f"{where}: {reason}"]
    inner = [(where + "[]", old.get("items"), new.get("items"))]
    inner += [
        (f"{where}.{key}", each, new.get("properties", {}).get(key)) for key, each in old.get("properties", {}).items()
    ]
    inner += [(f"{where}.*", old.get("additionalProperties"), new.get("additionalProperties"))]
    inner += [(f"{where}|{n}", *pair) for n, pair in enumerate(zip(old.get("anyOf", []), new.get("anyOf", []), strict=True))]
    found = []
    for place, each, there in inner:
        if isinstance(each, dict) and each:
            found += [f"{place}: is gone"] if there is None else _broken(each, there, place, old_parts, new_parts)
    return found


def _resolved(schema: Schema, parts: Schema) -> Schema:
    """A schema without reference: `{"$ref": "#/$defs/row"}` is the part `row`."""
    return parts[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _reason(old: Schema, new: Schema) -> str:
    """Why an object itself breaks its promise, without what is in it; empty where it keeps it."""
    for key in ("const", "enum"):
        if key in old and old[key] != new.get(key):
            return f"is {new.get(key)}, was {old[key]}"
    if "type" in old and not _types(new) <= _types(old):
        return f"is of type {' or '.join(sorted(_types(new)))}, was {' or '.join(sorted(_types(old)))}"
    if len(old.get("anyOf", [])) != len(new.get("anyOf", [])):
        return "has other alternatives"
    missing = set(old.get("required", [])) - set(new.get("required", []))
    return f"need no longer have {', '.join(sorted(missing))}" if missing else ""


def _types(schema: Schema) -> set[str]:
    found = schema.get("type", "any")
    return {found} if isinstance(found, str) else set(found)
