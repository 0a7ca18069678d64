"""What an expression of Verilog gives, as terms (IEEE 1364-2005, 5.1, 5.4 and 5.5)."""

from collections.abc import Callable, Collection

from bitwuzla import Kind

from rtl.verilog.syntax import Binary, Choice, Concatenation, Constant, Copy, Expression, Operand, Signed, Slice, Unary
from rtl.verilog.terms import Bits, Terms


class NoTerm(ValueError):
    """A statement that has no term: an operator that is not known here, a loop, a register where there should be none."""


BITWISE = {"&": Kind.BV_AND, "|": Kind.BV_OR, "^": Kind.BV_XOR, "~^": Kind.BV_XNOR}
ARITHMETIC = {"+": Kind.BV_ADD, "-": Kind.BV_SUB, "*": Kind.BV_MUL}
SHIFTS = {"<<": Kind.BV_SHL, ">>": Kind.BV_SHR}
ORDER = {
    "<": (Kind.BV_ULT, Kind.BV_SLT), "<=": (Kind.BV_ULE, Kind.BV_SLE),
    ">": (Kind.BV_UGT, Kind.BV_SGT), ">=": (Kind.BV_UGE, Kind.BV_SGE),
}  # fmt: skip
"""Of unsigned and of signed numbers."""
EQUALITY = {"==": Kind.EQUAL, "!=": Kind.DISTINCT}
REDUCTIONS = {"|": Kind.BV_REDOR, "&": Kind.BV_REDAND, "^": Kind.BV_REDXOR}
CHANGES = {"~": Kind.BV_NOT, "-": Kind.BV_NEG}


class Expressions:
    """Works out expressions of a module.

    Args:
        terms: where terms are made.
        bits: gives what a wire, or a part of it, holds.
        signed: the wires that are declared as signed numbers.
    """

    def __init__(self, terms: Terms, bits: Callable[[Slice], Bits], signed: Collection[str]) -> None:
        self._terms, self._bits, self._signed = terms, bits, signed

    def value(self, expression: Expression, width: int) -> Bits:
        """What an expression gives to a target of so many bits.

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
        """An operand by itself, taken to so many bits."""
        return self._extended(operand, width, self.is_signed(operand))

    def is_signed(self, operand: Operand) -> bool:
        """Whether it is a signed number; parts of wires never are."""
        if isinstance(operand, Slice):
            return operand.whole and operand.name in self._signed
        if isinstance(operand, Constant):
            return "s" in operand.text or operand.text.isdigit()
        return isinstance(operand, Signed)

    def _extended(self, operand: Operand, width: int, signed: bool) -> Bits:
        return self._terms.extended(self._plain(operand), width, signed)

    def _plain(self, operand: Operand) -> Bits:
        """An operand in its own width."""
        if isinstance(operand, Signed):
            return self._plain(operand.operand)
        if isinstance(operand, Slice):
            return self._bits(operand)
        if isinstance(operand, Concatenation):
            return self._terms.joined([self._plain(part) for part in operand.parts] * operand.times)
        if operand.value is None:
            raise NoTerm(f"{operand.text} is no number")
        return self._terms.number(operand.value, operand.width)

    def _choice(self, expression: Choice, width: int) -> Bits:
        both = max(width, expression.yes.width, expression.no.width)
        signed = self.is_signed(expression.yes) and self.is_signed(expression.no)
        return self._terms.choice(
            self._plain(expression.condition),
            lambda: self._extended(expression.yes, both, signed),
            lambda: self._extended(expression.no, both, signed),
        )

    def _unary(self, expression: Unary, width: int) -> Bits:
        terms, operator, operand = self._terms, expression.operator, expression.operand
        if operator in REDUCTIONS:
            return self._reduced(operator, self._plain(operand))
        if operator == "!":
            bits = self._plain(operand)
            if bits.value is not None:
                return terms.number(int(not bits.value), 1)
            return terms.truth(terms.manager.mk_term(Kind.NOT, [terms.is_nonzero(bits)]))
        if operator not in CHANGES:
            raise NoTerm(f"the operator {operator}")
        both = max(width, operand.width)
        bits = self._extended(operand, both, self.is_signed(operand))
        if operator == "~" and bits.value is not None:
            return terms.number(~bits.value & ((1 << both) - 1), both)
        return terms.apply(CHANGES[operator], [bits], both)

    def _reduced(self, operator: str, bits: Bits) -> Bits:
        if bits.value is None:
            return self._terms.apply(REDUCTIONS[operator], [bits], 1)
        ones = bits.value.bit_count()
        return self._terms.number(int({"|": ones > 0, "&": ones == bits.width, "^": ones % 2 == 1}[operator]), 1)

    def _binary(self, expression: Binary, width: int) -> Bits:
        terms, operator = self._terms, expression.operator
        left, right = expression.left, expression.right
        if operator in SHIFTS:
            # What is shifted has the width of the result, or its own; what it is shifted by, its own.
            moved = max(width, left.width)
            both = max(moved, right.width)
            by = terms.extended(self._plain(right), both)
            return terms.apply(SHIFTS[operator], [terms.extended(self.operand(left, moved), both), by], both)
        signed = self.is_signed(left) and self.is_signed(right)
        if operator in ORDER or operator in EQUALITY:
            own = max(left.width, right.width)
            return self._compared(operator, [self._extended(each, own, signed) for each in (left, right)], signed)
        both = max(width, left.width, right.width)
        operands = [self._extended(each, both, signed) for each in (left, right)]
        kind = BITWISE.get(operator) or ARITHMETIC.get(operator)
        if kind is None:
            raise NoTerm(f"the operator {operator}")
        return self._with_constant(operator, operands) or terms.apply(kind, operands, both)

    def _compared(self, operator: str, operands: list[Bits], signed: bool) -> Bits:
        terms, (left, right) = self._terms, operands
        if operator not in EQUALITY:
            return terms.truth(terms.manager.mk_term(ORDER[operator][signed], [left.term, right.term]))
        if left.value is not None and right.value is not None:
            return terms.number(int((left.value == right.value) is (operator == "==")), 1)
        return terms.truth(terms.manager.mk_term(EQUALITY[operator], [left.term, right.term]))

    def _with_constant(self, operator: str, operands: list[Bits]) -> Bits | None:
        """What an AND or an OR with all zeros or all ones gives; None for everything else."""
        for bits, other in (operands, operands[::-1]):
            if bits.value is None or operator not in ("&", "|"):
                continue
            ones = (1 << bits.width) - 1
            if bits.value == (ones if operator == "&" else 0):
                return other
            if bits.value == (0 if operator == "&" else ones):
                return bits
        return None
