"""Devices under test from the options of a command: models, instructions of this machine, programs."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import golden
from golden.cache import content_key
from golden.checks import check_int
from golden.device import Device
from golden.files import temporary_folder
from golden.units.unit_file import unit_to_toml
from hwtests.conform.campaign_worker import sources
from hwtests.dot import DeviceDot
from mmau.cli.program_devices import check_unused, program_of, shape_of
from mmau.probe.device_under_test import dut_of

WHICH = (
    "no device is named; give --unit UNIT.toml, --arch A --instr NAME, --dut DUT.toml, --device ARCH:NAME, "
    "--program CMD or --recording FILE.npz"
)

EXAMPLE = "sm_90:mma.m16n8k16.f32.f16.f16.f32"

MAX_K = 1 << 16
"""Largest K (products) of a unit that is probed: each question has thousands of rows of K products."""


@contextmanager
def chosen_device(arguments: argparse.Namespace) -> Iterator[Device]:
    """A context with the device under test that the options name.

    Raises:
        ValueError: no device is named, options exclude each other, or a design cannot be built or connected.
    """
    if arguments.K is not None:
        check_int("-K", arguments.K, 1, MAX_K)
    check_unused(arguments)
    if arguments.program is not None:
        if arguments.device is not None or arguments.rtl:
            raise ValueError("--program goes without --device and --rtl: it is the device")
        if arguments.K is not None and arguments.unit is None:
            raise ValueError("-K goes with --unit; --formats has K")
        with program_of(arguments, shape_of(arguments, arguments.K)) as program:
            yield program
        return
    model = _model(arguments)
    simulated = arguments.dut is not None or arguments.rtl
    if arguments.device is not None:
        if model is not None or simulated or arguments.K is not None:
            raise ValueError("--device ARCH:NAME goes without --arch, --unit, --dut, --rtl and -K; omit them")
        yield dut_of_device(arguments.device)
    elif simulated:
        if arguments.K is not None:
            raise ValueError("-K goes with the model of a unit; Verilog takes the products of one step")
        with temporary_folder("mmau-probe-") as folder:
            simulators = import_module("mmau.cli.simulated_devices")  # which a machine with a GPU alone cannot import
            yield simulators.simulated(arguments, model, Path(folder))
    elif isinstance(model, golden.Unit):
        yield replace(dut_of(model, arguments.K), identity=_digest([unit_to_toml(model), sources()]))
    elif model is not None:
        if arguments.K is not None:
            raise ValueError("-K goes with --unit; the K of an instruction is fixed")
        yield replace(dut_of(model), identity=_digest([sources()]))
    else:
        raise ValueError(WHICH)


def chosen(word: str) -> golden.Unit | golden.Instruction:
    """`ARCH:NAME`, or a unit's file.

    Raises:
        ValueError: the word is neither. OSError: the file cannot be read.
    """
    arch, colon, name = word.partition(":")
    if not Path(word).exists():
        if colon:
            return golden.instruction(arch, name)
        if not word.endswith(".toml"):
            raise ValueError(f"give an instruction as ARCH:NAME, like {EXAMPLE}, or a unit's file that exists; got {word!r}")
    return golden.load_unit(word)


def _model(arguments: argparse.Namespace) -> golden.Unit | golden.Instruction | None:
    by_name = (arguments.arch, arguments.instr)
    if arguments.unit is not None and by_name == (None, None):
        return golden.load_unit(arguments.unit)
    if arguments.unit is None and None not in by_name:
        return golden.instruction(arguments.arch, arguments.instr)
    if arguments.unit is None and by_name == (None, None):
        return None
    raise ValueError(WHICH)


def dut_of_device(word: str) -> Device:
    """An instruction of this machine's processor or GPU, run in hardware.

    Raises:
        ValueError: not `ARCH:NAME`, or no such instruction, or this machine does not have it.
    """
    arch, colon, name = word.partition(":")
    if not colon:
        raise ValueError(f"--device must be ARCH:NAME, like x86-avx512:vdpbf16ps; got {word!r}")
    return DeviceDot(golden.instruction(arch, name))


def _digest(parts: Sequence[str]) -> str:
    """The identity of a device under test from all that its answers follow from."""
    return content_key({"parts": list(parts)})
