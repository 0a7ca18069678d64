"""`python -m studies.picture docs/evidence/aligned-bits.svg`: one dot product in bits, on six units."""

import argparse
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np

import golden
from golden.arrays import bits_dtype
from golden.files import write_atomically

PRODUCTS = ((Fraction(-(2**13)), 2**10), (Fraction(-1, 2), 1), (Fraction(-1, 4), 1), (Fraction(-1, 8), 1))
C = 2**23
HIGHEST, LOWEST = 23, -3
"""Exponents of the first and the last column."""


class Row(NamedTuple):
    """A unit of the picture: its part, its instruction, and what it does with bits that do not fit."""

    part: str
    arch: str
    name: str
    does: str


UNITS = (
    Row("V100", "sm_70", "mma.m8n8k4.f32.f16.f16.f32", "keeps 23 fraction bits of each term"),
    Row("MI250X", "gfx90a", "v_mfma_f32_32x32x4bf16", "rounds the sum of each two products"),
    Row("A100", "sm_80", "mma.m16n8k16.f32.f16.f16.f32", "keeps 24 fraction bits"),
    Row("H100", "sm_90", "mma.m16n8k16.f32.f16.f16.f32", "keeps 25 fraction bits"),
    Row("MI100", "gfx908", "v_mfma_f32_32x32x8f16", "keeps all, rounds once: exact"),
    Row("RX 9070", "gfx1201", "v_wmma_f32_16x16x16_f16_w32", "rounds the last two down: −0.5"),
)

CELL, HEIGHT, LEFT, TOP = 17, 26, 88, 74
WIDTH = LEFT + CELL * (HIGHEST - LOWEST + 1) + 360

STYLE = """
svg { font: 14px system-ui, sans-serif; --paper: #ffffff; --ink: #1c2733; --soft: #6b7785; --line: #d4dae1;
  --kept: #0060b0; --cut: #c24a00; --band: #eef3f8; }
@media (prefers-color-scheme: dark) { svg { --paper: #10161d; --ink: #e6ebf0; --soft: #9aa7b4; --line: #37424d;
  --kept: #58b0f5; --cut: #ff9a52; --band: #1a232c; } }
.paper { fill: var(--paper); stroke: var(--line); } .band { fill: var(--band); } text { fill: var(--ink); }
.soft { fill: var(--soft); font-size: 12px; } .bit { text-anchor: middle; font-family: ui-monospace, monospace; }
.zero { fill: var(--line); } .kept { fill: var(--kept); } .on { fill: var(--paper); font-weight: bold; }
.cut { fill: none; stroke: var(--cut); stroke-width: 1.5; } .lost { fill: var(--cut); } .rule { stroke: var(--line); }
.number { text-anchor: end; font-family: ui-monospace, monospace; } .result { font-weight: bold; }
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.picture", description=__doc__)
    parser.add_argument("output", type=Path, help="the file")
    write_atomically(parser.parse_args().output, picture().encode())


def result(unit: Row, without: int | None = None) -> Fraction:
    """What a unit gives for the products and c, or for those but one."""
    instruction = golden.instruction(unit.arch, unit.name)
    a, b = np.zeros((2, instruction.k), bits_dtype(instruction.a))
    for k, (x, y) in enumerate(PRODUCTS):
        if k != without:
            a[k], b[k] = instruction.a.encode(x), instruction.b.encode(Fraction(y))
    return Fraction(float(instruction.dot(a, b, np.float32(C)).view(np.float32)))


def picture() -> str:
    """The text of the SVG."""
    lines = [*_header(), *_terms(), *_units()]
    height = TOP + HEIGHT * (len(PRODUCTS) + 1 + len(UNITS) + 2) + 20
    title = "Four products and c = 2^23 as rows of bits, and the results of six units"
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            f"<title>{title}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="paper" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
            *lines,
            "</svg>",
            "",
        ]
    )


def _x(exponent: int) -> int:
    return LEFT + CELL * (HIGHEST - exponent)


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(text)}</text>'


def _header() -> list[str]:
    what = "−2¹³·2¹⁰ − 0.5·1 − 0.25·1 − 0.125·1 + 2²³: one dot product, six results. Exactly it is −0.875."
    lines = [_text(18, 30, what)]
    lines += [
        _text(_x(e) + CELL / 2, TOP - 10, text, "bit soft")
        for e, text in ((23, "2²³"), (12, "2¹²"), (0, "2⁰"), (LOWEST, "2⁻³"))
    ]
    return lines


def _terms() -> list[str]:
    lines = []
    values = [x * y for x, y in PRODUCTS] + [Fraction(C)]
    for row, (value, label) in enumerate(zip(values, ["a₀·b₀", "a₁·b₁", "a₂·b₂", "a₃·b₃", "c"], strict=True)):
        y = TOP + HEIGHT * row
        lines.append(_text(18, y + 18, f"{label}  {'−' if value < 0 else '+'}"))
        lines += _bits(abs(value), y, "kept")
    y = TOP + HEIGHT * len(values) + 8
    lines.append(f'<line class="rule" x1="18" x2="{WIDTH - 18}" y1="{y}" y2="{y}"/>')
    after = _x(LOWEST) + CELL + 16
    lines.append(_text(after, TOP + 18, "all terms stand at the largest exponent, 23;", "soft"))
    lines.append(_text(after, TOP + HEIGHT + 18, "2²³ cancels, and what is left says which", "soft"))
    lines.append(_text(after, TOP + 2 * HEIGHT + 18, "of the last three bits a unit did not lose", "soft"))
    return lines


def _bits(value: Fraction, y: int, kind: str) -> list[str]:
    lines = []
    for exponent in range(HIGHEST, LOWEST - 1, -1):
        is_set = value == Fraction(2) ** exponent
        x = _x(exponent)
        if is_set:
            lines.append(f'<rect class="{kind}" x="{x}" y="{y + 3}" width="{CELL - 1}" height="{HEIGHT - 6}" rx="2"/>')
        lines.append(_text(x + CELL / 2 - 0.5, y + 18, "1" if is_set else "·", "bit on" if is_set else "bit zero"))
    return lines


def _units() -> list[str]:
    lines = []
    for row, unit in enumerate(UNITS):
        y = TOP + HEIGHT * (len(PRODUCTS) + 1 + row) + 20
        value = result(unit)
        lines.append(_text(18, y + 18, unit.part))
        if row % 2 == 0:
            lines.append(f'<rect class="band" x="{LEFT}" y="{y}" width="{_x(LOWEST) + CELL - LEFT}" height="{HEIGHT}"/>')
        for number, exponent in enumerate((-1, -2, -3), start=1):
            x, is_kept = _x(exponent), result(unit, without=number) != value
            shape = f'x="{x}" y="{y + 3}" width="{CELL - 1}" height="{HEIGHT - 6}" rx="2"'
            lines.append(f'<rect class="{"kept" if is_kept else "cut"}" {shape}/>')
            lines.append(_text(x + CELL / 2 - 0.5, y + 18, "1", "bit on" if is_kept else "bit lost"))
        shown = f"{float(value):g}".replace("-", "−")
        lines.append(_text(_x(LOWEST) + CELL + 84, y + 18, shown, "number result"))
        lines.append(_text(_x(LOWEST) + CELL + 100, y + 18, unit.does, "soft"))
    y = TOP + HEIGHT * (len(PRODUCTS) + 1 + len(UNITS)) + 20
    lines.append(
        _text(18, y + 24, "filled: the result depends on this bit; outlined: the result is the same without it", "soft")
    )
    return lines


if __name__ == "__main__":
    main()
