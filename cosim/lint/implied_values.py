"""The values that bits of a circuit must have for one bit to have its value, before registers too."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cosim.lint.flat_circuit import BITWISE, FlatCircuit

MOST_CYCLES = 8
"""Registers in a row through which values are followed."""

MOST_CHOICES = 16
"""Choices in a row in front of a register that are followed."""

MOST_BITS = 512
"""Bits whose values are followed for one condition."""

Literal = tuple[Any, int, int]
"""A bit, how many cycles before, and its value."""

_TRUE_OF_ALL = ("$reduce_and", "$logic_and")
_FALSE_OF_ALL = ("$reduce_or", "$reduce_bool", "$logic_or")
_ORDERS = ("$lt", "$le", "$gt", "$ge")


class Implied:
    """The values that a few bits with their values imply.

    Attributes:
        values: of bits at the origin, by bit and cycles before; None where they contradict each other, or are constant.
        cells: through which the values were followed, by identity.
    """

    def __init__(self, circuit: FlatCircuit, literals: Iterable[Literal]) -> None:
        self._circuit = circuit
        self._known = dict[tuple[Any, int], int]()
        self._followed = set[tuple[Any, int]]()
        self._between = dict[tuple[int, tuple[Any, ...], bool], tuple[int, int]]()
        self.cells = dict[int, Mapping[str, Any]]()
        self._holds = self._follow(list(literals))
        while self._holds and len(self._known) < MOST_BITS and (further := [*self._of_ranges(), *self._of_sums()]):
            self._holds = self._follow(further)

    @property
    def values(self) -> Mapping[tuple[Any, int], int] | None:
        if not self._holds:
            return None
        return {key: value for key, value in self._known.items() if key not in self._followed}

    def _follow(self, waiting: list[Literal]) -> bool:
        """Note values and what they imply; whether they may hold together."""
        while waiting and len(self._known) < MOST_BITS:
            given, cycles, value = waiting.pop()
            (bit,) = self._circuit.through([given])
            if isinstance(bit, str):
                if bit == str(1 - value):
                    return False
                continue
            if self._known.setdefault((bit, cycles), value) != value:
                return False
            cell = self._circuit.driver.get(bit)
            if cell is None or (bit, cycles) in self._followed:
                continue
            causes = self._causes(cell, bit, cycles, value)
            if causes:
                self.cells[id(cell)] = cell
                self._followed.add((bit, cycles))
                waiting += causes
        return True

    def _causes(self, cell: Mapping[str, Any], bit: Any, cycles: int, value: int) -> list[Literal]:
        """The values of a cell's inputs without which a bit of its output does not have its value."""
        ports, kind = dict(self._circuit.inputs(cell)), cell["type"]
        if "D" in ports and "Q" in cell["connections"]:
            before = self._loaded(cell, bit, value) if cycles < MOST_CYCLES else None
            return [] if before is None else [(before, cycles + 1, value)]
        found: list[tuple[Any, int]] = []
        place = cell["connections"]["Y"].index(bit) if "Y" in cell["connections"] else 0
        if kind in BITWISE:
            found = _of_gate(
                kind, [_extended(cell, ports, port, place + 1)[place] for port in ("A", "B") if port in ports], value
            )
        elif place:
            pass
        elif kind in ("$eq", "$eqx", "$ne", "$nex") and (kind in ("$eq", "$eqx")) == bool(value):
            width = max(len(ports["A"]), len(ports["B"]))
            pairs = zip(*(_extended(cell, ports, port, width) for port in ("A", "B")), strict=True)
            found = [pair for a, b in pairs for pair in _equal(a, b)]
        elif kind in _ORDERS:
            self._note_order(cell, ports, cycles, value)
            self._followed.add((bit, cycles))
            self.cells[id(cell)] = cell
        elif kind == "$logic_not":
            found = _of_words([ports["A"]], 1 - value, all_of_them=False)
        elif kind in _TRUE_OF_ALL or kind in _FALSE_OF_ALL:
            words = [ports[port] for port in ("A", "B") if port in ports]
            words = [[b] for word in words for b in word] if kind == "$reduce_and" else words
            found = _of_words(words, value, all_of_them=kind in _TRUE_OF_ALL)
        if kind in ("$mux", "$pmux"):
            found = _of_choice(ports, place, len(cell["connections"]["Y"]), value)
        return [(each, cycles, wanted) for each, wanted in found]

    def _loaded(self, register: Mapping[str, Any], bit: Any, value: int) -> Any:
        """The bit that a register takes, where it does not hold or reset; None where its reset gives the value."""
        place = register["connections"]["Q"].index(bit)
        for key in ("ARST_VALUE", "SRST_VALUE"):
            if key in register["parameters"] and register["parameters"][key][-1 - place] == str(value):
                return None
        (data,) = self._circuit.through([register["connections"]["D"][place]])
        for _ in range(MOST_CHOICES):
            cell = self._circuit.driver.get(data)
            if cell is None or cell["type"] != "$mux":
                break
            ports = dict(self._circuit.inputs(cell))
            index = cell["connections"]["Y"].index(data)
            one, other = ports["A"][index], ports["B"][index]
            if str(value) in (one, other):
                return None
            if one == bit or isinstance(one, str):
                data = other
            elif other == bit or isinstance(other, str):
                data = one
            else:
                break
        return data

    def _note_order(self, cell: Mapping[str, Any], ports: Mapping[str, Sequence[Any]], cycles: int, value: int) -> None:
        """Note the range of a word that is compared with a constant."""
        width = max(len(ports["A"]), len(ports["B"]))
        a, b = (_extended(cell, ports, port, width) for port in ("A", "B"))
        signed, below = _is_signed(cell), cell["type"] in ("$lt", "$le")
        word, bound = a, _constant(b, signed)
        if bound is None:
            word, bound, below = b, _constant(a, signed), not below
        if bound is None:
            return
        strict = cell["type"] in ("$lt", "$gt")
        below, strict = (below, strict) if value else (not below, not strict)
        low, high = self._between.get((cycles, tuple(word), signed), (0, (1 << width) - 1))
        low, high = (low, min(high, bound - strict)) if below else (max(low, bound + strict), high)
        self._between[cycles, tuple(word), signed] = low, high

    def _of_ranges(self) -> list[Literal]:
        """The leading bits that all values of a word's range share."""
        found = list[Literal]()
        for (cycles, word, signed), (low, high) in self._between.items():
            shared = len(word) - (low ^ high).bit_length() if low <= high else 0
            for place in range(len(word) - shared, len(word)):
                value = (low >> place & 1) ^ (signed and place == len(word) - 1)
                found.append((word[place], cycles, value))
        return [literal for literal in found if self._is_new(literal)]

    def _of_sums(self) -> list[Literal]:
        """The low bits of a word whose sum or difference with a constant is known."""
        found, seen = list[Literal](), set[tuple[int, int]]()
        for (bit, cycles), _ in list(self._known.items()):
            cell = self._circuit.driver.get(bit)
            if cell is None or cell["type"] not in ("$add", "$sub") or (id(cell), cycles) in seen:
                continue
            seen.add((id(cell), cycles))
            result, ports = cell["connections"]["Y"], dict(self._circuit.inputs(cell))
            known = 0
            while known < len(result) and (result[known], cycles) in self._known:
                known += 1
            total = sum(self._known[result[place], cycles] << place for place in range(known))
            a, b = (_extended(cell, ports, port, known) for port in ("A", "B"))
            word, number = (a, _constant(b)) if _constant(b) is not None else (b, _constant(a))
            if number is None or not known:
                continue
            minus = cell["type"] == "$sub"
            value = total - number if not minus else total + number if word is a else number - total
            self._followed |= {(result[place], cycles) for place in range(known)}
            self.cells[id(cell)] = cell
            found += [(each, cycles, value >> place & 1) for place, each in enumerate(word)]
        return [literal for literal in found if self._is_new(literal)]

    def _is_new(self, literal: Literal) -> bool:
        (bit,) = self._circuit.through([literal[0]])
        return self._known.get((bit, literal[1])) != literal[2] and bit != str(literal[2])


def _is_signed(cell: Mapping[str, Any]) -> bool:
    return all(int(str(cell["parameters"].get(f"{port}_SIGNED", 0)), 2) == 1 for port in ("A", "B"))


def _extended(cell: Mapping[str, Any], ports: Mapping[str, Sequence[Any]], port: str, width: int) -> list[Any]:
    """An operand at a width, as its cell extends it."""
    word = list(ports[port])
    signed = _is_signed(cell) if "B" in ports else int(str(cell["parameters"].get("A_SIGNED", 0)), 2) == 1
    return (word + [word[-1] if signed else "0"] * width)[:width]


def _constant(word: Sequence[Any], offset: bool = False) -> int | None:
    """The value of a constant word, its top bit inverted for an order of signed words; None for others."""
    if not all(bit in ("0", "1") for bit in word):
        return None
    value = sum(1 << place for place, bit in enumerate(word) if bit == "1")
    return value ^ (1 << len(word) - 1) if offset else value


def _equal(a: Any, b: Any) -> list[tuple[Any, int]]:
    if b in ("0", "1"):
        return [(a, int(b))]
    return [(b, int(a))] if a in ("0", "1") else []


def _of_gate(kind: str, bits: Sequence[Any], value: int) -> list[tuple[Any, int]]:
    """The inputs that one bit of a gate of words implies."""
    if kind in ("$not", "$pos", "$buf"):
        return [(bits[0], value ^ (kind == "$not"))]
    if kind in ("$xor", "$xnor"):
        wanted = value ^ (kind == "$xnor")
        return [(bit, each ^ wanted) for bit, each in _equal(*bits)]
    return _of_words([[bit] for bit in bits], value, all_of_them=kind == "$and")


def _of_words(words: Sequence[Sequence[Any]], value: int, all_of_them: bool) -> list[tuple[Any, int]]:
    """The bits implied by words of which all are true, or any; or are not, where the value is 0. If each word must have the
    value, these are all its bits, else the bit that alone can give it."""
    if bool(value) == all_of_them:
        chosen = words
    else:
        chosen = [word for word in words if {*word} - {str(1 - value)}] if len(words) > 1 else words
        if len(chosen) > 1:
            return []
    found = list[tuple[Any, int]]()
    for word in chosen:
        rest = [bit for bit in word if bit != "0"]
        if not value or len(rest) == 1:
            found += [(bit, value) for bit in (word if not value else rest)]
    return found


def _of_choice(ports: Mapping[str, Sequence[Any]], place: int, width: int, value: int) -> list[tuple[Any, int]]:
    """The inputs that a bit of a choice implies, where one branch alone can give it."""
    branches = [ports["B"][start + place] for start in range(0, len(ports["B"]), width)]
    able = [number for number, bit in enumerate(branches) if bit != str(1 - value)]
    default = ports["A"][place]
    if default != str(1 - value):
        return [] if able else [(default, value), *((condition, 0) for condition in ports["S"])]
    return [(branches[able[0]], value), (ports["S"][able[0]], 1)] if len(able) == 1 else []
