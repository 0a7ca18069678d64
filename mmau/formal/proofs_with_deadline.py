"""Proofs that end in time: each in a child process, which is killed at its deadline, whatever it is doing.

The verdicts that were found until then are reported; everything else is open.
"""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, overload

from golden import Operation, Unit
from golden.unit_file import unit_to_toml
from mmau.formal.decision import (
    SPECIFICATION,
    UNDECIDED,
    Decision,
    DesignDecision,
    Equality,
    UserDesignDecision,
)
from mmau.formal.killable_work import Seen, watched
from mmau.formal.verdicts import OPEN, PROVED, REFUTED
from rtl.designs.design import Design
from rtl.designs.unit_design import UnitDesign

DESIGN, DUT, SAMPLES, COMPARE = (
    f"mmau.formal.proof_work:{name}" for name in ("prove_design", "prove_dut", "simulate_samples", "compare")
)
"""The work functions, by name: this process does without the solvers."""

SIMULATION = 600.0
"""Limit of the simulation of sample vectors (s), which follows a proof of a user design that shows no fault."""


@overload
def prove(design: Design, seconds: float, dut: None = None) -> DesignDecision: ...
@overload
def prove(design: Design, seconds: float, dut: str | Path) -> UserDesignDecision: ...
def prove(design: Design, seconds: float, dut: str | Path | None = None) -> Decision:
    """Prove that a design computes golden's operation for every input, or find operands for which it does not: the generated
    Verilog of `design`, or the user design that `dut` describes and the unit `design` specifies.

    It ends after `seconds` of elapsed time and `GRACE`; sample vectors of a user design are simulated after that.

    Raises:
        Refused: a program is missing or fails, or a user design and its description do not fit. ValueError: a user design
        is compared with several units. ModuleNotFoundError: no solver is installed.
    """
    if dut is None:
        seen = watched(DESIGN, {"design": design.as_table(), "seconds": seconds}, seconds)
        return _cut_short(seen) if seen.result is None else DesignDecision.of(seen.result)
    if not isinstance(design, UnitDesign):
        raise ValueError(f"a user design is compared with one unit, not a tile or several formats, got {design.name}")
    content = {"unit": unit_to_toml(design.unit), "dut": str(Path(dut).absolute()), "seconds": seconds}
    seen = watched(DUT, content, seconds)
    found = UserDesignDecision.of(seen.result if seen.result is not None else _user_keys_until(seen))
    if found.verdict == REFUTED:
        return found
    simulated = watched(SAMPLES, {**content, "decision": asdict(found)}, SIMULATION)
    if simulated.result is not None:
        return UserDesignDecision.of(simulated.result)
    reason = f"{found.reason}; " if found.reason else ""
    return replace(found, verdict=OPEN, reason=f"{reason}sample vectors were not simulated: {simulated.ending}")


def equality_in_time(x: Operation, y: Operation, steps: tuple[int, int], seconds: float) -> Equality:
    """Decide the equality of two chains as `mmau.formal.equality.equality` does, in a child process that ends in time.

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
    return {**known, "verdict": OPEN, "reason": f"the proof ended early: {seen.ending}"}
