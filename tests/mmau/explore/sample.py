"""Result records of a small space with every kind of point in it, made by formulas: no unit has these figures."""

from typing import Any

TITLE = "sample <b>space</b>"
SPACE = 'name = "sample <b>space</b>"\n[sweep]\nL = [4, 8]\n'
HOSTILE = "<b>bold</b><script>alert(1)</script></script>"
NO_STA = "OpenSTA (`sta`) was not found"


def measures(L: int, F: int, workload: int) -> dict[str, Any]:
    """Accuracy of one workload: better with F, worse with L."""
    mean = 2.0 ** (8 - F) * L * (1 + workload)
    return {
        "rows": 1000, "finite_rows": 990, "special_mismatch": 0,
        "relative_error": {"mean": mean * 1e-5, "median": mean * 8e-6, "p99": mean * 5e-5, "max": mean * 1e-3},
        "ulp": {
            "mean": mean, "p99": 3 * mean, "max": 9 * mean,
            "histogram": [[-2.0, 10], [-1.0, 200 + 5 * F], [0.0, 500], [1.0, 180 - 5 * F], [2.0, 0]],
        },
        "bias": {"mean_ulp": -0.01 * mean, "low95": -0.02 * mean, "high95": 0.005 * mean},
        "arithmetic_snr_db": 6.02 * F,
        "agreement": {"sm_90:mma.m16n8k16.f32.f16.f16.f32": min(1.0, F / 25)},
    }  # fmt: skip


def cost(L: int, F: int, extra: float) -> dict[str, Any]:
    """Cost: it grows with L and F."""
    area = 1000.0 * L * (F + 10) * extra
    return {
        "cells": int(area / 30), "depth": 100 + F, "transistors": int(area / 7), "area_um2": area,
        "delay_ns": 5 + 0.2 * F + extra, "power_mw": area / 2e4, "energy_pj": area / 1e3, "stages_for_clock": 3,
        "area_by_component": {"multiply": area * 0.5, "align": area * 0.3, "accumulate": area * 0.2},
        "fpga": {"ecp5": {"luts": int(area / 50), "fmax_mhz": 60.5}}, "missing": {}, "tools": {"yosys": "0.70"},
        "wanted": {"clock_ns": 20.0, "activity": 0.1},
    }  # fmt: skip


def done(name: str, L: int, F: int, encoding: str, verified: dict[str, Any], kind: str = "point") -> dict[str, Any]:
    """A point that was evaluated."""
    extra = 1.0 if encoding == "ones-complement" else 1.1
    return {
        "name": name, "kind": kind, "status": "done", "message": "",
        "parameters": {"operation": "T-FDPA", "L": L, "F": F, "implementation.encoding": encoding},
        "axes": {"L": L, "F": F, "encoding": encoding} if kind == "point" else {},
        "swept": ["L", "F", "implementation.encoding"], "unit": f"units/{L}-{F}-{encoding}.toml",
        "toml": f'name = "L{L} F{F}"\nL = {L}\nF = {F}\n', "verilog": f"verilog/{L}-{F}.v",
        "accuracy": {
            "normal": measures(L, F, 0), "outliers": measures(L, F, 1),
            "properties": {
                "worst": {"ulp": 3.0, "bound_ulp": 4.0}, "monotonicity": {"violations": 1, "of": 100},
                "symmetry": {"violations": 0, "of": 100},
            },
        },
        "cost": cost(L, F, extra), **verified, "seconds": {"accuracy": 1.0, "cost": 2.0, "cosimulation": 3.0},
    }  # fmt: skip


NOT_VERIFIED: dict[str, Any] = {"cosimulation": None, "proof": None}


def verified(
    vectors: int,
    received: int | None = None,
    mismatches: int = 0,
    proved: bool | None = None,
    reason: str = "",
    **counts: int,
) -> dict[str, Any]:
    """A co-simulation, and a proof where there is a verdict or a reason."""
    received = vectors if received is None else received
    cosimulation = {"vectors": vectors, "sent": vectors, "received": received, "mismatches": mismatches, "seed": 1, **counts}
    proof = None if proved is None and not reason else {"proved": proved, "reason": reason}
    return {"cosimulation": cosimulation, "proof": proof}


def without_result(name: str, status: str, message: str, F: int) -> dict[str, Any]:
    """A point that came to nothing."""
    return {
        "name": name, "kind": "point", "status": status, "message": message,
        "parameters": {"operation": "T-FDPA", "L": 4, "F": F, "implementation.encoding": "ones-complement"},
        "axes": {"L": 4, "F": F, "encoding": "ones-complement"},
        "swept": ["L", "F", "implementation.encoding"], "unit": None, "toml": "", "verilog": None,
        "accuracy": {}, "cost": {}, **NOT_VERIFIED, "seconds": {},
    }  # fmt: skip


def records() -> list[dict[str, Any]]:
    """24 points that were evaluated (one's circuit differs, one is not co-simulated, one has no timing, one has a hostile
    name, one is proved), three that were not, and an instruction."""
    found = [
        done(f"L={L} F={F} {encoding}", L, F, encoding, verified(100_000))
        for L in (4, 8)
        for F in (10, 12, 14, 18, 22, 25)
        for encoding in ("ones-complement", "sign-magnitude")
    ]
    found[0] |= verified(100_000, mismatches=7)
    found[1] |= NOT_VERIFIED
    found[2]["name"] = HOSTILE
    found[3]["cost"] |= {"delay_ns": None, "power_mw": None, "energy_pj": None}
    found[3]["cost"]["missing"] = {"delay_ns": NO_STA, "power_mw": NO_STA, "energy_pj": NO_STA}
    found[4] |= verified(100_000, proved=True)
    found += [
        without_result("F=0", "invalid", "F must be an integer from 1 to 128, got 0", 0),
        without_result("F=90", "failed", f"abc ended with status 1:\n{HOSTILE}", 90),
        without_result("F=120", "timed out", "synthesis took more than 600 s; log: logs/F=120.txt", 120),
        done("sm_90 mma.m16n8k16.f32.f16.f16.f32", 16, 25, "ones-complement", NOT_VERIFIED, "reference"),
    ]
    return found
