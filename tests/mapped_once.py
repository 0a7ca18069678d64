"""The Yosys that maps designs to gates, in tests: it runs once for each text."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from rtl import yosys


def mapped_once(run: Callable[..., dict[str, str]]) -> Callable[..., dict[str, str]]:
    """In place of `run_in_folder` in `rtl.cost.flow`: the results of equal runs are taken from the first of them.

    It runs anew where somebody is told how far it is, where a test replaces `run_tool`, and after a failure.
    """
    known: dict[Any, dict[str, str]] = {}
    run_tool = vars(yosys)["run_tool"]

    def found(
        name: str,
        command: Sequence[str],
        results: Sequence[str],
        files: Mapping[str, str],
        limit: float | None = None,
        watched: Any = nullcontext,
    ) -> dict[str, str]:
        is_told = isinstance(watched, partial) and watched.keywords["progress"] is not None
        if is_told or vars(yosys)["run_tool"] is not run_tool:
            return run(name, command, results, files, limit, watched)
        key = (name, tuple(command), tuple(results), tuple(sorted(files.items())), limit)
        if key not in known:
            known[key] = run(name, command, results, files, limit)
        return dict(known[key])

    return found
