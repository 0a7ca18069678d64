"""One call of the job: worker after worker until the time is up or all is done, the state kept as they go, and what is new
handed over in pieces."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from hwtests.conform.process import WorkerStopped, watched
from hwtests.device import DeviceError
from hwtests.h200 import state as states
from hwtests.h200.pieces import CALL_BYTES, pack
from hwtests.h200.stages import Job, planned
from hwtests.h200.state import CUBINS, FILE, RESULTS, STAGES, State
from hwtests.h200.summary import line_of, summary

WORKER = (sys.executable, "-m", "hwtests.h200.worker")

BUDGETS = {"self-test": 60.0, "recordings": 120.0, "sparse and integers": 30.0, "microbenchmarks": 120.0}
"""Seconds of a call that a stage takes at most; volume takes what is left."""

HANG_SECONDS = 30.0
"""A worker that says nothing for so long hangs, unless it announced a longer step."""

HAND_OVER_SECONDS = 15.0
"""Of a call's seconds, for the pieces."""

SAVE_SECONDS = 1.0
"""The state is written so often at most; a call that is killed loses no more."""

SMALLEST_PIECE = 1 << 20

FIRST_RESULTS = "first_results"
"""Key of a run: how long its worker took until its first results."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """What one call is asked for.

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
    (call.state / RESULTS).mkdir(exist_ok=True)
    os.environ["MMAU_CUBINS"] = str((call.state / CUBINS).resolve())
    ends = started + call.seconds - HAND_OVER_SECONDS
    budgets = dict(BUDGETS if call.budgets is None else call.budgets)
    try:
        while not state.complete() and time.monotonic() < ends:
            stopped = _run_worker(call, state, budgets, ends - time.monotonic(), show, worker, hang)
            states.save(call.state, state)
            if stopped is None:
                break
            show(f"{stopped}; going on with the next")
    finally:
        hand_over(call, state)
    show(summary(state))
    return state


def _run_worker(
    call: Call,
    state: State,
    budgets: dict[str, float],
    seconds: float,
    show: Callable[[str], None],
    worker: Sequence[str],
    hang: float,
) -> str | None:
    """One worker to its end; returns what it hung or crashed on, None where it ended well. `budgets` goes down by what the
    stages took."""
    job = Job(
        results=str((call.state / RESULTS).resolve()), seconds=seconds, budgets=budgets, pattern=call.pattern,
        targets=call.targets, seed=call.seed, state=asdict(state),
    )  # fmt: skip
    current: tuple[str, str] | None = None
    began = since = saved = time.monotonic()
    with closing(watched(worker, asdict(job), hang)) as events:
        try:
            for event in events:
                if event["event"] == "item":
                    now = time.monotonic()
                    if current is not None and current[0] in budgets:
                        budgets[current[0]] -= now - since
                    since, current = now, (event["stage"], event["name"])
                is_done = event["event"] == "item" and event["entry"]["status"] == "done"
                _enter(event, state, show)
                if is_done:
                    _note_first_results(state, time.monotonic() - began, show)
                if time.monotonic() > saved + SAVE_SECONDS:
                    states.save(call.state, state)
                    saved = time.monotonic()
        except WorkerStopped as stopped:
            if current is None:
                raise DeviceError(f"the worker {stopped.status} before its first item: {stopped.reason}") from None
            stage, name = current
            state.done[stage][name] |= {"status": stopped.status, "detail": stopped.reason}
            return f"{stage}: {name}: {stopped.status}: {stopped.reason}"
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
        show(f"{event['kernels']:,} kernels compiled or found")
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
    states.save(call.state, state)
    write_atomically(call.out / FILE, (call.state / FILE).read_bytes())


def finished(call: Call, state: State) -> bool:
    """Whether no further call is needed: everything is done and handed over."""
    return state.complete() and not states.new_results(call.state, state)
