"""Shared components, which a datapath is composed of, and how Verilog gets one module for all equal components."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from amaranth import Elaboratable, Instance, Signal, Value
from amaranth.hdl._ir import PortDirection  # private: Amaranth asks for it where ports are named, and has no public name
from amaranth.lib.wiring import Component, In, Member, Signature

if TYPE_CHECKING:  # generic in the stubs alone
    AnyComponent = Component[Signature]
else:
    AnyComponent = Component


def never_built(*components: Elaboratable) -> None:
    """Tell Amaranth that components and those they made are not meant to be built; it would warn when they are deleted."""
    for component in components:
        for part in (component, *vars(component).values()):
            if isinstance(part, Elaboratable):
                part._MustUse__used = True  # type: ignore[attr-defined]  # private to Amaranth, which has no public switch


class SharedComponent(AnyComponent):
    """A combinational component that is written once as a Verilog module, however often a design uses it.

    Args:
        module: name of its Verilog module, without the unit's prefix.
        key: everything that determines its contents; components with equal keys are the same circuit.
        members: its ports.
    """

    def __init__(self, module: str, key: tuple[object, ...], members: Mapping[str, Member]) -> None:
        self.module = module
        self.key = (type(self), *key)
        super().__init__(dict(members))


class SharedModules:
    """An Amaranth platform under which shared components become instances of modules that are written once.

    Args:
        prefix: prefix of the module names.

    Attributes:
        components: one component for each module that is needed, by the module's name.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._names: dict[tuple[object, ...], str] = {}
        self.components: dict[str, SharedComponent] = {}

    def instance(self, label: str, component: SharedComponent) -> Instance:
        """An instance of the module that holds the component's circuit, connected to the component's ports.

        The ports' signals are named after the instance, by `label`, where they are wires of the module around it.
        """
        never_built(component)  # an equal one stands for this one
        name_ports(component, f"{label}_")
        name = self._names.get(component.key)
        if name is None:
            name = self._free_name(f"{self._prefix}_{component.module}")
            self._names[component.key] = name
            self.components[name] = component
        directions = {PortDirection.Input: "i", PortDirection.Output: "o"}
        ports = {f"{directions[way]}_{port}": value for port, (value, way) in module_ports(component).items()}
        return Instance(name, **ports)

    def _free_name(self, name: str) -> str:
        if name not in self.components:
            return name
        count = 2
        while f"{name}_{count}" in self.components:
            count += 1
        return f"{name}_{count}"


def module_ports(component: SharedComponent) -> dict[str, tuple[Value, PortDirection]]:
    """The component's ports under their Verilog names, as Amaranth's backend takes them."""
    ports: dict[str, tuple[Value, PortDirection]] = {}
    for path, value, member in members(component):
        ports[port_name(path)] = (value, PortDirection.Input if member.flow == In else PortDirection.Output)
    return ports


def members(component: AnyComponent) -> Iterator[tuple[tuple[str | int, ...], Value, Member]]:
    """Path, value and member of every port; nested members and elements of arrays come one by one."""
    for path, member, value in component.signature.flatten(component):
        yield path, value, member  # type: ignore[misc]  # the stubs have a Flow in place of the Member


def name_ports(component: SharedComponent, prefix: str = "") -> None:
    """Name the signals of the component's ports after the ports."""
    for path, value, _ in members(component):
        if isinstance(value, Signal):
            value.name = prefix + port_name(path)


def port_name(path: tuple[str | int, ...]) -> str:
    """The Verilog name of a port: nested members follow `__`, an array index follows `_`."""
    name = str(path[0])
    for step in path[1:]:
        name += f"_{step}" if isinstance(step, int) else f"__{step}"
    return name


def indexed(component: AnyComponent, member: str, count: int) -> list[Any]:
    """The ports `<member>_0` …, which are not an array because their widths may differ."""
    return [getattr(component, f"{member}_{k}") for k in range(count)]
