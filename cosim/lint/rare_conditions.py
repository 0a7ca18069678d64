"""Conditions of a circuit that random vectors hardly meet: values of many bits, however compared, and long counters."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from cosim.lint.flat_circuit import FlatCircuit
from cosim.lint.implied_values import Implied, Literal
from cosim.lint.other_cycles import CONTROLS

RARE = 12
"""Bits of a value, or of a counter, from which random vectors hardly meet it."""

RARELY_EQUAL = 16
"""Bits of two words from which random vectors hardly make them equal; exponents have fewer."""

CHANGES = 6
"""Neighbours of unlike value in the words of a condition, from which no special value (an infinity, the largest number, a
single one) explains them."""

NAMED = 4
"""Words of a condition that are named."""

MOST_BRANCHES = 16
"""Choices around a choice that are followed."""

_COMPARES = ("$eq", "$ne", "$eqx", "$nex")

_DIFFERENCES = ("$xor", "$xnor", "$sub")

_OF_ALL = ("$reduce_or", "$reduce_bool", "$reduce_and", "$logic_not", "$eq", "$ne")
"""Cells that say whether all bits of a word are 0, or 1."""

_CHOOSES = ("$mux", "$pmux", "$and", "$or", "$logic_not", "$pos")
"""Cells through which a counter's next value returns to its register."""


def rare_conditions(circuit: FlatCircuit) -> list[str]:
    """The comparisons with long constants, the long counters, and other conditions that ask for values of many bits."""
    found, named = list[str](), set[int]()
    for cell in circuit.cells:
        ports = dict(circuit.inputs(cell))
        if cell["type"] in _COMPARES:
            for one, other in ((ports["A"], ports["B"]), (ports["B"], ports["A"])):
                pairs = [(a, b) for a, b in zip(one, other, strict=False) if isinstance(a, int) and b in ("0", "1")]
                if len(pairs) >= RARE and len({b for _, b in pairs}) == 2:
                    value = sum(1 << place for place, (_, b) in enumerate(pairs) if b == "1")
                    name = circuit.names.get(pairs[0][0], "a value")
                    found.append(f"{name} with {len(pairs)}'h{value:x} at {circuit.source(cell)}")
                    named.add(id(cell))
            if len(_different(ports["A"], ports["B"])) >= RARELY_EQUAL:
                found.append(_equality(circuit, cell, ports))
        elif cell["type"] in _DIFFERENCES and _is_compared_with_0(circuit, cell, ports):
            found.append(_equality(circuit, cell, ports))
        elif cell["type"] in ("$add", "$sub") and (register := _counted(circuit, cell, ports)):
            found.append(f"{register} counts at {circuit.source(cell)}")
    return list(dict.fromkeys([*found, *_running(circuit), *_other_forms(circuit, named)]))


def _different(one: Sequence[Any], other: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The pairs of bits of two words of which neither is constant and that are not the same."""
    return [(a, b) for a, b in zip(one, other, strict=False) if isinstance(a, int) and isinstance(b, int) and a != b]


def _is_compared_with_0(circuit: FlatCircuit, cell: Mapping[str, Any], ports: Mapping[str, Sequence[Any]]) -> bool:
    """Whether the difference of two long words goes into a comparison of all its bits alone."""
    if len(_different(ports["A"], ports["B"])) < RARELY_EQUAL:
        return False
    result = {*cell["connections"]["Y"]}
    takers = [each for each in circuit.cells if result & {bit for _, bits in circuit.inputs(each) for bit in bits}]
    return bool(takers) and all(
        each["type"] in _OF_ALL and {*dict(circuit.inputs(each))["A"]} - {"0", "1"} == result for each in takers
    )


def _equality(circuit: FlatCircuit, cell: Mapping[str, Any], ports: Mapping[str, Sequence[Any]]) -> str:
    one, other = (circuit.names.get(ports[port][0], "a value") for port in ("A", "B"))
    return f"{one} with {other} at {circuit.source(cell)}"


def _running(circuit: FlatCircuit) -> list[str]:
    """The registers that go on by themselves, whatever comes in, through more states than vectors meet: counters one behind
    the other, rings, shift registers with feedback."""
    inputs = [(name, port) for name, port in circuit.module["ports"].items() if port["direction"] == "input"]
    takers = defaultdict[Any, list[Mapping[str, Any]]](list)
    for cell in circuit.cells:
        for bit in {bit for _, bits in circuit.inputs(cell) for bit in bits}:
            takers[bit].append(cell)
    moved = {id(cell) for cell in _behind(circuit, takers, [b for n, p in inputs if n not in CONTROLS for b in p["bits"]])}
    apart = [cell for cell in circuit.cells if "Q" in cell["connections"] and id(cell) not in moved]
    found = [cell for cell in apart if any(cell is each for each in _behind(circuit, takers, cell["connections"]["Q"]))]
    if sum(len(cell["connections"]["Q"]) for cell in found) < RARE:
        return []
    names = sorted({circuit.names.get(cell["connections"]["Q"][0], "a register") for cell in found})
    return [f"{', '.join(names[:NAMED])}{', …' if len(names) > NAMED else ''} run by themselves"]


def _behind(
    circuit: FlatCircuit, takers: Mapping[Any, Sequence[Mapping[str, Any]]], bits: Sequence[Any]
) -> list[Mapping[str, Any]]:
    """The cells that depend on some bits, in later cycles too."""
    waiting, seen, found = list(circuit.through(bits)), set[int](), list[Mapping[str, Any]]()
    while waiting:
        for cell in takers.get(waiting.pop(), ()):
            if id(cell) not in seen:
                seen.add(id(cell))
                found.append(cell)
                waiting += circuit.outputs(cell)
                waiting += circuit.through(circuit.outputs(cell))
    return found


def _other_forms(circuit: FlatCircuit, named: set[int]) -> Iterator[str]:
    """The conditions that imply rare values, without those within others and those of comparisons that are named."""
    conditions = [(cell, Implied(circuit, literals)) for cell, literals in _conditions(circuit)]
    places = _places(circuit)
    rare = [(cell, implied) for cell, implied in conditions if (values := implied.values) and _is_rare(values, places)]
    within = Counter(inner for cell, implied in rare for inner in implied.cells.keys() - {id(cell)})
    for cell, implied in rare:
        if not within[id(cell)] and not implied.cells.keys() & named:
            values = implied.values or {}
            words = sorted({circuit.names.get(bit, "a value") for bit, _ in values})
            more = ", …" if len(words) > NAMED else ""
            written = next((each for each in (cell, *implied.cells.values()) if "src" in each.get("attributes", {})), cell)
            yield f"{len(values)} bits of {', '.join(words[:NAMED])}{more} at {circuit.source(written)}"


def _conditions(circuit: FlatCircuit) -> Iterator[tuple[Mapping[str, Any], list[Literal]]]:
    """Cells with one bit of result, with either value, and choices, with all choices around them."""
    takers = defaultdict[Any, list[tuple[Mapping[str, Any], str]]](list)
    for cell in circuit.cells:
        for port, bits in circuit.inputs(cell):
            for bit in {*bits[:1]} if port in "AB" else {*bits}:
                takers[bit].append((cell, port))
    for cell in circuit.cells:
        result = cell["connections"].get("Y", ())
        if len(result) == 1:
            yield from ((cell, [(result[0], 0, value)]) for value in (0, 1))
        if cell["type"] in ("$mux", "$pmux"):
            around = _around(circuit, takers, cell)
            for condition in dict(circuit.inputs(cell))["S"]:
                yield from ((cell, [(condition, 0, value), *around]) for value in (0, 1))


def _around(
    circuit: FlatCircuit, takers: Mapping[Any, Sequence[tuple[Mapping[str, Any], str]]], cell: Mapping[str, Any]
) -> list[Literal]:
    """The conditions under which a choice is taken by the choices around it."""
    found = list[Literal]()
    while len(found) < MOST_BRANCHES:
        taking = takers.get(circuit.through(cell["connections"]["Y"][:1])[0], ())
        if len(taking) != 1 or taking[0][0]["type"] != "$mux" or taking[0][1] == "S":
            break
        cell, port = taking[0]
        found.append((dict(circuit.inputs(cell))["S"][0], 0, int(port == "B")))
    return found


def _places(circuit: FlatCircuit) -> dict[Any, tuple[str, int]]:
    """The widest word of each bit, and its place there; one that the design names, where there is one."""
    nets = sorted(circuit.module["netnames"].items(), key=lambda net: (not net[1]["hide_name"], len(net[1]["bits"])))
    return {bit: (name, place) for name, net in nets for place, bit in enumerate(circuit.through(net["bits"]))}


def _is_rare(values: Mapping[tuple[Any, int], int], places: Mapping[Any, tuple[str, int]]) -> bool:
    """Whether values are many, and not those of special numbers."""
    if len(values) < RARE:
        return False
    words = defaultdict[tuple[str, int], list[tuple[int, int]]](list)
    for (bit, cycles), value in values.items():
        if bit in places:
            name, place = places[bit]
            words[name, cycles].append((place, value))
    return sum(a != b for word in words.values() for (_, a), (_, b) in pairwise(sorted(word))) >= CHANGES


def _counted(circuit: FlatCircuit, adder: Mapping[str, Any], ports: Mapping[str, Sequence[Any]]) -> str | None:
    """The name of the long register to which an adder adds at most one, and which takes the sum."""
    for one, other in ((ports["A"], ports["B"]), (ports["B"], ports["A"])):
        register = circuit.driver.get(one[0])
        step = {bit for bit in other if isinstance(bit, int)}
        if register is None or "D" not in register["connections"] or len(step) > 1:
            continue
        state = register["connections"]["Q"]
        is_its_own = {bit for bit in one if isinstance(bit, int)} <= {*state}
        if len(state) >= RARE and is_its_own and _returns(circuit, register["connections"]["D"], adder):
            return circuit.names.get(state[0], "a register")
    return None


def _returns(circuit: FlatCircuit, bits: Sequence[Any], adder: Mapping[str, Any]) -> bool:
    """Whether a word is the result of an adder, through choices."""
    waiting, seen = [bits[0]], set[Any]()
    while waiting:
        (bit,) = circuit.through([waiting.pop()])
        cell = circuit.driver.get(bit)
        if bit in seen or cell is None:
            continue
        seen.add(bit)
        if cell is adder:
            return True
        if cell["type"] in _CHOOSES:
            waiting += [data for port, word in circuit.inputs(cell) if port != "S" for data in word]
    return False
