"""A proof of a point's datapath."""

from typing import Any

from golden import Unit
from mmau.formal import prove
from mmau.formal.killable_work import Failed
from mmau.formal.verdicts import PROVED, REFUTED
from rtl.designs.unit_design import UnitDesign


def prove_unit(unit: Unit, seconds: float) -> dict[str, Any]:
    """Prove a unit, its Verilog written anew.

    Returns:
        `proved`: True; False where a simulation shows a counter-example; None where it is not decided.
        `reason`: why not. `obligations`: how many there are; `open`: those that are not proved. `verilog`: its digest.

    Raises:
        Failed: the process of the proof ended by itself; another run may succeed.
    """
    found = prove(UnitDesign(unit), seconds)
    if found.crashed:
        raise Failed(found.reason)
    reason = f"not decided: {found.reason}"
    if found.verdict == PROVED:
        reason = ""
    elif found.counterexample is not None:
        reason = f"refuted: {found.counterexample.summary}"
    return {
        "proved": {PROVED: True, REFUTED: False}.get(found.verdict),
        "reason": reason,
        "obligations": len(found.obligations),
        "open": found.not_proved,
        "verilog": found.verilog,
    }
