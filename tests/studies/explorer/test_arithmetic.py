"""The explorer's arithmetic, in a browser, beside golden's reference."""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import golden
from golden.arithmetic.format import Cls
from golden.arithmetic.formats import FORMATS, INTEGERS, Format
from golden.engines.engine import Batch, run_reference
from golden.native.parameters import MODE_CODES
from golden.stimulus import OperandShape, generate
from golden.units.instruction import Instruction
from studies.explorer import catalogue
from tests.browser_page import BrowserPage

pytestmark = [pytest.mark.site, pytest.mark.needs("chromium")]

FEWEST = 10
"""Classes and corners of inputs of the poorest arithmetic, at least."""


def alike() -> list[list[Instruction]]:
    """The catalogue's entries, those together that compute the same from the same operands."""
    found: dict[Any, list[Instruction]] = {}
    for i in golden.instructions():
        found.setdefault((catalogue.program(i), i.k, i.a, i.b, i.c, i.d, i.scale, i.block_size), []).append(i)
    return list(found.values())


def rows_of(i: Instruction, most: int | None = None) -> tuple[list[dict[str, Any]], list[str]]:
    """Operands as hexadecimal words, directed ones and a row of each class and corner, or so many; and results."""
    stimulus = generate(OperandShape.of(i), count=4096, seed=7)
    picked = sorted({stimulus.label[n]: n for n in range(len(stimulus.label))}.values())
    chosen = picked if most is None else sorted(random.Random(i.name).sample(picked, min(most, len(picked))))
    operands = {name: each[chosen] for name, each in stimulus.operands._asdict().items() if each is not None}
    for row in () if i.a.name in INTEGERS else directed(i):
        added = {name: [row[name]] if name in row else each[:1] for name, each in operands.items()}
        operands = {name: np.concatenate([each, np.array(added[name], each.dtype)]) for name, each in operands.items()}
    d = run_reference(i.chain, Batch(**operands))
    given = [{name: words(each[n]) for name, each in operands.items()} for n in range(len(d))]
    return given, [f"{int(code):x}" for code in d]


def directed(i: Instruction) -> list[dict[str, Any]]:
    """Rows that no class has for certain: −0 in every product and c; a product and c whose sum is a subnormal of fp32."""
    tiny = Fraction(1, 2**63)
    return [
        {"a": [i.a.negative_zero or 0] * i.k, "b": [i.b.encode(1)] * i.k, "c": i.c.negative_zero or 0},
        {
            "a": [i.a.encode(tiny * 3 / 2)] + [0] * (i.k - 1),
            "b": [i.b.encode(tiny)] * i.k,
            "c": i.c.encode(-tiny * tiny),
        },
    ]


def words(codes: Any) -> Any:
    return [f"{int(code):x}" for code in codes] if codes.shape else f"{int(codes):x}"


RUN = """([numbers, rows]) => numbers.map((number, place) => {
  const entry = entries[number];
  const code = (word) => BigInt("0x" + word);
  return rows.map(({ a, b, c, scale_a = [], scale_b = [] }) => {
    const operands = { a: a.map(code), b: b.map(code), c: code(c), scale_a: scale_a.map(code), scale_b: scale_b.map(code) };
    if (!place) stepsOf(data, engine, entry, operands, "decimal");
    return engine.dot(entry, operands).toString(16);
  });
})"""
"""Results of entries, by their places in the catalogue, for the same rows; of the first also the steps are made."""


@pytest.mark.long
def test_every_entry_gives_what_the_reference_gives(opened: BrowserPage) -> None:
    """NaN, infinities, subnormals and zeros are among the rows."""
    place = {(i.arch, i.name): n for n, i in enumerate(golden.instructions())}
    asked, classes = 0, set()
    for group in alike():
        given, expected = rows_of(group[0])
        assert len(given) >= FEWEST
        got = opened.page.evaluate(RUN, [[place[i.arch, i.name] for i in group], given])
        for i, results in zip(group, got, strict=True):
            assert results == expected, f"{i.arch} {i.name}"
        asked += len(got)
        classes |= {group[0].d.decode(int(code, 16)).cls for code in expected}
    assert asked == len(golden.instructions())
    assert classes == set(Cls)


def test_some_arithmetics_give_what_the_reference_gives(opened: BrowserPage) -> None:
    """One of each operation and kind of program; the whole catalogue is a long test."""
    place = {(i.arch, i.name): n for n, i in enumerate(golden.instructions())}
    kinds = {(catalogue.program(i)[:3], i.operation.name): i for i in golden.instructions()}
    assert {program for program, _ in kinds} == {
        ("call", False, ""),
        ("call", True, ""),
        ("added", False, "0"),
        ("added", False, "-0"),
        ("added", True, "-0"),
        ("paired", False, "-0"),
        ("paired", True, "-0"),
    }
    assert {operation for _, operation in kinds} >= {
        "FMA",
        "T-FDPA",
        "TR-FDPA",
        "GTR-FDPA",
        "GST-FDPA",
        "FTZ-AddMul",
        "IDPA",
    }
    for i in kinds.values():
        given, expected = rows_of(i, 8)
        assert opened.page.evaluate(RUN, [[place[i.arch, i.name]], given]) == [expected]


@pytest.mark.attack("explorer")
@pytest.mark.parametrize(
    ("arch", "name", "change"),
    [
        ("armv9-sme", "fmops.za.s.s", "program[1] = false"),
        ("armv9-sme", "bfmops.za.s.h", "program[1] = false"),
        ("armv9-sme", "fmopa.za.s.h", "program[0] = 'call'"),
        ("armv9-sme", "fmopa.za.s.h", "program[2] = '0'"),
        ("armv9-sme", "fmops.za.s.h", "program[1] = false"),
        ("riscv-zvbdota", "vfwbdota.vv.bf16.k8", f"program[4][1][data.keys.indexOf('rho')] = {MODE_CODES['RNE']}"),
        ("aarch64", "bfdot", "program[4][1][data.keys.indexOf('flush_results')] = 0"),
    ],
)
def test_program_that_is_not_the_chain_s_is_noticed(opened: BrowserPage, arch: str, name: str, change: str) -> None:
    """Signs that stay, c in the first step, another zero to start from, another rounding, subnormals that stay."""
    i = golden.instruction(arch, name)
    number = golden.instructions().index(i)
    given, expected = rows_of(i)
    assert opened.page.evaluate(RUN, [[number], given]) == [expected]
    changed = "([number, change]) => new Function('program', change)(data.programs[entries[number].program])"
    opened.page.evaluate(changed, [number, change])
    assert opened.page.evaluate(RUN, [[number], given]) != [expected]


def test_every_entry_of_the_page_is_the_catalogue_s(opened: BrowserPage) -> None:
    """Names, shapes and formats, from the page's own data."""
    shown = opened.page.evaluate(
        "() => entries.map((e) => [data.architectures[e.arch][0], e.name, e.m, e.n, e.k, e.a, e.b, e.c, e.d])"
    )
    wanted = [[i.arch, i.name, i.m, i.n, i.k, i.a.name, i.b.name, i.c.name, i.d.name] for i in golden.instructions()]
    assert shown == wanted
    assert len(shown) > 5000


def codes_of(each: Format) -> Iterator[int]:
    """All codes of a narrow format; of a wide one the first and last ones, powers of two, and random ones."""
    if each.width <= 8:
        yield from range(each.codes)
        return
    draw = random.Random(each.name)
    yield from (*range(40), *range(each.codes - 40, each.codes), *(1 << n for n in range(each.width)))
    yield from (draw.randrange(each.codes) for _ in range(400))


@pytest.mark.parametrize("name", list(FORMATS))
def test_codes_are_decoded_as_golden_decodes_them(opened: BrowserPage, name: str) -> None:
    each, codes = FORMATS[name], list(codes_of(FORMATS[name]))
    read = """([name, codes]) => codes.map((code) => {
      const { sign, sig, exp, cls } = decode(data.formats[name], BigInt(code));
      return [sign, `${sig}`, exp, cls];
    })"""
    for code, (sign, sig, exp, cls) in zip(codes, opened.page.evaluate(read, [name, list(map(str, codes))]), strict=True):
        parts = each.decode(code)
        frac = 0 if name in INTEGERS else each.man_bits
        assert cls == parts.cls.name.lower(), hex(code)
        if parts.cls < Cls.INFINITY:
            assert (sign, int(sig) * Fraction(2) ** exp) == (parts.sign, parts.sig * Fraction(2) ** (parts.exp - frac)), hex(
                code
            )


@pytest.mark.parametrize("style", ["decimal", "hex float", "bits"])
def test_shown_numbers_are_read_back_as_the_same_codes(opened: BrowserPage, style: str) -> None:
    read = """([name, codes, style]) => codes.map((code) => { const format = data.formats[name];
      return `${parse(format, shown(format, BigInt(code), style)).code}`; })"""
    for name, each in FORMATS.items():
        codes = list(map(str, codes_of(each)))
        assert opened.page.evaluate(read, [name, codes, style]) == codes, name


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in INTEGERS])
def test_decimals_are_rounded_as_golden_rounds_them(opened: BrowserPage, name: str) -> None:
    """To nearest, ties to even, subnormals included; ties are halfway between neighbours."""
    each, draw = FORMATS[name], random.Random(name)
    values = [
        Fraction(draw.randrange(1, 10**6), 10 ** draw.randrange(0, 9)) * draw.choice((1, -1) if each.signed else (1,))
        for _ in range(60)
    ]
    smallest = Fraction(2) ** (each.e_min - each.man_bits)
    if each.subnormals and smallest > Fraction(1, 10**20):
        values += [smallest * Fraction(n, 2) for n in range(1, 12)]
    texts = [decimal(value) for value in values]
    read = """([name, texts]) => texts.map((text) => {
      try { return `${parse(data.formats[name], text).code}`; } catch { return null; }
    })"""
    for value, text, code in zip(values, texts, opened.page.evaluate(read, [name, texts]), strict=True):
        wanted = each.encode(value)
        beyond = abs(value) > largest(each) or (not each.subnormals and value < smallest)
        assert beyond if code is None else int(code) == wanted, text


def largest(each: Format) -> Fraction:
    parts = each.decode(each.max_finite)
    return parts.sig * Fraction(2) ** (parts.exp - each.man_bits)


def decimal(value: Fraction) -> str:
    """A fraction whose denominator divides a power of ten, in decimal."""
    places = next(n for n in range(200) if (value * 10**n).denominator == 1)
    digits = f"{abs(value * 10**places).numerator:0{places + 1}d}"
    return ("-" if value < 0 else "") + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("fp16", "1e9", "fp16 has no number of this size; write inf, nan or bits where you mean those"),
        ("fp16", "one", '"one" is no number: write 1.5, 1e-3, 0x1.8p3, inf, nan, or bits as 0x3c00'),
        ("fp16", "0x10000", "fp16 has 16 bits"),
        ("e4m3", "inf", "e4m3 has no infinity"),
        ("e2m1", "nan", "e2m1 has no NaN"),
        ("ue8m0", "0", "ue8m0 has no zero: its smallest number is 2^-127"),
        ("ue4m3", "-1", "ue4m3 has no sign"),
        ("int8", "128", "int8 holds -128 to 127"),
        ("int8", "0.5", "int8 takes whole numbers"),
    ],
)
def test_input_that_is_no_number_of_the_format_is_refused(opened: BrowserPage, name: str, text: str, message: str) -> None:
    read = (
        "([name, text]) => { try { parse(data.formats[name], text); return null; } catch (error) { return error.message; } }"
    )
    assert opened.page.evaluate(read, [name, text]) == message
