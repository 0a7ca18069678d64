"""Verdicts of proofs, and the step of golden that an obligation is about."""

import re

PROVED, REFUTED, OPEN = "proved", "refuted", "open"


def step_of(name: str) -> str:
    """The step of golden to which an obligation belongs, from its name."""
    part = name.split()[0]
    part = re.sub(r"_\d+$", "", part)
    for step in ("max_exp", "align", "accumulate", "decode", "multiply", "specials", "addend", "scale"):
        if step in part:
            return step
    if part.endswith(("_term_x", "_term_y", "_term_z")):  # the code of an adder's operand
        return "addend"
    return "normalise, round, encode" if part == "d" or part.endswith("encode") else part
