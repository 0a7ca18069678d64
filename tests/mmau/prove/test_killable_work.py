"""Work in a child process: what it found remains however it ends, and nothing of it remains."""

from pathlib import Path

import pytest

from mmau.prove.deadline import Failed, Refused, Seen, watched
from tests.golden.processes.running import alive

WORK = "tests.mmau.prove.killable_works:"

SHORT = 3.0
"""Seconds for work that takes for ever; its first finding takes it milliseconds."""


def test_findings_come_in_order_and_then_the_result() -> None:
    assert watched(f"{WORK}answers", {"x": 40}, 60.0) == Seen([{"first": 40}, {"second": 2}], {"sum": 42})


@pytest.mark.slow
def test_work_that_hangs_is_killed_with_its_programs_and_files_and_its_findings_remain() -> None:
    seen = watched(f"{WORK}hangs", {}, SHORT)
    assert (seen.result, seen.ending) == (None, "it did not end in 3 s (--seconds)")
    (finding,) = seen.findings
    assert not any(map(alive, finding["pids"]))
    assert not Path(finding["folder"]).exists()


@pytest.mark.slow
def test_work_that_crashes_has_no_result() -> None:
    assert watched(f"{WORK}crashes", {}, 60.0) == Seen(
        [{"first": 1}], None, "its process was ended by SIGSEGV", crashed=True
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("refuses", Refused, r"^the file has no module$"),
        ("fails", Failed, r"^KeyError at .*killable_works\.py:\d+: 'align'$"),
        ("lacks_a_package", ModuleNotFoundError, r"^No module named 'no_such_package'$"),
        ("is_missing", Failed, r"^no worker could be started: .*AttributeError: .*'is_missing'$"),
    ],
)
def test_errors_of_the_work_are_errors_here(name: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said) as raised:
        watched(WORK + name, {}, 60.0)
    assert getattr(raised.value, "name", "no_such_package") == "no_such_package"
