"""Reads the Verilog that Yosys writes: modules of wires, assignments of one operator each, registers and instances."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from mmau.prove.netlist.syntax import (
    Assignment,
    Binary,
    Choice,
    Concatenation,
    Connection,
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

NAME = r"\\\S+ ?|[A-Za-z_][\w$]*"
"""An identifier; an escaped one ends with a blank."""

_TOKEN = re.compile(
    rf"\s*(?:(?P<constant>\d+'s?[bodhBODH][0-9a-fA-FxzXZ?]+|\d+)|(?P<signed>\$signed)|(?P<name>{NAME})"
    r"|(?P<sign><<<|>>>|===|!==|<<|>>|==|!=|<=|>=|&&|\|\||~\^|\*\*|[-+*/%&|^~!<>?:{}()\[\],]))"
)
_DECLARATION = re.compile(rf"\s*(input|output|inout|wire|reg)( signed)?(?: \[(-?\d+):(-?\d+)\])? ({NAME})( = .*)?;$")
_MODULE = re.compile(rf"module ({NAME})\s*\((.*)\);")
_INSTANCE = re.compile(rf"  ({NAME})\s+({NAME})\s*\($")
_CONNECTION = re.compile(rf"    \.({NAME})\((.*)\)(,?)$")
_EDGE = re.compile(r"  always @\(posedge clk\)$")
_REGISTER = re.compile(r"    (.*?) <= (.*);$")
_ASSIGN = re.compile(r"  assign (.*?) = (.*);$")
_NOTHING = re.compile(r"\s*(?:(?:\(\*(?:(?!\*\)).)*\*\)|/\*(?:(?!\*/).)*\*/)\s*)*(?://.*)?$")
"""A line without a statement: blank, comments, attributes, and nothing between them."""

BINARY = frozenset(
    ("+", "-", "*", "/", "%", "&", "|", "^", "~^", "<<", ">>", "<<<", ">>>", "==", "!=", "===", "!==", "<", "<=", ">", ">=",
     "&&", "||", "**")
)  # fmt: skip
UNARY = frozenset(("~", "!", "-", "+", "&", "|", "^", "~^"))


class UnreadableVerilog(ValueError):
    """Verilog outside the subset that Yosys writes."""


def read_netlist(text: str) -> dict[str, Module]:
    """The modules of a file, by name, in its order.

    Raises:
        UnreadableVerilog: a statement that Yosys does not write; no statement is ignored. The message quotes the line.
    """
    file = _File()
    for number, line in enumerate(text.splitlines(), 1):
        try:
            file.add(number, line)
        except UnreadableVerilog as error:
            raise UnreadableVerilog(f"line {number}: {error}: {line.strip()[:100]}") from None
    if file.module is not None or not file.modules:
        raise UnreadableVerilog("there is no whole module in it")
    return file.modules


class _File:
    """Reads a file line by line.

    Attributes:
        modules: the complete modules. module: the module being read.
    """

    def __init__(self) -> None:
        self.modules: dict[str, Module] = {}
        self.module: Module | None = None
        self._header, self._is_edge = "", False
        self._instance: Instance | None = None

    def add(self, number: int, line: str) -> None:
        """The next line."""
        module = self.module
        if module is None:
            self._begin(number, line)
        elif line.strip() == "endmodule":
            if module.name in self.modules:
                raise UnreadableVerilog(f"a second module {module.name}")
            module.end, self.module = number, None
            self.modules[module.name] = module
        elif self._instance is not None:
            self._connect(module, self._instance, number, line)
        else:
            self._state(module, number, line)

    def _begin(self, number: int, line: str) -> None:
        """Read a module's name and ports, which may take several lines."""
        if self._header or line.startswith("module "):
            self._header += line
        elif not _NOTHING.match(line):
            raise UnreadableVerilog("a statement outside of a module")
        if match := _MODULE.match(self._header):
            ports = tuple(port.strip() for port in match[2].split(",") if port.strip())
            self.module, self._header = Module(match[1].strip(), number, ports), ""

    def _connect(self, module: Module, instance: Instance, number: int, line: str) -> None:
        if match := _CONNECTION.match(line):
            operand = _operand_of(match[2], module) if match[2].strip() else None
            made = Connection(number, match[1].strip(), operand)
            if any(other.port == made.port for other in instance.connections):
                raise UnreadableVerilog(f"a second connection of {made.port}")
            self._instance = replace(instance, connections=(*instance.connections, made))
        elif line.strip() == ");":
            module.instances.append(instance)
            self._instance = None
        else:
            raise UnreadableVerilog("no connection of a port by its name")

    def _state(self, module: Module, number: int, line: str) -> None:
        if match := _ASSIGN.match(line):
            module.assignments.append(_assignment(module, number, match))
        elif self._is_edge and (match := _REGISTER.match(line)):
            module.registers.append(_assignment(module, number, match))
        elif self._is_edge:
            raise UnreadableVerilog("no assignment to a register where one must be")
        elif match := _DECLARATION.match(line):
            _declare(module, match)
        elif match := _INSTANCE.match(line):
            self._instance = Instance(number, match[1].strip(), match[2].strip(), ())
            if any(other.name == self._instance.name for other in module.instances):
                raise UnreadableVerilog(f"a second instance {self._instance.name}")
        elif not _EDGE.match(line) and not _NOTHING.match(line):
            raise UnreadableVerilog("a statement that Yosys does not write for a datapath")
        self._is_edge = _EDGE.match(line) is not None


def _assignment(module: Module, number: int, match: re.Match[str]) -> Assignment:
    return Assignment(number, _operand_of(match[1], module), _Reader(match[2], module).expression())


def _declare(module: Module, match: re.Match[str]) -> None:
    kind, name = match[1], match[5].strip()
    if match[6] is not None and kind != "reg":
        raise UnreadableVerilog("a declaration that drives its wire")
    declared = (int(match[3]), int(match[4])) if match[3] is not None else (0, 0)
    if module.ranges.setdefault(name, declared) != declared:
        raise UnreadableVerilog(f"{name} is declared with other bits before")
    if kind in ("input", "output", "inout") and module.directions.setdefault(name, kind) != kind:
        raise UnreadableVerilog(f"{name} is declared with another direction before")
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
            return Signed(inner)
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
        ends = sorted(self._module.ranges[name])
        if not ends[0] <= min(high, low) <= max(high, low) <= ends[1]:
            raise UnreadableVerilog(f"bits that {name} does not have")
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
            if self._peek()[1].isdigit():
                raise UnreadableVerilog("a number without a width in a concatenation")
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
