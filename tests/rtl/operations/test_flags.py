"""Datapaths with exception flags, beside golden's, on rows that reach each flag."""

import re
import time
from typing import Any

import numpy as np
import pytest

from cosim.bench.products import packed
from golden import Implementation, Unit
from golden.arithmetic.formats import BF16, E2M1, E4M3, E5M2, FP16, FP32
from golden.operations import ADD, CVT, EFDPA, FMA, MUL
from golden.operations.exact_sum import ExactSum
from golden.stimulus import OperandShape, generate
from mmau.prove.datapath.unit_questions import unit_questions
from mmau.prove.decision import PROVED, REFUTED
from mmau.prove.design_proof import answered, prove
from rtl.designs.unit import unit_datapath
from rtl.designs.unit_design import UnitDesign
from rtl.verilog.emit import to_verilog
from tests.golden.operations.edges import near_the_ends
from tests.rtl.simulate import outputs

HALF: dict[str, Any] = {"a": FP16, "b": FP16, "flags": True}
UNITS = [
    FMA(**HALF, c=FP16),
    FMA(**HALF, c=FP16, rho="RD-FP16", tininess="before", nan="first", overflow="by-mode"),
    FMA(**HALF, c=FP16, rho="RNA-FP16", beside_nan="quiet", flush_results=True),
    FMA(**HALF, c=FP16, rho="RU-FP16", tininess="before", flush_results=True, flush_inputs=True),
    FMA(a=FP32, b=FP32, c=FP32, flags=True),
    FMA(a=BF16, b=BF16, c=FP32, flags=True, rho="RO-FP32"),
    MUL(**HALF),
    MUL(**HALF, rho="RU-FP16", tininess="before", overflow="saturate"),
    ADD(**HALF),
    ADD(**HALF, rho="RZ-FP16", flush_results=True),
    EFDPA(**HALF, c=FP16, L=2, rho="RNE-FP16", zero="ieee"),
    EFDPA(**HALF, c=FP32, L=2, rho="RD-FP16", tininess="before", beside_nan="quiet", overflow="by-mode"),
    EFDPA(a=E4M3, b=E5M2, c=FP16, L=3, rho="RU-FP16", flush_results=True, flags=True),
    CVT(a=FP32, rho="RNE-FP16", flags=True),
    CVT(a=FP32, rho="RD-E5M2", flags=True, tininess="before", nan="first", overflow="by-mode"),
    CVT(a=BF16, rho="RNA-FP16", flags=True, flush_inputs=True, flush_results=True),
    CVT(a=FP32, rho="RNA-TF32", flags=True),
]
CIRCUITS = [
    Implementation(),
    Implementation(normaliser="narrowing", rounder="compound", result_exp="parallel", multiplier="booth"),
    Implementation(encoding="sign-magnitude", leading_zeros="anticipate", normaliser="narrowing"),
]


def rows_of(operation: ExactSum, count: int) -> tuple[Any, Any, Any]:
    """Rows of golden's stimulus, and rows about the smallest normal number, which it has of conversions by itself."""
    if "b" not in operation.operands or operation.length > 1:
        a, b, c, *_ = generate(OperandShape.of_operation(operation), count, seed=7).operands
        return a, b, c
    drawn = generate(OperandShape.of_operation(operation), count // 2, seed=7).operands
    near = near_the_ends(np.random.default_rng(7), operation, count - count // 2)
    a, b, c = (np.concatenate([of.reshape(-1), few]) for of, few in zip((drawn.a, drawn.b, drawn.c), near, strict=True))
    return a[:, None], b[:, None], c if "c" in operation.operands else np.zeros_like(c)


@pytest.mark.slow
@pytest.mark.parametrize("circuit", CIRCUITS, ids=["plain", "narrowing", "anticipate"])
@pytest.mark.parametrize("operation", UNITS, ids=lambda o: f"{o.name}-{o.rho}-{o.tininess}")
def test_results_and_flags_are_goldens(operation: ExactSum, circuit: Implementation) -> None:
    unit = Unit(name="flagged", operation=operation, implementation=circuit)
    a, b, c = rows_of(operation, 3000)
    rows = [
        {name: value for name, value in zip("abc", row, strict=True) if name in operation.operands}
        for row in zip(packed(a, operation.a), packed(b, operation.b), c.tolist(), strict=True)
    ]
    component = unit_datapath(unit)
    found = outputs(component, rows, lambda value: (value(component.d), value(component.flags)))
    d, flags = unit.dot(a, b, c, flags=True)
    expected = list(zip(d.tolist(), flags.tolist(), strict=True))
    wrong = [(row, got, want) for row, got, want in zip(rows, found, expected, strict=True) if got != want]
    assert not wrong, wrong[:3]
    assert len(set(flags.tolist())) >= (4 if operation.flush_results or operation.name != "ADD" else 3)


def test_the_port_is_named_and_the_text_without_flags_stays() -> None:
    unit = Unit(name="u", operation=FMA(a=FP16, b=FP16, c=FP16))
    flagged = Unit(name="u", operation=unit.operation.changed(flags=True))
    assert "output flags        5  exception flags: 0 NX, 1 UF, 2 OF, 3 DZ, 4 NV" in UnitDesign(flagged).port_lines
    assert "flags" not in to_verilog(unit)
    other = to_verilog(Unit(name="u", operation=unit.operation.changed(tininess="before")))
    assert other.partition("module")[2] == to_verilog(unit).partition("module")[2]


WIDE: dict[str, Any] = {"a": E5M2, "b": E5M2, "L": 1}
SMALL: dict[str, Any] = {"a": E2M1, "b": E2M1, "c": E5M2, "L": 2, "rho": "RNE-E5M2", "flags": True}


@pytest.mark.slow
@pytest.mark.parametrize("keys", [{"zero": "ieee"}, WIDE, {**WIDE, "tininess": "before"}], ids=["two", "after", "before"])
def test_flags_of_a_dot_product_are_proved(keys: dict[str, Any]) -> None:
    found = prove(UnitDesign(Unit(name="u", operation=EFDPA(**{**SMALL, **keys}))), 300.0)
    assert (found.verdict, found.reason) == (PROVED, "")


@pytest.mark.slow
@pytest.mark.attack("proof")
@pytest.mark.parametrize("other", [{"tininess": "before"}, {"beside_nan": "quiet"}], ids=str)
def test_circuit_with_the_flags_of_another_rule_is_refuted(other: dict[str, Any]) -> None:
    right, wrong = (Unit(name="u", operation=EFDPA(**{**SMALL, **WIDE, **each})) for each in ({}, other))
    verdicts = dict(answered(unit_questions(right, to_verilog(wrong, "unit")), time.monotonic() + 300))
    assert REFUTED in verdicts.values()


def test_flags_of_a_sum_of_few_bits_have_no_datapath() -> None:
    unit = Unit(name="u", operation=EFDPA(a=E2M1, b=E2M1, c=E2M1, L=2, rho="RNE-FP16", flags=True))
    message = "flags of a datapath of E-FDPA need a sum of at least 13 bits, got 9"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        unit_datapath(unit)
