"""The specification of exception flags, evaluated on rows, is golden's."""

from typing import Any

import numpy as np
import pytest
from bitwuzla import TermManager

from golden.arithmetic.formats import FP16, FP32
from golden.operations import ADD, FMA, MUL
from golden.operations.exact_sum import ExactSum
from golden.stimulus import OperandShape, generate
from mmau.prove.counterexample import golden_result
from mmau.prove.datapath.unit_questions import SPECIFICATIONS
from mmau.prove.evaluation import Evaluation
from mmau.prove.netlist.terms import Terms
from mmau.prove.specification.fma import fma
from mmau.prove.specification.observer import Observer
from tests.golden.operations.edges import near_the_ends
from tests.golden.rows import unit

HALF: dict[str, Any] = {"a": FP16, "b": FP16, "flags": True}
OPERATIONS = [
    FMA(**HALF, c=FP16),
    FMA(**HALF, c=FP16, rho="RU-FP16", tininess="before", beside_nan="quiet", overflow="by-mode"),
    FMA(**HALF, c=FP16, rho="RNA-FP16", flush_results=True),
    FMA(**HALF, c=FP16, rho="RD-FP16", flush_results=True, tininess="before", nan="first"),
    FMA(a=FP32, b=FP32, c=FP32, flags=True),
    MUL(**HALF, rho="RO-FP16"),
    ADD(**HALF),
    ADD(a=FP32, b=FP32, rho="RD-FP32", flags=True, nan="b-c-a", flush_inputs=True),
]


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda o: f"{o.name}-{o.rho}-{o.tininess}")
def test_the_word_of_flags_and_d_is_goldens(operation: ExactSum) -> None:
    terms = Terms(TermManager())
    ports = {name: terms.free(name, getattr(operation, name).width) for name in operation.operands}
    words = [SPECIFICATIONS[type(operation)](terms, operation, ports, Observer())]
    if isinstance(operation, ADD):
        words.append(fma(terms, operation, ports, Observer(), as_product=True))
    evaluation, model = Evaluation([word.term for word in words]), unit(operation)
    drawn = generate(OperandShape.of_operation(operation), 150, seed=3).operands
    near = near_the_ends(np.random.default_rng(3), operation, 300)
    for a, b, c in zip(
        *(np.concatenate([of.reshape(-1), few]) for of, few in zip(drawn[:3], near, strict=True)), strict=True
    ):
        inputs = {name: int(code) for name, code in zip("abc", (a, b, c), strict=True) if name in operation.operands}
        found = evaluation.of({ports[name].term: code for name, code in inputs.items()})
        assert set(found) == {golden_result(model, inputs)}, inputs
