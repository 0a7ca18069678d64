"""Which units' sums fall when an operand rises, counted in the results of `make analysis-monotonicity`."""

import json
from pathlib import Path

import golden
from golden.catalogue import ARCHITECTURES, marketing_names
from golden.format import power_of_two
from mmau.report import markdown
from studies.answers.questions.rows import shown, value_of

FOUND = Path(__file__).parents[3] / "docs" / "evidence" / "analysis" / "monotonicity.json"


def falling() -> str:
    """For each architecture, how many arithmetics fall, and the one that needs the fewest products."""
    found = json.loads(FOUND.read_text(encoding="utf-8"))
    rows = []
    for arch in ARCHITECTURES:
        falls = {name: one for name, one in found.items() if name.split()[0] == arch}
        label = f"`{arch}`" + (f" {marketing_names(arch)[0]}" if marketing_names(arch) else "")
        if falls:
            name, one = min(falls.items(), key=lambda item: int(item[1]["products"]))
            rows.append([label, str(len(falls)), f"`{name.partition(' ')[2]}`", f"{one['raised']}: d falls from {one['d']}"])
    return markdown.table(
        ("architecture", "arithmetics that fall", "the one with the fewest products", "raised"), rows, numbers=(1,)
    )


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
