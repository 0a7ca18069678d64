"""The trace of one dot product: the chain runs unchanged on an operation that records its steps (golden.trace.watch)."""

from collections.abc import Sequence
from dataclasses import replace

from golden.chain import Chain, ConvertedChain
from golden.ordered_chain import OrderedChain
from golden.paired_chain import PairedChain
from golden.specials import nvidia_nan
from golden.sum_chain import SumChain
from golden.trace.addition_records import addition_record
from golden.trace.records import Step
from golden.trace.step_records import step_record
from golden.trace.sum_records import sum_trace
from golden.trace.trace import Trace
from golden.trace.watch import Event, watched


def trace_of(
    model: str,
    chain: Chain | ConvertedChain,
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
    if isinstance(chain, SumChain):
        return sum_trace(model, chain, a, b, c)
    events: list[Event] = []
    # A converted chain requires a T-FDPA; the recording operation is derived from it.
    watched_chain = replace(chain, operation=watched(chain.operation, events))  # type: ignore[arg-type]
    d = watched_chain(a, b, c, scale_a, scale_b)
    K, L = len(a), chain.operation.length
    order = chain.order_over(K)
    steps = _steps(chain, order, L, events)
    if isinstance(chain, ConvertedChain):
        output = chain.operation.d
        title = f"c added at the end, RNE in {output}"
        steps.append(addition_record(title, steps[-1].d.code, c, output, d, nvidia_nan(output)))
    elif isinstance(chain, OrderedChain):
        steps += _additions(chain, steps, c)
    elif isinstance(chain, PairedChain):
        steps += _paired_additions(chain, events, K)
    return Trace(
        model=model,
        operation=chain.operation.name,
        parameters=chain.operation.parameters(),
        order=tuple(order),
        steps=tuple(steps),
        d=d,
        format=chain.operation.d,
        chain=chain.table.changed() if isinstance(chain, OrderedChain) else {},
    )


def _additions(chain: OrderedChain, steps: Sequence[Step], c: int) -> list[Step]:
    """Records of the additions after the steps, as multiply-adds: of two chains' sums, and of c."""
    chains = len(chain.starts(0, 0))
    ends = steps[len(steps) // chains - 1 :: len(steps) // chains]
    d, *others = chain.addends([step.d.code for step in ends], c)
    names = ["the sum over even k", "the sum over odd k", "c"] if chains == 2 else ["the sum of the products", "c"]
    records, done = [], names[0]
    for name, other in zip(names[1:], others, strict=False):
        events: list[Event] = []
        d = watched(chain.addition, events).step([d], [chain.one], other)
        title = f"{done} + {name}, as a[0]·1 + c"
        records.append(step_record(chain.addition, title, [0], events))
        done = f"{done} + {name}"
    return records


def _paired_additions(chain: PairedChain, events: Sequence[Event], K: int) -> list[Step]:
    """Records of the two additions of each pair, as multiply-adds; their events follow those of the K products."""
    ends = [place + 1 for place, event in enumerate(events) if event.step == "step"]
    spans = list(zip(ends[K - 1 : -1], ends[K:], strict=True))
    titles = [
        title
        for k in range(0, K, 2)
        for title in (f"products {k} and {k + 1} added", f"{f'd of products 0 … {k - 1}' if k else 'c'} and their sum added")
    ]
    return [
        step_record(chain.addition, f"{title}, as a[0]·1 + c", [0], events[begin:end])
        for title, (begin, end) in zip(titles, spans, strict=True)
    ]


def _steps(chain: Chain | ConvertedChain, order: Sequence[int], L: int, events: Sequence[Event]) -> list[Step]:
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
