"""One call of the job: workers one after another until the time is up or all is done. The state is stored after every event,
and new files are handed over in pieces."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from golden.files import write_atomically
from hwtests.conform.process import DeadlinePassed, WorkerStopped, watched
from hwtests.device import DeviceError
from studies.h200 import state as states
from studies.h200.job_stages import PREBUILD, Job, planned
from studies.h200.pieces import CALL_BYTES, pack
from studies.h200.state import CUBINS, FILE, RESULTS, STAGES, State
from studies.h200.summary import line_of, summary

WORKER = (sys.executable, "-m", "studies.h200.job_worker")

BUDGETS = {
    PREBUILD: 45.0, "self-test": 60.0, "recordings": 120.0, "sparse and integers": 30.0, "microbenchmarks": 120.0,
}  # fmt: skip
"""Seconds of a call that a stage takes at most, in all its workers; volume takes the rest. Compiling ahead takes
less than a minute, because the first results are due within a minute."""

MOST_STOPS = 5
"""A stage ends for this call after so many workers in a row that hang or crash before they finish an item of it."""

HANG_SECONDS = 30.0
"""A worker that says nothing for so long hangs, unless it announced a longer step."""

HAND_OVER_SECONDS = 15.0
"""Of a call's seconds, for ending the worker and for the pieces."""

GRACE_SECONDS = 5.0
"""Of those, for the worker to end by itself; what it is at then is cut off and stays open."""

SAVE_SECONDS = 1.0
"""The state is written so often at most; a call that is killed loses no more."""

SMALLEST_PIECE = 1 << 20

FIRST_RESULTS = "first_results"
"""Key of a run: how long its worker took until its first results."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """The request of one call.

    Attributes:
        state, out: folders. seconds: of the whole call. piece_bytes: most of a piece.
        retry: whether what hung, crashed or failed is tried again.
        pattern, targets, budgets, seed: as `Job`.
    """

    state: Path
    out: Path
    seconds: float
    piece_bytes: int = 16 << 20
    retry: bool = False
    pattern: str = "*"
    targets: tuple[int, ...] = (10**7, 10**8, 10**9)
    budgets: dict[str, float] | None = None
    seed: int = 0


def check_call(call: Call) -> None:
    """Raise ValueError or OSError where a call cannot be carried out."""
    if not call.seconds > HAND_OVER_SECONDS:  # NaN is not either
        raise ValueError(f"--seconds must be more than {HAND_OVER_SECONDS:g}, got {call.seconds:g}")
    if not SMALLEST_PIECE <= call.piece_bytes <= CALL_BYTES:
        raise ValueError(f"--piece-bytes must be from {SMALLEST_PIECE} to {CALL_BYTES}, got {call.piece_bytes}")
    for option, folder in (("--state", call.state), ("--out", call.out)):
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(f"{option} must be a folder that can be written, and {folder} is not")
    if call.state.resolve() == call.out.resolve():
        raise ValueError(f"--state and --out must be two folders, both are {call.state}")


def run_call(call: Call, show: Callable[[str], None], worker: Sequence[str] = WORKER, hang: float = HANG_SECONDS) -> State:
    """One call.

    Raises:
        DeviceError: the job cannot run here, in the worker's words. ValueError, OSError: as `check_call`, `state.load`.
    """
    started = time.monotonic()
    check_call(call)
    state = states.load(call.state)
    if call.retry:
        state.open_again()
    state.planned = planned(call.pattern)
    lost = state.open_lost(call.state / RESULTS)
    if lost:
        show(f"{len(lost):,} results that were not handed over are gone, {lost[0]} first: what made them runs again")
    (call.state / RESULTS).mkdir(exist_ok=True)
    os.environ["MMAU_CUBINS"] = str((call.state / CUBINS).resolve())
    ends = started + call.seconds - HAND_OVER_SECONDS
    spending = Spending(dict(BUDGETS if call.budgets is None else call.budgets))
    in_a_row: list[str] = []
    try:
        while not state.complete() and time.monotonic() < ends:
            stopped = _run_worker(call, state, spending, ends, show, worker, hang)
            states.save(call.state, state)
            if stopped is None:
                break
            show(f"{stopped.what}; continuing with the next")
            same = not stopped.after_results and stopped.stage in in_a_row
            in_a_row = [*in_a_row, stopped.stage] if same else [stopped.stage]
            if len(in_a_row) == MOST_STOPS:
                spending.budgets[stopped.stage] = 0.0
                show(f"{stopped.stage}: {MOST_STOPS} workers in a row hung or crashed: no more of it in this call")
    finally:
        hand_over(call, state)
    show(summary(state))
    return state


class Spending:
    """The division of a call's time.

    Attributes:
        budgets: by stage, and for compiling ahead, what is left to it.
    """

    def __init__(self, budgets: dict[str, float]) -> None:
        self.budgets, self._on, self._since = budgets, "", time.monotonic()

    def turn_to(self, what: str) -> None:
        """From now on time goes to something else, or to nothing that has a budget."""
        now = time.monotonic()
        if self._on in self.budgets:
            self.budgets[self._on] -= now - self._since
        self._on, self._since = what, now


class Stopped(NamedTuple):
    """Where a worker hung or crashed, in words too, and whether it had finished an item."""

    stage: str
    what: str
    after_results: bool


def _run_worker(
    call: Call,
    state: State,
    spending: Spending,
    ends: float,
    show: Callable[[str], None],
    worker: Sequence[str],
    hang: float,
) -> Stopped | None:
    """One worker to its end; returns where it hung or crashed, None where it ended well or the time was up."""
    job = Job(
        results=str((call.state / RESULTS).resolve()), ends=ends, budgets=spending.budgets, pattern=call.pattern,
        targets=call.targets, seed=call.seed, state=asdict(state),
    )  # fmt: skip
    current: tuple[str, str] | None = None
    began = saved = time.monotonic()
    has_results = False
    with closing(watched(worker, asdict(job), hang, deadline=ends + GRACE_SECONDS)) as events:
        try:
            for event in events:
                if event["event"] == "item":
                    current = event["stage"], event["name"]
                spending.turn_to({"device": PREBUILD, "item": event.get("stage", "")}.get(event["event"], ""))
                is_done = event["event"] == "item" and event["entry"]["status"] == "done"
                _enter(event, state, show)
                if is_done:
                    has_results = True
                    _note_first_results(state, time.monotonic() - began, show)
                if time.monotonic() > saved + SAVE_SECONDS:
                    states.save(call.state, state)
                    saved = time.monotonic()
        except DeadlinePassed:
            show(f"{': '.join(current or ('the worker',))}: still at work when the time was up, and cut off")
        except WorkerStopped as stopped:
            if current is None:
                raise DeviceError(f"the worker {stopped.status} before its first item: {stopped.reason}") from None
            stage, name = current
            state.done[stage][name] |= {"status": stopped.status, "detail": stopped.reason}
            return Stopped(stage, f"{stage}: {name}: {stopped.status}: {stopped.reason}", has_results)
        finally:
            spending.turn_to("")
    return None


def _enter(event: dict[str, Any], state: State, show: Callable[[str], None]) -> None:
    """Put an event into the state.

    Raises:
        DeviceError: the worker reports an error, or the state is of another device.
    """
    kind = event.pop("event")
    if kind == "error":
        raise DeviceError(event["message"])
    if kind == "device":
        run = event.pop("run")
        if state.device and state.device != event:
            raise DeviceError(
                f"the state is of another device or software, {state.device}; this is {event}: name another folder"
            )
        state.device = event
        state.runs.append(run)
        show(f"{event['device']} ({event['arch']}), driver {run.get('driver', event['driver'])}, model on {event['engine']}")
    elif kind == "prebuilt":
        show(event["note"] or f"{event['kernels']:,} kernels compiled or found")
    else:
        stage, name, entry = event["stage"], event["name"], event["entry"]
        state.done.setdefault(stage, {})[name] = entry
        if entry["status"] not in ("", "running") or stage == STAGES[-1]:
            show(line_of(stage, name, entry))


def _note_first_results(state: State, seconds: float, show: Callable[[str], None]) -> None:
    """Keep and show how long a worker took, from its start and with compiling ahead, until its first item was done."""
    if FIRST_RESULTS not in state.runs[-1]:
        state.runs[-1][FIRST_RESULTS] = f"{seconds:.1f} s"
        show(f"first results after {seconds:.1f} s")


def hand_over(call: Call, state: State) -> None:
    """Write what is new into pieces, as much as a call may hand over, and the state beside them."""
    write_atomically(call.state / RESULTS / "summary.txt", (summary(state) + "\n").encode())
    new = states.new_results(call.state, state)
    states.save(call.state, state)
    room = CALL_BYTES - 2 * (call.state / FILE).stat().st_size
    for name in pack(call.state / RESULTS, list(new), call.out, call.piece_bytes, room):
        state.handed[name] = new[name]
    state.waiting = [name for name in new if state.handed.get(name) != new[name]]
    states.save(call.state, state)
    write_atomically(call.out / FILE, (call.state / FILE).read_bytes())


def finished(call: Call, state: State) -> bool:
    """Whether no further call is needed: everything is done and handed over."""
    return state.complete() and not states.new_results(call.state, state)
