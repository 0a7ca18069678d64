"""Proofs that end in time: each in a child process, which is killed at its deadline, whatever it is doing.

The verdicts that were found until then are reported; everything else is open.
"""

import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any, overload

from golden import Operation, Unit
from golden.files import temporary_folder
from golden.units.unit_file import unit_to_toml
from mmau.jobs.processes import TaskWorker, WorkerError
from mmau.jobs.task import CRASHED, DONE, TIMED_OUT, Task, Work
from mmau.prove.decision import (
    OPEN,
    PROVED,
    REFUTED,
    SPECIFICATION,
    UNDECIDED,
    Decision,
    DesignDecision,
    Equality,
    UserDesignDecision,
)
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.design import Design
from rtl.designs.unit_design import UnitDesign

GRACE = 0.5
"""Seconds after its limit in which the work may end by itself, before it is killed."""

FINDINGS = "findings"
"""The file of the findings, a line of JSON each."""

Report = Callable[[Mapping[str, Any]], None]
"""Takes a finding of the work: a table of plain JSON."""


class Refused(ValueError):
    """A request that the work cannot carry out, with its reason."""


class Failed(RuntimeError):
    """The work ended in an error that is no fault of the request."""


@dataclass(frozen=True)
class Seen:
    """The outcome of work that has ended.

    Attributes:
        findings: those that it reported, in order. result: the result of the work; None if it did not end in time or
            crashed.
        ending: why there is no result. crashed: whether that is because its process ended by itself.
    """

    findings: list[Mapping[str, Any]] = field(default_factory=list)
    result: Any = None
    ending: str = ""
    crashed: bool = False


def ignored(found: Mapping[str, Any]) -> None:
    """A `Report` for callers that wait for the result."""


def killable(work: Callable[[dict[str, Any], Report], Any]) -> Work:
    """The work function of a task that calls `work` with the content and a `Report`; the task's result says how it ended."""

    @wraps(work)
    def carried_out(content: dict[str, Any], folder: Path) -> dict[str, Any]:
        with (folder / FINDINGS).open("w", encoding="utf-8") as stream:

            def report(found: Mapping[str, Any]) -> None:
                stream.write(json.dumps(found) + "\n")
                stream.flush()

            try:
                return {"result": work(content, report)}
            except Refused as error:
                return {"refused": str(error)}
            except ModuleNotFoundError as error:
                return {"lacks": error.name, "message": str(error)}
            except Exception as error:
                traceback.print_exc()
                where = traceback.extract_tb(error.__traceback__)[-1]
                return {"failed": f"{type(error).__name__} at {where.filename}:{where.lineno}: {error}"}

    return carried_out


def watched(work: str, content: Mapping[str, Any], seconds: float, report: Report = ignored) -> Seen:
    """Call a work function in a child process, and kill the child and its programs `GRACE` after the limit.

    Args:
        work: the name of a function that is `killable`, `module:function`.
        content: plain JSON. seconds: elapsed, from when the function is imported.
        report: takes each finding, half a second after it at most.

    Raises:
        Refused: the function raised it. ModuleNotFoundError: it needs a package that is not installed.
        Failed: it raised another exception, or could not be imported.
    """
    seen = 0

    def look() -> bool:
        nonlocal seen
        found = _findings(next((path.parent for path in Path(folder).glob(f"*/{FINDINGS}")), None))
        for finding in found[seen:]:
            report(finding)
        seen = len(found)
        return True

    with temporary_folder("mmau-watched-") as folder, closing(TaskWorker(work, Path(folder))) as worker:
        try:
            outcome = worker.carry_out(Task(work, content), seconds + GRACE, look)
        except WorkerError as error:
            raise (error.__cause__ if isinstance(error.__cause__, ModuleNotFoundError) else Failed(error)) from None
        assert outcome is not None, "nobody cancels it"
        findings = _findings(outcome.folder)
    if outcome.status == TIMED_OUT:
        return Seen(findings, ending=f"it did not end in {seconds:g} s (--seconds)")
    if outcome.status == CRASHED:
        return Seen(findings, ending=outcome.message, crashed=True)
    if outcome.status != DONE or "failed" in outcome.result:
        raise Failed(outcome.message or outcome.result["failed"])
    if "refused" in outcome.result:
        raise Refused(outcome.result["refused"])
    if "lacks" in outcome.result:
        raise ModuleNotFoundError(outcome.result["message"], name=outcome.result["lacks"])
    return Seen(findings, outcome.result["result"])


def _findings(folder: Path | None) -> list[Mapping[str, Any]]:
    """The findings whose lines are whole."""
    path = None if folder is None else folder / FINDINGS
    if path is None or not path.exists():
        return []
    *lines, _ = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines]


DESIGN, DUT, SAMPLES, COMPARE = (
    f"mmau.prove.proof_work:{name}" for name in ("prove_design", "prove_dut", "simulate_samples", "compare")
)
"""The work functions, by name: this process does without the solvers."""

SIMULATION = 600.0
"""Limit of the simulation of sample vectors (s), which follows a proof of a user design that shows no fault."""


@overload
def prove(design: Design, seconds: float, dut: None = None, waived: Sequence[str] = ()) -> DesignDecision: ...
@overload
def prove(
    design: Design,
    seconds: float,
    dut: str | Path,
    waived: Sequence[str] = (),
    store: Path | None = None,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    report: Report = ignored,
) -> UserDesignDecision: ...
def prove(
    design: Design,
    seconds: float,
    dut: str | Path | None = None,
    waived: Sequence[str] = (),
    store: Path | None = None,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    report: Report = ignored,
) -> Decision:
    """Prove that a design computes golden's operation for every input, or find operands for which it does not: the generated
    Verilog of `design`, or the user design that `dut` describes and the unit `design` specifies.

    It ends after `seconds` of elapsed time and `GRACE`; sample vectors of a user design are simulated after that, unless
    warnings about widths end it, which the user may waive.

    Args:
        waived: Verilator's warnings about widths that do not count.
        store: the folder of answers about cases of a user design, which are not asked again; None for none.
        jobs, scheduler: processes, or a Dask cluster, that answer questions about several cases of a user design at once.
        report: takes what is known of the decision on a user design, as its keys, as soon as it is known; of `cases` the
            `name` of what is compared, how many of its cases are `decided`, and those that are `open`.

    Raises:
        Refused: a program is missing or fails, or a user design and its description do not fit. ValueError: a user design
        is compared with several units. ModuleNotFoundError: no solver is installed.
    """
    if dut is None:
        seen = watched(DESIGN, {"design": design.as_table(), "seconds": seconds}, seconds)
        return _cut_short(seen) if seen.result is None else DesignDecision.of(seen.result)
    if not isinstance(design, UnitDesign | ControlledDesign):
        raise ValueError(f"a user design is compared with one unit, not a tile or several formats, got {design.name}")
    content = {"unit": unit_to_toml(design.unit), "dut": str(Path(dut).absolute()), "seconds": seconds}
    content |= {"waived": list(waived), "store": None if store is None else str(store.absolute())}
    seen = watched(DUT, {**content, "jobs": jobs, "scheduler": scheduler}, seconds, report)
    found = UserDesignDecision.of(seen.result if seen.result is not None else _user_keys_until(seen))
    if found.verdict == REFUTED or found.waivable:
        return found
    simulated = watched(SAMPLES, {**content, "decision": asdict(found)}, SIMULATION)
    if simulated.result is not None:
        return UserDesignDecision.of(simulated.result)
    reason = f"{found.reason}; " if found.reason else ""
    return replace(found, verdict=OPEN, reason=f"{reason}sample vectors were not simulated: {simulated.ending}")


def equality_in_time(x: Operation, y: Operation, steps: tuple[int, int], seconds: float) -> Equality:
    """Decide the equality of two chains as `mmau.prove.equality.equality` does, in a child process that ends in time.

    Args:
        x, y: the first step of each; d of a step is c of the next one. steps: the number of steps of each chain.

    Raises:
        ModuleNotFoundError: as `prove`.
    """
    first, second = (
        {"unit": unit_to_toml(Unit(name="step", operation=operation)), "steps": count}
        for operation, count in zip((x, y), steps, strict=True)
    )
    seen = watched(COMPARE, {"x": first, "y": second, "seconds": seconds}, seconds)
    return Equality(UNDECIDED, reason=seen.ending) if seen.result is None else Equality(**seen.result)


def _cut_short(seen: Seen) -> DesignDecision:
    """The decision of a proof that was killed, from its findings until then."""
    known: dict[str, Any] = {"obligations": []}
    for found in seen.findings:
        if "decided" in found:
            number, verdict = found["decided"]
            known["obligations"][number][1] = verdict
        else:
            known |= found
    verdicts = [verdict for _, verdict in known["obligations"]]
    if not verdicts:
        reason = f"its obligations were not all generated: {seen.ending}"
    elif REFUTED in verdicts:
        reason = f"a step is refuted on its own, but no simulation showed operands that make d wrong: {seen.ending}"
    elif OPEN in verdicts:
        reason = f"{seen.ending}, and {verdicts.count(OPEN)} of {len(verdicts)} obligations remain undecided"
    else:
        return DesignDecision.of({**known, "verdict": PROVED})
    return DesignDecision.of({**known, "verdict": OPEN, "reason": reason, "crashed": seen.crashed})


def _user_keys_until(seen: Seen) -> dict[str, Any]:
    """The keys of the decision on a user design, likewise."""
    known: dict[str, Any] = {"equal_to": SPECIFICATION, "assumed": (), "decided": []}
    for found in seen.findings:
        known |= {**found, "decided": [*known["decided"], *found.get("decided", ())]}
    cases = known.pop("cases", {"name": "", "open": []})
    left = [f"{cases['name']}{case}" for case in cases["open"]]
    reason = f"the proof ended early: {seen.ending}{'; not decided: ' * bool(left)}{'; '.join(left)}"
    return {**known, "open": left, "verdict": OPEN, "reason": reason}
