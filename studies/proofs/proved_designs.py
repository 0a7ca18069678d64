"""The designs that the campaign proves, and the implementation of each in words."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace

import golden
from cosim.regressions.main_job import main_units
from golden import Implementation, Unit
from golden.checks import listed
from golden.unit import CIRCUIT_CHOICES, ENCODINGS, LATER_KEYS
from mmau.formal.targets import kind_of
from mmau.formal.whole_unit import whole_targets
from rtl.designs.design import Design
from rtl.designs.identity import design_key
from rtl.designs.sample_designs import multi_format_designs, tile_designs
from rtl.designs.unit_design import UnitDesign
from studies.proofs.build_options import each_cut, each_option

FURTHER: tuple[tuple[str, str], ...] = (
    ("armv9-sme", "fmopa.za.s.h"),
    ("armv9-sme", "bfmopa.za.s.h.ebf"),
    ("armv9-sme", "bfmopa.za.s.h"),
    ("riscv-zvbdota", "vfwbdota.vv.bf16.k8"),
)
"""Instructions that lists of units leave out, and whose datapaths have keys or formats that no listed unit has."""


@dataclass(frozen=True)
class Target:
    """A target of the campaign: a design, and its kind of proof, a key of `mmau.formal.targets.KINDS`."""

    kind: str
    design: Design


def targets() -> list[Target]:
    """All that `make formal` proves, each once; small units step by step and whole."""
    units = [UnitDesign(unit) for unit in (*every_unit(), *each_option())]
    stepwise = [Target(kind_of(design), design) for design in (*units, *pipeline_targets(), *whole_targets())]
    return distinct_targets([*stepwise, *(Target("whole", design) for design in whole_targets())])


def pipeline_targets() -> list[Design]:
    """The targets beside combinational units: units of the main job with registers, datapaths with registers inside of their
    steps, sample tiles, and datapaths of several formats with and without registers."""
    units = [*(unit for unit in main_units() if unit.implementation.stages), *each_cut()]
    return [*map(UnitDesign, units), *multi_format_designs(), *tile_designs()]


def main_job_targets() -> list[Target]:
    """The main job's units, as they are built there."""
    designs = [UnitDesign(unit) for unit in main_units()]
    return [Target(kind_of(design), design) for design in designs]


def chosen_targets(options: Namespace) -> list[Target]:
    """The targets that the options of `add_options` choose."""
    listed = main_job_targets() if options.main_job else targets()
    return [target for target in listed if options.unit in target.design.name]


def add_options(parser: ArgumentParser, chosen: str = "designs", main_job: bool = True) -> None:
    """Add the options that choose targets, and how many of them are worked on at a time.

    Args:
        chosen: the word for targets in the help. main_job: whether there is the option `--main-job`.
    """
    if main_job:
        parser.add_argument("--main-job", action="store_true", help="only the units of the main job")
    parser.add_argument("--unit", metavar="TEXT", default="", help=f"only {chosen} whose names contain the text")
    parser.add_argument("--jobs", type=int, metavar="N", help="tasks at a time (default: one for each core)")


def add_limits(parser: ArgumentParser, seconds: float, limited: str, started: str = "") -> None:
    """Add the options that limit times.

    Args:
        seconds: the default for one question. limited: what that limits. started: what is not started after a time; empty
            if there is no such option.
    """
    parser.add_argument(
        "--seconds", type=float, default=seconds, metavar="N", help=f"time limit {limited} (default: {seconds:g})"
    )
    if started:
        parser.add_argument("--within", type=float, metavar="N", help=f"start no further {started} after this many seconds")


def distinct_targets(listed: Sequence[Target]) -> list[Target]:
    """The targets without those that differ from an earlier one only by name."""
    found: dict[tuple[str, str], Target] = {}
    for target in listed:
        found.setdefault((target.kind, design_key(target.design.as_table())), target)
    return list(found.values())


def every_unit() -> list[Unit]:
    """Every distinct datapath of the catalogue's units and those of `FURTHER`, in every encoding."""
    further = [Unit(name=f"{arch} {name}", operation=golden.instruction(arch, name).operation) for arch, name in FURTHER]
    return [
        replace(unit, implementation=replace(unit.implementation.combinational, encoding=encoding))
        for unit in (*golden.catalogue_units(), *further)
        for encoding in ENCODINGS
    ]


def built(implementation: Implementation) -> str:
    """The implementation of a design in words: its encoding, and the options that are not the usual ones."""
    usual = Implementation()
    words = [implementation.encoding]
    words += [
        f"{key} {getattr(implementation, key)}"
        for key in (*CIRCUIT_CHOICES, *LATER_KEYS)
        if getattr(implementation, key) != getattr(usual, key)
    ]
    words += [f"{implementation.stages} stages"] if implementation.stages else []
    return ", ".join(
        [*words, *([f"registers after {listed(implementation.registers)}"] if implementation.registers else [])]
    )
