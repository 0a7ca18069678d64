"""The tables of papers 002 to 004 from the feature tests on the models, and 004's table of formats."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import golden
from golden.formats import FORMATS, Format
from mmau.probe.device_under_test import dut_of_instruction
from mmau.probe.papers import FASI, FTTN, KHATTAK, NO_ANSWER, Features, Paper, features
from studies.papers import published_values as papers
from studies.papers.cells import Cell, equal
from studies.papers.porting import porting
from studies.papers.published_values import FASI_CLAIMS, GPU_COLUMNS, KHATTAK_COLUMNS, REMARKS, TABLE_I, TABLE_III

FORMATS_004 = {"fp16": (11, 15, -14), "bf16": (8, 127, -126), "tf32": (11, 127, -126), "fp32": (24, 127, -126),
               "fp64": (53, 1023, -1022)}  # fmt: skip
"""Table 3 of paper 004: p, e_max and e_min; its last three rows follow, as 2^(1-p), 2^e_min and 2^(e_min-p+1)."""

SMALLEST_004 = {"fp16": (-10, -14, -24), "bf16": (-7, -126, -133), "tf32": (-10, -126, -136), "fp32": (-23, -126, -149),
                "fp64": (-52, -1022, -1074)}  # fmt: skip
"""The exponents of those rows: the distance of 1 to the next number, the smallest normal number, the smallest subnormal."""


@cache
def read(paper: Paper, instruction: papers.Named) -> Features:
    """A paper's tests on an instruction's model."""
    return features(paper, dut_of_instruction(golden.instruction(*instruction)))


def agrees(paper: str, model: str) -> bool:
    """Whether an answer is the paper's: the answer itself, or it in more words."""
    return (
        model == paper or model.startswith((f"{paper};", f"{paper}:", f"{paper},")) or (paper, model) == ("N.A.", NO_ANSWER)
    )


def fttn_values(row: papers.GpuRow) -> tuple[str, ...]:
    """The row of table III as the models have it."""
    found = read(FTTN, row.instruction)
    bits = found.answer("T_3_bits_fin_rnd").partition(",")[0]
    last = found.answer("T_prod") if row.half is None else read(FTTN, row.half).answer("T_rnd_dir")
    return (
        found.answer("T_si_no"), found.answer("T_ni_so"), bits, found.answer("T_rnd_dir"), found.answer("T_blk_fma_width"),
        found.answer("T_acc_order"), last,
    )  # fmt: skip


def same_cell(paper: str, model: str) -> bool:
    """Whether a cell of table III is the model's: "at least 2" includes 2 and 3; T_prod says nearest and nothing of ties."""
    if paper.startswith("≥") and model.removeprefix("≥ ").isdecimal():
        return int(model.removeprefix("≥ ")) >= int(paper.removeprefix("≥ "))
    return agrees(paper, model) or (paper, model) == ("RTN-TE", "RN")


def feature_cells() -> Iterator[Cell]:
    """Every cell of the three papers, derived from the models again."""
    for claim in FASI_CLAIMS:
        for device in claim.devices:
            model = read(FASI, device.instruction).answer(claim.test)
            where = f"004, {claim.source}, {device.name}, {device.mode}, {claim.test}"
            yield Cell(where, claim.answer, model, agrees(claim.answer, model))
    for row in TABLE_III:
        for column, paper, model in zip(GPU_COLUMNS, row.values, fttn_values(row), strict=True):
            reason = REMARKS.get((row.inputs, row.gpu, column), "")
            where = f"003, table III, {row.inputs} {row.gpu}, {column}"
            yield Cell(where, paper, model, same_cell(paper, model), reason)
    for gpu, (instruction, value) in papers.PORTING.items():
        result = porting(dut_of_instruction(golden.instruction(*instruction)))
        yield Cell(f"003, section V, {gpu}", f"{value:g}", f"{result:g}", result == value)
    for inputs, name, values, instruction in TABLE_I:
        for column, paper in zip(KHATTAK_COLUMNS, values, strict=True):
            model = read(KHATTAK, instruction).answer(column)
            yield Cell(f"002, table I, {inputs} {name}, {column}", paper, model, agrees(paper, model))
    mode, instruction = papers.BINARY16_OUT
    for column in ("RM-BFMA", "RM-MBFMA"):
        model = read(KHATTAK, instruction).answer(column)
        yield Cell(f"002, note of table I, {column}", mode, model, agrees(mode, model))
    for name, published in FORMATS_004.items():
        operand = FORMATS[name]
        yield equal(f"004, table 3, {name}", published, (operand.man_bits + 1, operand.e_max, operand.e_min))
        exponents = tuple(exponent_of(operand, code) for code in (None, 1 << operand.man_bits, 1))
        yield equal(f"004, table 3, {name}, smallest", SMALLEST_004[name], exponents)


def exponent_of(operand: Format, code: int | None) -> int:
    """The exponent of a code that is a power of two, counted without tf32's padding; None stands for the last place of 1."""
    if code is None:
        one = operand.encode(1)
        value = (operand.value(one + (1 << operand.pad_bits)) or 0) - 1
    else:
        value = Fraction(operand.value(code << operand.pad_bits) or 0)
    return value.numerator.bit_length() - value.denominator.bit_length()
