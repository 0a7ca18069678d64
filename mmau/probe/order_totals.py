"""What many orders of a matrix product give for a few of its elements, computed together where they cut K alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from golden.arithmetic.formats import FORMATS, Format
from golden.arrays import BitArray
from golden.engines.engine import Batch
from golden.products.additions import Additions
from golden.products.epilogue import finished
from golden.products.gemm_order import ADDED_FORMATS, GemmOrder, Plan
from golden.products.sum_order import Order, folded, order_of
from golden.products.tiled import Summation
from golden.units.instruction import Instruction
from golden.units.unit import Unit
from mmau.probe.order_sums import Add

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Elements:
    """Operands of some elements of a product, with a product +0·+0 at the end, and scales, with ones.

    Attributes:
        a, b: [elements, products]. c, bias: [elements], bias in fp32. scales: of A and of B, [elements, blocks].
        K: number of products without the one at the end.
    """

    a: BitArray
    b: BitArray
    c: BitArray
    scales: tuple[BitArray, BitArray] | None
    bias: BitArray | None
    K: int

    def some(self, which: Any) -> "Elements":
        """Those of an index, or a mask."""
        scales = None if self.scales is None else (self.scales[0][which], self.scales[1][which])
        bias = None if self.bias is None else self.bias[which]
        return Elements(self.a[which], self.b[which], self.c[which], scales, bias, self.K)


@dataclass(frozen=True)
class Sums:
    """The sums of elements over instructions, of which orders say which are promoted and added.

    Attributes:
        order: one of the orders, for what all have in common. from_c: whether sums of any start from c. scale: scales
            [numbers, elements] of promotions of given numbers; None without.
        taken: [instructions, k], the products of each instruction in the order of the plan.
    """

    model: Instruction | Unit
    order: GemmOrder
    additions: Additions
    elements: Elements
    taken: Indices
    plan: Plan
    from_c: bool
    scale: Callable[[Indices], BitArray] | None

    @property
    def starts(self) -> list[BitArray]:
        """Where sums start: at zeros, and, where it is another number, at c for the first sum that is added."""
        zeros = np.zeros_like(self.elements.c)
        return [zeros, self.elements.c] if self.from_c and self.elements.c.any() else [zeros]

    def chains(self, length: int, begins: Indices, start: BitArray) -> BitArray:
        """[begins, elements], the chains of so many instructions from each of some on, in the format of d; start: where each
        starts."""
        of, count, size = self.elements, len(begins), self.model.operation.block_size
        places = self.taken[begins[:, None] + np.arange(length)].reshape(count, -1)
        c = np.broadcast_to(start, (count, len(of.c))).T.ravel()
        a, b = (x[:, places].reshape(-1, places.shape[1]) for x in (of.a, of.b))
        batch = Batch(a, b, c)
        if of.scales is not None and size is not None:
            blocks = places[:, ::size] // size
            scale_a, scale_b = (x[:, blocks].reshape(-1, blocks.shape[1]) for x in of.scales)
            batch = batch._replace(scale_a=scale_a, scale_b=scale_b)
        return Summation(self.model, self.order, None).chained(batch, (0, length)).reshape(-1, count).T

    def widened(self, codes: BitArray) -> BitArray:
        """Codes of d in the format of sums."""
        return self.additions.widened(np.ascontiguousarray(codes), self.model.operation.d)

    def of_runs(self, promotes: Sequence[int]) -> BitArray:
        """[starts, promotes, runs, elements], the sum of each run of the plan that is promoted after so many instructions, 0
        for never."""
        runs = np.array([run for piece in self.plan.pieces for run in piece])
        begins, lengths = runs[:, 0], runs[:, 1] - runs[:, 0]
        starts = np.stack(self.starts)
        wide = self.additions.widened(starts, self.model.operation.c)
        sums = np.empty((len(starts), len(promotes), len(runs), starts.shape[1]), wide.dtype)
        never = [at for at, every in enumerate(promotes) if not every and self.scale is None]
        others = [at for at in range(len(promotes)) if at not in never]
        for length in np.unique(lengths).tolist():
            alike = np.flatnonzero(lengths == length)
            for at in never:
                sums[:, at, alike] = [self.widened(self.chains(length, begins[alike], start)) for start in starts]
            if others:
                every = np.array([promotes[at] or length for at in others])
                sums[:, np.array(others)[:, None], alike] = self._promoted(length, begins[alike], every, wide)
        return sums

    def _promoted(self, length: int, begins: Indices, every: Indices, starts: BitArray) -> BitArray:
        """[starts, promotes, runs, elements], the sums of runs of one length that start from totals [starts, elements]."""
        order = np.argsort(every, kind="stable")  # one that has more promotions stands before those that have fewer
        size = every[order, None]
        first = np.arange(-(-length // every.min())) * size
        sizes = np.minimum(size, length - first)
        used = first < length
        addends = np.zeros((*first.T.shape, len(begins), starts.shape[1]), starts.dtype)
        for one in set(sizes[used].tolist()):
            which = used & (sizes == one)
            chains = self.chains(one, (first[which][:, None] + begins).ravel(), np.zeros_like(self.elements.c))
            addends.swapaxes(0, 1)[which] = self.widened(chains).reshape(-1, len(begins), starts.shape[1])
        total = np.broadcast_to(starts[:, None, None], (len(starts), len(order), len(begins), starts.shape[1])).copy()
        for step, number in enumerate(used.sum(axis=0).tolist()):
            addend = addends[step, :number]
            if self.scale is None:
                total[:, :number] = self.additions.add(total[:, :number], addend)
            else:
                scale = self.scale((begins + first[:number, step, None]) // size[:number])
                terms = np.broadcast_arrays(addend, scale, total[:, :number])
                total[:, :number] = self.additions.multiply_add(*map(np.ascontiguousarray, terms))
        total[:, order] = total.copy()
        return total

    def of_parts(self, runs: BitArray, stripe_orders: Sequence[Any]) -> BitArray:
        """[starts, stripe orders, promotes, parts, elements], the sums of the runs of each part."""
        starts, promotes, _, elements = runs.shape
        number = 1 if self.order.stripes is None else self.order.stripes[0]
        counts = np.array([len(piece) for piece in self.plan.pieces])
        firsts = np.cumsum(counts) - counts
        parts = np.empty((starts, len(stripe_orders), promotes, len(counts), elements), runs.dtype)
        for count in np.unique(counts).tolist():
            alike = counts == count
            for place, order in enumerate(stripe_orders):
                added = order_of(order, number, count)
                for start in range(starts):

                    def run(at: int, start: int = start, added: Order = added, alike: Any = alike) -> BitArray:
                        codes: BitArray = runs[start if at == leftmost(added) else 0][:, firsts[alike] + at]
                        return codes

                    parts[start, place][:, alike] = folded(added, run, self.additions.add)
        return parts

    def of_all(self, parts: BitArray, order: Any, way: str, output: Format) -> BitArray:
        """[stripe orders, promotes, elements], the sums of all parts."""
        first, others, add = self.between(parts[-1], parts[0], way, output)
        added = order_of(order, self.order.split_k, parts.shape[3])
        return folded(added, lambda at: (first if at == leftmost(added) else others)[:, :, at], add)

    def between(self, first: BitArray, others: BitArray, way: str, output: Format) -> tuple[BitArray, BitArray, Add]:
        """Sums of parts, and the addition of two, rounded to the format of the result where `split_sum` says so."""

        def rounded(totals: BitArray) -> BitArray:
            return self.additions.widened(self.additions.rounded(totals, output), output)

        if way == "workspace":
            return rounded(first), rounded(others), self.additions.add
        if way == "in-place":
            return rounded(first), others, lambda x, y: rounded(self.additions.add(x, y))
        return first, others, self.additions.add

    def finished(self, order: GemmOrder, totals: BitArray, which: slice = slice(None)) -> BitArray:
        """Totals [..., elements] of some elements after the epilogue of an order, in the format of its result."""
        output, of = order.result_format(self.model), self.elements
        if order.epilogue:
            bias = None if of.bias is None else np.broadcast_to(of.bias[which], totals.shape).copy()
            c = self.additions.widened(of.c[which], self.model.operation.c)
            c = np.broadcast_to(c, totals.shape).copy()
            totals = np.ascontiguousarray(totals)
            totals = finished(self.additions, totals, order.epilogue, (order.alpha, order.beta), c, bias, output)
        return totals if output not in [FORMATS[name] for name in ADDED_FORMATS] else self.additions.rounded(totals, output)

    def of_every_piece(self, start: BitArray, every: int) -> BitArray:
        """[begin, end, elements], the sums of all consecutive instructions, promoted after so many."""
        count, additions = len(self.taken), self.additions
        wide = additions.widened(start, self.model.operation.c)
        made = np.zeros((count + 1, count + 1, len(start)), wide.dtype)
        carried, total = np.zeros_like(start) if every else start, np.broadcast_to(wide, (count, len(start)))
        for length in range(1, count + 1):
            begins = np.arange(count + 1 - length)
            carried = self.chains(1, begins + length - 1, carried[: len(begins)] if carried.ndim == 2 else carried)
            chain = self.widened(carried)
            made[begins, begins + length] = reached = additions.add(total[: len(begins)], chain) if every else chain
            if every and length % every == 0:
                total, carried = reached, np.zeros_like(start)
        return made


def leftmost(order: Order) -> int:
    """The number of the sum that is first in an order of sums."""
    while not isinstance(order, int):
        order = order[0]
    return order
