"""Conversions and their digests by their definition, number by number."""

import golden
from golden.arithmetic.rounding import Mode


def converted(number: int, to: str, mode: Mode, saturates: bool) -> int:
    """golden's code, in another format, of an fp32 number."""
    fp32, form = golden.FORMATS["fp32"], golden.FORMATS[to]
    sign, exp, sig, cls = fp32.decode(number)
    if cls is golden.Cls.NAN:
        return (1 << (form.width - 1)) - 1
    if cls is golden.Cls.INFINITY:
        return sign << (form.width - 1) | (form.max_finite if saturates else form.infinity or 0)
    if cls is golden.Cls.ZERO:
        return sign << (form.width - 1)
    return form.encode_scaled(-sig if sign else sig, exp - fp32.man_bits, mode, "saturate" if saturates else "by-mode")


def share(number: int, code: int) -> int:
    """A number's share in a digest, which is the sum of all shares modulo 2^64."""
    mask = (1 << 64) - 1
    x = ((code << 32 | number) + 0x9E3779B97F4A7C15) & mask
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & mask
    x = (x ^ x >> 27) * 0x94D049BB133111EB & mask
    return x ^ x >> 31
