"""The sum of one part of D under an order: chains of instructions, promotions, stripes, parts, epilogue."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from golden.arrays import BitArray
from golden.chains.chain import PAIRED, Chain
from golden.engines.engine import Batch, run
from golden.products.additions import Additions
from golden.products.epilogue import finished
from golden.products.gemm_order import GemmOrder, Plan, Run, instruction_products
from golden.units.instruction import Instruction
from golden.units.unit import Unit

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
        total = self._piece(batch if order.starts_from_c else zeros, zeros, plan.pieces[0], additions, scale)
        if order.split_sum != "fp32":
            total = additions.widened(additions.rounded(total, output), output)
        for piece in plan.pieces[1:]:
            part = self._piece(zeros, zeros, piece, additions, scale)
            if order.split_sum == "workspace":
                part = additions.widened(additions.rounded(part, output), output)
            total = additions.add(total, part)
            if order.split_sum == "in-place":
                total = additions.widened(additions.rounded(total, output), output)
        if order.epilogue:
            c = additions.widened(batch.c, operation.c)
            total = finished(additions, total, order.epilogue, (order.alpha, order.beta), c, bias, output)
        return additions.rounded(total, output)

    def _piece(
        self, first: Batch, zeros: Batch, runs: tuple[Run, ...], additions: Additions, scale: Scale | None
    ) -> BitArray:
        """The sum of a piece's runs in the wide format; the first run starts from the c of `first`, the others from +0."""
        total = self._run(first, zeros, runs[0], additions, scale)
        for following in runs[1:]:
            total = additions.add(total, self._run(zeros, zeros, following, additions, scale))
        return total

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
