"""The match between the bits of a design's ports and the elements of a unit's operands, with every reason for a mismatch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from cosim.bench.operand_widths import THE_UNITS, OperandWidths
from cosim.dut.description import INPUT_SIGNALS, Dut
from cosim.dut.elaborate import Port, Range
from golden import Format
from golden.checks import listed, unknown
from rtl.designs.controlled_design import ControlledDesign
from rtl.designs.design import Design, operand_names
from rtl.designs.product_design import ProductDesign

BETWEEN = "before the last transfer"
"""Results that nothing compares where a design gives one for each transfer: each is the last of a shorter dot product."""


class PortMismatch(ValueError):
    """The design's ports do not fit its description and the unit; the message lists every reason."""


@dataclass(frozen=True)
class Operand:
    """An operand or the result of a unit, or another input or output, as `count` elements; element 0 is in the low bits.

    Attributes:
        width: bits of an element in the design, 0 where it has no such port. pitch: bits of one in the testbench.
        is_shared: whether there is one for all results. within: the port around the design that has it above its other bits,
            and its lowest bit there; None for a port of its own.
        values: the constants of a package that its numbers 0, 1 … stand for; none where it holds the number itself.
        is_in_design: whether the design has such a port: the flags that are expected are the testbench's alone.
        order: for each element its place in the design's port; None for the same place.
    """

    name: str
    direction: str
    count: int
    width: int
    pitch: int
    order: Sequence[int] | None = None
    is_shared: bool = False
    within: tuple[str, int] | None = None
    values: tuple[str, ...] = ()
    is_in_design: bool = True

    def bits(self, results: int) -> int:
        """The number of bits in the testbench."""
        return self.count * self.pitch * (1 if self.is_shared else results)

    def outside(self, number: int, pitch: int) -> tuple[str, int]:
        """The port around the design that has an element, and the lowest bit of it there."""
        port, low = self.within or (self.name, 0)
        return port, low + number * pitch


@dataclass(frozen=True)
class Place:
    """A range of bits of a port of the design.

    Attributes:
        port: the port of the design.
        index: index of an unpacked element, empty where the port has no unpacked dimension.
        low: lowest bit within the element. width: number of bits.
    """

    port: Port
    index: tuple[int, ...]
    low: int
    width: int

    @property
    def bits(self) -> set[int]:
        """The numbers of the bits within the whole port."""
        place = 0
        for dimension, index in zip(self.port.unpacked, self.index, strict=True):
            place = place * dimension.count + index - min(dimension.left, dimension.right)
        start = place * self.port.vector + self.low
        return set(range(start, start + self.width))


@dataclass(frozen=True)
class Connection:
    """The connection of a unit's ports to a design's.

    Attributes:
        ports: all ports of the design.
        elements: places of the elements of each operand.
        controls: places of clock, reset, enable and handshake, by this project's names.
        ties: places of inputs that are held at a value, each with its value.
        not_compared: outputs that nothing looks at, or bits of them.
    """

    ports: tuple[Port, ...]
    elements: Mapping[str, tuple[Place, ...]]
    controls: Mapping[str, Place]
    ties: tuple[tuple[Place, int | str], ...]
    not_compared: tuple[str, ...] = ()


def operands_of(design: Design, widths: OperandWidths = THE_UNITS) -> list[Operand]:
    """The operands and the result of a design, with elements where they are vectors of one format."""
    controls = design.unit.controls if isinstance(design, ControlledDesign | ProductDesign) else ()
    expected = {echo.port for echo in design.echoes if echo.flags}
    constants = {each.port: tuple(value.name for value in each.values) for each in controls if each.has_constants}
    found = []
    for port in design.ports:
        if port.name in operand_names(design) or port.name in design.shared_inputs:
            width = pitch = port.width // port.count
            if port.name == "c" and widths.c_bits is not None:
                width = widths.c_bits
            if port.name == "d" and widths.d is not None:
                width = pitch = widths.d.width
            is_shared, values = port.name in design.shared_inputs, constants.get(port.name, ())
            found.append(
                Operand(
                    port.name, port.direction, port.count, width, pitch, is_shared=is_shared, values=values,
                    is_in_design=port.name not in expected,
                )
            )  # fmt: skip
    echoes = [Operand(e.name, "output", 1, e.width, e.width, is_shared=True, within=("d", e.low)) for e in design.echoes]
    return [*found, *echoes]


def ports_around(operands: Sequence[Operand], results: int) -> dict[str, tuple[str, int]]:
    """The direction and the width of each port around a design that has operands, in order."""
    found: dict[str, tuple[str, int]] = {}
    for operand in operands:
        port, low = operand.outside(0, operand.pitch)
        found[port] = operand.direction, low + operand.bits(results)
    return found


def narrower_results(design: Design, widths: OperandWidths) -> list[Format]:
    """The formats of results that leave high bits of d, in the order of their widths."""
    kinds = {choice.unit.operation.d for choice in design.choices} if widths.d is None else set()
    narrower = [kind for kind in kinds if kind.width < design.operation.d.width]
    return sorted(narrower, key=lambda kind: (kind.width, kind.name))


def connect(dut: Dut, operands: Sequence[Operand], ports: Sequence[Port], narrower: Sequence[Format] = ()) -> Connection:
    """Match the unit's operands and the protocol's signals with the design's ports.

    Args:
        narrower: the formats of results that leave high bits of d.

    Raises:
        PortMismatch: ports that are missing, of the wrong direction or width, used twice or not driven; lists every reason.
    """
    matcher = _Matcher(dut, ports)
    elements = {operand.name: matcher.elements(operand) if operand.is_in_design else () for operand in operands}
    controls = matcher.controls()
    ties = matcher.ties()
    matcher.check_all_inputs_driven()
    not_compared = matcher.not_compared(elements.get("d", ()), narrower)
    if matcher.reasons:
        raise PortMismatch(
            f"design {dut.top} does not fit its description:\n" + "\n".join(f"- {r}" for r in matcher.reasons)
        )
    return Connection(tuple(ports), elements, controls, ties, not_compared)


class _Matcher:
    """The search for the places, with every reason why they do not fit."""

    def __init__(self, dut: Dut, ports: Sequence[Port]) -> None:
        self._dut, self._ports = dut, {port.name: port for port in ports}
        self._used: dict[str, set[int]] = {port.name: set() for port in ports}
        self.reasons: list[str] = []

    def elements(self, operand: Operand) -> tuple[Place, ...]:
        """The places of an operand's elements, in order; none where the design has no such port."""
        if not operand.width:
            return ()
        total = operand.count * (1 if operand.is_shared else self._dut.results)
        names = self._dut.name_of(operand.name)
        pieces = [piece for piece in (self._piece(operand.name, name, operand.direction) for name in names) if piece]
        if len(pieces) < len(names):
            return ()
        places: list[Place] = []
        if total % len(pieces):
            self.reasons.append(
                f"{operand.name} has {total} elements, which these ports cannot share evenly: {listed(names)}"
            )
            return ()
        share = total // len(pieces)
        for name, piece in zip(names, pieces, strict=True):
            found = piece[:1] if operand.values else self._split(piece, share, operand.width)
            if not found:
                bits, needed = sum(place.width for place in piece), share * operand.width
                fewer, rest = divmod(bits * len(pieces), operand.width)
                fix = f": products = {fewer}, if a transfer has so many" if not rest and 0 < fewer < operand.count else ""
                self.reasons.append(
                    f"{operand.name} needs {needed} bits in {name}, {share} x {operand.width}; it has {bits}"
                    + (fix if operand.name in ("a", "b") and self._dut.results == 1 else "")
                )
                return ()
            places += found
        if self._dut.order == "descending" and operand.count > 1:
            places = [
                place for r in range(self._dut.results) for place in places[r * operand.count :][: operand.count][::-1]
            ]
        for place in places:
            self._use(place, operand.name)
        return tuple(places if operand.order is None else [places[at] for at in operand.order])

    def controls(self) -> dict[str, Place]:
        """The places of clock, reset, enable and handshake."""
        dut = self._dut
        wanted = {"clk": dut.clock, "rst": None if dut.reset is None else dut.reset.name, "en": dut.enable}
        names = {control: name for control, name in wanted.items() if name is not None}
        for port in dut.signals:
            if len(dut.name_of(port)) != 1:
                self.reasons.append(f"{port} must be one port, got {listed(dut.name_of(port))}")
            names[port] = dut.name_of(port)[0]
        found = {}
        for control, name in names.items():
            direction = "input" if control in ("clk", "rst", "en", *INPUT_SIGNALS) else "output"
            piece = self._piece(control, name, direction)
            if piece is None:
                continue
            if sum(place.width for place in piece) != 1:
                self.reasons.append(f"{control} must be one bit, {piece[0].port} has more")
                continue
            self._use(piece[0], control)
            found[control] = piece[0]
        return found

    def ties(self) -> tuple[tuple[Place, int | str], ...]:
        """The tied places of inputs with their values. A packed port is tied as a whole, an array by element."""
        found: list[tuple[Place, int | str]] = []
        for name, value in self._dut.tie.items():
            piece = self._piece("[tie]", name, "input") or []
            if "[" not in name:
                piece = [Place(p.port, p.index, 0, p.port.vector) for p in piece]
            for place in dict.fromkeys(piece):
                self._use(place, "[tie]")
                found.append((place, value))
                if isinstance(value, int) and not -(1 << place.width) // 2 <= value < 1 << place.width:
                    self.reasons.append(f"[tie] {name} must fit in {place.width} bits, got {value}")
        return tuple(found)

    def check_all_inputs_driven(self) -> None:
        """Record a reason for every input with bits that are not driven, and for every port of both directions."""
        for name, used in self._used.items():
            port = self._ports[name]
            if port.direction == "inout":
                self.reasons.append(f"{port}: a port of both directions cannot be driven")
            elif port.direction == "input" and not used:
                self.reasons.append(f"{port} is driven by nothing: name it in [ports], or hold it with [tie] {name} = 0")
            elif port.direction == "input" and len(used) < port.width:
                which = _unused(port, used)
                fix = f'name {listed(which)} in [ports], or hold them: [tie] "{which[0]}" = 0'
                self.reasons.append(f"{port}: {port.width - len(used)} of its bits are driven by nothing: {fix}")

    def not_compared(self, d: Sequence[Place], narrower: Sequence[Format]) -> tuple[str, ...]:
        """The outputs without a use, or their bits; a reason for each name that is to be ignored and is none of them.

        Args:
            d: places of the results. narrower: formats of results that leave high bits of these places.
        """
        outputs = [port for port in self._ports.values() if port.direction == "output"]
        found = {port.name: _unused(port, self._used[port.name]) for port in outputs}
        for kind in narrower:
            for port in {place.port.name: place.port for place in d}.values():
                above = [bit for place in d if place.port == port for bit in sorted(place.bits)[kind.width :]]
                others = {bit for place in selected_places(port, ()) or () for bit in place.bits} - {*above}
                found[port.name] += [f"{bits} of results in {kind}" for bits in _unused(port, others)]
        each = ("d", *self._dut.echo, *self._dut.flags) if self._dut.beats and self._dut.beats.results == "each" else ()
        between = [f"{self._dut.name_of(name)[0]} {BETWEEN}" for name in each]
        for name in self._dut.ignore_outputs:
            known = [*(each for port, names in found.items() if names for each in dict.fromkeys((port, *names))), *between]
            if name not in known:
                self.reasons.append(unknown("[compare] ignore_outputs, outputs that are not compared,", name, known))
        return (*(name for names in found.values() for name in names), *between)

    def _piece(self, what: str, selected: str, direction: str) -> list[Place] | None:
        """The places of a name with selectors; an array's elements in ascending order of the index."""
        name, *selectors = selected.replace("]", "").split("[")
        port = self._ports.get(name)
        if port is None:
            self.reasons.append(f"{what}: {self._dut.top} has no port {name}; its ports are {listed(self._ports)}")
            return None
        if port.direction != direction:
            self.reasons.append(f"{what} must be an {direction} of {self._dut.top}, {name} is an {port.direction}")
            return None
        places = selected_places(port, selectors)
        if places is None:
            self.reasons.append(f"{what}: {selected} is outside {port}")
        return places

    @staticmethod
    def _split(places: list[Place], count: int, width: int) -> list[Place]:
        """`count` elements of `width` bits: the places themselves, or equal parts of each, lowest bits first."""
        if sum(place.width for place in places) != count * width or any(place.width % width for place in places):
            return _merged(places, count, width)
        return [
            Place(place.port, place.index, place.low + start, width)
            for place in places
            for start in range(0, place.width, width)
        ]

    def _use(self, place: Place, what: str) -> None:
        used = self._used[place.port.name]
        if place.port.direction == "input" and used & place.bits:
            self.reasons.append(f"{what}: {place.port} is driven twice")
        used |= place.bits


def _unused(port: Port, used: set[int]) -> list[str]:
    """The names of the bits of a port that are not used, as `[ports]` takes them: the port, elements, ranges of bits."""
    if not used:
        return [port.name]
    dimensions, bits, found = [*port.unpacked, *port.packed], port.bits or Range(port.word - 1, 0), list[str]()
    step = 1 if bits.left >= bits.right else -1
    for index, place in zip(product(*(d.indices for d in dimensions)), selected_places(port, ()) or (), strict=True):
        name, low = port.name + "".join(f"[{k}]" for k in index), min(place.bits)
        free = sorted(bit - low for bit in place.bits - used)
        if len(free) == place.width:
            found.append(name)
            continue
        starts = [k for k in free if k - 1 not in free]
        ends = [k for k in free if k + 1 not in free]
        numbers = [(bits.right + step * end, bits.right + step * start) for start, end in zip(starts, ends, strict=True)]
        found += [f"{name}[{left}]" if left == right else f"{name}[{left}:{right}]" for left, right in numbers]
    return found


def _merged(places: list[Place], count: int, width: int) -> list[Place]:
    """The elements of a packed port whose words are not its elements."""
    if len({(place.port.name, place.index) for place in places}) != 1:
        return []
    bits = sum(place.width for place in places)
    if bits != count * width:
        return []
    first = places[0]
    low = min(place.low for place in places)
    return [Place(first.port, first.index, low + k * width, width) for k in range(count)]


def selected_places(port: Port, selectors: Sequence[str]) -> list[Place] | None:
    """The words of a port under selectors like `3` or `31:16`, ascending by index; None where they lie outside the port.

    A selector takes one index of the outermost remaining dimension; after the last dimension it takes bits, by their numbers
    in the design's declaration.
    """
    dimensions = [*port.unpacked, *port.packed]
    chosen: list[Sequence[int]] = [dimension.indices for dimension in dimensions]
    low, width = 0, port.word
    for number, selector in enumerate(selectors):
        bounds = [int(bound) for bound in selector.split(":")]
        bits = port.bits or Range(port.word - 1, 0)
        if number < len(dimensions):
            if len(bounds) > 1 or bounds[0] not in dimensions[number].indices:
                return None
            chosen[number] = bounds
        elif number > len(dimensions) or not {*bounds} <= {*bits.indices}:
            return None
        else:
            low, width = min(abs(bound - bits.right) for bound in bounds), abs(bounds[0] - bounds[-1]) + 1
    return [
        Place(port, index[: len(port.unpacked)], _word_low(port, index[len(port.unpacked) :]) + low, width)
        for index in product(*chosen)
    ]


def _word_low(port: Port, index: Sequence[int]) -> int:
    """The lowest bit of a word of a packed array; the left end of a dimension is in the highest bits."""
    low, size = 0, port.vector
    for dimension, k in zip(port.packed, index, strict=True):
        size //= dimension.count
        low += abs(k - dimension.right) * size
    return low
