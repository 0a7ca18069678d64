"""`mmau distinguish`: an input on which two units or instructions differ."""

import argparse
import json
from functools import partial
from pathlib import Path

import numpy as np

import golden
from golden.checks import check_least
from mmau import DIFFERED, OK
from mmau.prover import proved
from probe.distinguish import Difference, Side, Verdict, distinguish, parting, sides, text_of

NONE_FOUND = 3
"""Exit status: no difference was found, and nothing is proved."""


def run_distinguish(arguments: argparse.Namespace) -> int:
    """`mmau distinguish`."""
    check_least("vectors", arguments.vectors, 1)
    check_least("seed", arguments.seed, 0)
    if not arguments.prove > 0:  # NaN is not either
        raise ValueError(f"--prove must be a number of seconds above 0, got {arguments.prove}")
    x, y = sides(chosen(arguments.x), chosen(arguments.y))
    if x.chain == y.chain:
        print(json.dumps({"equal": True}) if arguments.json else "equal: both are the same steps with the same keys")
        return OK
    found = distinguish(x, y, arguments.vectors, arguments.seed, partial(_proved, seconds=arguments.prove))
    if isinstance(found, Difference):
        print(json.dumps(_as_dict(found)) if arguments.json else text_of(found), end="\n" if arguments.json else "")
        return DIFFERED
    if arguments.json:
        seen = {"vectors": found.tried, "seed": arguments.seed}
        print(json.dumps({"equal": found.proved or None, **seen, **({"why": found.why} if found.why else {})}))
    elif found.proved:
        print(f"equal: proved of the specifications, for every input; no difference in {found.tried} vectors either")
    else:
        print(f"no difference found in {found.tried} vectors of all classes, corners and features, seed {arguments.seed}")
        if found.why:
            print(f"not proved: {found.why}")
    return OK if found.proved else NONE_FOUND


def _proved(x: Side, y: Side, seconds: float) -> Verdict:
    """What solvers say, where they are installed."""
    try:
        return proved(x, y, seconds)
    except ModuleNotFoundError as error:
        return f"needs the package {error.name}, which is not installed; install it with: pip install 'mmau[formal]'"


def chosen(word: str) -> golden.Unit | golden.Instruction:
    """`ARCH:NAME`, or a unit's file.

    Raises:
        ValueError: neither. OSError: the file cannot be read.
    """
    arch, colon, name = word.partition(":")
    if colon and not Path(word).exists():
        return golden.instruction(arch, name)
    return golden.load_unit(word)


def _as_dict(found: Difference) -> dict[str, object]:
    named = zip(found.row._fields, found.row, strict=True)
    row = {name: np.asarray(array)[0].tolist() for name, array in named if array is not None}
    texts = [side.trace(found.row).text().splitlines()[1:] for side in (found.x, found.y)]
    return {
        "equal": False,
        "input": row,
        "x": {"name": found.x.name, "d": found.d[0]},
        "y": {"name": found.y.name, "d": found.d[1]},
        "parting": parting(*texts),
        "vectors": found.tried,
    }
