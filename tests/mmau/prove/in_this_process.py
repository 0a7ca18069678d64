"""`mmau.prove.deadline.watched` without a child process, for tests that edit what it works with, or are many."""

import json
from collections.abc import Mapping
from typing import Any, cast

from mmau.jobs.task import work_of
from mmau.prove.deadline import Report, Seen, ignored


def in_this_process(work: str, content: Mapping[str, Any], seconds: float, report: Report = ignored) -> Seen:
    """Findings and result of the work, as they would come through a child's lines of JSON; nothing is interrupted."""
    told: list[Any] = []
    result = cast(Any, work_of(work)).__wrapped__(_plain(content), lambda found: told.append(_plain(found)))
    return Seen(told, _plain(result))


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))
