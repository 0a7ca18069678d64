"""Design a unit that nobody has built: `python examples/new_unit.py` (extras `formal` and `plots`).

The unit adds eight products of FP8 numbers (e4m3) to an fp16 number. Every fraction bit that a term keeps after alignment
widens the adder, so the question is how few of them are enough. The program writes new_unit.svg and new_unit.v.
"""

from pathlib import Path

import ml_dtypes
import numpy as np
from matplotlib import pyplot

import golden
from golden.operations import TFDPA
from mmau.prove import prove
from rtl import UnitDesign, to_verilog

ROWS = 20_000
SECONDS = 120.0
WORSE_DB = 1.0
"""How much accuracy (dB) the unit may lose against one that loses nothing at alignment."""


def unit_of(F: int) -> golden.Unit:
    """The unit with F fraction bits; the options of its circuit change its cost, and never a result."""
    operation = TFDPA(
        a=golden.FORMATS["e4m3"], b=golden.FORMATS["e4m3"], c=golden.FORMATS["fp16"], L=8, F=F, rho="RNE-FP16", e_zero=-24
    )
    return golden.Unit(
        name="new", operation=operation, implementation=golden.Implementation(encoding="sign-magnitude", stages=2)
    )


def signal_to_noise(unit: golden.Unit, rng: np.random.Generator) -> float:
    """The power of exact results over that of the unit's errors (dB)."""
    a, b = rng.normal(size=(2, ROWS, unit.operation.length)).astype(ml_dtypes.float8_e4m3fn)
    c = rng.normal(size=ROWS).astype(np.float16)
    exact = c.astype(np.float64) + (a.astype(np.float64) * b.astype(np.float64)).sum(axis=1)  # fp64 holds these sums exactly
    error = unit.dot(a, b, c).astype(np.float64) - exact
    return float(10 * np.log10((exact**2).sum() / (error**2).sum()))


def main() -> None:
    bits = range(4, 17)
    accuracy = {F: signal_to_noise(unit_of(F), np.random.default_rng(1)) for F in bits}
    enough = min(F for F in bits if accuracy[F] > max(accuracy.values()) - WORSE_DB)
    print(f"F = {enough} gives {accuracy[enough]:.1f} dB; no F gives more than {max(accuracy.values()):.1f}")

    figure, axes = pyplot.subplots()
    axes.plot(bits, [accuracy[F] for F in bits], marker="o")
    axes.axvline(enough, linestyle=":")
    axes.set(xlabel="fraction bits of a term, F", ylabel="exact results over errors (dB)")
    figure.savefig("new_unit.svg")

    design = UnitDesign(unit_of(enough))
    Path("new_unit.v").write_text(to_verilog(design))
    decision = prove(design, SECONDS)
    print(f"new_unit.v: {decision.verdict} for every input", *decision.lines(), sep="\n")


if __name__ == "__main__":
    main()
