"""Reads the Verilog that Yosys writes: modules of wires, assignments of one operator each, registers and instances."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

NAME = r"\\\S+ ?|[A-Za-z_][\w$]*"
"""An identifier; an escaped one ends with a blank."""

_TOKEN = re.compile(
    rf"\s*(?:(?P<constant>\d+'s?[bodhBODH][0-9a-fA-FxzXZ?]+|\d+)|(?P<signed>\$signed|\$unsigned)|(?P<name>{NAME})"
    r"|(?P<sign><<<|>>>|===|!==|<<|>>|==|!=|<=|>=|&&|\|\||~\^|\*\*|[-+*/%&|^~!<>?:{}()\[\],]))"
)
_DECLARATION = re.compile(rf"\s*(input|output|inout|wire|reg)( signed)?(?: \[(-?\d+):(-?\d+)\])? ({NAME})(?: = .*)?;")
_MODULE = re.compile(rf"module ({NAME})\s*\((.*)\);")
_INSTANCE = re.compile(rf"  ({NAME})(?: #\()?\s+({NAME})\s*\($")
_CONNECTION = re.compile(rf"    \.({NAME})\((.*)\)(,?)$")
_EDGE = re.compile(r"  always @\(posedge clk\)$")
_REGISTER = re.compile(r"    (.*?) <= (.*);$")
_ASSIGN = re.compile(r"  assign (.*?) = (.*);$")

BINARY = frozenset("+ - * / % & | ^ ~^ << >> <<< >>> == != === !== < <= > >= && || **".split())
UNARY = frozenset("~ ! - + & | ^ ~^".split())


class UnreadableVerilog(ValueError):
    """Verilog that is not of the kind that Yosys writes."""


@dataclass(frozen=True)
class Slice:
    """A wire, or bits of it.

    Attributes:
        name: without the blank of an escaped one. high, low: of the bits, as declared. whole: whether no bits were named.
    """

    name: str
    high: int
    low: int
    whole: bool

    @property
    def width(self) -> int:
        return abs(self.high - self.low) + 1

    @property
    def text(self) -> str:
        name = f"{self.name} " if self.name.startswith("\\") else self.name
        if self.whole:
            return name
        return f"{name}[{self.high}]" if self.high == self.low else f"{name}[{self.high}:{self.low}]"


@dataclass(frozen=True)
class Constant:
    """A number as it is written; `value` is None where it holds x or z."""

    text: str
    width: int
    value: int | None

    @classmethod
    def of(cls, value: int, width: int) -> "Constant":
        """A number of so many bits."""
        return cls(f"{width}'h{value:0{-(-width // 4)}x}", width, value)


@dataclass(frozen=True)
class Concatenation:
    """Several operands side by side, the first in the highest bits; `times` of them."""

    parts: tuple["Operand", ...]
    times: int = 1

    @property
    def width(self) -> int:
        return self.times * sum(part.width for part in self.parts)

    @property
    def text(self) -> str:
        inner = "{ " + ", ".join(part.text for part in self.parts) + " }"
        return inner if self.times == 1 else "{ " + f"{self.times}{inner}" + " }"


@dataclass(frozen=True)
class Signed:
    """An operand taken as a signed number."""

    operand: "Operand"

    @property
    def width(self) -> int:
        return self.operand.width

    @property
    def text(self) -> str:
        return f"$signed({self.operand.text})"


Operand = Slice | Constant | Concatenation | Signed


@dataclass(frozen=True)
class Copy:
    """An operand as it is."""

    operand: Operand

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (self.operand,)

    @property
    def text(self) -> str:
        return self.operand.text


@dataclass(frozen=True)
class Unary:
    """One operator before one operand."""

    operator: str
    operand: Operand

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (self.operand,)

    @property
    def text(self) -> str:
        return f"{self.operator} {self.operand.text}"


@dataclass(frozen=True)
class Binary:
    """One operator between two operands."""

    operator: str
    left: Operand
    right: Operand

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (self.left, self.right)

    @property
    def text(self) -> str:
        return f"{self.left.text} {self.operator} {self.right.text}"


@dataclass(frozen=True)
class Choice:
    """`yes` where the condition holds, else `no`."""

    condition: Operand
    yes: Operand
    no: Operand

    @property
    def operands(self) -> tuple[Operand, ...]:
        return (self.condition, self.yes, self.no)

    @property
    def text(self) -> str:
        return f"{self.condition.text} ? {self.yes.text} : {self.no.text}"


Expression = Copy | Unary | Binary | Choice


@dataclass(frozen=True)
class Assignment:
    """`assign target = expression;` in a line of the file, counted from 1."""

    line: int
    target: Operand
    expression: Expression


@dataclass(frozen=True)
class Connection:
    """What a port of an instance is connected to, in a line of the file; None where it is open."""

    line: int
    port: str
    operand: Operand | None


@dataclass(frozen=True)
class Instance:
    """An instance of a module; the line is that of its name."""

    line: int
    module: str
    name: str
    connections: tuple[Connection, ...]


@dataclass
class Module:
    """A module of the file.

    Attributes:
        line, end: the line that ends its list of ports, and its last line. ports: in order. directions: of the ports. ranges: declared bits of every wire.        Statements of other kinds are left out.
    """

    name: str
    line: int
    ports: tuple[str, ...]
    end: int = 0
    directions: dict[str, str] = field(default_factory=dict)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    signed: set[str] = field(default_factory=set)
    assignments: list[Assignment] = field(default_factory=list)
    registers: list[Assignment] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)

    def width(self, name: str) -> int:
        """Bits of a wire."""
        high, low = self.ranges[name]
        return abs(high - low) + 1


def read_netlist(text: str) -> dict[str, Module]:
    """The modules of a file, by name, in its order.

    Raises:
        UnreadableVerilog: a statement of another kind than Yosys writes; the message holds the line.
    """
    modules: dict[str, Module] = {}
    module: Module | None = None
    instance: Instance | None = None
    header, edge = "", False
    for number, line in enumerate(text.splitlines(), 1):
        try:
            if module is None:
                header = header + line if header else line if line.startswith("module ") else ""
                if match := _MODULE.match(header):
                    ports = tuple(port.strip() for port in match[2].split(",") if port.strip())
                    module, header = Module(match[1].strip(), number, ports), ""
            elif line.strip() == "endmodule":
                module.end = number
                modules[module.name] = module
                module = None
            elif instance is not None:
                if match := _CONNECTION.match(line):
                    operand = _operand_of(match[2], module) if match[2].strip() else None
                    made = Connection(number, match[1].strip(), operand)
                    instance = replace(instance, connections=(*instance.connections, made))
                elif line.strip() == ");":
                    module.instances.append(instance)
                    instance = None
            elif match := _ASSIGN.match(line):
                target = _operand_of(match[1], module)
                module.assignments.append(Assignment(number, target, _Reader(match[2], module).expression()))
            elif edge and (match := _REGISTER.match(line)):
                target = _operand_of(match[1], module)
                module.registers.append(Assignment(number, target, _Reader(match[2], module).expression()))
            elif match := _DECLARATION.match(line):
                _declare(module, match)
            elif match := _INSTANCE.match(line):
                instance = Instance(number, match[1].strip(), match[2].strip(), ())
            edge = _EDGE.match(line) is not None
        except UnreadableVerilog as error:
            raise UnreadableVerilog(f"line {number}: {error}: {line.strip()[:100]}") from None
    if module is not None or not modules:
        raise UnreadableVerilog("no whole module in it")
    return modules


def _declare(module: Module, match: re.Match[str]) -> None:
    kind, name = match[1], match[5].strip()
    module.ranges[name] = (int(match[3]), int(match[4])) if match[3] is not None else (0, 0)
    if kind in ("input", "output", "inout"):
        module.directions[name] = kind
    if match[2] is not None:
        module.signed.add(name)


def _operand_of(text: str, module: Module) -> Operand:
    expression = _Reader(text, module).expression()
    if not isinstance(expression, Copy):
        raise UnreadableVerilog("an operator where Yosys writes none")
    return expression.operand


class _Reader:
    """Reads one expression."""

    def __init__(self, text: str, module: Module) -> None:
        self._module = module
        self._tokens = list(_tokens(text))
        self._place = 0

    def expression(self) -> Expression:
        """The whole text as one expression."""
        found = self._expression()
        if self._place != len(self._tokens):
            raise UnreadableVerilog("more than one operator in an expression")
        return found

    def _expression(self) -> Expression:
        kind, word = self._peek()
        if kind == "sign" and word in UNARY:
            self._next()
            return Unary(word, self._operand())
        left = self._operand()
        kind, word = self._peek()
        if kind == "sign" and word in BINARY:
            self._next()
            return Binary(word, left, self._operand())
        if word == "?":
            self._next()
            yes = self._operand()
            self._expect(":")
            return Choice(left, yes, self._operand())
        return Copy(left)

    def _operand(self) -> Operand:
        kind, word = self._next()
        if kind == "constant":
            return _constant(word)
        if kind == "signed":
            self._expect("(")
            inner = self._operand()
            self._expect(")")
            return Signed(inner) if word == "$signed" else inner
        if kind == "name":
            return self._slice(word.strip())
        if word == "{":
            return self._concatenation()
        raise UnreadableVerilog(f"{word or 'the end'} where an operand must be")

    def _slice(self, name: str) -> Slice:
        if name not in self._module.ranges:
            raise UnreadableVerilog(f"{name} is not declared")
        if self._peek()[1] != "[":
            return Slice(name, *self._module.ranges[name], whole=True)
        self._next()
        high = low = self._number()
        if self._peek()[1] == ":":
            self._next()
            low = self._number()
        self._expect("]")
        return Slice(name, high, low, whole=False)

    def _number(self) -> int:
        sign = 1
        if self._peek()[1] == "-":
            self._next()
            sign = -1
        kind, word = self._next()
        if kind != "constant" or not word.isdigit():
            raise UnreadableVerilog("a bit that is chosen by a signal")
        return sign * int(word)

    def _concatenation(self) -> Concatenation:
        parts, times = [], 1
        if self._peek()[0] == "constant" and self._peek()[1].isdigit():
            times = int(self._next()[1])
            self._expect("{")
            inner = self._concatenation()
            self._expect("}")
            return Concatenation(inner.parts, times * inner.times)
        while True:
            parts.append(self._operand())
            _, word = self._next()
            if word == "}":
                return Concatenation(tuple(parts), times)
            if word != ",":
                raise UnreadableVerilog(f"{word or 'the end'} in a concatenation")

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._place] if self._place < len(self._tokens) else ("", "")

    def _next(self) -> tuple[str, str]:
        token = self._peek()
        self._place += 1
        return token

    def _expect(self, word: str) -> None:
        found = self._next()[1]
        if found != word:
            raise UnreadableVerilog(f"{found or 'the end'} where {word} must be")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    text = text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise UnreadableVerilog(f"{text[place:].split()[0]} is not of an expression")
        yield str(match.lastgroup), str(match[str(match.lastgroup)])
        place = match.end()


_BASES: Mapping[str, int] = {"b": 2, "o": 8, "d": 10, "h": 16}


def _constant(text: str) -> Constant:
    if text.isdigit():
        return Constant(text, 32, int(text))
    width, digits = text.split("'")
    base = digits.lower().lstrip("s")[0]
    number = digits.lower().lstrip("s")[1:]
    value = None if set(number) & set("xz?") else int(number, _BASES[base])
    return Constant(text, int(width), value)
