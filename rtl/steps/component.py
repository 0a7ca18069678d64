"""Parts: the components that a datapath is composed of, and how Verilog gets one module for all equal ones."""

from collections.abc import Mapping
from typing import Any

from amaranth import Instance
from amaranth.lib.wiring import Component, In


class Part(Component):
    """A combinational component of a datapath.

    Args:
        module: what its Verilog module is called, without the unit's prefix.
        key: everything that settles its contents; parts with equal keys are the same circuit.
        members: its ports.
    """

    def __init__(self, module: str, key: tuple[object, ...], members: Mapping[str, Any]) -> None:
        self.module = module
        self.key = (type(self), *key)
        super().__init__(dict(members))


class SharedModules:
    """An Amaranth platform under which parts become instances of modules that are written once.

    Args:
        prefix: of the module names.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._names: dict[tuple[object, ...], str] = {}
        self.parts: dict[str, Part] = {}

    def instance(self, label: str, part: Part) -> Instance:
        """An instance of the module that holds the part's circuit, connected to the part's ports.

        The ports' signals are named after the instance, by `label`, where they are wires of the module around it.
        """
        part._MustUse__used = True  # else Amaranth warns of a part that an equal one stands for
        name_ports(part, f"{label}_")
        name = self._names.get(part.key)
        if name is None:
            name = self._free_name(f"{self._prefix}_{part.module}")
            self._names[part.key] = name
            self.parts[name] = part
        ports = {}
        for path, member, value in part.signature.flatten(part):
            direction = "i" if member.flow == In else "o"
            ports[f"{direction}_{port_name(path)}"] = value
        return Instance(name, **ports)

    def _free_name(self, name: str) -> str:
        if name not in self.parts:
            return name
        count = 2
        while f"{name}_{count}" in self.parts:
            count += 1
        return f"{name}_{count}"


def name_ports(part: Part, prefix: str = "") -> None:
    """Name the signals of the part's ports after these."""
    for path, _, value in part.signature.flatten(part):
        value.name = prefix + port_name(path)


def port_name(path: tuple[str | int, ...]) -> str:
    """What Verilog calls a port."""
    return "__".join(map(str, path))
