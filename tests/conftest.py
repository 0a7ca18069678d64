"""Settings for all tests."""

import gc
import os
import shutil
import signal
from collections.abc import Generator, Iterable, Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import settings

from rtl.cost import flow
from rtl.designs.sample_units import slice_of
from rtl.verilog import emit
from tests.mapped_once import mapped_once
from tests.optional_tools import changed_tools, why_missing

# Generated inputs are the same in every run and on every machine; a slow machine fails nothing.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
# Hypothesis also draws constants out of the sources of whatever modules are loaded, which are others in a whole run than
# where a test runs alone, and has no setting for that.
DRAWS_FROM = "hypothesis.internal.conjecture.providers.is_local_module_file"
pytest.MonkeyPatch().setattr(DRAWS_FROM, lambda path: False, raising=False)

# The same RTLIL is the same Verilog: Yosys runs but once for each text.
pytest.MonkeyPatch().setattr(emit, "_written", cache(emit._written))
pytest.MonkeyPatch().setattr(flow, "run_in_folder", mapped_once(vars(flow)["run_in_folder"]))

collect_ignore = ["example_project"]  # somebody else's repository: tests/cosim/test_example_project.py runs it elsewhere

FOR_MERGES = ("tests/mmau/prove/", "tests/mmau/explore/", "tests/studies/")
"""Folders whose slow tests `make test` leaves out: proofs, explorations, the programs that write docs/."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slice", metavar="K/N", help="run a part of the tests alone: of N parts, drawn by the tests' names, part K from 0"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what `make test` leaves out. Keep the part of --slice: every test is in exactly one of N parts, the same on every
    machine."""
    mark_for_nights(items)
    mark_for_merges(items)
    if (wanted := config.getoption("--slice")) is None:
        return
    try:
        kept = slice_of(items, wanted, lambda item: item.nodeid)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


def mark_for_nights(items: Iterable[pytest.Item]) -> None:
    """Of each test marked `costly` mark the first case `slow`, and all others `long`."""
    seen: set[str] = set()
    for item in items:
        test = item.nodeid.partition("[")[0]
        if item.get_closest_marker("costly"):
            item.add_marker("long" if test in seen else "slow")
            seen.add(test)


def mark_for_merges(items: Iterable[pytest.Item]) -> None:
    """Give the marker `merge` to what `make test` leaves to `make test-all`: simulations but for those marked core, slow
    tests of wrong designs, those below `FOR_MERGES`, those marked costly, and of every other slow test all cases but the
    first."""
    seen: set[str] = set()
    for item in items:
        test = item.nodeid.partition("[")[0]
        slow = item.get_closest_marker("slow") is not None
        left = test in seen or test.startswith(FOR_MERGES) or any(map(item.get_closest_marker, ("attack", "costly")))
        if (slow and left) or (item.get_closest_marker("simulator") and not item.get_closest_marker("core")):
            item.add_marker("merge")
        if slow and not item.get_closest_marker("long"):
            seen.add(test)


def pytest_collection_finish() -> None:
    """Keep the collected tests out of garbage collection, which would go through them again and again."""
    gc.collect()
    gc.freeze()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Skip what needs an optional tool that is absent, and see which others are there. Refuse an attack without its kind, by
    which `make attack` counts."""
    if any(len(mark.args) != 1 for mark in item.iter_markers("attack")):
        raise pytest.UsageError(f"{item.nodeid}: the marker attack takes one text, the kind of thing that is broken")
    for mark in item.iter_markers("needs"):
        for why in filter(None, map(why_missing, mark.args)):
            item.add_marker(pytest.mark.skip(reason=why))
    changed_tools(item.iter_markers("uses"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test whose optional tools are installed or removed while the tests run says nothing if it fails: it is skipped."""
    report = yield
    changed = changed_tools([*item.iter_markers("needs"), *item.iter_markers("uses")]) if report.failed else []
    if changed:
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, f"Skipped: {', '.join(changed)} came or went while the tests ran")
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what tests that passed have measured, `record_property("told", "12 s")`; prints of parallel tests are lost."""
    for report in terminalreporter.getreports("passed"):
        for text in (text for name, text in report.user_properties if name == "told"):
            terminalreporter.write_line(f"{report.nodeid}: {text}")


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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for the tests of a module. As root it starts without its sandbox."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.getuid() == 0 else []
        started = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        yield started
        started.close()
