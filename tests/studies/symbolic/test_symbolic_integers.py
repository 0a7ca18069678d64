"""Symbolic integers give what Python's integers give, for every value between their bounds."""

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from bitwuzla import TermManager

from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.terms import Terms
from mmau.prove.specification.numbers import Number, width_of
from studies.symbolic.model_term import largest, merged
from studies.symbolic.symbolic_integers import SymbolicInt, collected, number_of

TERMS = Terms(TermManager())
"""Of all numbers: no term may outlive its manager."""

BOUNDS = [(0, 5), (-3, 2), (-4, -1), (0, 1), (-8, 7)]


class Two:
    """Two symbolic integers, and what a program makes of them."""

    def __init__(self, *bounds: tuple[int, int]) -> None:
        self.bounds = bounds
        numbers = [Number(TERMS, TERMS.free(f"x{k}", width_of(*ends)), *ends) for k, ends in enumerate(bounds)]
        self.values = [SymbolicInt(number) for number in numbers]

    def check(self, program: Callable[..., Any], *, fails: Callable[..., bool] = lambda *values: False) -> None:
        result, errors = collected(lambda: merged(program)(*self.values))
        number = number_of(TERMS, result)
        evaluation = Evaluation([number.bits.term, *(error.bits.term for error in errors)])
        for values in product(*(range(low, high + 1) for low, high in self.bounds)):
            given = {
                x.number.bits.term: value & ((1 << x.number.bits.width) - 1)
                for x, value in zip(self.values, values, strict=True)
            }
            found, *raised = evaluation.of(given)
            assert any(raised) is fails(*values), values
            if not any(raised):
                signed = found - (1 << number.bits.width) if number.low < 0 and found >> number.bits.width - 1 else found
                assert signed == program(*values), values


OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip


@pytest.mark.parametrize("calculate", OPERATORS)
def test_operators(calculate: Callable[..., Any]) -> None:
    for first, second in product(BOUNDS, BOUNDS):
        Two(first, second).check(calculate)
    for bounds in BOUNDS:
        Two(bounds).check(lambda x: calculate(x, 3))
        Two(bounds).check(lambda x: calculate(3, x))


@pytest.mark.parametrize("calculate", [operator.lshift, operator.rshift])
def test_shifts_and_their_errors(calculate: Callable[..., Any]) -> None:
    for first, second in product(BOUNDS, [(0, 5), (-3, 2), (0, 1)]):
        Two(first, second).check(calculate, fails=lambda x, places: places < 0)
    for value in (1, 37, -37, 0):
        Two((0, 5)).check(lambda places, value=value: calculate(value, places))
    with pytest.raises(ValueError, match=r"^negative shift count$"):
        Two((0, 5), (-4, -1)).check(calculate)


def test_one_operand() -> None:
    for bounds in BOUNDS:
        for program in (lambda x: -x, abs, lambda x: abs(x).bit_length(), lambda x: x % 4, lambda x: x % 8 + 0 * x):
            Two(bounds).check(program)


def test_division_by_what_is_no_power_of_two() -> None:
    Two((-3, 2), (1, 4)).check(lambda x, y: x % y, fails=lambda x, y: y == 3)
    with pytest.raises(ValueError, match=r"^a symbolic integer is divided by powers of two alone, got 6$"):
        Two((0, 5)).check(lambda x: x % 6)


def test_branches_and_early_results() -> None:
    def program(x: Any, y: Any) -> Any:
        if x > y:
            return x - y if y else 100
        while y > 3:
            y = y - 2
        return (x, y)[1] if x == 1 or y < 0 else (y if x else 7)

    for first, second in product(BOUNDS, BOUNDS):
        Two(first, second).check(program)


def test_the_largest() -> None:
    for first, second in product(BOUNDS, BOUNDS):
        Two(first, second).check(lambda x, y: largest([x, y, 1]) if isinstance(x, SymbolicInt) else max(x, y, 1))
        Two(first, second).check(lambda x, y: largest([x, y], less=True) if isinstance(x, SymbolicInt) else min(x, y))


def test_errors_of_a_program() -> None:
    def program(x: Any) -> Any:
        if x > 2:
            raise ValueError("too much")
        return x

    Two((0, 5)).check(program, fails=lambda x: x > 2)
