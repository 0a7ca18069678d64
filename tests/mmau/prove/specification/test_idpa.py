"""Integers as golden reads them, and sums at the ends of the result's range."""

import pytest
from bitwuzla import TermManager

from golden.arithmetic.formats import FORMATS
from golden.operations import IDPA
from mmau.prove.evaluation import evaluate
from mmau.prove.netlist.terms import Terms
from mmau.prove.specification.idpa import idpa, integer
from mmau.prove.specification.observer import Observer


@pytest.mark.parametrize("name", ["int8", "uint8"])
def test_every_code(name: str) -> None:
    fmt, terms = FORMATS[name], Terms(TermManager())
    code = terms.free("code", fmt.width)
    number = integer(terms, code, fmt)
    widened = number.held_in(16).term
    for value in range(fmt.codes):
        assert evaluate([widened], {code.term: value})[widened] == int(fmt.value(value) or 0) & 0xFFFF


@pytest.mark.parametrize("overflow", ["wrap", "saturate"])
def test_sums_at_the_ends_of_the_range(overflow: str) -> None:
    operation = IDPA(a="int8", b="int8", c="int32", L=1, overflow=overflow)  # type: ignore[arg-type]
    terms = Terms(TermManager())
    ports = {name: terms.free(name, width) for name, width in (("a", 8), ("b", 8), ("c", 32))}
    d = idpa(terms, operation, ports, Observer())
    seen = set()
    for a in (0, 1, 127, 128, 255):
        for b in (1, 127, 128):
            for c in (0, 0x7FFFFFFF, 0x80000000, 0x7FFFC000, 0x80003F80, 0x7FFFBFFF):
                given = {ports["a"].term: a, ports["b"].term: b, ports["c"].term: c}
                found = evaluate([d.term], given)[d.term]
                assert found == operation.step([a], [b], c)
                seen.add(found)
    assert {0x7FFFFFFF, 0x80000000} <= seen


def test_a_format_that_is_no_integer() -> None:
    terms = Terms(TermManager())
    with pytest.raises(TypeError, match=r"^an integer format was expected, got fp16$"):
        integer(terms, terms.free("code", 16), FORMATS["fp16"])
