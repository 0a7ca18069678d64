"""The subset of Verilog that Yosys writes: operands, expressions of one operator each, statements, modules."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Slice:
    """A wire, or some of its bits.

    Attributes:
        name: the name, without the blank that ends an escaped name. high, low: the highest and the lowest bit, as
            numbered in the declaration. whole: whether
            no bits were named.
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
    """A number as it is written; `value` is None if it has bits that are x or z."""

    text: str
    width: int
    value: int | None

    @classmethod
    def of(cls, value: int, width: int) -> "Constant":
        """The constant `value` in `width` bits."""
        return cls(f"{width}'h{value:0{-(-width // 4)}x}", width, value)


@dataclass(frozen=True)
class Concatenation:
    """Several operands side by side, the first in the highest bits, repeated `times` times."""

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
    """An operand without an operator."""

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
    """The connection of a port of an instance, in a line of the file; None for an open port."""

    line: int
    port: str
    operand: Operand | None


@dataclass(frozen=True)
class Instance:
    """An instance of a module. `line` is the line of the instance's name."""

    line: int
    module: str
    name: str
    connections: tuple[Connection, ...]


@dataclass
class Module:
    """A module of the file.

    Attributes:
        line, end: the line that ends its list of ports, and its last line. ports: in order.
        directions: the directions of the ports.
        ranges: declared bits of every wire. signed: wires that are declared as signed numbers.
        assignments, instances: in order. registers: assignments at the rising edge of `clk`. Other statements are omitted.
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
        """Number of bits of a wire."""
        high, low = self.ranges[name]
        return abs(high - low) + 1
