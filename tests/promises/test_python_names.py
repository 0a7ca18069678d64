"""The public Python names of 1.0.0 are there and can be called as then."""

import pytest

from tests.promises.old_files import FILES
from tests.promises.python_names import broken, lines

PROMISED = (FILES / "python-names.txt").read_text(encoding="utf-8").splitlines()


def test_every_promised_name_is_there_and_is_called_as_before() -> None:
    assert len(PROMISED) > 500
    assert broken(PROMISED, lines()) == []


@pytest.mark.attack("promise")
@pytest.mark.parametrize(
    ("today", "reason"),
    [
        ("m.g(a, b=1, *, c=2)", "is gone"),
        ("m.f", "can no longer be called so"),
        ("m.f(a, *, c=2)", "the parameter b is gone or has moved"),
        ("m.f(b=1, a=0, *, c=2)", "the parameter a is gone or has moved"),
        ("m.f(a, *, b=1, c=2)", "the parameter b is gone or has moved"),
        ("m.f(a, b=1)", "the parameter c is gone or has moved"),
        ("m.f(a, b, *, c=2)", "the default of b is gone, was 1"),
        ("m.f(a, b=1, *, c=3)", "the default of c is 3, was 2"),
        ("m.f(a, b=1, *, c=2, x)", "the parameter x is new and has no default"),
    ],
)
def test_broken_promise_is_noticed(today: str, reason: str) -> None:
    promised = "m.f(a, b=1, *, c=2)"
    assert broken([promised], [today]) == [f"{promised}: {reason}"]


@pytest.mark.parametrize("today", ["m.f(a, b=1, x=0, *, c=2, y=0)", "m.f(a, b=1, c=2)", "m.f(a, b=1, *, c=2, **more)"])
def test_addition_breaks_nothing(today: str) -> None:
    assert broken(["m.f(a, b=1, *, c=2)"], [today, "m.new(x)"]) == []
