"""Single-line faults of the generator: one comparison, constant, operator or branch of a module of `rtl` changed."""

import os
import random
import tomllib
from collections.abc import Iterator

from golden import Unit
from golden.units.unit_file import unit_from_table
from mmau.jobs.provenance import ROOT
from studies.golden_mutants.mutations import Mutation, mutations

FOLDERS = ("arithmetic", "steps", "operations", "datapath")
"""Those of rtl that decide a datapath."""

OTHER = ("convert", "conversion", "depths", "pipeline")
"""Modules that change no combinational datapath of one format."""

FAULTS, SEED = 140, int(os.environ.get("MMAU_ATTACK_SEED", "23"))
"""The number of faults drawn, and the seed. A quarter of all faults changes no Verilog of `UNITS`."""

UNITS = (
    'operation = "T-FDPA"\na = "e2m1"\nb = "e3m2"\nc = "fp16"\nL = 3\nF = 9\nrho = "RNE-FP16"\ne_zero = -20',
    'operation = "T-FDPA"\na = "bf16"\nb = "e4m3ieee"\nc = "bf16"\nL = 2\nF = 7\nrho = "RD-BF16"\ne_zero = -133\n'
    'truncation = "RD"\n[implementation]\nencoding = "sign-magnitude"\nmax_exp = "pairwise"\nleading_zeros = "anticipate"',
    'operation = "T-FDPA"\na = "e2m1"\nb = "e3m2"\nc = "fp16"\nL = 3\nF = 3\nrho = "RNA-FP16"\ne_zero = -20\nsticky = true\n'
    'flush_inputs = true\nflush_results = true\n[implementation]\nencoding = "twos-complement"\nreduction = "adder-tree"\n'
    'result_exp = "parallel"',
    'operation = "ST-FDPA"\na = "e4m3"\nb = "e2m3"\nc = "fp32"\nL = 4\nF = 25\nrho = "RZ-FP32"\ne_zero = -133\nK_block = 2',
    'operation = "GST-FDPA"\na = "e2m1"\nb = "e2m1"\nc = "fp32"\nL = 8\nF = 35\nrho = "RZ-FP32"\ne_zero = -139\nG = 4\n'
    'K_block = 4\nscale = "ue4m3"\n[implementation]\nencoding = "twos-complement"',
    'operation = "TR-FDPA"\na = "e2m1"\nb = "e5m2"\nc = "fp32"\nL = 2\nF = 9\nF2 = 12\n[implementation]\nadder = "sklansky"'
    '\nmultiplier = "carry-save"',
    'operation = "GTR-FDPA"\na = "e4m3fnuz"\nb = "e5m2fnuz"\nc = "fp32"\nL = 3\nF = 24\nF2 = 31\n[implementation]\n'
    'encoding = "sign-magnitude"',
    'operation = "E-FDPA"\na = "e4m3"\nb = "e5m2"\nc = "fp16"\nL = 2\nrho = "RNE-FP16"\n[implementation]\n'
    'adder = "kogge-stone"\nmultiplier = "booth"\nnormaliser = "narrowing"\naccumulator = "long"',
    'operation = "FMA"\na = "fp16"\nb = "fp16"\nc = "fp16"\nrho = "RD-FP16"\nflush_results = true\noverflow = "by-mode"\n'
    '[implementation]\nrounder = "compound"',
    'operation = "FTZ-AddMul"\na = "fp16"\nb = "fp16"\nc = "fp32"\nP = 2',
    'operation = "FTZ-FMA"\na = "bf16"\nb = "bf16"\nc = "fp32"\nL = 2',
    'operation = "FTZ-EO-FMA"\na = "fp16"\nb = "fp16"\nc = "fp32"\nL = 2',
    'operation = "IDPA"\na = "int8"\nb = "uint8"\nc = "int32"\nL = 4\noverflow = "saturate"',
)
"""Units that show a fault, as their files: every operation, encoding and way to build a step, proved in seconds."""


def modules() -> list[str]:
    """The attacked modules by name."""
    paths = (path for folder in FOLDERS for path in sorted((ROOT / "rtl" / folder).glob("*.py")))
    return [f"rtl.{path.parent.name}.{path.stem}" for path in paths if path.stem not in ("__init__", *OTHER)]


def faults(count: int = FAULTS, seed: int = SEED) -> list[tuple[str, int]]:
    """Faults by module and number in `mutations`, drawn by seed: as many of each module as there are, in turn."""
    drawn = random.Random(seed)
    left = {}
    for module in modules():
        numbers = list(range(len(mutations(module))))
        drawn.shuffle(numbers)
        left[module] = iter(numbers)
    found = list[tuple[str, int]]()
    while left:
        for module in [*left]:
            number = next(left[module], None)
            if number is None:
                del left[module]
                continue
            found.append((module, number))
            if len(found) == count:
                return found
    return found


def unit_of(number: int) -> Unit:
    """A unit of `UNITS`."""
    return unit_from_table({"name": "unit", **tomllib.loads(UNITS[number])})


def units_for(module: str, number: int) -> Iterator[int]:
    """The order in which units are tried: those of the operation that the module is of, then the others by seed."""
    name = module.rpartition(".")[2].replace("_", "-")
    order = [*range(len(UNITS))]
    random.Random(number).shuffle(order)
    return iter(sorted(order, key=lambda each: UNITS[each].split('"')[1].lower() != name))


def fault(module: str, number: int) -> Mutation:
    """The fault of that number."""
    return mutations(module)[number]
