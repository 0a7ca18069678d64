"""Settings for all tests."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

# Generated inputs are the same in every run and on every machine; a slow machine fails nothing.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
# Hypothesis also draws constants out of the sources of whatever modules are loaded, which are others in a whole run than
# where a test runs alone, and has no setting for that; test_repeatable.py shows that none are drawn.
DRAWS_FROM = "hypothesis.internal.conjecture.providers.is_local_module_file"
pytest.MonkeyPatch().setattr(DRAWS_FROM, lambda path: False, raising=False)

collect_ignore = ["example_project"]  # somebody else's repository: tests/cosim/test_example_project.py runs it elsewhere


@pytest.fixture
def default_signals() -> Iterator[None]:
    """Signals act as they do in a terminal, on the test and on what it starts. Under nohup or as a background job of a shell
    the tests would start with some of them ignored, and every child would inherit that."""
    ignored = [s for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(s) is signal.SIG_IGN]
    for signum in ignored:
        signal.signal(signum, signal.default_int_handler if signum == signal.SIGINT else signal.SIG_DFL)
    yield
    for signum in ignored:
        signal.signal(signum, signal.SIG_IGN)
