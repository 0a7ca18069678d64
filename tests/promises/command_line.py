"""The command line: options of each command, and which changes of them break a script."""

import argparse
from collections.abc import Mapping
from typing import Any

from mmau.cli.parser import parser

Options = dict[str, dict[str, Any]]
"""By an option's first spelling, or the name of a word: other spellings, values, choices, whether it is required."""


def options() -> dict[str, Options]:
    """The options of every command as they are today; of the program itself under an empty name."""
    top = parser()
    return {name: _options(each) for name, each in {"": top, **top.commands}.items()}


def _options(command: argparse.ArgumentParser) -> Options:
    found = {}
    for action in command._actions:
        if not isinstance(action, argparse._SubParsersAction):
            first, *others = action.option_strings or [action.dest]
            choices = None if action.choices is None else sorted(map(str, action.choices))
            found[first] = {"also": others, "values": action.nargs, "choices": choices, "required": action.required}
    return found


def broken(promised: Mapping[str, Options], today: Mapping[str, Options]) -> list[str]:
    """The promised options that today's command line does not keep, each with the reason."""
    found = []
    for command, known in promised.items():
        here = today.get(command)
        if here is None:
            found.append(f"mmau {command}: is gone")
            continue
        found += [f"mmau {command} {name}: {why}" for name, old in known.items() if (why := _reason(old, here.get(name)))]
        found += [
            f"mmau {command} {name}: is new and required"
            for name, new in here.items()
            if name not in known and new["required"]
        ]
    return found


def _reason(old: Mapping[str, Any], new: Mapping[str, Any] | None) -> str:
    if new is None:
        return "is gone"
    if missing := set(old["also"]) - set(new["also"]):
        return f"{', '.join(sorted(missing))} is gone"
    if old["values"] != new["values"]:
        return f"takes values {new['values']}, took {old['values']}"
    if new["choices"] is not None and (old["choices"] is None or set(old["choices"]) - set(new["choices"])):
        return f"takes {', '.join(new['choices'])} alone"
    return "is required" if new["required"] and not old["required"] else ""
