"""The sum of one part of D under an order: chains of instructions, promotions, stripes, parts, epilogue."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from golden.additions import Additions
from golden.arrays import BitArray
from golden.chain import PAIRED, Chain
from golden.engines import Batch, run
from golden.epilogue import finished
from golden.formats import Format
from golden.gemm_order import GemmOrder, instruction_products
from golden.gemm_pieces import Plan, Run
from golden.instruction import Instruction
from golden.sum_order import folded, order_of
from golden.unit import Unit

Scale = Callable[[int], BitArray]
"""A function from the number of a group of instructions to its scales: codes of fp32 in the shape of C."""


@dataclass(frozen=True)
class Summation:
    """The sums of a model under an order, computed on an engine (None for the fastest one available)."""

    model: Instruction | Unit
    order: GemmOrder
    engine: str | None

    def __call__(self, batch: Batch, plan: Plan, bias: BitArray | None = None, scale: Scale | None = None) -> BitArray:
        """Compute D of a batch whose operands are already in the plan's order; D has codes of the order's output format.

        Args:
            bias: codes of fp32 for each column of D, if the order's epilogue adds a bias.
            scale: the scales of each promotion, if the order applies scales there.
        """
        order, operation = self.order, self.model.operation
        output = order.result_format(self.model)
        is_one_chain = len(plan.pieces) == 1 and len(plan.pieces[0]) == 1 and not order.promote_every and scale is None
        if is_one_chain and not order.epilogue and output == operation.d:
            return self._chained(batch, plan.pieces[0][0])
        additions = Additions(operation, self.engine)
        zeros = batch._replace(c=np.zeros_like(batch.c))
        total = self._parts(batch, zeros, plan, additions, scale, output)
        if order.epilogue:
            c = additions.widened(batch.c, operation.c)
            total = finished(additions, total, order.epilogue, (order.alpha, order.beta), c, bias, output)
        return additions.rounded(total, output)

    def _parts(
        self, batch: Batch, zeros: Batch, plan: Plan, additions: Additions, scale: Scale | None, output: Format
    ) -> BitArray:
        """The sum of all pieces in the wide format; the first that is added starts from C, unless the epilogue takes it."""
        order, starts = self.order, [batch if self.order.starts_from_c else zeros]

        def rounded(total: BitArray) -> BitArray:
            return additions.widened(additions.rounded(total, output), output)

        def piece(number: int) -> BitArray:
            is_first, first = bool(starts), starts.pop() if starts else zeros
            part = self._piece(first, zeros, plan.pieces[number], additions, scale)
            return rounded(part) if order.split_sum == "workspace" or (is_first and order.split_sum == "in-place") else part

        def add(total: BitArray, part: BitArray) -> BitArray:
            both = additions.add(total, part)
            return rounded(both) if order.split_sum == "in-place" else both

        return folded(order_of(order.split_order, order.split_k, len(plan.pieces)), piece, add)

    def _piece(
        self, first: Batch, zeros: Batch, runs: tuple[Run, ...], additions: Additions, scale: Scale | None
    ) -> BitArray:
        """The sum of a piece's runs in the wide format; the first run that is added starts from the c of `first`, the others
        from +0."""
        starts = [first]

        def run_of(number: int) -> BitArray:
            return self._run(starts.pop() if starts else zeros, zeros, runs[number], additions, scale)

        count = 1 if self.order.stripes is None else self.order.stripes[0]
        return folded(order_of(self.order.stripe_order, count, len(runs)), run_of, additions.add)

    def _run(self, batch: Batch, zeros: Batch, run: Run, additions: Additions, scale: Scale | None) -> BitArray:
        """A chain from c, or with promotion chains from +0 that are added to c, scaled where the order says so."""
        operation = self.model.operation
        if not self.order.promote_every and scale is None:
            return additions.widened(self._chained(batch, run), operation.d)
        every = self.order.promote_every or run[1] - run[0]
        accumulator = additions.widened(batch.c, operation.c)
        for first in range(*run, every):
            chain = self._chained(zeros, (first, min(first + every, run[1])))
            addend = additions.widened(chain, operation.d)
            if scale is None:
                accumulator = additions.add(accumulator, addend)
            else:
                accumulator = additions.multiply_add(addend, scale(first // every), accumulator)
        return accumulator

    def _chained(self, batch: Batch, instructions: Run) -> BitArray:
        """Run consecutive instructions from c: a plain chain continues across instructions, other chains restart in each."""
        k = instruction_products(self.model)
        chain = self.model.chain_over(k)
        together = instructions[1] - instructions[0] if _goes_on(chain) else 1
        d = batch.c
        for first in range(*instructions, together):
            part = _part(batch._replace(c=d), first * k, (first + together) * k, self.model.operation.block_size)
            d = run(self.engine, chain, part)
        return d


def _goes_on(chain: Chain) -> bool:
    """Whether a chain over K products can be continued: it equals a chain over the first products, then one over the rest
    that starts from the first sum."""
    return chain.is_plain or chain.order == PAIRED


def _part(batch: Batch, begin: int, end: int, block_size: int | None) -> Batch:
    """The part of a batch with products begin … end−1 and their scales."""
    if (begin, end) == (0, batch.a.shape[-1]):
        return batch
    part = batch._replace(a=batch.a[:, begin:end], b=batch.b[:, begin:end])
    if block_size is None or batch.scale_a is None or batch.scale_b is None:
        return part
    blocks = slice(begin // block_size, end // block_size)
    return part._replace(scale_a=batch.scale_a[:, blocks], scale_b=batch.scale_b[:, blocks])
