"""Expressions of Verilog as terms (IEEE 1364-2005, 5.1, 5.4 and 5.5).

This module alone defines the meaning of an operator: Yosys' cells are read as expressions too (yosys_json.py).
"""

from collections.abc import Callable, Collection

from bitwuzla import Kind

from mmau.prove.netlist.syntax import (
    Binary,
    Choice,
    Concatenation,
    Constant,
    Copy,
    Expression,
    Operand,
    Signed,
    Slice,
    Unary,
)
from mmau.prove.netlist.terms import Bits, Terms


class NoTerm(ValueError):
    """A statement that has no term: an unknown operator, a loop, or a register in a combinational circuit."""


BITWISE = {"&": Kind.BV_AND, "|": Kind.BV_OR, "^": Kind.BV_XOR, "~^": Kind.BV_XNOR}
ARITHMETIC = {"+": Kind.BV_ADD, "-": Kind.BV_SUB, "*": Kind.BV_MUL}
SHIFTS = {"<<": Kind.BV_SHL, "<<<": Kind.BV_SHL, ">>": Kind.BV_SHR}
ARITHMETIC_SHIFT = ">>>"
"""The shift that copies the sign bit if the shifted operand is a signed number."""
ORDER = {
    "<": (Kind.BV_ULT, Kind.BV_SLT), "<=": (Kind.BV_ULE, Kind.BV_SLE),
    ">": (Kind.BV_UGT, Kind.BV_SGT), ">=": (Kind.BV_UGE, Kind.BV_SGE),
}  # fmt: skip
"""Order relations of unsigned and of signed numbers."""
EQUALITY = {"==": Kind.EQUAL, "!=": Kind.DISTINCT, "===": Kind.EQUAL, "!==": Kind.DISTINCT}
"""Equality operators; no bit is x or z here, so that `===` equals `==`."""
LOGIC = {"&&": "&", "||": "|"}
"""Logical operators, each with the bitwise operator of its one-bit operands."""
REDUCTIONS = {"|": Kind.BV_REDOR, "&": Kind.BV_REDAND, "^": Kind.BV_REDXOR}
REDUCED_XNOR = "~^"
CHANGES = {"~": Kind.BV_NOT, "-": Kind.BV_NEG}


class Expressions:
    """Translates the expressions of a module into terms.

    Args:
        terms: makes terms.
        bits: returns the value of a wire, or of a part of it.
        signed: the wires that are declared as signed numbers.
        undefined: returns the bits of a constant with x or z; raises NoTerm if such constants are refused.
    """

    def __init__(
        self,
        terms: Terms,
        bits: Callable[[Slice], Bits],
        signed: Collection[str],
        undefined: Callable[[Constant], Bits],
    ) -> None:
        self._terms, self._bits, self._signed, self._undefined = terms, bits, signed, undefined

    def value(self, expression: Expression, width: int) -> Bits:
        """The term of an expression that is assigned to a target of `width` bits.

        Raises:
            NoTerm: an operator that is not known here.
        """
        if isinstance(expression, Copy):
            return self.operand(expression.operand, width)
        if isinstance(expression, Unary):
            given = self._unary(expression, width)
        elif isinstance(expression, Choice):
            given = self._choice(expression, width)
        else:
            given = self._binary(expression, width)
        return self._terms.extended(given, width)

    def operand(self, operand: Operand, width: int) -> Bits:
        """An operand by itself, extended or truncated to `width` bits."""
        return self._extended(operand, width, self.is_signed(operand))

    def is_signed(self, operand: Operand) -> bool:
        """Whether an operand is a signed number; parts of wires never are."""
        if isinstance(operand, Slice):
            return operand.whole and operand.name in self._signed
        if isinstance(operand, Constant):
            return "s" in operand.text or operand.text.isdigit()
        return isinstance(operand, Signed)

    def _extended(self, operand: Operand, width: int, signed: bool) -> Bits:
        return self._terms.extended(self._plain(operand), width, signed)

    def _plain(self, operand: Operand) -> Bits:
        """An operand in its declared width."""
        if isinstance(operand, Signed):
            return self._plain(operand.operand)
        if isinstance(operand, Slice):
            return self._bits(operand)
        if isinstance(operand, Concatenation):
            return self._terms.joined([self._plain(part) for part in operand.parts] * operand.times)
        if operand.value is None:
            return self._undefined(operand)
        return self._terms.number(operand.value, operand.width)

    def _choice(self, expression: Choice, width: int) -> Bits:
        signed = self.is_signed(expression.yes) and self.is_signed(expression.no)
        return self._terms.choice(
            self._plain(expression.condition),
            lambda: self._extended(expression.yes, width, signed),
            lambda: self._extended(expression.no, width, signed),
        )

    def _unary(self, expression: Unary, width: int) -> Bits:
        terms, operator, operand = self._terms, expression.operator, expression.operand
        if operator in REDUCTIONS:
            return self._reduced(operator, self._plain(operand))
        if operator == REDUCED_XNOR:
            return self._inverted(self._reduced("^", self._plain(operand)))
        if operator == "!":
            bits = self._plain(operand)
            if bits.value is not None:
                return terms.number(int(not bits.value), 1)
            return terms.truth(terms.manager.mk_term(Kind.NOT, [terms.is_nonzero(bits)]))
        if operator not in CHANGES:
            raise NoTerm(f"the operator {operator} has no term")
        bits = self.operand(operand, width)
        return self._inverted(bits) if operator == "~" else terms.apply(CHANGES[operator], [bits], width)

    def _inverted(self, bits: Bits) -> Bits:
        if bits.value is not None:
            return self._terms.number(~bits.value & ((1 << bits.width) - 1), bits.width)
        return self._terms.apply(Kind.BV_NOT, [bits], bits.width)

    def _reduced(self, operator: str, bits: Bits) -> Bits:
        if bits.value is None:
            return self._terms.apply(REDUCTIONS[operator], [bits], 1)
        ones = bits.value.bit_count()
        return self._terms.number(int({"|": ones > 0, "&": ones == bits.width, "^": ones % 2 == 1}[operator]), 1)

    def _binary(self, expression: Binary, width: int) -> Bits:
        operator, left, right = expression.operator, expression.left, expression.right
        if operator in SHIFTS or operator == ARITHMETIC_SHIFT:
            return self._shifted(expression, width)
        if operator in LOGIC:
            return self._joined(LOGIC[operator], [self._truth(each) for each in (left, right)])
        signed = self.is_signed(left) and self.is_signed(right)
        if operator in ORDER or operator in EQUALITY:
            common = max(left.width, right.width)
            return self._compared(operator, [self._extended(each, common, signed) for each in (left, right)], signed)
        return self._joined(operator, [self._extended(each, width, signed) for each in (left, right)])

    def _shifted(self, expression: Binary, width: int) -> Bits:
        """A shift: the shifted operand has its declared width or that of the result, the shift amount its declared width."""
        terms, left, right = self._terms, expression.left, expression.right
        moved = max(width, left.width)
        both = max(moved, right.width)
        copies_sign = expression.operator == ARITHMETIC_SHIFT and self.is_signed(left)
        kind = Kind.BV_ASHR if copies_sign else SHIFTS.get(expression.operator, Kind.BV_SHR)
        operand = terms.extended(self.operand(left, moved), both, copies_sign)
        return terms.apply(kind, [operand, terms.extended(self._plain(right), both)], both)

    def _truth(self, operand: Operand) -> Bits:
        """One bit: whether any bit of an operand is 1."""
        bits = self._plain(operand)
        return bits if bits.width == 1 else self._reduced("|", bits)

    def _joined(self, operator: str, operands: list[Bits]) -> Bits:
        """An operator on operands of one width, with a result of that width."""
        kind = BITWISE.get(operator) or ARITHMETIC.get(operator)
        if kind is None:
            raise NoTerm(f"the operator {operator} has no term")
        return self._with_constant(operator, operands) or self._terms.apply(kind, operands, operands[0].width)

    def _compared(self, operator: str, operands: list[Bits], signed: bool) -> Bits:
        terms, (left, right) = self._terms, operands
        if operator not in EQUALITY:
            return terms.truth(terms.manager.mk_term(ORDER[operator][signed], [left.term, right.term]))
        if left.value is not None and right.value is not None:
            return terms.number(int((left.value == right.value) is (EQUALITY[operator] == Kind.EQUAL)), 1)
        return terms.truth(terms.manager.mk_term(EQUALITY[operator], [left.term, right.term]))

    def _with_constant(self, operator: str, operands: list[Bits]) -> Bits | None:
        """The result of an AND or an OR with all zeros or all ones; None for other operands."""
        for bits, other in (operands, operands[::-1]):
            if bits.value is None or operator not in ("&", "|"):
                continue
            ones = (1 << bits.width) - 1
            if bits.value == (ones if operator == "&" else 0):
                return other
            if bits.value == (0 if operator == "&" else ones):
                return bits
        return None
