"""Microscaled dot products of RISC-V's draft of an integrated matrix extension: partial sums under pairs of E8M0 scales.

Source: riscv/riscv-isa-manual 0bd7e54b, src/unpriv/integrated-matrix.adoc, "Microscaling support" and `fp_scaled_gemm`. Both
scales are converted to C's format and multiplied there before they scale a partial sum. A unit with `[sums] scaled` has
this arithmetic where sums are rounded first; here it is of units without scales, whose sums may be exact (xct).
"""

from collections.abc import Sequence

import numpy as np

from golden.arithmetic.formats import UE8M0, Cls, Decoded, Format
from golden.arithmetic.rounding import Mode
from golden.arithmetic.steps import signed_sig
from golden.arrays import BitArray, bits_dtype
from golden.operations import ADD, EFDPA, MUL, Operation
from golden.stimulus import Operands, OperandShape
from golden.units.unit import Unit
from mmau.analysis.disclosure import reduction_of


def scaled_shape(unit: Unit, block: int) -> OperandShape:
    """The shape of operands of two blocks.

    Raises:
        ValueError: psm = 1, whose reduction of shortened groups the implementer defines, W = 1, or a C without infinities.
    """
    found, o = reduction_of(unit), unit.operation
    W = o.c.width // o.a.width
    if found.psm or W == 1 or o.c.infinity is None or o.scale_format is not None:
        raise ValueError(
            f"{unit.name}: microscaled vectors are of psm = 0, W from 2 on, a C with infinities, and of units without "
            f"scales of their own; got psm = {found.psm}, W = {W}, C {o.c}, scale = {o.scale_format}"
        )
    return OperandShape(a=o.a, b=o.b, c=o.c, d=o.d, K=2 * block, scale=UE8M0, block_size=block)


def scaled_dot(unit: Unit, rows: Operands, block: int) -> BitArray:
    """Compute d of every row.

    Args:
        unit: it gives formats, G · W, rnd and frm (`reduction_of`).
        rows: a, b [rows, K], c [rows], scale_a, scale_b [rows, K / block].
    """
    assert rows.scale_a is not None
    assert rows.scale_b is not None
    r, C = reduction_of(unit), unit.operation.d
    size, mode = min(r.products, block), r.mode  # groups end at blocks
    rho, of_sum = (f"{each}-{C.name.upper()}" for each in (mode, mode if r.rnd == "frm" else "RO"))
    partial = _unit(EFDPA(a=unit.a, b=unit.b, c=C, L=size, rho=of_sum, overflow="by-mode", zero="ieee"))
    times, plus = (_unit(kind(a=C, b=C, rho=rho, overflow="by-mode")) for kind in (MUL, ADD))
    nothing = np.full_like(rows.c, partial.operation.no_c)
    converted = np.array([scale_in(C, code) for code in range(UE8M0.codes)], bits_dtype(C))
    d = rows.c
    for start in range(0, rows.a.shape[1], size):
        n, group = start // block, slice(start, start + size)
        scale = times.dot(converted[rows.scale_a[:, n, None]], converted[rows.scale_b[:, n, None]])
        S = partial.dot(rows.a[:, group], rows.b[:, group], nothing)
        scaled = times.dot(scale[:, None], S[:, None])
        following = plus.dot(d[:, None], scaled[:, None])
        for row in range(len(d)) if r.rnd == "xct" else ():
            z, factor, whole = (C.decode(int(codes[row])) for codes in (d, scale, S))
            if z.cls in (Cls.INFINITY, Cls.NAN) or not factor.sig or not whole.sig:
                continue  # a sum that was rounded to odd says all that such operands ask
            x, y = (
                [of.decode(code) for code in codes[row, group].tolist()]
                for of, codes in ((unit.a, rows.a), (unit.b, rows.b))
            )
            following[row] = _rounded(C, _sum(C, z, factor, x, y, (unit.a.man_bits + unit.b.man_bits)), mode)
        d = following
    return d


def scale_in(C: Format, code: int) -> int:
    """An E8M0 scale in C's format: what is beyond its range is an infinity, what is below it is rounded to nearest even."""
    assert C.nan is not None
    return C.nan if code == UE8M0.nan else C.encode_scaled(1, UE8M0.decode(code).exp, "RNE")


def _unit(operation: Operation) -> Unit:
    return Unit(name="step", operation=operation)


def _sum(C: Format, z: Decoded, factor: Decoded, x: Sequence[Decoded], y: Sequence[Decoded], frac: int) -> tuple[int, int]:
    """z + factor · Σ x_k · y_k, exact: an integer, and the exponent of its lowest bit."""
    terms = [(signed_sig(z), z.exp - C.man_bits)]
    for p, q in zip(x, y, strict=True):
        sig = signed_sig(p) * signed_sig(q) * signed_sig(factor)
        terms.append((sig, p.exp + q.exp - frac + factor.exp - C.man_bits))
    lsb = min(exp for _, exp in terms)
    return sum(sig << exp - lsb for sig, exp in terms), lsb


def _rounded(C: Format, total: tuple[int, int], mode: Mode) -> int:
    """The code of a sum of terms that are not all zero: one that cancels is +0, in RD −0."""
    if not total[0]:
        return C.negative_zero if mode == "RD" else 0
    return C.encode_scaled(*total, mode, "by-mode")
