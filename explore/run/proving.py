"""A proof of a point's datapath. It needs solvers, which an exploration without proofs does not."""

from typing import Any

from formal.outcome import PROVED, REFUTED
from formal.proving import decide
from golden import Unit
from jobs.contents import TOP, verilog_digest
from rtl.verilog.emit import to_verilog


def prove(unit: Unit, seconds: float) -> dict[str, Any]:
    """Prove a unit, its Verilog written anew.

    Returns:
        `proved`: True; False where operands are known on which it is not golden's; None where it is not decided.
        `proved_note`: why not. `obligations`: how many there are; `open`: those that are not proved. `verilog`: its digest.
    """
    verilog = to_verilog(unit, TOP)
    found = decide(unit, verilog, seconds)
    digest, obligations = verilog_digest(verilog), len(found.verdicts)
    if found.verdict == PROVED:
        return _told(True, "", obligations, [], digest)
    if found.verdict == REFUTED and found.vector is not None:
        operands = ", ".join(f"{port}={value:#x}" for port, value in found.vector.inputs.items())
        note = f"refuted: {operands}: got {found.vector.got:#x}, expected {found.vector.expected:#x}"
        return _told(False, note, obligations, found.left, digest)
    why = found.problem or f"{len(found.left)} of {obligations} obligations are open after {seconds:g} s"
    return _told(None, f"not decided: {why}", obligations, found.left, digest)


def _told(proved: bool | None, note: str, obligations: int, left: list[str], verilog: str) -> dict[str, Any]:
    return {"proved": proved, "proved_note": note, "obligations": obligations, "open": left, "verilog": verilog}
