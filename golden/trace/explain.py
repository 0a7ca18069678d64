"""The trace of one dot product: the chain runs unchanged on an operation that records its steps (golden.trace.watch)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, islice

from golden.arithmetic.formats import FP32
from golden.arithmetic.specials import nvidia_nan
from golden.chains.chain import NVIDIA, PAIRED, Chain
from golden.chains.sum_chain import sum_of
from golden.trace.addition_records import addition_record
from golden.trace.records import Operand, Step
from golden.trace.step_records import step_record
from golden.trace.trace import Trace
from golden.trace.watch import Event, watched


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


def trace_of(
    model: str,
    chain: Chain,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    scale_a: Sequence[int] = (),
    scale_b: Sequence[int] = (),
) -> Trace:
    """Trace the steps of one dot product, from bit patterns.

    Args:
        model: name of the unit or instruction.
    """
    if chain.sums is not None:
        return sum_trace(model, chain, a, b, c)
    events: list[Event] = []
    d = replace(chain, operation=watched(chain.operation, events))(a, b, c, scale_a, scale_b)
    K, L = len(a), chain.operation.length
    order = chain.order_over(K)
    steps = _steps(chain, order, L, events)
    steps += _additions(chain, steps, c, K)
    return Trace(
        model=model,
        operation=chain.operation.name,
        parameters=chain.operation.parameters(),
        order=tuple(order),
        steps=tuple(steps),
        d=d,
        format=chain.operation.d,
        chain={} if chain.order == PAIRED or chain.addition == NVIDIA else chain.table.changed(),
    )


def _additions(chain: Chain, steps: Sequence[Step], c: int, K: int) -> list[Step]:
    """Records of the additions after the steps, from left to right."""
    parts, records, titles = len(chain.parts(K, 0, 0)), list[Step](), _titles(chain, K)
    ends = [step.d.code for step in steps[len(steps) // parts - 1 :: len(steps) // parts]]

    def added(x: int, y: int) -> int:
        d, output, title = chain.added(x, y), chain.operation.d, next(titles)
        if chain.addition == NVIDIA:
            records.append(addition_record(title, x, y, output, d, nvidia_nan(output)))
        else:
            events: list[Event] = []
            watched(chain.adder, events).step([x], [output.encode(1)], y)
            records.append(step_record(chain.adder, f"{title}, as a[0]·1 + c", [0], events))
        return d

    chain.summed(ends, c, added)
    return records


def _titles(chain: Chain, K: int) -> Iterator[str]:
    if chain.addition == NVIDIA:
        yield f"c added at the end, RNE in {chain.operation.d}"
    elif chain.order == PAIRED:
        for k in range(0, K, 2):
            yield f"products {k} and {k + 1} added"
            yield f"{f'd of products 0 … {k - 1}' if k else 'c'} and their sum added"
    else:
        halves = ["the sum over even k", "the sum over odd k"]
        names = [*(halves if chain.order == "even-and-odd" else ["the sum of the products"]), "c"]
        yield from islice(accumulate(names, "{} + {}".format), 1, None)


def _steps(chain: Chain, order: Sequence[int], L: int, events: Sequence[Event]) -> list[Step]:
    """One record for each step, whose events end with the step itself."""
    count = len(order) // L
    steps, begin, operation = [], 0, chain.operation
    for number in range(count):
        end = next(place for place in range(begin, len(events)) if events[place].step == "step") + 1
        products = order[number * L : (number + 1) * L]
        title = f"step {number + 1} of {count}: {_range(products)}"
        steps.append(step_record(operation, title, products, events[begin:end]))
        begin = end
        if number + 1 < count:
            operation = operation.accumulating()
    return steps


def _range(products: Sequence[int]) -> str:
    if len(products) == 1:
        return f"product {products[0]}"
    if list(products) == list(range(products[0], products[0] + len(products))):
        return f"products {products[0]} … {products[-1]}"
    return "products " + ", ".join(map(str, products))
