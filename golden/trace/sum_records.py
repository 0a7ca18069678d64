"""The trace of a program of additions: every product and every addition, with its operands and its rounded result."""

from collections.abc import Sequence

from golden.chain import Chain
from golden.formats import FP32
from golden.sum_chain import sum_of
from golden.trace.records import Operand, Step
from golden.trace.trace import Trace


def sum_trace(model: str, chain: Chain, a: Sequence[int], b: Sequence[int], c: int) -> Trace:
    """The trace of one dot product."""
    steps: list[Step] = []
    assert chain.sums is not None

    def watch(what: str, x: float, y: float, d: float) -> None:
        sign = {"product": "·", "addition": "+", "exact sum": "+ … +"}[what]
        code = FP32.encode(d) if d - d == 0 else FP32.nan if d != d else FP32.signed_infinity(int(d < 0))
        assert code is not None
        title = f"{what}: {x!r} {sign} {y!r} = {d!r}"
        steps.append(Step(title=title, products=(), operands=(), parts=(), d=Operand.of("d", code, FP32)))

    d = sum_of(chain.operation, chain.sums, a, b, c, watch)
    o = chain.operation
    steps.append(Step(title=f"the sum in {o.d}", products=(), operands=(), parts=(), d=Operand.of("d", d, o.d)))
    return Trace(
        model=model,
        operation="sums",
        parameters=chain.sums.as_table(),
        order=tuple(range(len(a))),
        steps=tuple(steps),
        d=d,
        format=o.d,
    )
