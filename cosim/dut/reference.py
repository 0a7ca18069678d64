"""What a user design with controls and echoes must compute: its unit, with the inputs and outputs of its description."""

from collections.abc import Sequence
from dataclasses import replace

from cosim.bench.products import MAX_BITS
from cosim.dut.connection import PortMismatch, selected_places
from cosim.dut.description import Dut
from cosim.dut.elaborate import Port, elaborated
from cosim.dut.vhdl import entity_of, lower_case
from golden import Format, Unit
from golden.chains.chain import Chain
from golden.checks import listed, unknown
from golden.units.controls import MASK, METADATA, OPERANDS, RANDOM, ZERO_POINTS, Control
from golden.units.operand_inputs import zeros_of
from golden.units.selection import CODE_BITS
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.design import Design
from rtl.designs.ports import Echo
from rtl.designs.product_design import ProductDesign
from rtl.designs.unit_design import UnitDesign


def reference_of(design: Design, dut: Dut) -> Design:
    """The design that a user design must equal: of a unit with the controls, echoes and flags of its description, if it has
    any.

    Raises:
        ElaborationError: the design cannot be read. PortMismatch: it has no such ports, or of other widths.
        ValueError: controls of a design that is no unit, or that the unit cannot have; the message names them.
    """
    if dut.is_vhdl:
        dut = lower_case(dut)
    controls = design.unit.controls if isinstance(design, ControlledDesign | ProductDesign) else ()
    controls = tuple(control for control in controls if control not in dut.controls)  # of a reference, which it then stays
    if not (dut.controls or dut.echo or dut.flags or controls):
        return dut.reference(design)
    if not isinstance(design, UnitDesign | ControlledDesign | ProductDesign):
        raise ValueError(f"[controls], [echo] and [flags] are for a unit, {design.name} is a design of another kind")
    both = {control.port for control in controls} & {control.port for control in dut.controls}
    if both:
        raise ValueError(f"[controls] {listed(both)} is in the unit and in the description of the design: name it once")
    unit = replace(design.unit, controls=(*controls, *dut.controls))
    product = dut.product(unit) if dut.has_product else design if isinstance(design, ProductDesign) else None
    parts = dut.matrix.parts if dut.matrix else 1
    if parts > 1 and (dut.echo or dut.flags):
        raise ValueError(f'[echo] and [flags] go with [matrix] d = "all", one result; got {parts}')
    finder = _Finder(dut, entity_of(dut).ports if dut.is_vhdl else elaborated(dut).ports)
    transfers = max(dut.beats.counts) if dut.beats else 1
    length = unit.operation.length if product is None else max(product.lengths) // transfers
    inputs = {control.port: finder.control(control, unit, length, transfers) for control in unit.controls}
    results = dut.results if product is None else product.m * product.n
    echoes, low = [], (unit.operation.d.width if dut.widths.d is None else dut.widths.d.width) * results
    for output, given in dut.echo.items():
        width = finder.width(f"[echo] {output}", output, "output")
        sent = finder.width(f"[echo] {output}", given, "input")
        finder.check(f"[echo] {output} must have the width of {given}, {sent} bits, and at most {MAX_BITS}; it has {width}",
            not (width and sent) or width == sent <= MAX_BITS)  # fmt: skip
        finder.check(f"[echo] {output}: {given} has constants of a package as values; give them as numbers",
            not any(control.port == given and control.has_constants for control in unit.controls))  # fmt: skip
        finder.check(
            f"[echo] {output}: an operand of several results or transfers cannot be returned",
            given not in [c.port for c in unit.controls if c.key in OPERANDS] or dut.results * transfers == 1,
        )
        inputs.setdefault(given, sent)
        echoes.append(Echo(output, given, width, low))
        low += width
    for output, names in dut.flags.items():
        width = finder.width(f"[flags] {output}", output, "output")
        finder.check(f"[flags] {output} has {width} bits, and {len(names)} names: {listed(names)}", width == len(names))
        finder.check(f"[flags] {output} is for a design with one result a vector, not {dut.results}", dut.results == 1)
        expected = f"{output}_expected"
        inputs[expected] = width
        echoes.append(Echo(output, expected, width, low, names))
        low += width
    finder.raise_all()
    beside = tuple(inputs.items()), tuple(echoes)
    found = ControlledDesign(unit, *beside) if product is None else replace(product, inputs=beside[0], echoes=beside[1])
    if dut.flags:
        for choice in found.choices:
            (Chain(choice.unit.operation) if product is None else choice.unit.chain_over(max(product.lengths))).check_flags()
    return found


class _Finder:
    """Widths of ports, and every reason why they do not fit."""

    def __init__(self, dut: Dut, ports: Sequence[Port]) -> None:
        self._dut, self._ports = dut, {port.name: port for port in ports}
        self._reasons: list[str] = []

    def width(self, what: str, name: str, direction: str) -> int:
        """Bits of a port or a part of one; 0 with a reason where there is none."""
        (selected,) = self._dut.name_of(name)
        base, *selectors = selected.replace("]", "").split("[")
        port = self._ports.get(base)
        if port is None:
            self._reasons.append(f"{what}: {unknown(f'a port of {self._dut.top}', base, list(self._ports))}")
            return 0
        if port.direction != direction:
            self._reasons.append(f"{what} must be an {direction} of {self._dut.top}, {base} is an {port.direction}")
            return 0
        places = selected_places(port, selectors)
        self.check(f"{what}: {selected} is outside {port}", places is not None)
        return sum(place.width for place in places or ())

    def control(self, control: Control, unit: Unit, length: int, transfers: int) -> int:
        """The width of a control around the design, whose values must fit into its port. A mask has a bit for each of the
        `length` products of a transfer."""
        what = f"[controls] {control.port}"
        width = self.width(what, control.port, "input")
        if not width:
            return 1
        if control.key == MASK:
            fits = width == length * self._dut.results
            self.check(f"{what} must have one bit for each product, {length * self._dut.results}; it has {width}", fits)
            return length * transfers
        if control.key == METADATA:
            wanted = length // 2 * CODE_BITS
            fits = width == wanted * self._dut.results
            self.check(f"{what} must have 2 bits for each product, {wanted * self._dut.results}; it has {width}", fits)
            return wanted
        if control.key == RANDOM:
            wanted = control.width * self._dut.results
            self.check(f"{what} must have the random bits of each result, {wanted}; it has {width}", width == wanted)
            return control.width
        if control.key in ZERO_POINTS:
            kind: Format = getattr(unit, ZERO_POINTS[control.key])
            wanted = zeros_of(unit.operation, length) * kind.width
            fits = width == wanted * self._dut.results
            self.check(
                f"{what} must have the zero points of each result, {wanted * self._dut.results}; it has {width}", fits
            )
            return wanted
        if control.has_constants:
            return control.width
        self.check(f"{what} has {width} bits, too few for {max(control.codes)}", width >= control.width)
        return width

    def check(self, reason: str, holds: bool) -> None:
        """Note a reason unless something holds."""
        if not holds:
            self._reasons.append(reason)

    def raise_all(self) -> None:
        """Raise PortMismatch if there is a reason."""
        if self._reasons:
            reasons = "\n".join(f"- {reason}" for reason in self._reasons)
            raise PortMismatch(f"design {self._dut.top} does not fit its description:\n{reasons}")
