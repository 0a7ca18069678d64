"""Conditions of a circuit that random vectors hardly ever meet: those that fix many bits, however they are written, and
registers that count by themselves.

`_Gates` turns the cells of a circuit into gates of one bit; sums and orders with a constant operand are gates too, other
arithmetic fixes nothing. `_Fixed` follows a condition through them and through registers: if some pins of a gate are known,
each other pin with one value in all remaining rows of the gate's table is fixed too. `_conditions` chooses the conditions.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

from cosim.lint.flat_circuit import BITWISE, FlatCircuit
from cosim.lint.other_cycles import CONTROLS

RARE = 12
"""Number of bits of a value, or of counters, from which random vectors hardly ever reach the value."""

RARELY_EQUAL = 16
"""Number of bits of two words from which random vectors hardly ever make them equal; exponents have fewer."""

CHANGES = 6
"""Neighbours of unlike value in the words of a condition, from which no special value (an infinity, the largest number, a
single one) explains them."""

NAMED = 4
"""Number of words of a condition that a finding names."""

MOST_BRANCHES, MOST_CYCLES, MOST_BITS = 16, 8, 512
"""Choices around a choice, registers in a row, and bits of one condition that are followed."""

Cell = Mapping[str, Any]

Gate = tuple[str, tuple[Any, ...], Cell]
"""A gate: its kind, its inputs, and the cell of which it is a part."""

Literal = tuple[Any, int, int]
"""A literal: a bit, the number of cycles before, and the bit's value."""

_KINDS: dict[str, Callable[..., int]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "not": lambda a: 1 - a,
    "mux": lambda a, b, s: b if s else a,
}


_COMPARES = ("$eq", "$ne", "$eqx", "$nex")
_ORDERS = ("$lt", "$le", "$gt", "$ge")
_ARITHMETIC = ("$add", "$sub", *_ORDERS)


def rare_conditions(circuit: FlatCircuit) -> list[str]:
    """The conditions that fix many bits, without those within others, and the registers that count by themselves."""
    gates, places = _Gates(circuit), _places(circuit)
    fixed = [(cell, _Fixed(gates, literals)) for cell, literals in _conditions(circuit)]
    rare = [(cell, each) for cell, each in fixed if each.is_rare(places, 1 if _names_a_value(circuit, cell) else CHANGES)]
    within = Counter(inner for cell, each in rare for inner in each.cells - {id(cell)})
    found = list[str]()
    for cell, each in rare:
        if not within[id(cell)]:
            source = next((c for c in (cell, *gates.of(each.cells)) if "src" in c.get("attributes", {})), cell)
            found.append(f"{each.named(circuit.names)} at {circuit.source(source)}")
    return list(dict.fromkeys([*_counters(circuit), *found]))


def _names_a_value(circuit: FlatCircuit, cell: Cell) -> bool:
    """Whether a cell compares with a long constant, which then counts however few its changes are."""
    words = [bits for port, bits in circuit.inputs(cell) if port in "AB"] if cell["type"] in _COMPARES else []
    return any(len(word) >= RARE and {*word} == {"0", "1"} for word in words)


def _some(words: Sequence[str]) -> str:
    return f"{', '.join(words[:NAMED])}{', …' if len(words) > NAMED else ''}"


class _Gates:
    """The cells of a circuit as gates of one bit.

    Attributes:
        driver: gate of each bit. users: the bits of arithmetic that depend on each bit. takers: number of the cells and
            ports that take each bit; a difference of two words that more than a comparison takes is that of an adder.
    """

    def __init__(self, circuit: FlatCircuit) -> None:
        self.circuit, self._cells = circuit, {id(cell): cell for cell in circuit.cells}
        self.takers = Counter(bit for cell in circuit.cells for bit in {b for _, bits in circuit.inputs(cell) for b in bits})
        self.takers.update(bit for port in circuit.module["ports"].values() for bit in circuit.through(port["bits"]))
        self.driver, self.users = dict[Any, Gate](), defaultdict[Any, list[Any]](list)
        self._made = 0
        for cell in circuit.cells:
            for bit, made in zip(cell["connections"].get("Y", ()), self._results(cell), strict=False):
                self.driver[bit] = self.driver.pop(made) if made in self.driver else ("or", (made, made), cell)
                for pin in self.driver[bit][1]:
                    self.users[pin] = [bit if each == made else each for each in self.users[pin]]

    def of(self, cells: Iterable[int]) -> list[Cell]:
        """Cells by their identities."""
        return [self._cells[each] for each in cells]

    def _gate(self, cell: Cell, kind: str, *pins: Any) -> Any:
        self._made -= 1
        self.driver[self._made] = kind, pins, cell
        if cell["type"] in _ARITHMETIC:
            for pin in pins:
                self.users[pin].append(self._made)
        return self._made

    def _all(self, cell: Cell, kind: str, bits: Sequence[Any]) -> Any:
        result = bits[0]
        for bit in bits[1:]:
            result = self._gate(cell, kind, result, bit)
        return result

    def _results(self, cell: Cell) -> list[Any]:
        """The bits of a cell's result, as far as gates give them."""
        ports, kind, width = dict(self.circuit.inputs(cell)), cell["type"], len(cell["connections"].get("Y", ()))
        if kind in ("$mux", "$pmux"):
            chosen = ports["A"]
            for number, select in enumerate(ports["S"]):
                branch = ports["B"][number * width :]
                chosen = [self._gate(cell, "mux", a, b, select) for a, b in zip(chosen, branch, strict=False)]
            return chosen
        if kind in BITWISE:
            operands = (_extended(cell, ports, port, width) for port in ("A", "B") if port in ports)
            name = "xor" if kind == "$xnor" else kind[1:]
            made = [self._all(cell, name, pins) for pins in zip(*operands, strict=True)]
            return [self._gate(cell, "not", each) for each in made] if kind in ("$not", "$xnor") else made
        if kind == "$reduce_and":
            return [self._all(cell, "and", ports["A"])]
        if kind in ("$reduce_or", "$reduce_bool"):
            return [self._all(cell, "or", self._unlike(cell, ports["A"]))]
        if kind in ("$logic_not", "$logic_and", "$logic_or"):
            words = [self._all(cell, "or", self._unlike(cell, ports[port])) for port in ("A", "B") if port in ports]
            return [self._gate(cell, "not", words[0]) if len(words) == 1 else self._gate(cell, kind[7:], *words)]
        if "A" not in ports or "B" not in ports:
            return []
        both = max(len(ports["A"]), len(ports["B"]), width if kind in ("$add", "$sub") else 0)
        a, b = (_extended(cell, ports, port, both) for port in ("A", "B"))
        if kind in _COMPARES:
            unlike = self._all(cell, "or", [self._gate(cell, "xor", *pair) for pair in zip(a, b, strict=True)])
            return [unlike if kind[1] == "n" else self._gate(cell, "not", unlike)]
        if not any({*word} <= {"0", "1"} for word in (a, b)):
            return []
        if kind in _ORDERS:
            if _is_signed(cell):
                a, b = [*a[:-1], b[-1]], [*b[:-1], a[-1]]
            one, other = (a, b) if kind in ("$lt", "$ge") else (b, a)
            less: Any = "0"
            for low, high in zip(one, other, strict=True):
                if low in ("0", "1"):
                    less = self._gate(cell, "or" if low == "0" else "and", less, high)
                else:
                    less = self._gate(cell, "or" if high == "1" else "and", less, self._gate(cell, "not", low))
            return [self._gate(cell, "not", less) if kind in ("$ge", "$le") else less]
        if kind in ("$add", "$sub"):
            carry, total = "1" if kind == "$sub" else "0", list[Any]()
            for one, other in zip(a, b, strict=True):
                added = {"0": "1", "1": "0"}.get(other) or self._gate(cell, "not", other) if kind == "$sub" else other
                unlike = self._gate(cell, "xor", one, added)
                total.append(self._gate(cell, "xor", unlike, carry))
                carry = self._gate(cell, "mux", one, carry, unlike)
            return total[:width]
        return []

    def _unlike(self, cell: Cell, word: Sequence[Any]) -> Sequence[Any]:
        """Bits that are all 0 where a word is: those of the word, or, if it is a difference of two words that nothing else
        takes, those in which the two are unlike."""
        source = self.circuit.driver.get(word[0])
        if source is None or source["type"] != "$sub" or self.circuit.through(source["connections"]["Y"]) != [*word]:
            return word
        ports = dict(self.circuit.inputs(source))
        a, b = (_extended(source, ports, port, len(word)) for port in ("A", "B"))
        if any({*each} <= {"0", "1"} for each in (a, b)) or any(self.takers[bit] > 1 for bit in word):
            return word
        return [self._gate(cell, "xor", *pair) for pair in zip(a, b, strict=True)]


def _is_signed(cell: Cell) -> bool:
    return all(int(str(cell["parameters"].get(f"{port}_SIGNED", 0)), 2) == 1 for port in ("A", "B"))


def _extended(cell: Cell, ports: Mapping[str, Sequence[Any]], port: str, width: int) -> list[Any]:
    """An operand at a width, as its cell extends it."""
    word = list(ports[port])
    signed = _is_signed(cell) if "B" in ports else int(str(cell["parameters"].get("A_SIGNED", 0)), 2) == 1
    return (word + [word[-1] if signed else "0"] * width)[:width]


class _Fixed:
    """What a few bits with their values fix, before registers too.

    Attributes:
        values: of bits that nothing explains, by bit and cycles before; none where they contradict each other.
        cells: through which the values were followed, by identity. relations: pairs of bits that must be equal, or unlike.
    """

    def __init__(self, gates: _Gates, literals: Iterable[Literal]) -> None:
        self._gates, self._known = gates, dict[tuple[Any, int], int]()
        self.values, self.cells = dict[tuple[Any, int], int](), set[int]()
        self.relations = list[tuple[Any, ...]]()
        if self._follow([(gates.circuit.through([bit])[0], cycles, value) for bit, cycles, value in literals]):
            for (bit, cycles), value in self._known.items():
                self._explain(bit, cycles, value)

    def is_rare(self, places: Mapping[Any, tuple[str, int]], least: int) -> bool:
        """Whether the fixed bits are many, and have more changes than a special number has."""
        words = defaultdict[tuple[str, int], list[tuple[int, int]]](list)
        for (bit, cycles), value in self.values.items():
            if bit in places:
                name, place = places[bit]
                words[name, cycles].append((place, value))
        changes = sum(a != b for word in words.values() for (_, a), (_, b) in pairwise(sorted(word)))
        return self._are_words_equal or (len(self.values) >= RARE and changes >= least)

    @property
    def _are_words_equal(self) -> bool:
        return min((len({*side}) for side in zip(*self.relations, strict=True)), default=0) >= RARELY_EQUAL

    def named(self, names: Mapping[Any, str]) -> str:
        """The words of which they are bits."""
        if self._are_words_equal:
            return " with ".join(names.get(bit, "a value") for bit in self.relations[0])
        words = sorted({names.get(bit, "a value") for bit, _ in self.values})
        return f"{len(self.values)} bits of {_some(words)}"

    def _follow(self, waiting: list[Literal]) -> bool:
        """Note values and what they fix; whether they may hold together."""
        while waiting and len(self._known) < MOST_BITS:
            bit, cycles, value = waiting.pop()
            if isinstance(bit, str):
                if bit == str(1 - value):
                    return False
                continue
            known = self._known.get((bit, cycles))
            if known is not None:
                if known != value:
                    return False
                continue
            self._known[bit, cycles] = value
            for result in (bit, *self._gates.users.get(bit, ())):
                if result in self._gates.driver:
                    fixes = self._fixes(result, cycles)
                    if fixes is None:
                        return False
                    waiting += fixes
            loaded = self._loaded(bit, value) if cycles < MOST_CYCLES else None
            waiting += [] if loaded is None else [(loaded, cycles + 1, value)]
        return True

    def _rows(self, result: Any, cycles: int) -> tuple[tuple[Any, ...], list[tuple[int, ...]]]:
        """The pins of a gate, its result last, and the rows of its table that the known values leave."""
        kind, inputs, _ = self._gates.driver[result]
        given = [int(bit) if bit in ("0", "1") else self._known.get((bit, cycles)) for bit in (*inputs, result)]
        rows = ((*row, _KINDS[kind](*row)) for row in product((0, 1), repeat=len(inputs)))
        return (*inputs, result), [r for r in rows if all(g is None or g == v for g, v in zip(given, r, strict=True))]

    def _fixes(self, result: Any, cycles: int) -> list[Literal] | None:
        """The values that a gate fixes; None where it cannot have the known ones."""
        pins, rows = self._rows(result, cycles)
        columns = [{*column} for column in zip(*rows, strict=True)]
        return [(p, cycles, *c) for p, c in zip(pins, columns, strict=True) if len(c) == 1] if rows else None

    def _explain(self, bit: Any, cycles: int, value: int) -> None:
        """Count a bit among the values where neither its gate nor its register explains it by others."""
        gate = self._gates.driver.get(bit)
        if gate is None:
            loaded = self._loaded(bit, value) if cycles < MOST_CYCLES else None
            if loaded is None:
                self.values[bit, cycles] = value
            else:
                self.cells.add(id(self._gates.circuit.driver[bit]))
            return
        inputs = [(pin, cycles) in self._known or pin in ("0", "1") for pin in gate[1]]
        self.cells.add(id(gate[2]))
        if not any(inputs):
            if gate[0] == "xor" and gate[2]["type"] not in _ARITHMETIC:
                self.relations += [gate[1]] if self._gates.takers[bit] < 2 else []
            elif bit > 0:
                self.values[bit, cycles] = value

    def _loaded(self, bit: Any, value: int) -> Any:
        """The bit that a register takes, where it does not hold or reset; None for no register, or where a reset gives the
        value."""
        register = self._gates.circuit.driver.get(bit)
        if register is None or "D" not in register["connections"] or bit not in register["connections"].get("Q", ()):
            return None
        place = register["connections"]["Q"].index(bit)
        for key in ("ARST_VALUE", "SRST_VALUE"):
            if key in register["parameters"] and register["parameters"][key][-1 - place] == str(value):
                return None
        (data,) = self._gates.circuit.through([register["connections"]["D"][place]])
        for _ in range(MOST_BRANCHES):
            kind, pins, _cell = self._gates.driver.get(data, ("", (), {}))
            if kind != "mux":
                break
            one, other, _select = pins
            if str(value) in (one, other):
                return None
            if one == bit or isinstance(one, str):
                data = other
            elif other == bit or isinstance(other, str):
                data = one
            else:
                break
        return data


def _conditions(circuit: FlatCircuit) -> Iterator[tuple[Cell, list[Literal]]]:
    """Cells with one bit of result, with either value, and choices, with all choices around them."""
    takers = defaultdict[Any, list[tuple[Cell, str]]](list)
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


def _around(circuit: FlatCircuit, takers: Mapping[Any, Sequence[tuple[Cell, str]]], cell: Cell) -> list[Literal]:
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


# counters


def _counters(circuit: FlatCircuit) -> Iterator[str]:
    """The long registers whose next value is a function of themselves and at most one other bit, and the shorter ones that
    no operand moves, where they have as many states together: counters, rings, shift registers with feedback."""
    inputs = [(name, port) for name, port in circuit.module["ports"].items() if port["direction"] == "input"]
    takers = defaultdict[Any, list[Cell]](list)
    for cell in circuit.cells:
        for bit in {bit for _, bits in circuit.inputs(cell) for bit in bits}:
            takers[bit].append(cell)
    moved = _behind(circuit, takers, [bit for name, port in inputs if name not in CONTROLS for bit in port["bits"]])
    apart = list[Cell]()
    for cell in circuit.cells:
        if "Q" in cell["connections"] and _runs(circuit, cell):
            if len(cell["connections"]["Q"]) >= RARE:
                yield f"{circuit.names.get(cell['connections']['Q'][0], 'a register')} counts at {circuit.source(cell)}"
            elif id(cell) not in moved:
                apart.append(cell)
    if sum(len(cell["connections"]["Q"]) for cell in apart) >= RARE:
        names = {circuit.names.get(cell["connections"]["Q"][0], "a register") for cell in apart}
        yield f"{_some(sorted(names))} run by themselves"


def _behind(circuit: FlatCircuit, takers: Mapping[Any, Sequence[Cell]], bits: Sequence[Any]) -> set[int]:
    """The cells that depend on some bits, in later cycles too, by identity."""
    waiting, found = list(circuit.through(bits)), set[int]()
    while waiting:
        for cell in takers.get(waiting.pop(), ()):
            if id(cell) not in found:
                found.add(id(cell))
                waiting += circuit.through(circuit.outputs(cell))
    return found


def _runs(circuit: FlatCircuit, register: Cell) -> bool:
    """Whether the next value of a register, but for what holds, loads constants or chooses, comes from itself."""
    own = {*register["connections"]["Q"]}
    pairs = zip(register["connections"].get("D", ()), register["connections"]["Q"], strict=True)
    waiting, seen, others, turns = [(d, q) for d, q in pairs], set[tuple[Any, Any]](), set[Any](), False
    while waiting:
        given, held = waiting.pop()
        (bit,) = circuit.through([given])
        if isinstance(bit, str) or bit == held or (bit, held) in seen:
            continue
        seen.add((bit, held))
        cell = circuit.driver.get(bit)
        if bit in own:
            turns = True
        elif cell is None or "Q" in cell["connections"] or "Y" not in cell["connections"]:
            others.add(bit)
        else:
            is_choice = cell["type"] in ("$mux", "$pmux")
            place, width = cell["connections"]["Y"].index(bit), len(cell["connections"]["Y"])
            for port, bits in circuit.inputs(cell):
                chosen = bits[place::width] if is_choice and port != "S" else () if is_choice else bits
                waiting += [(each, held if is_choice else None) for each in chosen]
        if len(others) > 1:
            return False
    return turns
