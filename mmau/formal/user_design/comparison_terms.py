"""The condition that a result of a design counts as equal to the specified one (`[compare]` of dut.toml), as a term."""

from bitwuzla import Kind, Term

from cosim.bench.comparison_rules import Compare, is_hexadecimal
from golden import Operation
from mmau.formal.netlist.terms import Bits, Terms
from mmau.formal.user_design.not_compared import NotCompared


class Agreement:
    """Agreement of results of an operation.

    Raises:
        NotCompared: NaNs that propagate. ValueError: the NaN of `compare` is none of the result's format.
    """

    def __init__(self, terms: Terms, operation: Operation, compare: Compare) -> None:
        compare.check(operation.d)
        if compare.nan == "propagate":
            raise NotCompared('nan = "propagate" of [compare] is not compared yet')
        self._terms, self._make = terms, terms.manager.mk_term
        self._d, self._compare, self._nan_is_fixed = operation.d, compare, operation.nan_is_fixed()

    def differs(self, got: Bits, expected: Bits) -> Term:
        """The condition that a code does not count as equal to the expected one."""
        equal = self._make(Kind.EQUAL, [got.term, expected.term])
        if self._d.infinity is not None:
            if is_hexadecimal(self._compare.nan):
                code = self._terms.number(int(self._compare.nan, 16), self._d.width)
                equal = self._make(Kind.ITE, [self._is_nan(expected), self._make(Kind.EQUAL, [got.term, code.term]), equal])
            elif self._compare.nan == "any" or not self._nan_is_fixed:
                equal = self._make(Kind.ITE, [self._is_nan(expected), self._is_nan(got), equal])
            if self._compare.zero_sign == "ignore":
                zeros = self._make(Kind.AND, [self._is_zero(got), self._is_zero(expected)])
                equal = self._make(Kind.OR, [equal, zeros])
        return self._make(Kind.NOT, [equal])

    def _magnitude(self, code: Bits) -> Bits:
        return self._terms.part(code, self._d.width - 2, 0)

    def _is_nan(self, code: Bits) -> Term:
        infinity = self._d.infinity
        assert infinity is not None
        return self._make(Kind.BV_UGT, [self._magnitude(code).term, self._terms.number(infinity, self._d.width - 1).term])

    def _is_zero(self, code: Bits) -> Term:
        magnitude = self._magnitude(code)
        return self._make(Kind.EQUAL, [magnitude.term, self._terms.number(0, magnitude.width).term])
