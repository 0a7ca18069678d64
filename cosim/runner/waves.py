"""Waveform files: where the simulator writes them, the user's copy, and GTKWave's save file beside it."""

import io
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pywellen
from vcd.gtkw import GTKWSave

from cosim.build.build import Built
from cosim.dut.elaborate import INSTANCE
from golden.files import check_output, write_atomically
from rtl.designs.ports import OPERANDS

STEPS = (
    "convert", "decode", "multiply", "scale", "max_exp", "align", "accumulate", "truncate", "normalise", "round", "encode",
    "specials",
)  # fmt: skip
"""The steps of docs/reference/vocabulary.md, in the order of the model."""

OTHER_LABELS = {r"addend(_[xy])?|\w+_term_[xyz]": "multiply"}
"""The step of components whose names do not contain it: a number as a term of a sum."""

CONTROLS = ("clk", "rst", "en", "format", "in_valid", "in_ready", "out_valid", "out_ready")

EXPONENT = r"(.*__)?(exp|alpha|beta)(_\d+)?|(.*__)?e_\w+"
"""Names of signals that hold a signed exponent value."""

SIGNIFICAND = r"(.*__)?(sig|aligned|total|norm)(_\d+)?"
"""Names of signals that hold significands and sums."""


@dataclass(frozen=True)
class Signal:
    """A signal of a waveform.

    Attributes:
        scope: names of the scopes around it, outermost first.
        name: its name in its scope. bits: its width. range: as the waveform writes it, `[7:0]`; empty where it has none.
    """

    scope: tuple[str, ...]
    name: str
    bits: int
    range: str

    @property
    def path(self) -> str:
        """The path of the signal in GTKWave."""
        return ".".join((*self.scope, self.name)) + self.range

    @property
    def datafmt(self) -> str:
        """The display format of the signal: exponents signed, significands and flags in binary, codes in hexadecimal."""
        if self.bits == 1 or re.fullmatch(SIGNIFICAND, self.name):
            return "bin"
        return "signed" if re.fullmatch(EXPONENT, self.name) else "hex"


@dataclass(frozen=True)
class Group:
    """Signals that are shown together under a name, followed by the groups within."""

    name: str
    signals: Sequence[Signal]
    groups: Sequence["Group"] = ()


def signals_of(wave: Path) -> list[Signal]:
    """The signals of a waveform, VCD or FST, in order."""
    found = {signal.path: signal for signal in (_of_vcd(wave) if wave.suffix == ".vcd" else _of_fst(wave))}
    return list(found.values())


def _of_vcd(wave: Path) -> Iterator[Signal]:
    """Read a VCD file's header. GTKWave needs the ranges, which pywellen omits; pyvcd's reader stops at `$rootio`."""
    scope: list[str] = []
    with wave.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            match line.split():
                case ["$scope", _, name, "$end"]:
                    scope.append(name)
                case ["$upscope", "$end"]:
                    scope.pop()
                case ["$var", _, bits, _, name, *index, "$end"]:
                    yield Signal(tuple(scope), name, int(bits), "".join(index))
                case ["$enddefinitions", *_]:
                    return


def _of_fst(wave: Path) -> Iterator[Signal]:
    variables: Any = pywellen.Waveform(str(wave), stream_only=True).all_vars()
    for variable in variables:
        *scope, name = variable.full_name.split(".")
        bits = variable.bitwidth or 1
        yield Signal(tuple(scope), name, bits, f"[{bits - 1}:0]" if bits > 1 else "")


def groups_of(signals: Sequence[Signal], top: str, ports: Mapping[str, Sequence[str]]) -> list[Group]:
    """Group the signals of a waveform: the ports of the top module, then a user design's ports or each datapath's steps.

    Args:
        top: the top module.
        ports: names of the ports of each instance. A user design is the instance `INSTANCE` of the top module.
    """
    root = next((signal.scope for signal in signals if signal.scope[-1:] == (top,)), ())  # GHDL does not name the top
    inside = [signal for signal in signals if signal.scope[: len(root)] == root]
    found = list(_port_groups({signal.name: signal for signal in inside if signal.scope == root}))
    user = [s for port in ports.get(INSTANCE, ()) for s in inside if _is_port(s, (*root, INSTANCE), port)]
    if user:
        return [*found, Group("ports of the design", user)]
    datapaths: dict[tuple[str, ...], dict[str, list[Signal]]] = {}
    for signal in inside:
        *around, instance = signal.scope
        step = step_of(instance)
        if step is not None and signal.name in ports.get(instance, ()):
            datapaths.setdefault(tuple(around), {}).setdefault(step, []).append(signal)
    for scope, steps in sorted(datapaths.items(), key=lambda each: _natural(".".join(each[0]))):
        groups = [Group(step, sorted(steps[step], key=_place)) for step in STEPS if step in steps]
        found += groups if scope == root else [Group(".".join(scope[len(root) :]), [], groups)]
    return found


def step_of(instance: str) -> str | None:
    """The step that a component of a datapath computes, by the name of its instance; None if it computes none."""
    named = (step for step in reversed(STEPS) if re.search(rf"(^|_){step}(_|$)", instance))
    return next(named, next((step for label, step in OTHER_LABELS.items() if re.fullmatch(label, instance)), None))


def _port_groups(ports: Mapping[str, Signal]) -> Iterator[Group]:
    """Clock and handshake, then each operand and the result, with its elements where these are separate nets."""
    yield Group("control", [ports[name] for name in CONTROLS if name in ports])
    for name in OPERANDS:
        elements = sorted((s for n, s in ports.items() if re.fullmatch(rf"{name}_\d+", n)), key=_place)
        if name in ports:
            yield Group(name, [ports[name], *elements])


def _is_port(signal: Signal, scope: tuple[str, ...], port: str) -> bool:
    """Whether a signal is this port of the scope, or an element of it."""
    path = ".".join((*signal.scope, signal.name)).partition(".".join((*scope, port)))
    return path[0] == "" and path[1] != "" and re.fullmatch(r"(\.?\[\d+\])*", path[2]) is not None


def _place(signal: Signal) -> list[str | int]:
    return _natural(".".join((*signal.scope, "")))


def _natural(text: str) -> list[str | int]:
    """A sort key that puts x_2 before x_10 and leaves the signals of a scope in order."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def write_save_file(wave: Path, top: str, ports: Mapping[str, Sequence[str]]) -> Path:
    """Write a save file for GTKWave beside a waveform, and return its path.

    Args:
        wave: VCD or FST file. top, ports: as for `groups_of`.
    """
    save = wave.with_suffix(".gtkw")
    text = io.StringIO()
    writer = GTKWSave(text)
    writer.dumpfile(str(wave))
    writer.savefile(str(save))
    writer.timestart(0)
    for group in groups_of(signals_of(wave), top, ports):
        _write_group(writer, group)
    write_atomically(save, text.getvalue().encode())
    return save


def _write_group(writer: GTKWSave, group: Group) -> None:
    with writer.group(group.name):
        for signal in group.signals:
            writer.trace(signal.path, datafmt=signal.datafmt)
        for inner in group.groups:
            _write_group(writer, inner)


def save_waves(built: Built, made: Path, target: Path) -> None:
    """Copy a simulation's waveform to the user's path, and write a save file for GTKWave beside it."""
    copy(made, target)
    if target.is_file():  # a device or a FIFO has nothing beside it
        write_save_file(target.resolve(), built.sources.top, built.sources.instances)


def copy(file: Path, target: Path) -> None:
    """Copy a file of any size by the rules of `golden.files.write_atomically`: the target is never half-written, a symlink
    is followed, and a device or a FIFO is written directly.

    Raises:
        OSError: the target cannot be written; a partial copy is removed.
    """
    check_output(target)
    target = Path(os.path.realpath(target))
    part = target.with_name(f".{target.name}.part")
    try:
        if target.exists() and not target.is_file():
            with file.open("rb") as stream, target.open("wb", buffering=0) as device:
                shutil.copyfileobj(stream, device)
            return
        shutil.copyfile(file, part)
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except OSError as error:
        raise type(error)(error.errno, f"cannot be written: {error.strerror}", str(target)) from error
    finally:
        part.unlink(missing_ok=True)
