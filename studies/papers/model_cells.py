"""Paper 000's tables from the catalogue: models, parameters, the results of one input, bounds of errors, risky designs."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache

import golden
from golden.conversion import CONVERSIONS
from golden.instruction import Instruction
from mmau.analysis.adverse_rows import stimulus_rows
from mmau.analysis.bound_search import shares
from mmau.analysis.error_bound import Bounded
from mmau.analysis.exact_value import Arithmetic
from mmau.probe.device_under_test import dut_of_instruction
from mmau.probe.papers.asker import Asker
from mmau.probe.papers.operand_values import Sum
from studies.analysis.bounds import flushed_fp16, paper_share
from studies.analysis.risks import PAPER_TABLE_10, found_for
from studies.papers.cells import Cell, equal
from studies.papers.published_models import TABLE_2, TABLE_4, TABLE_5, TABLE_6, TABLE_7, TABLE_8, TYPES_3, Row

EQUATION_10 = Sum(2**23, ((-(2**13), 2**10), (Fraction(-1, 2), 1), (Fraction(-1, 4), 1), (Fraction(-1, 8), 1)))

NVIDIA = ("sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120")

BOUND_ROWS = 40
"""Rows of the stimulus on which each model's bound of table 9 is tried."""


def model_cells() -> Iterator[Cell]:
    """Every cell of tables 2 to 10."""
    for rho, published in TABLE_2.items():
        conversion = CONVERSIONS[rho]
        to = conversion.rounding_format
        yield equal(f"000, table 2, {rho}", published, (conversion.mode, to.exp_bits, to.man_bits))
    for types, (formats, model) in TYPES_3.items():
        scaled = types.startswith("MX")
        found = [i for i in nvidia(formats, scaled) if not scaled or (i.k == 64) == (model == "GST-FDPA")]
        yield equal(f"000, table 3, {types}", model, listed(i.operation.name for i in found))
    for number, rows in ((4, TABLE_4), (5, TABLE_5)):
        for row in rows:
            yield from parameter_cells(number, row)
    yield from amd_cells()
    for (arch, operand), d in TABLE_8.items():
        yield equal(f"000, table 8, {arch} {operand}", d, " or ".join(map(str, equation_10(arch, operand))))
    yield from bound_cells()
    for line, whom, published_pairs in PAPER_TABLE_10:
        here = found_for(line)
        reason = ""
        if here - published_pairs == {("gfx942", "TF32")}:
            reason = "CDNA3's TF32 rounds down too, as the paper's section 6.2.4 says and its table does not"
        text = [", ".join(f"{arch} {types}" for arch, types in sorted(pairs)) for pairs in (published_pairs, here)]
        yield equal(f"000, table 10, {line}: {whom}", text[0], text[1], reason)


@cache
def nvidia(formats: tuple[str, ...], scaled: bool) -> list[Instruction]:
    """NVIDIA's entries of these formats of a and b; Turing's `mma.m8n8k4` is Volta's, and FP8 on an fp16 datapath is not in
    the paper."""
    return [
        i
        for arch in NVIDIA
        for i in golden.instructions(arch)
        if {i.a.name, i.b.name} <= set(formats) and (i.scale is not None) == scaled
        if i.fp16_order is None and not (arch == "sm_75" and "m8n8k4" in i.name)
    ]


def listed(values: Iterable[object]) -> str:
    """Different values, each once."""
    return " or ".join(dict.fromkeys(map(str, values)))


def parameter_cells(number: int, row: Row) -> Iterator[Cell]:
    """The cells of a row of table 4 or 5. L of an instruction is at most its k, so that L_max is the largest."""
    found = [
        i.operation
        for i in nvidia(row.inputs, scaled=row.operation != "T-FDPA")
        if (i.arch, i.operation.name, i.d.name) == (row.arch, row.operation, row.output)
    ]
    where = f"000, table {number}, {row.arch} {'/'.join(row.inputs)} → {row.output}, {row.operation}"
    yield equal(f"{where}: L", row.L, max(operation.length for operation in found))
    for key in ("F", "rho", *(("G",) if row.G is not None else ())):
        values = listed(operation.parameters()[key] for operation in found)
        yield equal(f"{where}: {key}", getattr(row, key), values)


def amd_cells() -> Iterator[Cell]:
    """Tables 6 and 7."""
    for arch, formats, suffix, model, parameter in TABLE_6:
        found = [i for i in golden.instructions(arch) if i.a.name in formats]
        if suffix:
            found = [i for i in found if i.name.endswith("_1k") == (suffix == "w/ _1k")]
        where = f"000, table 6, {arch} {'/'.join(formats)} {suffix}".rstrip()
        yield equal(where, model, listed(i.operation.name for i in found))
        if parameter is not None:
            key, value = parameter
            yield equal(f"{where}: {key}", value, max(int(str(i.operation.parameters()[key])) for i in found))
    for formats, L, F, F2, rho in TABLE_7:
        operations = [i.operation for i in golden.instructions("gfx942") if i.a.name in formats]
        where = f"000, table 7, {'/'.join(formats)}"
        yield equal(f"{where}: L", L, max(operation.length for operation in operations))
        for key, expected in (("F", F), ("F2", F2), ("rho", rho)):
            yield equal(f"{where}: {key}", expected, listed(operation.parameters()[key] for operation in operations))


def equation_10(arch: str, operand: str) -> list[float]:
    """The different results of equation 10 on an architecture's instructions of a format that take four products or more."""
    results: dict[float, None] = {}
    for i in golden.instructions(arch):
        if (i.a.name, i.b.name) != (operand, operand) or i.k < 4 or i.c.name == "fp16" or i.scale is not None:
            continue
        if i.fp16_order is not None or (arch == "sm_75" and "m8n8k4" in i.name):
            continue
        (d,) = Asker(dut_of_instruction(i)).ask(EQUATION_10)
        assert d is not None
        results[float(d)] = None
    return sorted(results)


def bound_cells() -> Iterator[Cell]:
    """Table 9: the bound of each model is tried on rows of all classes; that of flushed FP16 operands also on the row that
    breaks it as it is written."""
    for arch, name in (
        ("gfx90a", "v_mfma_f32_16x16x16f16"), ("sm_80", "mma.m8n8k4.f64.f64.f64.f64"), ("gfx908", "v_mfma_f32_16x16x16f16"),
        ("sm_80", "mma.m16n8k16.f32.f16.f16.f32"), ("sm_80", "mma.m16n8k16.f16.f16.f16.f16"),
        ("sm_120", "mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0"), ("gfx942", "v_mfma_f32_16x16x16_f16"),
    ):  # fmt: skip
        i = golden.instruction(arch, name)
        bounded = Bounded(Arithmetic.of_instruction(i))
        rows = [row for _, row in shares(bounded, stimulus_rows(bounded.arithmetic, BOUND_ROWS, 0))]
        largest = max(paper_share(bounded, row) for row in rows)
        where = f"000, table 9, {i.operation.name}, {arch} {name}, {len(rows)} rows"
        yield Cell(where, "error within the bound", "within" if largest <= 1 else f"{float(largest):g} of it", largest <= 1)
    d, exact = flushed_fp16()
    yield Cell(
        "000, table 9, FTZ-AddMul, input FTZ of FP16", "error at most 2^-14",
        f"error {exact - d} of a = 2^-15 times b = 2^15 on CDNA2", abs(exact - d) <= Fraction(1, 1 << 14),
        "read literally the bound is broken: it is that of the operand, whose error the other factor multiplies",
    )  # fmt: skip
