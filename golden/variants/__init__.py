"""Variants of a golden model: the same model with one thing changed, each with its sentence.

A variant changes a key or a format (`keys`), operands (`operands`), a step (`steps`, what hand-written floating-point units
get wrong in `float_unit`, and the faults of circuits in `faults`), when sums are rounded (`partial_sums`), or results
(`results`). The diagnosis of mismatches asks which variant fits what a design gave, mutation which one the vectors miss,
ablation which one recorded rows contradict, and the tests of kernels which one a kernel computes.
"""

from collections.abc import Iterator
from itertools import chain

from golden.variants.keys import format_variants, key_variants, sum_variants
from golden.variants.operands import byte_variants, lane_variants, operand_variants
from golden.variants.partial_sums import partial_sum_variants
from golden.variants.results import result_variants
from golden.variants.steps import step_variants
from golden.variants.variant import Codes, Model, Rows, Variant

__all__ = ["Codes", "Model", "Rows", "Variant", "variants"]


def variants(model: Model, failing: Rows, K: int) -> Iterator[Variant[Rows]]:
    """Yield the mistakes that a designer may make, the likelier ones first.

    Args:
        failing: rows of the run on which the design and the model differ.
        K: number of products of a row.
    """
    if model.chain.sums is not None:  # whose steps are not the operation's
        of_operands = chain(operand_variants(model, K), byte_variants(model, K), result_variants(model, failing))
        return chain(sum_variants(model), format_variants(model), of_operands, lane_variants(model, K))
    if model.operation.carried is not model.operation:  # no bit of a code is a sign or an exponent
        return chain(key_variants(model), format_variants(model), step_variants(model), lane_variants(model, K))
    return chain(
        key_variants(model),
        format_variants(model),
        step_variants(model),
        operand_variants(model, K),
        byte_variants(model, K),
        partial_sum_variants(model, K),
        result_variants(model, failing),
        lane_variants(model, K),
    )
