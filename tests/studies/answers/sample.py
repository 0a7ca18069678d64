"""Result records with the points of the two example spaces, made by formulas: no unit has these figures."""

import itertools
from typing import Any

ENCODINGS = ("ones-complement", "twos-complement", "sign-magnitude")


def record(parameters: dict[str, Any], factor: float, bias: float) -> dict[str, Any]:
    """A point that was evaluated; its costs and errors grow with a factor."""
    biases = {"mean_ulp": bias, "low95": bias - 0.01, "high95": bias + 0.01}
    measures = {
        "rows": 100, "finite_rows": 100, "exact_rows": 10, "bias": biases,
        "magnitude_bias": {"mean_ulp": -bias, "low95": -bias - 0.01, "high95": -bias + 0.01},
        "relative_error": {"p99": 1e-6 * factor}, "ulp": {"mean": factor, "p99": 3 * factor, "histogram": []},
    }  # fmt: skip
    flat = {("implementation.encoding" if key == "encoding" else key): value for key, value in parameters.items()}
    return {
        "name": " ".join(f"{key}={value}" for key, value in parameters.items()),
        "kind": "point", "status": "done", "message": "", "swept": list(parameters), "toml": "", "unit": None,
        "verilog": None, "parameters": flat,
        "accuracy": {"normal": measures, "chain-256": measures, "properties": {"worst": {"ulp": 1.0}}},
        "cost": {
            "cells": round(1e4 * factor), "depth": 100, "area_um2": 1e5 * factor, "delay_ns": 10 * factor,
            "energy_pj": 50 * factor, "tools": {"yosys": "0.70"},
            "wanted": {"clock_ns": 20.0, "activity": 0.1, "library": "osu018"}, "missing": {},
        },
        "cosimulation": {"vectors": 100, "sent": 100, "received": 100, "mismatches": 0, "seed": 0}, "proof": None,
        "seconds": {},
    }  # fmt: skip


def round_down() -> list[dict[str, Any]]:
    """RD is biased and 10 % larger."""
    return [
        record({"truncation": mode, "encoding": encoding}, 1.1 if mode == "RD" else 1.0, -0.05 if mode == "RD" else 0.0)
        for mode, encoding in itertools.product(("RD", "RZ"), ENCODINGS)
    ]


def encodings() -> list[dict[str, Any]]:
    """Sticky is 2 % larger; round to odd with sticky is invalid."""
    found = []
    for F, truncation, sticky, encoding in itertools.product((24, 26), ("RZ", "RO"), (False, True), ENCODINGS):
        parameters = {"F": F, "truncation": truncation, "sticky": sticky, "encoding": encoding}
        factor = (1 + 0.1 * ENCODINGS.index(encoding)) * (1.02 if sticky else 1.0)
        point = record(parameters, factor, 0.0)
        if truncation == "RO" and sticky:
            point |= {
                "status": "invalid",
                "message": "sticky must be false",
                "accuracy": None,
                "cost": None,
                "cosimulation": None,
            }
        found.append(point)
    return found
