"""The second truncation of TR- and GTR-FDPA against golden's, for every total of a few bits."""

from itertools import product

import pytest
from bitwuzla import TermManager

from golden.operations import TRFDPA
from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.terms import Terms
from mmau.prove.specification.headroom import normalised_truncated
from mmau.prove.specification.numbers import Flag, Number, width_of
from mmau.prove.specification.step_results import Total

F2 = 3


@pytest.mark.parametrize("mode", ["RZ", "RD"])
def test_truncation_where_the_sum_is_normalised(mode: str) -> None:
    operation = TRFDPA(a="fp16", b="fp16", c="fp32", L=1, F=24, F2=F2, truncation=mode)  # type: ignore[arg-type]
    terms, e_min = Terms(TermManager()), operation.c.e_min
    sign, magnitude = Flag(terms, terms.free("sign", 1)), Number(terms, terms.free("total", 6), 0, 63)
    low, high = e_min - 4, e_min + 2
    lsb = Number(terms, terms.free("lsb", width_of(low, high)), low, high)
    kept, exp = normalised_truncated(Total(sign, magnitude), lsb, e_min, F2, mode)  # type: ignore[arg-type]
    evaluation = Evaluation([kept.total.bits.term, exp.bits.term])
    for negative, value, place in product(range(2), range(64), range(low, high + 1)):
        if negative and not value:
            continue
        given = {
            sign.bits.term: negative, magnitude.bits.term: value, lsb.bits.term: place & ((1 << lsb.bits.width) - 1)
        }  # fmt: skip
        found_total, found_exp = evaluation.of(given)
        wanted, last = operation.truncate(-value if negative else value, place)
        assert found_total == abs(wanted)
        if value:  # of a zero no exponent counts
            assert found_exp == last & ((1 << exp.bits.width) - 1)
