"""Shows by an example which units' sums fall when an operand rises."""

import golden
from golden.format import power_of_two
from mmau.report import markdown
from studies.answers.rows import shown, value_of


def example() -> str:
    """V100's example by M. Fasi et al.: four products 2^−24, c below 1 and at 1."""
    volta, hopper, cdna1 = (
        golden.instruction("sm_70", "mma.m8n8k4.f32.f16.f16.f32"),
        golden.instruction("sm_90", "mma.m16n8k16.f32.f16.f16.f32"),
        golden.instruction("gfx908", "v_mfma_f32_16x16x16f16"),
    )
    pairs = [(power_of_two(-12), power_of_two(-12))] * 4
    below = 1 - power_of_two(-24)
    rows = [
        [f"c = {shown(c)}", *(shown(value_of(unit, pairs, c)) for unit in (volta, hopper, cdna1))]
        for c in (below, power_of_two(0))
    ]
    return markdown.table(("four products 2^−24", "Volta", "Hopper", "CDNA1"), rows)
