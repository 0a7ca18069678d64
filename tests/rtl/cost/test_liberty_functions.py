"""Functions of pins as Liberty writes them."""

import re
from collections.abc import Callable
from itertools import product

import pytest

from rtl.cost.liberty import function_of

CASES: dict[str, Callable[[int, int, int], int]] = {
    "A": lambda a, b, c: a,
    "(!A)": lambda a, b, c: 1 - a,
    "A'": lambda a, b, c: 1 - a,
    "(A B)'": lambda a, b, c: 1 - a * b,
    "A B C": lambda a, b, c: a * b * c,
    "A&B*C": lambda a, b, c: a * b * c,
    "A+B C": lambda a, b, c: max(a, b * c),
    "(A+B) C": lambda a, b, c: max(a, b) * c,
    "A|B": lambda a, b, c: max(a, b),
    "A^B C": lambda a, b, c: (a + b) % 2 * c,
    "A^B^C": lambda a, b, c: (a + b + c) % 2,
    "!A^B": lambda a, b, c: (1 - a + b) % 2,
    "(!((A B)+C))": lambda a, b, c: 1 - max(a * b, c),
    "(!((C A) + (!C B)))": lambda a, b, c: 1 - (a if c else b),
    "(((A B)+(B C))+(C A))": lambda a, b, c: int(a + b + c >= 2),
    "A 0 + 1 B": lambda a, b, c: b,
}


@pytest.mark.parametrize("text", CASES)
def test_function_has_its_truth_table(text: str) -> None:
    rows = list(product((0, 1), repeat=3))
    planes = {name: sum(row[k] << i for i, row in enumerate(rows)) for k, name in enumerate("ABC")}
    expected = sum(CASES[text](*row) << i for i, row in enumerate(rows))
    assert function_of(text)(planes, (1 << len(rows)) - 1) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A ? B", "a pin's function must consist of names, !, ', ^, &, *, |, + and parentheses, got 'A ? B'"),
        ("(A B", "a pin's function ends too early: '(A B'"),
        ("", "a pin's function ends too early: ''"),
        ("A) B", "a pin's function must be one expression, ')' remains in 'A) B'"),
        ("A + * B", "a pin's function must have an operand where it has '*'"),
        ("(A ' ! )", "a pin's function must have an operand where it has ')'"),
    ],
)
def test_expression_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        function_of(text)
