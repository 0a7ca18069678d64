"""The designs that the campaign proves, and the implementation of each in words."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import golden
from cosim.regressions.coverage_job import main_units
from golden import Implementation, Operation, Unit
from golden.checks import listed
from golden.operations import (
    EFDPA,
    FMA,
    FTZEOFMA,
    FTZFMA,
    GSTFDPA,
    GTRFDPA,
    IDPA,
    OCFDPA,
    PSFDPA,
    STFDPA,
    TFDPA,
    TRFDPA,
    FTZAddMul,
)  # fmt: skip
from golden.units.unit import ADDERS, CIRCUIT_CHOICES, ENCODINGS, LATER_KEYS, MULTIPLIERS, NORMALISERS, ROUNDERS
from mmau.prove.targets import kind_of, whole_targets
from rtl.datapath.base import boundaries, boundaries_inside
from rtl.designs.design import Design
from rtl.designs.identity import design_key
from rtl.designs.sample_units import multi_format_designs, tile_designs
from rtl.designs.unit import unit_datapath
from rtl.designs.unit_design import UnitDesign
from rtl.steps.component import never_built

DATAPATHS = (
    "sm_70 mma.m8n8k4.f16.f16.f16.f16", "sm_90 mma.m16n8k16.f32.f16.f16.f32", "sm_90 wgmma.m64n8k32.f32.e4m3.e4m3",
    "sm_100 tcgen05.m64n8k32.kind::f8f6f4.f32.e5m2.e5m2",
    "sm_100 tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e2m1.e2m1.ue8m0",
    "sm_100 tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0",
    "sm_100 tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
    "gfx908 v_mfma_f32_32x32x2bf16", "gfx908 v_mfma_f32_32x32x4f16",
    "gfx942 v_mfma_f32_16x16x8_xf32", "gfx942 v_mfma_f32_32x32x8_bf16", "gfx942 v_mfma_f32_16x16x32_bf8_bf8",
    "sm_80 mma.m8n8k4.f64.f64.f64.f64", "gfx908 v_mfma_f32_32x32x1f32", "x86-avx512 vfmaddph", "aarch64 bfmlalb",
    "gfx90a v_mfma_f32_32x32x2bf16", "gfx90a v_mfma_f32_32x32x4f16",
    "x86-amx tdpbf16ps.m16n16k2", "x86-amx tdpfp16ps.m16n16k4", "x86-avx512 vdpbf16ps",
    "x86-avx512 vpdpbusds", "gfx908 v_mfma_i32_32x32x4i8",
    "gfx1100 v_dot2_f32_f16", "gfx1100 v_dot2_bf16_bf16", "gfx1201 v_wmma_f32_16x16x16_f16_w32",
    "gfx1201 v_wmma_f16_16x16x16_f16_w32",
)  # fmt: skip
"""The largest datapaths of each operation of the catalogue, and a small one if they differ much."""

TOGETHER = (("max_exp", "leading_zeros"), ("reduction", "leading_zeros"), tuple(CIRCUIT_CHOICES))
"""Keys that are changed together, in addition to each by itself."""

MULTIPLIED = ({"multiplier": MULTIPLIERS[1]}, {"adder": ADDERS[-1], "multiplier": MULTIPLIERS[-1]})
"""Multipliers, in one encoding: negative terms do not matter to a product, and an FMA sums rows in that encoding alone."""

ROUNDED = (
    *({key: LATER_KEYS[key][-1]} for key in ("normaliser", "rounder", "accumulator")),
    {"leading_zeros": "anticipate", "result_exp": "parallel", "normaliser": NORMALISERS[-1], "rounder": ROUNDERS[-1]},
    {key: choices[-1] for key, choices in LATER_KEYS.items()},
)
"""The steps behind the sum, and the places of an exact one, in one encoding: a total is a sign and a magnitude in each."""

UNUSED: Mapping[type[Operation], frozenset[str]] = {
    EFDPA: frozenset({"max_exp"}),
    IDPA: frozenset({"encoding", "max_exp", "leading_zeros", "result_exp", *LATER_KEYS}),
    TRFDPA: frozenset({"normaliser", "accumulator"}),
    GTRFDPA: frozenset({"normaliser", "accumulator"}),
    **{
        kind: frozenset({"accumulator"})
        for kind in (TFDPA, STFDPA, GSTFDPA, OCFDPA, PSFDPA, FMA, FTZAddMul, FTZFMA, FTZEOFMA)
    },
}
"""Keys that change nothing in the datapath of an operation."""


def each_option() -> list[Unit]:
    """`DATAPATHS` in every encoding, with every changed option."""
    units = [Unit(name=name, operation=golden.instruction(*name.split(" ", 1)).operation) for name in DATAPATHS]
    return [replace(unit, implementation=option) for unit in units for option in options_of(type(unit.operation))]


def each_cut() -> list[Unit]:
    """Units of `DATAPATHS` whose steps have inner boundaries, with a register at each of these, for every multiplier."""
    units = [Unit(name=name, operation=golden.instruction(*name.split(" ", 1)).operation) for name in DATAPATHS]
    built = [replace(unit, implementation=Implementation(multiplier=each)) for unit in units for each in MULTIPLIERS]
    return [found for unit in built if (found := cut(unit)) is not None]


def cut(unit: Unit) -> Unit | None:
    """A combinational unit with a register at every inner boundary of a step, and at the end; None if no step has one."""
    datapath = unit_datapath(unit)
    never_built(datapath)
    inside = boundaries_inside(datapath.steps())
    if not inside:
        return None
    registers = (*inside, boundaries(datapath.steps())[-1])
    return replace(unit, implementation=replace(unit.implementation, stages=len(registers), registers=registers))


def options_of(kind: type[Operation]) -> list[Implementation]:
    """Combinational datapaths in every encoding, with one key changed, and with several; those of `MULTIPLIED` and
    `ROUNDED` in one."""
    unused = UNUSED.get(kind, frozenset())
    changes = [{key: value} for key, choices in CIRCUIT_CHOICES.items() for value in choices[1:]]
    changes += [{key: CIRCUIT_CHOICES[key][-1] for key in keys} for keys in TOGETHER]
    changes += [{"adder": adder} for adder in ADDERS[1:]]
    found: list[Implementation] = []
    for encoding in ENCODINGS[:1] if "encoding" in unused else ENCODINGS:
        for change in [*changes, *((*MULTIPLIED, *ROUNDED) if encoding == Implementation().encoding else ())]:
            used: dict[str, Any] = {key: value for key, value in change.items() if key not in unused}
            option = replace(Implementation(encoding=encoding), **used)
            if used and option not in found:
                found.append(option)
    return found


FURTHER: tuple[tuple[str, str], ...] = (
    ("armv9-sme", "fmopa.za.s.h"),
    ("armv9-sme", "bfmopa.za.s.h.ebf"),
    ("armv9-sme", "bfmopa.za.s.h"),
    ("riscv-zvbdota", "vfwbdota.vv.bf16.k8"),
)
"""Instructions that lists of units leave out, and whose datapaths have keys or formats that no listed unit has."""


@dataclass(frozen=True)
class Target:
    """A target of the campaign: a design, and its kind of proof, a key of `mmau.prove.targets.KINDS`."""

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
