"""A unit whose arithmetic inputs choose, as a design: generated, or the reference of a user design with such inputs."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from golden import Format, Unit
from golden.arithmetic.flags import FLAGS, selected
from golden.arithmetic.rounding import Mode
from golden.arrays import bits_dtype
from golden.checks import listed
from golden.operations import ADD, EFDPA, FMA, MUL, Operation
from golden.operations.exact_sum import ExactSum
from golden.operations.fma import ONE, ZERO
from golden.units.controls import METADATA, OPERANDS, RANDOM, ZERO_POINTS, Source
from golden.units.operand_inputs import on_differences, without_zeros, zeros_of
from golden.units.random_dot import with_random_step
from golden.units.selection import CODE_BITS, pair
from golden.units.unit import Choice
from golden.units.unit_file import unit_from_table, unit_to_toml
from rtl.datapath.base import Datapath, ModeInput, check_placed, has_flags
from rtl.datapath.chosen_operands import ChosenOperands, Selection
from rtl.datapath.random_result import RandomResult
from rtl.datapath.side_by_side import SideBySide
from rtl.designs.design import VECTORS, OfUnit, Paragraph, indented, one_a_cycle, unit_lines
from rtl.designs.ports import CLOCK, FLAG_BITS, HANDSHAKE, Echo, Elements, Port, echoes_of, inputs_of, step_operands
from rtl.designs.unit import DATAPATHS, unit_datapath
from rtl.operations.lengths import check_range

OTHER_PORTS = {"a", "b", "c", "scale_a", "scale_b", "d", "flags", *CLOCK, *HANDSHAKE}
"""Ports that generated circuits may have beside inputs that choose the arithmetic."""


@dataclass(frozen=True)
class ControlledDesign(OfUnit):
    """The datapath of one step of a unit with controls, or what a user design with other inputs and outputs must compute.

    Attributes:
        unit: the unit, with its controls.
        inputs: each input beside the operands, with its width: the controls, and what is returned.
        echoes: outputs that return an input of the same transfer, or exception flags.
    """

    unit: Unit
    inputs: tuple[tuple[str, int], ...]
    echoes: tuple[Echo, ...] = ()

    @classmethod
    def of(cls, unit: Unit) -> Self:
        """The design of a unit, each of whose controls has the bits that it needs."""
        L, blocks = unit.operation.length, zeros_of(unit.operation, unit.operation.length)
        widths = {unit.mask: L, unit.metadata: L // 2 * CODE_BITS}
        widths |= {port: blocks * getattr(unit, name).width for name, port in unit.zeros.items()}
        return cls(unit, tuple((c.port, widths.get(c.port, c.width)) for c in unit.controls))

    @property
    def mask(self) -> str:
        return self.unit.mask

    @property
    def metadata(self) -> str:
        return self.unit.metadata

    @property
    def operands(self) -> dict[str, Elements]:
        """The operands and the result of one step; of a b from which metadata select all elements."""
        found = super().operands
        return found | {"b": replace(found["b"], count=2 * found["b"].count)} if self.metadata else found

    @property
    def further(self) -> tuple[str, ...]:
        return tuple(c.port for c in self.unit.controls if c.key == RANDOM or c.key in ZERO_POINTS)

    @property
    def shared_inputs(self) -> Mapping[str, int]:
        return {name: width for name, width in self.inputs if name not in (self.mask, self.metadata, *self.further)}

    @property
    def meanings(self) -> dict[str, str]:
        words = {METADATA: "places of 2 elements of each 4 of b, 2 bits each", RANDOM: "random bits of the result"}
        words |= {key: f"zero points of {name}: {getattr(self.unit, name)}" for key, name in ZERO_POINTS.items()}
        means = {control.port: words.get(control.key, f"chooses {control.key}") for control in self.unit.controls}
        echoed = {
            echo.port: f"expected of {echo.name}" if echo.flags else f"returned by {echo.name}" for echo in self.echoes
        }
        operands = {name: str(elements) for name, elements in self.operands.items()}
        d = operands.pop("d")
        meanings = operands | echoed | means | {"d": d}
        clocked = CLOCK | HANDSHAKE if self.implementation.stages else {}
        return meanings | clocked

    def with_flags(self, transfer: Mapping[str, int]) -> dict[str, int]:
        """The codes of the inputs of one vector, with the exception flags that golden raises for them."""
        sent, flagged = dict(transfer), [echo for echo in self.echoes if echo.flags]
        if not flagged:
            return sent
        choice, codes = self.chosen(sent)
        assert isinstance(choice.unit.operation, ExactSum)
        raised = choice.unit.operation.flags_of(codes["a"], codes.get("b", [0]), codes.get("c", [0])[0])
        return sent | {echo.port: selected(raised, echo.flags) for echo in flagged}

    def chosen(self, sent: Mapping[str, int]) -> tuple[Choice, dict[str, list[int]]]:
        """What the codes of the inputs of one vector choose, and the codes of its operands, those of idle products 0; of
        elements with zero points their differences, and the unit of these."""
        choice = next(c for c in self.choices if all(sent[port] == code for port, code in c.codes.items()))
        codes = dict[str, list[int]]()
        for name, elements in step_operands(choice.unit.operation).items():
            if name != "d":
                source, kind = choice.source(name), elements.format
                sign = kind.negative_zero if source.is_negated else 0
                places = list(range(elements.count))
                if self.metadata and name == "b":
                    groups = [sent[self.metadata] >> CODE_BITS * k & 0xF for k in range(elements.count // 2)]
                    places = [4 * k + place for k, group in enumerate(groups) for place in pair(group)]
                mask = (1 << kind.width) - 1
                codes[name] = [(sent[source.port] >> place * kind.width & mask) ^ sign for place in places]
        if self.mask:
            for name in codes.keys() & {"a", "b"}:
                codes[name] = [code if sent[self.mask] >> k & 1 else 0 for k, code in enumerate(codes[name])]
        for name, port in self.unit.zeros.items():
            kind, block = getattr(self.unit, name), self.operation.block_size
            width, many = kind.width, zeros_of(self.operation, len(codes[name]))
            zeros = np.array([sent[port] >> k * width & (1 << width) - 1 for k in range(many)], bits_dtype(kind))
            codes[name] = without_zeros(name, np.array(codes[name], bits_dtype(kind)), kind, zeros, block).tolist()
        return replace(choice, unit=choice.unit.on_differences), codes

    @property
    def ports(self) -> tuple[Port, ...]:
        """Every port once, in the order of the header."""
        operands, meanings, widths = self.operands, self.meanings, dict(self.inputs)
        found = []
        for name, meaning in meanings.items():
            elements = operands.get(name)
            if name in CLOCK or name in HANDSHAKE:
                found.append(Port("output" if name in ("in_ready", "out_valid") else "input", name, 1, meaning))
            elif elements is not None:
                found.append(Port("output" if name == "d" else "input", name, elements.width, meaning, elements.count))
            else:
                elements_of = {self.mask: widths[name], self.metadata: widths[name] // CODE_BITS}
                elements_of |= {p: widths[name] // getattr(self.unit, of).width for of, p in self.unit.zeros.items()}
                found.append(Port("input", name, widths[name], meaning, elements_of.get(name, 1)))
        if has_flags(self.operation) and not self.echoes:  # those of a user design are echoes
            found.append(Port("output", "flags", len(FLAGS), FLAG_BITS))
        return tuple(found)

    @property
    def is_mixed(self) -> bool:
        """Whether inputs choose among FMA, MUL and ADD. One datapath of FMA computes them all."""
        kinds = {type(self.operation), *(type(choice.unit.operation) for choice in self.choices)}
        return len(kinds) > 1 and kinds <= {FMA, MUL, ADD}

    def computed(self, operation: Operation) -> Operation:
        """The operation of the datapath that computes the operation of a choice, or of the unit.

        Raises:
            ValueError: ADD in a format that has no 1.
        """
        if self.unit.zeros:
            return on_differences(operation, self.unit.zeros)
        return operation.as_fma() if self.is_mixed and isinstance(operation, FMA) else operation

    def sources(self, choice: Choice) -> dict[str, Source]:
        """Where the operands of the datapath come from for a choice; a source that is no port is a constant."""
        chosen = choice.unit.operation
        if not (self.is_mixed and isinstance(chosen, FMA)):
            return {name: choice.source(name) for name in chosen.operands}
        places = zip("abc", chosen.in_fma, strict=True)
        return {name: Source(place) if place in (ONE, ZERO) else choice.source(place) for name, place in places}

    @property
    def latency(self) -> int:
        return self.implementation.stages

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        ports = (f"{VECTORS}):", *indented(self.port_lines))
        return (("Unit:", *unit_lines(self.unit)), ports, (one_a_cycle(self.latency),))

    @cached_property
    def formats(self) -> tuple[Format, ...]:
        """The formats of a that inputs choose, each once. Of several each has a datapath of its own, by its place here."""
        return tuple(dict.fromkeys(choice.unit.operation.a for choice in self.choices))

    def component(self) -> Datapath:
        controls, control = self.unit.controls, self.unit.random
        for port, _ in self.inputs:
            if port in OTHER_PORTS or hasattr(ChosenOperands, port) or hasattr(RandomResult, port):
                raise ValueError(f"{self.name}: [controls] {port} is a word of generated circuits: name the port {port}_i")
        if control is not None and len(controls) == 1 and not self.echoes:
            wide, step = with_random_step(self.unit)
            return RandomResult(unit_datapath(wide), self.operation, control.port, step)
        keys = [control.key for control in controls]
        operations = [choice.unit.operation for choice in self.choices]
        takes = {
            "rho": all(isinstance(operation, FMA | EFDPA) for operation in operations),
            "formats": all(isinstance(operation, FMA) for operation in operations),
        }
        usable = ("rho", "formats", "operation", *(key for key in OPERANDS if control is None))
        others = [c for c in controls if c.key not in usable or c.has_constants]
        if others or self.echoes or any(keys.count(key) > 1 or (key in keys and not can) for key, can in takes.items()):
            got = listed(f"{each.port} ({each.key})" for each in controls)
            raise ValueError(
                f"{self.name}: [controls] of a datapath have numbers as values, and choose the rounding mode (one port) of "
                "FMA, MUL, ADD and E-FDPA, the format (one port) or the operation of FMA, MUL and ADD, signs and ports of "
                "operands, a mask, metadata or zero points; or are one input of random bits; got "
                f"{self.operation.name} with {got}: give a design that has them with --dut"
            )
        check_placed(self.implementation)
        if "formats" not in keys or len(self.formats) == 1:
            return self._datapath(self.choices)
        port, table = controls[keys.index("formats")].port, dict[int, int]()
        for choice in self.choices:
            place = self.formats.index(choice.unit.operation.a)
            if table.setdefault(choice.codes[port], place) != place:
                raise ValueError(f"{self.name}: {choice.name}: {port} alone must choose the format, as each has a datapath")
        datapaths = [
            self._datapath([choice for choice in self.choices if choice.unit.operation.a == fmt]) for fmt in self.formats
        ]
        return SideBySide(datapaths, port, tuple(table.items()))

    def _datapath(self, choices: Sequence[Choice]) -> Datapath:
        """The datapath that computes choices of one format.

        Raises:
            ValueError: it cannot.
        """
        operation, name = self.computed(choices[0].unit.operation), self.name
        ports = {control.key: control.port for control in self.unit.controls}
        table, places = dict[int, Mode](), dict[tuple[tuple[str, int], ...], tuple[tuple[str, Source], ...]]()
        usual = self.sources(Choice("", self.unit))
        for choice in choices:
            chosen = self.computed(choice.unit.operation)
            alike = chosen.changed(rho=operation.rho) if "rho" in ports and isinstance(operation, FMA | EFDPA) else chosen
            if alike != operation or chosen.d.width != self.operation.d.width:
                raise ValueError(
                    f"{name}: {choice.name}: an input of a datapath chooses no other key, a format only of the width of d, "
                    "and no operation but FMA, MUL and ADD in one format: give a design that has them with --dut"
                )
            codes = {port: code for port, code in choice.codes.items() if port != ports.get("formats")}
            if "rho" in ports:
                rho, own = (each.conversion for each in (chosen, operation) if isinstance(each, FMA | EFDPA))
                if rho.rounding_format != own.rounding_format or rho.mode == "RO":
                    raise ValueError(f"{name}: {choice.name}: an input chooses RNE, RZ, RD, RU or RNA of one format")
                table[codes.pop(ports["rho"])] = rho.mode
            moved = tuple((place, source) for place, source in self.sources(choice).items() if source != usual[place])
            if moved:
                places[tuple(codes.items())] = moved
        check_range(operation)
        widths = dict(self.inputs)
        modes = [ModeInput(port, widths[port], tuple(table.items())) for key, port in ports.items() if key == "rho"]
        datapath = DATAPATHS[type(operation)](operation, self.implementation, *modes)
        inputs = tuple((port, width) for port, width in self.inputs if port != ports.get("rho"))
        chosen_by = Selection(
            inputs, self.operation, tuple(usual.items()), tuple(places.items()), self.mask, self.metadata,
            tuple(self.unit.zeros.items()),
        )  # fmt: skip
        return ChosenOperands(datapath, chosen_by) if inputs else datapath

    def as_table(self) -> dict[str, Any]:
        return {"controlled": unit_to_toml(self.unit), "inputs": self.inputs, "echoes": self.echoes}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """The design that `as_table` described."""
        return cls(unit_from_table(tomllib.loads(table["controlled"])), inputs_of(table), echoes_of(table))
