"""The page of the papers' values beside the models', docs/evidence/papers.md.

    python -m studies.papers docs/evidence/papers.md
    python -m studies.papers --check

The second form derives every cell of all five papers' tables again, and ends with 1 where one is not the paper's and has no
reason.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import golden
from golden.files import write_atomically
from mmau.probe.device_under_test import dut_of_instruction
from mmau.probe.papers import FASI, KHATTAK, Features, features
from mmau.report import markdown
from studies.papers import published_values as papers
from studies.papers.cells import Cell, checked
from studies.papers.feature_cells import agrees, feature_cells, fttn_values, read, same_cell
from studies.papers.microbenchmark_cells import microbenchmark_cells
from studies.papers.model_cells import model_cells
from studies.papers.porting import porting
from studies.papers.published_values import (
    FASI_CLAIMS,
    FASI_DEVICES,
    GPU_COLUMNS,
    KHATTAK_COLUMNS,
    REMARKS,
    TABLE_I,
    TABLE_III,
)

INTRODUCTION = """\
Three papers find out with a few handcrafted vectors what a matrix unit does ([sources](../numerics.md#sources)). Their tests
are named tests here, by the papers' names, for any
device under test ([probing.md](../guides/probing.md#a-device-under-test)) and any format. One
command runs them all on several devices, side by side, about 30 to 300 vectors each, and shows what each vector was:

```sh
mmau probe --features sm_70:mma.m8n8k4.f32.f16.f16.f32 sm_90:wgmma.m64n8k16.f32.f16.f16
mmau probe --features examples/units/vortex-tfr.toml --html build/features.html
mmau probe --features --arch gfx90a --instr v_mfma_f32_16x16x16f16 --json
```

`--dut`, `--rtl` and `--device` add a device under test, as for the probe itself: Verilog in simulation, or an instruction
of this machine.

The tests know formats and lengths alone. p, the bits of a result, is measured (14 for FP8 on Ada, whose results are cut to
13 bits after the leading one), and so is n, the number of extra bits, by which section 3.2 of Fasi et al. adapts their
constants. All operands of a test are multiplied by the smallest power of two with which the formats hold them. — says that
a test does not apply; the command says why. `make papers` writes this page: the papers' values beside those of the models
of this project, which are not silicon."""

LIMITS = """\
- Fasi's second test of exact products, for binary16 results, does not tell products that are rounded to binary16 from exact
  ones where the result is rounded to nearest; it does where results are truncated.
- n_eab, n_ecb and N_FMA assume that c is aligned together with the products. CDNA2, CDNA3, AMX and the FP8 `mma.sync` of
  Hopper add it later: there these three say what the products do among themselves. Fasi's test of the order shows it: 1
  swallows small products unless it is c.
- FTTN's T_blk_fma_width reads 1 on CDNA2, Khattak's N_FMA its pairs or fours: each of its sums is rounded, and the first
  test has 1 among the products, the second sums that are exact.
- I.Norm's vectors need sums that are longer than a result inside the unit. FTZ-AddMul (CDNA2) and FTZ-EO-FMA (AMX) add the
  products first, which fit into one, and normalise after each addition. Where the paper's vectors read no, 1 and twice half
  of its last bit are asked among the products too; that reads yes for these two, and for the FP8 `mma.sync` of Hopper, whose
  two steps round in between, though N_FMA counts one block.
- n_eab lies below N_FMA, n_ecb follows from N_FMA: ≥ says that the test ended there.
- c of `mma.m8n8k4.f32.f16.f16.f16` is binary16 and does not hold the operands of algorithm 1.
- The figures of FTTN are lost from its text: T_3_bits_fin_rnd, T_blk_fma_width and T_acc_order are built from its prose."""


def page() -> str:
    """The whole page; the table of the catalogue takes most of the time."""
    table = catalogue_table(golden.instructions())
    rest = markdown.paragraphs("## The catalogue", CATALOGUE, table, "## What the tests cannot see", LIMITS)
    return f"{head()}\n{rest}\n"


def head() -> str:
    """All of the page that does not take the catalogue."""
    parts = (fasi_part(), fttn_part(), porting_part(), khattak_part())
    return markdown.document("The papers' own tests", INTRODUCTION, *parts)


def fasi_part() -> str:
    """Findings of Fasi et al."""
    claims = {(claim.test, device): claim for claim in FASI_CLAIMS for device in claim.devices}
    header = ("test", *(f"{device.name}, {device.mode}" for device in FASI_DEVICES))
    rows = []
    for test in FASI.tests:
        cells = []
        for device in FASI_DEVICES:
            claim, model = claims.get((test.name, device)), read(FASI, device.instruction).answer(test.name)
            cells.append(f"({model})" if claim is None else beside(f"{claim.answer} [{claim.source}]", model, claim.answer))
        rows.append((test.name, *cells))
    text = (
        "In a cell: what the paper found, [its section], and = where the model answers the same, else the model's answer. "
        "In parentheses: the model's answer alone, where the paper says nothing of that device."
    )
    return markdown.paragraphs("## Fasi, Higham, Mikaitis, Pranesh (paper 004)", text, markdown.table(header, rows))


def beside(shown: str, model: str, paper: str) -> str:
    """A paper's value beside the model's."""
    return f"{shown} =" if agrees(paper, model) else f"{shown}, model: **{model}**"


def differences() -> dict[tuple[str, str, str], tuple[str, str]]:
    """Cells of table III in which the model is not the paper: by inputs, GPU and column, both values."""
    return {
        (row.inputs, row.gpu, column): (paper, model)
        for row in TABLE_III
        for column, paper, model in zip(GPU_COLUMNS, row.values, fttn_values(row), strict=True)
        if not same_cell(paper, model)
    }


def fttn_part() -> str:
    """Table III, and which evidence wins where model and table disagree."""
    header = ("inputs", "GPU", *GPU_COLUMNS)
    rows = [
        (row.inputs, row.gpu, *(paper + (" =" if same_cell(paper, model) else f", model: **{model}**")
         for paper, model in zip(row.values, fttn_values(row), strict=True)))
        for row in TABLE_III
    ]  # fmt: skip
    text = (
        "Table III, its cells beside the models' as above. Its first two columns are T_si_no and T_ni_so here. "
        "NVIDIA's models are those of `wmma`. On H100 the authors tested for more than two extra bits, and made no tests of "
        "the width (footnote 12); the 4 of its tf32 is `wmma`'s all the same, which the compiler makes of two "
        "`mma.m16n8k4`: `mma.m16n8k8` is one step of eight there."
    )
    remarks = markdown.bullets(
        f"{inputs} {gpu}, {column}: {REMARKS[inputs, gpu, column]}." for inputs, gpu, column in differences()
    )
    return markdown.paragraphs("## FTTN (paper 003)", text, markdown.table(header, rows), "Where they differ:", remarks)


def porting_part() -> str:
    """The porting example."""
    text = (
        "Section V: one product of matrices that comes out differently. Its matrices are not public; this is a "
        "reconstruction. K = 16, binary16 a = 2^-24 three times, zeros, −1 last; b = 0.5 three times, zeros, 1 last; c = 1; "
        "the result times 65504·32768, rounded to binary16."
    )
    rows = [
        (gpu, instruction[1], f"{paper:g}", f"{porting(dut_of_instruction(golden.instruction(*instruction))):g}")
        for gpu, (instruction, paper) in papers.PORTING.items()
    ]
    return markdown.paragraphs(
        "### The porting example", text, markdown.table(("GPU", "instruction", "paper", "model"), rows)
    )


def khattak_part() -> str:
    """Table I."""
    rows = [
        (inputs, device, *(beside(paper, read(KHATTAK, instruction).answer(column), paper)
         for column, paper in zip(KHATTAK_COLUMNS, values, strict=True)))
        for inputs, device, values, instruction in TABLE_I
    ]  # fmt: skip
    mode, instruction = papers.BINARY16_OUT
    found = read(KHATTAK, instruction)
    out = [beside(mode, found.answer(column), mode) for column in ("RM-BFMA", "RM-MBFMA")]
    text = (
        'Table I: consumer GPUs, whose models are those of sm_80 and sm_89; RZ is the paper\'s "truncate". Order of blocks: '
        f"section IV-D. For binary16 results (the table's note): RM-BFMA {out[0]}, RM-MBFMA {out[1]}."
    )
    header = ("input", "device", *KHATTAK_COLUMNS)
    return markdown.paragraphs("## Khattak and Mikaitis (paper 002)", text, markdown.table(header, rows))


CATALOGUE = """Table I on every floating-point entry of the catalogue. Entries with the same answers share a row; "alignment"
is section III-B's test of intermediate rounding. Instructions on integers are exact, and no test applies."""

CATALOGUE_COLUMNS = (*KHATTAK_COLUMNS[:3], "alignment", *KHATTAK_COLUMNS[3:])


def catalogue_table(entries: Iterable[golden.Instruction]) -> str:
    """A row for all entries of an architecture with the same operation, c, d and answers."""
    answers: dict[tuple[object, int], Features] = {}
    grouped: dict[tuple[str, ...], list[golden.Instruction]] = {}
    for entry in entries:
        if entry.operation.name == "IDPA":
            continue
        key = (entry.chain, entry.k)
        if key not in answers:
            answers[key] = features(KHATTAK, dut_of_instruction(entry))
        cells = tuple(answers[key].answer(column) for column in CATALOGUE_COLUMNS)
        chained = "" if entry.fp16_order is None else ", as fp16"
        group = (entry.arch, entry.operation.name + chained, f"{entry.c} → {entry.d}", *cells)
        grouped.setdefault(group, []).append(entry)
    rows = [
        (
            *group[:2],
            _pairs(found),
            group[2],
            _lengths(found),
            str(len(found)),
            *group[3:],
        )
        for group, found in grouped.items()
    ]
    return markdown.table(("architecture", "operation", "a×b", "c → d", "K", "entries", *CATALOGUE_COLUMNS), rows)


def _pairs(entries: Sequence[golden.Instruction]) -> str:
    return ", ".join(dict.fromkeys(f"{entry.a}×{entry.b}" for entry in entries))


def _lengths(entries: Sequence[golden.Instruction]) -> str:
    return ", ".join(map(str, sorted({entry.k for entry in entries})))


def cells() -> Iterator[Cell]:
    """Every cell of the papers' tables that follows from this project, or from another cell."""
    return chain(model_cells(), microbenchmark_cells(), feature_cells())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m studies.papers docs/evidence/papers.md, or --check")
    if sys.argv[1] == "--check":
        sys.exit(checked(cells()))
    write_atomically(Path(sys.argv[1]), page().encode())
