"""The page docs/evidence/coverage.md: `python -m studies.coverage_table docs/evidence/coverage.md`.

`ARGUED_ALONE` are the unreachable bins that no unit of the coverage job and no sample hits: their arguments have no
counterpart. A bin that is unreachable because of a unit's numbers can be hit in another unit, whose numbers differ.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from cosim.bench.protocol import Timing
from cosim.build.power_up import power_ups
from cosim.coverage.coverage_model import Counts, Model, count, merged, whole
from golden import Unit
from golden.files import write_atomically
from golden.stimulus import OperandShape, generate
from mmau.report import markdown
from rtl.designs.sample_units import sample_units
from rtl.designs.unit_design import UnitDesign


@dataclass(frozen=True)
class Argued:
    """Bins that are unreachable by argument only.

    Attributes:
        operations: the names of the operations. bins: a regular expression for "covergroup | bin".
        words: description of the bins. why: reason why no unit of these operations hits them.
    """

    operations: tuple[str, ...]
    bins: str
    words: str
    why: str

    def has(self, operation: str, of_bin: str) -> bool:
        """Return whether a bin of an operation, written "covergroup | bin", is one of these."""
        return operation in self.operations and re.fullmatch(self.bins, of_bin) is not None


ARGUED_ALONE = (
    Argued(
        ("FTZ-AddMul",),
        r"(product|sum of products|result): .*|class of d .*|overflow .*",
        "products, their sum and the result: some directions and outcomes; subnormal d; overflow to the largest number",
        "there are two formats: with bf16 subnormal results are flushed, sums next to them are exact, a product is too "
        "narrow, and RNE overflows to infinity; with fp16 a product is exact, a sum is normal, and none overflows",
    ),
    Argued(("FTZ-AddMul",), r".*: cancellation .*32 or more.*", "32 or more bits cancel", "no term has more than 24 bits"),
    Argued(
        ("GTR-FDPA",),
        r"both sums: alignment .*several sums.*",
        "several sums have the largest exponent, a sum is cut",
        "there are two sums: none is left to lie below",
    ),
    Argued(
        ("GTR-FDPA",),
        r"(even|odd) products: alignment \| product, product, (partly|wholly) cut",
        "of even or odd products that are one product: it is cut",
        "a term alone has the largest exponent",
    ),
    Argued(
        ("GTR-FDPA",),
        r"(even|odd) products: cancellation .*32 or more.*",
        "even or odd products: 32 or more bits cancel",
        "the units of several even or odd products have too few fraction bits, or too short products: at most 26 do",
    ),
    Argued(
        ("FTZ-FMA", "FTZ-EO-FMA"),
        r".*: cancellation .*32 or more.*",
        "32 or more bits cancel",
        "no term has more than 24 bits",
    ),
    Argued(
        ("FTZ-FMA", "FTZ-EO-FMA"),
        r".*: outcome .*(subnormal|to zero).*|class of d .*subnormal|overflow .*largest.*",
        "subnormal results and those rounded to zero; overflow to the largest number",
        "subnormal results are flushed, and RNE overflows to infinity; with fp16 products have no bits so low, "
        "nor do they overflow",
    ),
    Argued(
        ("PS-FDPA",),
        r"groups and c: alignment \| group, group, (partly|wholly) cut",
        "of one group: it is cut",
        "a term alone has the largest exponent",
    ),
    Argued(
        ("PS-FDPA",),
        r"neighbouring products: cancellation .*32 or more.*",
        "neighbouring products: 32 or more bits cancel",
        "units with several products a group have at most 26 fraction bits",
    ),
    Argued(
        ("FTZ-EO-FMA",),
        r"first products: .*|each operation . product [01], .*",
        "the first two products: roundings and their outcomes",
        "they are added to +0, and a product of bf16 or fp16 has no more bits than fp32 holds",
    ),
    Argued(
        ("FTZ-EO-FMA",),
        r"(even and odd|result): outcome .*up to the smallest normal.*",
        "sum of the chains and the result: rounded up to the smallest normal number",
        "sums of fp32 numbers have no bits below those of a subnormal number, and are exact there",
    ),
    Argued(
        ("ADD",),
        r"result: outcome \| (subnormal, inexact|up to the smallest normal|to zero), .",
        "inexact subnormal results; those rounded up to the smallest normal number, or to zero",
        "a sum of two numbers of the format of d has no bits below those of its subnormal numbers, and is exact there",
    ),
    Argued(
        ("IDPA",),
        r"size of each product .*bit 15, .|.*: cancellation .*32 or more.*",
        "a product whose leading one is bit 15, beyond the seventh or negative; 32 or more bits cancel",
        "255 · 255 alone gets to that bit, and the longest unit of uint8 and uint8 has 7 products; −128 · 255 does not; "
        "of sums with a c of int32 fewer bits cancel",
    ),
)
"""All bins that are unreachable by argument only; each entry matches at least one bin that no unit hits."""


VECTORS, SEED = 20000, 0
"""The default number and seed of the vectors of `mmau cosim`."""

INTRODUCTION = """\
Every co-simulation counts which situations inside a step its vectors have met: `mmau cosim` shows how many *bins* were
hit of those that can be, and names the first that were missed; `--json` and the page of `--html` have them all. A
vector counts only once its result has been compared and agrees with the golden model. What happens inside a step is
observed by the native engine's general path (`golden.native.observe`), which tests hold to the traces of `mmau eval
--explain`; without the native engine there is no coverage. Nor is there of FP8 instructions that are converted to fp16
first, and of specifications of one's own. In volume mode the first 20,000 vectors of a run count, those of cocotb, and
they do only where all vectors of their simulation agree.

{groups}

A sum has these groups for itself, and so has a rounding: TR-FDPA adds products, then c, FTZ-AddMul, FTZ-FMA and
FTZ-EO-FMA round after every operation. IDPA's integers have the classes 0, 1, −1, both ends and others.

```sh
mmau cosim --arch sm_80 --instr mma.m16n8k8.f32.f16.f16.f32 --coverage-file hits.json --ucis hits.xml
```

`--coverage-file` adds a run's counts to those that the file has, by model: an operation with all its parameters. The
order of runs does not matter. `--ucis` writes the same as UCIS XML (Accellera, Unified Coverage Interoperability
Standard 1.0); a bin that cannot be hit is of the type `ignore` there, with its reason. `--coverage`, without a file, is
something else: the coverage job, a list of units.

## Reachable bins

A bin that no operands can hit is declared so, with the reason, where the bin is declared (`cosim/coverage/`): a
statement about the operation's parameters. Tests run random units against these statements, and a bin whose reason
depends on numbers must be hit by another unit whose numbers differ, of those of the table below and of the coverage job.
For the bins that no unit of these can hit, the argument stands alone:

{argued}

Of one bin more no other unit shows that it can be hit: in TR-FDPA and GTR-FDPA, T and c, 32 or more bits cancel. By the
model units of F = 40 and 128 of the coverage job can hit it; the vectors that the tests send them do not.

Where a bin that is declared unreachable is hit all the same, the model is wrong. It is not the design's fault and does not
fail the run: the text says `THE COVERAGE MODEL IS WRONG`, the page of `--html` has a heading for it, in `--json` and in each
of its covergroups the bin stands under `contradicted`, with the reason that does not hold, and in UCIS XML its type is
`illegal`.

The table below is of the largest unit of each operation in the catalogue, of small ones, and of units with keys of
their own. Their vectors are those that `mmau cosim` sends by default, 20,000 of seed 0. All bins that can be hit are;
so they are by the vectors of a pipelined unit, which is powered up twice, the last 1,000 with seed 1. The page of `mmau
cosim --html` has the covergroups of a unit, with the reason of each bin that cannot be hit.

This page is made by `make coverage-table`."""

GROUPS = (
    ("class of a, b, c, d, scale_a, scale_b", "each class of number of either sign, in every place"),
    ("ends of the scales", "smallest and largest scales of A and B together"),
    ("c of each step", "in a chain, the class of c at the first step, between, and at the last"),
    (
        "special terms, special rules",
        "how many and how; rules of [numerics.md](../numerics.md), section 3, that alone decide",
    ),
    ("alignment", "which terms have the largest exponent, and whether a term is kept, partly cut or wholly cut"),
    ("distance to the largest exponent", "of each kind of term"),
    ("signs", "of the products and of c"),
    ("cancellation", "how far the leading one of the sum lies below that of its largest term"),
    ("floor of e_max", "whether the exponent of a zero is the largest, and what that cuts"),
    ("each group, groups that cancel", "GST-FDPA: sums of groups, and zero sums that keep their exponent"),
    ("what is cut off, direction of rounding", "how it lies to half, the last bit, the sign; where rounding goes, carries"),
    ("outcome, overflow", "overflow by rounding or before it, subnormal, flushed and zero results; what overflow becomes"),
    ("sticky bit", "units with that key: whether alignment lost a one, against what rounding cuts off"),
    ("each operation", "FTZ-FMA, FTZ-EO-FMA: of each whether it is exact, where it rounds, whether it is flushed, overflow"),
    (
        "NaN that is kept",
        "the same: whose NaN a result is, beside others or not, quiet or signalling, or of an invalid operation",
    ),
    ("exception flags", "units and designs with flags: which of them a step raises together"),
    ("signs, ends and size of each product", "IDPA: of every product"),
    ("range of the sum", "IDPA: at both ends of int32 exactly, one beyond, far beyond"),
)
"""Covergroups, and the points that they cross."""


def default_counts(unit: Unit) -> Counts:
    """The bins that the default run of a unit hits if every result agrees."""
    model, shape = Model(unit.operation, unit.operation.length), OperandShape.of_operation(unit.operation)
    runs = power_ups("verilator", Timing.of_design(UnitDesign(unit)), VECTORS, SEED)
    (counts,) = merged(count(model, generate(shape, run.vectors, run.seed).operands) for run in runs)
    return counts


def page() -> str:
    """The text of the page."""
    rows = []
    for unit in sample_units():
        total = whole([default_counts(unit)])
        rows.append((unit.name, unit.operation.name, f"{total.bins:,}", f"{total.reachable:,}", f"{total.hit:,}"))
    return markdown.document(
        "Functional coverage",
        introduction(),
        markdown.table(("unit", "operation", "bins", "reachable", "hit"), rows, numbers=(2, 3, 4)),
    )


def introduction() -> str:
    """All of the page that needs no vectors."""
    argued = [(", ".join(each.operations), each.words, each.why) for each in ARGUED_ALONE]
    return INTRODUCTION.format(
        groups=markdown.table(("covergroups", "what they cross"), GROUPS),
        argued=markdown.table(("operation", "bins", "why no unit hits them"), argued),
    )


if __name__ == "__main__":
    write_atomically(Path(sys.argv[1]), page().encode())
