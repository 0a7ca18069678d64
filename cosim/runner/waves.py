"""What a waveform viewer shows first: a save file for GTKWave; its groups are the steps of a datapath in the model's order.

The hierarchy of the waveform has the same names: in Surfer, and wherever no save file is read, the scopes are the steps.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pywellen
from vcd.gtkw import GTKWSave

from golden.files import write_atomically
from rtl.designs.ports import OPERANDS

STEPS = (
    "convert", "decode", "multiply", "scale", "max_exp", "align", "accumulate", "truncate", "normalise", "round", "encode",
    "specials",
)  # fmt: skip
"""The steps of docs/vocabulary.md, in the order of the model."""

OTHER_LABELS = {"addend": "multiply", "cut": "truncate"}
"""Components of a datapath whose names do not hold their step: c as a term, and TR-FDPA's cut of a sum."""

CONTROLS = ("clk", "rst", "en", "format", "in_valid", "in_ready", "out_valid", "out_ready")

EXPONENT = r"(.*__)?(exp|alpha|beta)(_\d+)?|(.*__)?e_\w+"
"""Names of signals that hold a signed exponent value."""

HEXADECIMAL = r"code|scale_[ab](_\d+)?|[abcd](_\d+)?"
"""Names of signals that hold bit patterns of numbers."""


@dataclass(frozen=True)
class Signal:
    """A signal of a waveform.

    Attributes:
        scope: names of the scopes that it lies in, outermost first.
        name: within its scope. bits: its width.
    """

    scope: tuple[str, ...]
    name: str
    bits: int

    @property
    def path(self) -> str:
        """As GTKWave names it: a vector with its range."""
        return ".".join((*self.scope, self.name)) + (f"[{self.bits - 1}:0]" if self.bits > 1 else "")

    @property
    def datafmt(self) -> str:
        """How it is shown: exponents signed, bit patterns hexadecimal, significands and flags in binary."""
        if self.bits > 1 and re.fullmatch(EXPONENT, self.name):
            return "signed"
        return "hex" if re.fullmatch(HEXADECIMAL, self.name) else "bin"


@dataclass(frozen=True)
class Group:
    """Signals that are shown together, under a name; groups within it after them."""

    name: str
    signals: Sequence[Signal]
    groups: Sequence["Group"] = ()


def signals_of(wave: Path) -> list[Signal]:
    """The signals of a waveform, VCD or FST, in order."""
    variables: Any = pywellen.Waveform(str(wave), stream_only=True).all_vars()
    found = {}
    for variable in variables:
        *scope, name = variable.full_name.split(".")
        signal = Signal(tuple(scope), name, variable.bitwidth or 1)
        found[signal.path] = signal
    return list(found.values())


def groups_of(signals: Sequence[Signal], top: str, own_ports: Sequence[str] = ()) -> list[Group]:
    """What is shown of a waveform: the ports, and the steps of every datapath; of a design of one's own its ports.

    Args:
        top: the top module.
        own_ports: ports of a design of one's own, which is the instance `dut` of the top module.
    """
    scopes: dict[tuple[str, ...], dict[str, Signal]] = {}
    for signal in signals:
        scopes.setdefault(signal.scope, {})[signal.name] = signal
    root = next(scope for scope in scopes if scope[-1] == top)
    found = list(_port_groups(scopes[root]))
    if own_ports:
        inside = scopes.get((*root, "dut"), {})
        own = [s for port in own_ports for name, s in inside.items() if re.fullmatch(rf"{port}(\[\d+\])*", name)]
        return [*found, Group("ports of the design", own)]
    datapaths: dict[tuple[str, ...], dict[str, list[Signal]]] = {}
    for scope, inside in scopes.items():
        step = step_of(scope[-1])
        if scope[: len(root)] == root and scope != root and step is not None:
            outside = scopes.get(scope[:-1], {})
            ports = [signal for name, signal in inside.items() if f"{scope[-1]}_{name}" in outside]
            datapaths.setdefault(scope[:-1], {}).setdefault(step, []).extend(ports)
    for scope, steps in sorted(datapaths.items(), key=lambda each: _natural(".".join(each[0]))):
        groups = [Group(step, sorted(steps[step], key=_place)) for step in STEPS if step in steps]
        found += groups if scope == root else [Group(".".join(scope[len(root) :]), [], groups)]
    return found


def step_of(instance: str) -> str | None:
    """The step that a component of a datapath computes, by the name of its instance."""
    if instance in OTHER_LABELS:
        return OTHER_LABELS[instance]
    return next((step for step in reversed(STEPS) if re.search(rf"(^|_){step}(_|$)", instance)), None)


def _port_groups(ports: Mapping[str, Signal]) -> Iterator[Group]:
    """Clock and handshake, then each operand and the result, with its elements where these have nets of their own."""
    yield Group("control", [ports[name] for name in CONTROLS if name in ports])
    for name in OPERANDS:
        elements = sorted((s for n, s in ports.items() if re.fullmatch(rf"{name}_\d+", n)), key=_place)
        if name in ports:
            yield Group(name, [ports[name], *elements])


def _place(signal: Signal) -> list[str | int]:
    return _natural(".".join((*signal.scope, "")))


def _natural(text: str) -> list[str | int]:
    """Sorts x_2 before x_10; of one scope, signals stay in order."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]


def write_save_file(wave: Path, top: str, own_ports: Sequence[str] = ()) -> Path:
    """Write a save file for GTKWave beside a waveform; where it lies.

    Args:
        wave: VCD or FST. top, own_ports: as of `groups_of`.
    """
    save = wave.with_suffix(".gtkw")
    text = io.StringIO()
    writer = GTKWSave(text)
    writer.dumpfile(str(wave))
    writer.savefile(str(save))
    writer.timestart(0)
    for group in groups_of(signals_of(wave), top, own_ports):
        _write_group(writer, group)
    write_atomically(save, text.getvalue().encode())
    return save


def _write_group(writer: GTKWSave, group: Group) -> None:
    with writer.group(group.name):
        for signal in group.signals:
            writer.trace(signal.path, datafmt=signal.datafmt)
        for inner in group.groups:
            _write_group(writer, inner)
