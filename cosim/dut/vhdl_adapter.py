"""The adapter of a protocol (adapter.py) in VHDL: its Verilog, translated line by line.

That text has one-bit and vector nets without signs, continuous assignments and clocked blocks of nonblocking ones. Each net
is a signal `n_NAME` of type `unsigned`; an expression has the width that Verilog gives it. Registers change a picosecond
after the clock: the design's clock has gone through the wrapper by then, so that no register of either side sees the other's
new value.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

HELPERS = """  function bit_of(x : boolean) return unsigned is
  begin
    if x then return "1"; else return "0"; end if;
  end function;
  function chosen(x : boolean; yes, no : unsigned) return unsigned is
  begin
    if x then return yes; else return no; end if;
  end function;"""
"""The functions of the translated expressions, for the declarations of an architecture."""

_TOKEN = re.compile(r"\s*(\d+'(?=\()|\d*'[bdh][0-9a-f]+|\d+|\w+|\+:|==|!=|>>|<=|\|\||[-~&|^?:(){}\[\],+*])")
_LEVELS = (("||",), ("|",), ("^",), ("&",), ("==", "!="), (">>",), ("+", "-"), ("*",))
_WORDS = {"&": "and", "|": "or", "^": "xor"}
_UNSIZED = 32

Tree = tuple[Any, ...]
"""A node of an expression: its kind, then what it is made of."""


class Translation:
    """The signals and the statements of an adapter.

    Attributes:
        signals: declarations. statements: of the architecture's body.
    """

    def __init__(self, lines: Iterable[str], ports: Mapping[str, tuple[str, int]], bits: Iterable[tuple[str, str]]) -> None:
        """Translate.

        Args:
            lines: the adapter's text. ports: the wrapper's vectors, their directions and widths. bits: its ports of one bit,
                with their directions.
        """
        self.signals: list[str] = []
        self.statements: list[str] = []
        self._widths: dict[str, int] = {}
        for name, (direction, width) in ports.items():
            self._declare(name, width)
            inwards = f"n_{name} <= unsigned({name});"
            self.statements.append(inwards if direction == "input" else f"{name} <= std_logic_vector(n_{name});")
        for name, direction in bits:
            if name not in ("clk", "rst"):
                self._declare(name, 1)
                self.statements.append(f"n_{name}(0) <= {name};" if direction == "input" else f"{name} <= n_{name}(0);")
        text = [line.strip() for line in lines if not line.strip().startswith("/*")]
        rest = [line for line in text if not self._declaration(line)]
        for name, line in ((found[2], line) for line in text if (found := _declared(line)) and found[3] == "wire"):
            self.statements.append(f"n_{name} <= {self._value(line.partition(' = ')[2].rstrip(';'), self._widths[name])};")
        self._body(iter(rest))

    def _declare(self, name: str, width: int, start: str = "0") -> None:
        self._widths[name] = width
        value = f'"{int(start.partition("h")[2] or start, 16 if "h" in start else 10):0{width}b}"'
        self.signals.append(f"signal n_{name} : unsigned({width - 1} downto 0) := {value};")

    def _declaration(self, line: str) -> bool:
        found = _declared(line)
        if found is None:
            return False
        width, start, name, kind = found
        self._declare(name, width, start if kind == "logic" else "0")
        return True

    def _body(self, lines: Iterator[str]) -> None:
        for line in lines:
            if line.startswith("assign "):
                target, _, value = line.removeprefix("assign ").rstrip(";").partition(" = ")
                place, width = self._target(target)
                self.statements.append(f"{place} <= {self._value(value, width)};")
            elif line.startswith("always_ff "):
                self._clocked(line, lines)
            else:
                raise AssertionError(f"no line of an adapter: {line}")

    def _clocked(self, line: str, lines: Iterator[str]) -> None:
        asynchronous = "posedge rst" in line
        rest = line.partition(")")[2].strip()
        resets = ""
        if not rest:
            rest = next(lines)
            if rest.startswith("if (rst) begin "):
                resets = self._statements(rest.removeprefix("if (rst) begin ").removesuffix(" end else"))
                rest = next(lines)
        if rest.endswith("begin"):
            body = []
            while (each := next(lines)) != "end":
                body.append(each)
            condition = rest.removesuffix("begin").strip()
            inner = " ".join(map(self._statement, body))
            done = f"if {self._holds(condition[4:-1])} then {inner} end if;" if condition else inner
        else:
            done = self._statement(rest)
        if resets and asynchronous:
            process = f"if rst = '1' then {resets} elsif rising_edge(clk) then {done} end if;"
        elif resets:
            process = f"if rising_edge(clk) then if rst = '1' then {resets} else {done} end if; end if;"
        else:
            process = f"if rising_edge(clk) then {done} end if;"
        self.statements.append(f"process (clk{', rst' if asynchronous and resets else ''}) begin {process} end process;")

    def _statements(self, text: str) -> str:
        return " ".join(self._statement(f"{each.strip()};") for each in text.rstrip(";").split(";"))

    def _statement(self, text: str) -> str:
        """One assignment, or a choice between several."""
        if text.startswith("if ("):
            end = _closing(text, 3)
            then, _, otherwise = text[end + 1 :].strip().partition("; else ")
            other = f" else {self._statement(otherwise)}" if otherwise else ""
            return f"if {self._holds(text[4:end])} then {self._statement(then.rstrip(';') + ';')}{other} end if;"
        target, _, value = text.rstrip(";").partition(" <= ")
        place, width = self._target(target)
        return f"{place} <= {self._value(value, width)} after 1 ps;"

    def _target(self, text: str) -> tuple[str, int]:
        tree = _Parser(text).whole()
        return self._place(tree), self._width(tree)

    def _holds(self, text: str) -> str:
        return self._is_true(_Parser(text).whole())

    def _value(self, text: str, width: int) -> str:
        tree = _Parser(text).whole()
        wide = max(width, self._width(tree))
        made = self._made(tree, wide)
        return made if wide == width else f"resize({made}, {width})"

    def _is_true(self, tree: Tree) -> str:
        if tree[0] == "number":  # GHDL's synthesis compares no constants
            return "true" if tree[1] else "false"
        return f"({self._made(tree, self._width(tree))} /= 0)"

    def _place(self, tree: Tree) -> str:
        """A net, or bits of it."""
        if tree[0] == "name":
            return f"n_{tree[1]}"
        _, name, high, low = tree
        ends = [
            str(each[1]) if each[0] == "number" else f"to_integer({self._made(each, self._width(each))})"
            for each in (high, low)
        ]
        return f"n_{name}({ends[0]} downto {ends[1]})"

    def _width(self, tree: Tree) -> int:
        """The width of an expression by itself."""
        match tree[0]:
            case "name":
                return self._widths[tree[1]]
            case "number" | "cast":
                return int(tree[2])
            case "bits":
                return int(tree[2][1] - tree[3][1]) + 1 if tree[2][0] == "number" else 1
            case "concat":
                return sum(map(self._width, tree[1]))
            case "reduce" | "==" | "!=" | "||":
                return 1
            case "not" | ">>":
                return self._width(tree[1])
            case "choose":
                return max(map(self._width, tree[2:]))
            case _:
                return max(map(self._width, tree[1:]))

    def _made(self, tree: Tree, width: int) -> str:
        """The expression at a width, at least its own."""
        kind, own = tree[0], self._width(tree)
        match kind:
            case "number":
                return f'unsigned\'("{tree[1]:0{width}b}")'
            case "not":
                return f"(not {self._made(tree[1], width)})"
            case "choose":
                return f"chosen({self._is_true(tree[1])}, {self._made(tree[2], width)}, {self._made(tree[3], width)})"
            case "&" | "|" | "^":
                return f"({self._made(tree[1], width)} {_WORDS[kind]} {self._made(tree[2], width)})"
            case "+" | "-":
                return f"({self._made(tree[1], width)} {kind} {self._made(tree[2], width)})"
            case "*":
                return f"resize({self._made(tree[1], width)} * {self._made(tree[2], width)}, {width})"
            case ">>":
                return f"shift_right({self._made(tree[1], width)}, to_integer({self._made(tree[2], self._width(tree[2]))}))"
            case "name" | "bits":
                made = self._place(tree)
            case "concat":
                made = f"unsigned'({' & '.join(self._made(each, self._width(each)) for each in tree[1])})"
            case "cast":
                wide = max(tree[2], self._width(tree[1]))
                made = f"resize({self._made(tree[1], wide)}, {tree[2]})"
            case "reduce":
                inner = self._made(tree[2], self._width(tree[2]))
                made = f"bit_of((not {inner}) = 0)" if tree[1] == "&" else f"bit_of({inner} /= 0)"
            case "||":
                made = f"bit_of({self._is_true(tree[1])} or {self._is_true(tree[2])})"
            case _:
                common = max(map(self._width, tree[1:]))
                sign = "=" if kind == "==" else "/="
                made = f"bit_of({self._made(tree[1], common)} {sign} {self._made(tree[2], common)})"
        return made if own == width else f"resize({made}, {width})"


def _declared(line: str) -> tuple[int, str, str, str] | None:
    """Width, initial value, name and kind of a net that a line declares."""
    found = re.fullmatch(r"(logic|wire) (?:\[(\d+):0\] )?(\w+)(?: = (.*))?;", line)
    if found is None:
        return None
    kind, high, name, start = found.groups()
    return int(high or 0) + 1, start or "0", name, kind


def _closing(text: str, start: int) -> int:
    """Where the parenthesis that opens at `start` closes."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return at
    raise AssertionError(text)


class _Parser:
    """Reads an expression as a tree: tuples that begin with the kind of their node."""

    def __init__(self, text: str) -> None:
        self._tokens = [each for each in _TOKEN.split(text) if each and not each.isspace()]
        self._at = 0

    def whole(self) -> Tree:
        tree = self._choice()
        assert self._at == len(self._tokens), self._tokens
        return tree

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, token: str = "") -> str:
        found = self._next()
        assert token in ("", found), (token, self._tokens)
        self._at += 1
        return found

    def _choice(self) -> Tree:
        tree = self._binary(0)
        if self._next() != "?":
            return tree
        self._take()
        yes = self._choice()
        self._take(":")
        return ("choose", tree, yes, self._choice())

    def _binary(self, level: int) -> Tree:
        if level == len(_LEVELS):
            return self._unary()
        tree = self._binary(level + 1)
        while self._next() in _LEVELS[level]:
            tree = (self._take(), tree, self._binary(level + 1))
        return tree

    def _unary(self) -> Tree:
        token = self._take()
        if token == "~":
            return ("not", self._unary())
        if token in ("&", "|"):
            return ("reduce", token, self._unary())
        if token == "(":
            tree = self._choice()
            self._take(")")
            return tree
        if token == "{":
            parts = [self._choice()]
            while self._next() == ",":
                self._take()
                parts.append(self._choice())
            self._take("}")
            return ("concat", parts)
        if token.endswith("'"):
            self._take("(")
            tree = self._choice()
            self._take(")")
            return ("cast", tree, int(token[:-1]))
        if token[0].isdigit() or "'" in token:
            size, _, digits = token.partition("'")
            bases = {"b": 2, "d": 10, "h": 16}
            value = int(digits[1:], bases[digits[0]]) if digits else int(size)
            return ("number", value, int(size) if digits else _UNSIZED)
        return self._net(token)

    def _net(self, name: str) -> Tree:
        if self._next() != "[":
            return ("name", name)
        self._take()
        first = self._choice()
        last = first
        if self._next() == "+:":
            self._take()
            first, last = ("number", first[1] + self._choice()[1] - 1, _UNSIZED), first
        elif self._next() == ":":
            self._take()
            last = self._choice()
        self._take("]")
        return ("bits", name, first, last)
