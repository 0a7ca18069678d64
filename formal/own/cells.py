"""What a cell of Yosys' word-level netlist gives, as a term of its operands (Yosys' manual, "Word-level cells")."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce

from bitwuzla import Kind

from rtl.verilog.expressions import NoTerm
from rtl.verilog.terms import Bits, Terms


@dataclass(frozen=True)
class Cell:
    """A cell with values at its inputs.

    Attributes:
        kind: as `$add`. parameters: its numbers. inputs: by port. width: of its output.
        anything: makes a variable of so many bits, for what is undefined.
    """

    terms: Terms
    kind: str
    parameters: Mapping[str, int]
    inputs: Mapping[str, Bits]
    width: int
    anything: Callable[[int], Bits]

    def value(self) -> Bits:
        """What it gives.

        Raises:
            NoTerm: a kind that has no term here.
        """
        if self.kind not in _VALUES:
            raise NoTerm(f"a cell {self.kind} has no term")
        return _VALUES[self.kind](self)

    def signed(self, *ports: str) -> bool:
        """Whether all of these are in two's complement."""
        return all(self.parameters.get(f"{port}_SIGNED", 0) for port in ports)

    def extended(self, port: str, width: int, signed: bool) -> Bits:
        """An input, in so many bits."""
        return self.terms.extended(self.inputs[port], width, signed)


def _unary(kind: Kind) -> Callable[[Cell], Bits]:
    def value(cell: Cell) -> Bits:
        return cell.terms.apply(kind, [cell.extended("A", cell.width, cell.signed("A"))], cell.width)

    return value


def _binary(kind: Kind) -> Callable[[Cell], Bits]:
    def value(cell: Cell) -> Bits:
        signed = cell.signed("A", "B")
        return cell.terms.apply(kind, [cell.extended(port, cell.width, signed) for port in "AB"], cell.width)

    return value


def _compared(signed: Kind, unsigned: Kind) -> Callable[[Cell], Bits]:
    def value(cell: Cell) -> Bits:
        is_signed, width = cell.signed("A", "B"), max(bits.width for bits in cell.inputs.values())
        operands = [cell.extended(port, width, is_signed).term for port in "AB"]
        return _flag(cell, cell.terms.truth(cell.terms.manager.mk_term(signed if is_signed else unsigned, operands)))

    return value


def _flag(cell: Cell, bit: Bits) -> Bits:
    return cell.terms.extended(bit, cell.width)


def _is_nonzero(cell: Cell, port: str) -> Bits:
    bits = cell.inputs[port]
    return bits if bits.width == 1 else cell.terms.truth(cell.terms.is_nonzero(bits))


def _inverted(cell: Cell, bit: Bits) -> Bits:
    return cell.terms.apply(Kind.BV_NOT, [bit], 1)


def _reduced(kind: Kind, inverted: bool = False) -> Callable[[Cell], Bits]:
    def value(cell: Cell) -> Bits:
        bits = cell.inputs["A"]
        parts = [cell.terms.part(bits, k, k) for k in range(bits.width)]
        whole = reduce(lambda x, y: cell.terms.apply(kind, [x, y], 1), parts)
        return _flag(cell, _inverted(cell, whole) if inverted else whole)

    return value


def _all_ones(cell: Cell) -> Bits:
    bits = cell.inputs["A"]
    ones = cell.terms.number((1 << bits.width) - 1, bits.width)
    return _flag(cell, cell.terms.truth(cell.terms.manager.mk_term(Kind.EQUAL, [bits.term, ones.term])))


def _logic(kind: Kind) -> Callable[[Cell], Bits]:
    def value(cell: Cell) -> Bits:
        return _flag(cell, cell.terms.apply(kind, [_is_nonzero(cell, port) for port in "AB"], 1))

    return value


def _shifted(kind: Kind) -> Callable[[Cell], Bits]:
    """A is taken to the width of the result first; to the right, no bit of it is lost before."""

    def value(cell: Cell) -> Bits:
        own, amount = cell.inputs["A"].width, cell.inputs["B"]
        result = cell.width if kind == Kind.BV_SHL else max(own, cell.width)
        width = max(result, amount.width)
        signed = cell.signed("A")
        operand = cell.extended("A", result, signed)
        operand = cell.terms.extended(operand, width, signed and kind == Kind.BV_ASHR)
        shifted = cell.terms.apply(kind, [operand, cell.terms.extended(amount, width)], width)
        return cell.terms.part(shifted, cell.width - 1, 0)

    return value


def _sshr(cell: Cell) -> Bits:
    return _shifted(Kind.BV_ASHR if cell.signed("A") else Kind.BV_SHR)(cell)


def _indexed(cell: Cell) -> Bits:
    """$shiftx: bits of A from place B on; what lies beside A is undefined."""
    terms, own, amount = cell.terms, cell.inputs["A"].width, cell.inputs["B"]
    width = max(own, cell.width, amount.width)
    places = terms.extended(amount, width)
    ones = terms.number((1 << own) - 1, width)
    value, known = (
        terms.apply(Kind.BV_SHR, [bits, places], width) for bits in (terms.extended(cell.inputs["A"], width), ones)
    )
    unknown = terms.apply(Kind.BV_NOT, [known], width)
    if cell.signed("B"):
        negative = terms.part(amount, amount.width - 1, amount.width - 1)
        unknown = terms.choice(negative, lambda: terms.number((1 << width) - 1, width), lambda: unknown)
    free = terms.extended(cell.anything(cell.width), width)
    chosen = terms.apply(Kind.BV_XOR, [value, terms.apply(Kind.BV_AND, [free, unknown], width)], width)
    return terms.part(chosen, cell.width - 1, 0)


def _chosen(cell: Cell) -> Bits:
    return cell.terms.choice(cell.inputs["S"], lambda: cell.inputs["B"], lambda: cell.inputs["A"])


_VALUES: Mapping[str, Callable[[Cell], Bits]] = {
    "$not": _unary(Kind.BV_NOT),
    "$neg": _unary(Kind.BV_NEG),
    "$pos": lambda cell: cell.extended("A", cell.width, cell.signed("A")),
    "$and": _binary(Kind.BV_AND),
    "$or": _binary(Kind.BV_OR),
    "$xor": _binary(Kind.BV_XOR),
    "$xnor": _binary(Kind.BV_XNOR),
    "$add": _binary(Kind.BV_ADD),
    "$sub": _binary(Kind.BV_SUB),
    "$mul": _binary(Kind.BV_MUL),
    "$lt": _compared(Kind.BV_SLT, Kind.BV_ULT),
    "$le": _compared(Kind.BV_SLE, Kind.BV_ULE),
    "$gt": _compared(Kind.BV_SGT, Kind.BV_UGT),
    "$ge": _compared(Kind.BV_SGE, Kind.BV_UGE),
    "$eq": _compared(Kind.EQUAL, Kind.EQUAL),
    "$ne": _compared(Kind.DISTINCT, Kind.DISTINCT),
    "$eqx": _compared(Kind.EQUAL, Kind.EQUAL),
    "$nex": _compared(Kind.DISTINCT, Kind.DISTINCT),
    "$reduce_and": _all_ones,
    "$reduce_or": lambda cell: _flag(cell, _is_nonzero(cell, "A")),
    "$reduce_bool": lambda cell: _flag(cell, _is_nonzero(cell, "A")),
    "$reduce_xor": _reduced(Kind.BV_XOR),
    "$reduce_xnor": _reduced(Kind.BV_XOR, inverted=True),
    "$logic_not": lambda cell: _flag(cell, _inverted(cell, _is_nonzero(cell, "A"))),
    "$logic_and": _logic(Kind.BV_AND),
    "$logic_or": _logic(Kind.BV_OR),
    "$shl": _shifted(Kind.BV_SHL),
    "$sshl": _shifted(Kind.BV_SHL),
    "$shr": _shifted(Kind.BV_SHR),
    "$sshr": _sshr,
    "$shiftx": _indexed,
    "$mux": _chosen,
    "$anyseq": lambda cell: cell.anything(cell.width),
    "$anyconst": lambda cell: cell.anything(cell.width),
}
