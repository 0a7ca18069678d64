"""Verilog that Yosys wrote, as terms over bit vectors: what a module's outputs are of its inputs.

Everything is worked out when it is asked for. A register is a free input of the step after it, or, where a design is taken as
transparent, what stands at its own input: then the pipeline computes in no time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import bitwuzla
from bitwuzla import Kind, Term, TermManager

from rtl.verilog.netlist import (
    Assignment,
    Binary,
    Choice,
    Concatenation,
    Constant,
    Copy,
    Expression,
    Instance,
    Module,
    Operand,
    Signed,
    Slice,
    Unary,
)  # fmt: skip

Values = Mapping[str, "Bits"]
"""Port to what it holds."""


class NoTerm(ValueError):
    """A statement that has no term: memory, a loop, a register where there should be none."""


@dataclass(frozen=True)
class Bits:
    """A bit vector; `value` where it is a number."""

    term: Term
    width: int
    value: int | None = None


class Terms:
    """Makes terms: a thin layer over bitwuzla's, which works out what is constant."""

    def __init__(self) -> None:
        self.manager = TermManager()

    def number(self, value: int, width: int) -> Bits:
        """A constant."""
        sort = self.manager.mk_bv_sort(width)
        return Bits(self.manager.mk_bv_value(sort, value), width, value)

    def free(self, name: str, width: int) -> Bits:
        """A variable."""
        return Bits(self.manager.mk_const(self.manager.mk_bv_sort(width), name), width)

    def apply(self, kind: Kind, operands: list[Bits], width: int, *numbers: int) -> Bits:
        """An operation of bitwuzla's."""
        return Bits(self.manager.mk_term(kind, [bits.term for bits in operands], list(numbers)), width)

    def extended(self, bits: Bits, width: int, signed: bool) -> Bits:
        """More bits: copies of the sign, or zeros. Fewer: the lower ones."""
        if width == bits.width:
            return bits
        if width < bits.width:
            return self.part(bits, width - 1, 0)
        if bits.value is not None:
            negative = signed and bits.value >> (bits.width - 1)
            return self.number(bits.value | (((1 << width) - (1 << bits.width)) if negative else 0), width)
        kind = Kind.BV_SIGN_EXTEND if signed else Kind.BV_ZERO_EXTEND
        return self.apply(kind, [bits], width, width - bits.width)

    def part(self, bits: Bits, high: int, low: int) -> Bits:
        """Bits `high` to `low`, counted from 0."""
        if low == 0 and high == bits.width - 1:
            return bits
        if bits.value is not None:
            return self.number(bits.value >> low & ((1 << (high - low + 1)) - 1), high - low + 1)
        return self.apply(Kind.BV_EXTRACT, [bits], high - low + 1, high, low)

    def joined(self, parts: list[Bits]) -> Bits:
        """Side by side, the first in the highest bits."""
        if len(parts) == 1:
            return parts[0]
        width = sum(part.width for part in parts)
        if all(part.value is not None for part in parts):
            value = 0
            for part in parts:
                value = value << part.width | (part.value or 0)
            return self.number(value, width)
        return self.apply(Kind.BV_CONCAT, parts, width)

    def truth(self, term: Term) -> Bits:
        """One bit of a Boolean term."""
        one, zero = self.number(1, 1), self.number(0, 1)
        return Bits(self.manager.mk_term(Kind.ITE, [term, one.term, zero.term]), 1)

    def is_true(self, bits: Bits) -> Term:
        """Whether any bit is 1."""
        return self.manager.mk_term(Kind.DISTINCT, [bits.term, self.number(0, bits.width).term])

    def choice(self, condition: Bits, yes: Callable[[], Bits], no: Callable[[], Bits]) -> Bits:
        """One of two, of which only one is worked out where the condition is a number."""
        if condition.value is not None:
            return yes() if condition.value else no()
        chosen, other = yes(), no()
        if chosen.term == other.term:
            return chosen
        return Bits(self.manager.mk_term(Kind.ITE, [self.is_true(condition), chosen.term, other.term]), chosen.width)


_BITWISE = {"&": Kind.BV_AND, "|": Kind.BV_OR, "^": Kind.BV_XOR, "~^": Kind.BV_XNOR}
_ARITHMETIC = {"+": Kind.BV_ADD, "-": Kind.BV_SUB, "*": Kind.BV_MUL}
_SHIFTS = {"<<": Kind.BV_SHL, "<<<": Kind.BV_SHL, ">>": Kind.BV_SHR, ">>>": Kind.BV_SHR}
_ORDER = {
    "<": (Kind.BV_ULT, Kind.BV_SLT), "<=": (Kind.BV_ULE, Kind.BV_SLE),
    ">": (Kind.BV_UGT, Kind.BV_SGT), ">=": (Kind.BV_UGE, Kind.BV_SGE),
}  # fmt: skip
_REDUCTIONS = {"|": Kind.BV_REDOR, "&": Kind.BV_REDAND, "^": Kind.BV_REDXOR}


@dataclass
class Circuit:
    """A module with values at its inputs.

    Attributes:
        modules: of the file. module: the one. inputs: what its input ports hold. transparent: whether registers are wires.
        held: registers of this module that hold a value.
        path: of instances from the top, each with a dot.
        states: the variable of each register's bits, by the path of its module and its name, shared between circuits that
            begin in the same state.
        seen: called with each output of an instance, by its path and port; what it gives is what goes on.
    """

    terms: Terms
    modules: Mapping[str, Module]
    module: Module
    inputs: Values
    transparent: bool = False
    held: Values = field(default_factory=dict)
    path: str = ""
    states: dict[str, Bits] = field(default_factory=dict)
    seen: Callable[[str, Bits], Bits] = lambda name, bits: bits

    def __post_init__(self) -> None:
        self._drivers: dict[str, list[tuple[int, int, Callable[[], Bits]]]] = {}
        self._known: dict[int, Bits] = {}
        self._under_way: set[int] = set()
        self.parts: dict[str, Circuit] = {}
        for assignment in self.module.assignments:
            self._drive(assignment.target, self._once(lambda a=assignment: self._assigned(a)))  # type: ignore[misc]
        for register in self.module.registers:
            if register.target.text.strip() in self.held:
                self._drive(register.target, lambda n=register.target.text.strip(): self.held[n])  # type: ignore[misc]
                continue
            made = self._once(lambda a=register: self._assigned(a)) if self.transparent else self._once(lambda a=register: self._state(a))  # type: ignore[misc]  # fmt: skip
            self._drive(register.target, made)
        for instance in self.module.instances:
            self._connect(instance)

    def wire(self, name: str) -> Bits:
        """What a wire holds."""
        high, low = self.module.ranges[name]
        return self._bits(name, abs(high - low), 0)

    def outputs(self) -> dict[str, Bits]:
        """What the output ports hold."""
        return {name: self.wire(name) for name, side in self.module.directions.items() if side == "output"}

    def next_states(self) -> dict[str, Bits]:
        """What every register below holds after the next clock edge, by path and name."""
        found = {
            f"{self.path}{register.target.text.strip()}": self._assigned(register) for register in self.module.registers
        }
        for instance in self.module.instances:
            if instance.module in self.modules:
                found |= self._part(instance).next_states()
        return found

    def instances_of(self, module: str) -> list["Circuit"]:
        """Every circuit below that is of a module."""
        found = [self] if self.module.name == module else []
        for instance in self.module.instances:
            if instance.module in self.modules:
                found += self._part(instance).instances_of(module)
        return found

    def _once(self, make: Callable[[], Bits]) -> Callable[[], Bits]:
        key = id(make)
        kept: list[Bits] = []

        def call() -> Bits:
            if not kept:
                if key in self._under_way:
                    raise NoTerm(f"a loop in {self.module.name}")
                self._under_way.add(key)
                kept.append(make())
                self._under_way.discard(key)
            return kept[0]

        return call

    def _drive(self, target: Operand, make: Callable[[], Bits]) -> None:
        """Note which bits a statement gives: the first part of a concatenation is in the highest bits."""
        place = target.width
        for part in target.parts if isinstance(target, Concatenation) else (target,):
            place -= part.width
            if not isinstance(part, Slice):
                raise NoTerm(f"{part.text} is assigned")
            bottom = self._offset(part.name, part.low)
            start, width = place, part.width
            chosen = lambda m=make, s=start, w=width: self.terms.part(m(), s + w - 1, s)  # type: ignore[misc]  # noqa: E731
            self._drivers.setdefault(part.name, []).append((bottom, width, chosen))

    def _offset(self, name: str, bit: int) -> int:
        high, low = self.module.ranges[name]
        return bit - low if high >= low else low - bit

    def _connect(self, instance: Instance) -> None:
        """An instance's outputs drive what they are connected to."""
        of = self.modules.get(instance.module)
        if of is None:
            raise NoTerm(f"{instance.module} is not in the file")
        for connection in instance.connections:
            if of.directions[connection.port] == "output" and connection.operand is not None:
                port = connection.port
                made = lambda i=instance, p=port, w=connection.operand.width: self.terms.extended(  # type: ignore[misc]  # noqa: E731
                    self.seen(f"{self.path}{i.name}.{p}", self._part(i).wire(p)), w, False
                )
                self._drive(connection.operand, self._once(made))

    def _part(self, instance: Instance) -> "Circuit":
        """The circuit of an instance."""
        if instance.name not in self.parts:
            of = self.modules[instance.module]
            inputs = _Lazily(
                {
                    c.port: (lambda o=c.operand, w=of.width(c.port): self._operand(o, w))  # type: ignore[misc]
                    for c in instance.connections
                    if of.directions[c.port] == "input" and c.operand is not None
                }
            )
            path = f"{self.path}{instance.name}."
            self.parts[instance.name] = Circuit(
                self.terms, self.modules, of, inputs, self.transparent, {}, path, self.states, self.seen
            )
        return self.parts[instance.name]

    def _bits(self, name: str, high: int, low: int) -> Bits:
        """Bits of a wire, counted from 0."""
        if self.module.directions.get(name) == "input":
            if name not in self.inputs:
                raise NoTerm(f"{name} of {self.module.name} is not connected")
            return self.terms.part(self.inputs[name], high, low)
        pieces, place = [], high
        while place >= low:
            for bottom, width, make in self._drivers.get(name, ()):
                if bottom <= place < bottom + width:
                    lowest = max(bottom, low)
                    pieces.append(self.terms.part(make(), place - bottom, lowest - bottom))
                    place = lowest - 1
                    break
            else:
                raise NoTerm(f"bit {place} of {name} in {self.module.name} is not driven")
        return self.terms.joined(pieces)

    def _state(self, register: Assignment) -> Bits:
        """A register's variable."""
        name = f"{self.path}{register.target.text.strip()}"
        if name not in self.states:
            self.states[name] = self.terms.free(name, register.target.width)
        return self.states[name]

    def _assigned(self, assignment: Assignment) -> Bits:
        return self._value(assignment.expression, assignment.target.width)

    def _value(self, expression: Expression, width: int) -> Bits:
        """What an expression gives to a target of so many bits (IEEE 1364-2005, 5.4 and 5.5)."""
        terms = self.terms
        if isinstance(expression, Copy):
            return self._operand(expression.operand, width)
        if isinstance(expression, Unary):
            return self._unary(expression, width)
        if isinstance(expression, Choice):
            both = max(width, expression.yes.width, expression.no.width)
            signed = self._is_signed(expression.yes) and self._is_signed(expression.no)
            chosen = terms.choice(
                self._operand(expression.condition, expression.condition.width),
                lambda: self._extended(expression.yes, both, signed),
                lambda: self._extended(expression.no, both, signed),
            )
            return terms.extended(chosen, width, False)
        return self._binary(expression, width)

    def _unary(self, expression: Unary, width: int) -> Bits:
        terms, operand, operator = self.terms, expression.operand, expression.operator
        if operator in _REDUCTIONS:
            bits = self._operand(operand, operand.width)
            if bits.value is not None:
                ones = bits.value.bit_count()
                value = {"|": ones > 0, "&": ones == bits.width, "^": ones % 2 == 1}[operator]
                return terms.number(int(value), width)
            return terms.extended(terms.apply(_REDUCTIONS[operator], [bits], 1), width, False)
        if operator == "!":
            bits = self._operand(operand, operand.width)
            if bits.value is not None:
                return terms.number(int(not bits.value), width)
            equal = terms.manager.mk_term(Kind.EQUAL, [bits.term, terms.number(0, bits.width).term])
            return terms.extended(terms.truth(equal), width, False)
        both = max(width, operand.width)
        bits = self._extended(operand, both, self._is_signed(operand))
        if operator == "~" and bits.value is not None:
            return terms.number(~bits.value & ((1 << width) - 1), width)
        kind = {"~": Kind.BV_NOT, "-": Kind.BV_NEG}.get(operator)
        if kind is None:
            raise NoTerm(f"the operator {operator}")
        return terms.extended(terms.apply(kind, [bits], both), width, False)

    def _binary(self, expression: Binary, width: int) -> Bits:
        terms, operator = self.terms, expression.operator
        left, right = expression.left, expression.right
        signed = self._is_signed(left) and self._is_signed(right)
        if operator in _ORDER or operator in ("==", "!="):
            both = max(left.width, right.width)
            operands = [self._extended(each, both, signed) for each in (left, right)]
            return terms.extended(self._compared(operator, operands, signed), width, False)
        if operator in _SHIFTS:
            both = max(width, left.width, right.width)
            if operator == ">>>" and self._is_signed(left):
                raise NoTerm("an arithmetic shift")
            moved = self._extended(left, max(width, left.width), self._is_signed(left))
            by = self._operand(right, both)
            shifted = terms.apply(_SHIFTS[operator], [terms.extended(moved, both, False), by], both)
            return terms.extended(shifted, width, False)
        both = max(width, left.width, right.width)
        operands = [self._extended(each, both, signed) for each in (left, right)]
        kind = _BITWISE.get(operator) or _ARITHMETIC.get(operator)
        if kind is None:
            raise NoTerm(f"the operator {operator}")
        known = _known_bitwise(operator, operands) if operator in ("&", "|") else None
        if known is not None:
            return terms.extended(operands[known] if known >= 0 else terms.number(0, both), width, False)
        return terms.extended(terms.apply(kind, operands, both), width, False)

    def _compared(self, operator: str, operands: list[Bits], signed: bool) -> Bits:
        terms = self.terms
        if all(bits.value is not None for bits in operands) and operator in ("==", "!="):
            return terms.number(int((operands[0].value == operands[1].value) is (operator == "==")), 1)
        kinds = {"==": Kind.EQUAL, "!=": Kind.DISTINCT}
        kind = kinds[operator] if operator in kinds else _ORDER[operator][signed]
        return terms.truth(terms.manager.mk_term(kind, [bits.term for bits in operands]))

    def _is_signed(self, operand: Operand) -> bool:
        if isinstance(operand, Slice):
            return operand.whole and operand.name in self.module.signed
        return isinstance(operand, Signed) or (isinstance(operand, Constant) and "s" in operand.text)

    def _extended(self, operand: Operand, width: int, signed: bool) -> Bits:
        return self.terms.extended(self._operand(operand, operand.width), width, signed)

    def _operand(self, operand: Operand, width: int) -> Bits:
        """An operand by itself, taken to so many bits."""
        terms = self.terms
        if isinstance(operand, Signed):
            bits = self._operand(operand.operand, operand.width)
        elif isinstance(operand, Slice):
            ends = (self._offset(operand.name, operand.high), self._offset(operand.name, operand.low))
            bits = self._bits(operand.name, max(ends), min(ends))
        elif isinstance(operand, Constant):
            if operand.value is None:
                raise NoTerm(f"{operand.text} is no number")
            bits = terms.number(operand.value & ((1 << operand.width) - 1), operand.width)
        else:
            bits = terms.joined([self._operand(part, part.width) for part in operand.parts] * operand.times)
        return terms.extended(bits, width, self._is_signed(operand))


def _known_bitwise(operator: str, operands: list[Bits]) -> int | None:
    """Which operand an AND or OR with a constant gives, -1 for zero; None where both count."""
    for place, bits in enumerate(operands):
        if bits.value is not None:
            ones = (1 << bits.width) - 1
            if operator == "&" and bits.value == 0:
                return -1
            if bits.value == (ones if operator == "&" else 0):
                return 1 - place
            if operator == "|" and bits.value == ones:
                return place
    return None


class _Lazily(dict[str, Bits]):
    """Values that are worked out when they are asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], Bits]]) -> None:
        super().__init__()
        self._makers = dict(makers)

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __missing__(self, name: str) -> Bits:
        self[name] = bits = self._makers[name]()
        return bits

