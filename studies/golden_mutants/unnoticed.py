"""Mutations of golden that a witness cannot notice, and why."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studies.golden_mutants.judge import NATIVE, RECORDED, SPECIFICATION, TWIN

ROWS = frozenset({RECORDED, TWIN, NATIVE})
"""Witnesses of results; the literals notice these changes of constants."""

ALL = ROWS | {SPECIFICATION}


@dataclass(frozen=True)
class Reason:
    """Why witnesses do not notice some mutations.

    Attributes:
        text: the reason. missing: the witnesses. patterns: regular expressions for the whole names of the mutations.
    """

    text: str
    missing: frozenset[str]
    patterns: tuple[str, ...]


REASONS: tuple[Reason, ...] = (
    Reason(
        "The literals alone notice it: no step reads the constant for such a format. A result is fp64, fp32, fp16, bf16 or "
        "int32; of the other formats a step reads the fields of a code",
        ROWS,
        (
            r"format\.Format\.(e_min|max_finite|infinity|nan|negative_zero): .*",
            r"formats\.UE4M3: `False` → `True`",
        ),
    ),
    Reason(
        "The literals alone notice it: a code of this unsigned integer is the number itself, whatever its width",
        ROWS,
        (r"formats\.(UINT4: `4` → `5`|B1: `1` → `2`)",),
    ),
    Reason(
        "The literals alone notice it: a tie goes up under RNA alone only from an even number, so that nothing is carried "
        "into the bits that are kept",
        ROWS,
        (r"conversion\.TWO_STEP_CONVERSIONS: `'RNE'` → `'RNA'`",),
    ),
    Reason(
        "The literals alone notice it: the exponent of a zero product counts in no exact sum, and that every product has a "
        "larger one is all that −999 is for",
        ROWS,
        (
            r"operations\.base\.Operation\.product_exp_min: .*",
            r"operations\.tr_fdpa\.NO_PRODUCT_EXP: .*",
        ),
    ),
    Reason(
        "The encoding of this NaN is unmeasured, and the second implementation takes any NaN for any other (numerics.md, "
        "section 3)",
        frozenset({TWIN}),
        (r"operations\.fma\.FMA\.written_nan: `if self\.nan == 'quiet'` → `if False`",),
    ),
    Reason(
        "No step encodes into a format without sign, subnormals or infinities; tests of `Format.encode` hold these "
        "rules (`tests/golden/arithmetic/test_encode.py`, `tests/golden/arithmetic/test_formats.py`)",
        ALL,
        (
            r"format\.Format\.encode_scaled: `(if )?negative and \(not self\.signed\)` → .*",
            r"format\.Format\.encode_scaled: `0` → `-?1` #2",
            r"format\.Format\.encode_scaled: `(if not self\.subnormals|not self\.subnormals|sig <|1 << self\.man_bits).*",
            r"format\.Format\.encode_scaled: `1` → `[02]` #[45]",
            r"format\.Format\.encode_scaled: `self\.e_min - self\.man_bits` → .*",
            r"format\.Format\._pack: `sig & hidden or not self\.subnormals` → .*",
            r"format\.Format\._pack: .*(field == 0|'fnuz').*",
            r"format\.Format\._pack: `0` → `-?1` #[34]",
            r"format\.Format\._overflow: .*",
            r"format\.Format\.signed_infinity: `if self\.infinity is None` → `if False`",
            r"specials\.quiet_nan: `if d\.nan is None` → `if False`",
        ),
    ),
    Reason(
        "No step leaves this argument out, so its default is not used",
        ALL,
        (
            r"conversion\.Conversion\.(encode|rounded): .*",
            r"format\.Format\.encode: `'RNE'` → `'RNA'`",
            r"format\.Format\.encode_scaled: `False` → `True`",
            r"format\.Format\.last_bit: `False` → `True`",
            r"integer_format\.IntegerFormat\.(encode_scaled|last_bit): `('infinity'|False)` → .*",
        ),
    ),
    Reason(
        "It checks keys or codes, which are right in a step, or chooses between a table and the function that fills it",
        ALL,
        (
            r"conversion\.check_conversion: .*",
            r"conversion\.conversion: `isinstance\(name, str\) and name in further` → .*",
            r"operations\.headroom_fdpa\.MAX_HEADROOM: .*",
            r"format\.Format\.decode: .*",
        ),
    ),
    Reason(
        "Only the order of the classes counts, not their numbers",
        ALL,
        (r"format\.Cls\.(ZERO|NAN): .*",),
    ),
    Reason(
        "Nothing reads it: the sign of a scale; the significand of an infinity or a NaN, whose class settles the result; "
        "the class of an integer, and the sign of an integer zero",
        ALL,
        (
            r"format\.Format\.negative_zero: `self\.signed and self\.specials != 'fnuz'` → `self\.specials != 'fnuz'`",
            r"format\.Format\._sign_bit: .*",
            r"format\.Format\._decode: `0` → `-?1` #2",
            r"integer_format\.IntegerFormat\._decode: .*",
        ),
    ),
    Reason(
        "Both give the same integer: no code is larger than the largest uint8; only int32 is clamped, from integers that "
        "are not shifted and have no fraction",
        ALL,
        (
            r"integer_format\.IntegerFormat\.(lowest|number): .*",
            r"integer_format\.IntegerFormat\.encode_scaled: `-exp` → `exp`",
            r"operations\.idpa\.IDPA\.narrowed: `'RZ'` → `'RD'`",
        ),
    ),
    Reason(
        "An exact sum does not depend on the exponent of a zero product, on the rounding of what loses no bit, or on "
        "smaller units; a sticky amount with the sign of its sum may be of any size below half",
        ALL,
        (
            r"operations\.flushed_fma\.FlushedFMA\.fma: .*",
            r"operations\.flushed_fma\.widened: `'RNE'` → `'RNA'`",
            r"operations\.idpa\.IDPA\.step: .*",
            r"operations\.tr_fdpa\.RoundedFDPA\.step: `1` → `2`",
            r"steps\.exact_sum: `'RZ'` → `'RD'`",
            r"steps\.add_sticky: `(2` → `3|1` → `2)`",
        ),
    ),
    Reason(
        "The exponent of a NaN is all ones, so that further bits there change nothing",
        ALL,
        (r"operations\.flushed_fma\.widened: `1.*",),
    ),
    Reason(
        "A list of one has the same element first and last",
        ALL,
        (
            r"operations\.fma\.FMA\.step: `0` → `-1`.*",
            r"operations\.ftz_addmul\.FTZAddMul\.step: `0` → `-1` #2",
            r"operations\.headroom_fdpa\.HeadroomFDPA\.decoded: `0` → `-1`",
        ),
    ),
    Reason(
        "The code 1 of fp32 is subnormal and is flushed to the +0 that stands there",
        ALL,
        (
            r"operations\.ftz_eo_fma\.FTZEOFMA\.step: `0` → `1`.*",
            r"operations\.ieee\.rounded_sum: `0` → `1` #2",
        ),
    ),
    Reason(
        "Without scales there are no codes to decode",
        ALL,
        (r"operations\.t_fdpa\.TruncatedFDPA\.step: `self\.decode\(self\.scale_format, scale_[ab]\) if .*",),
    ),
    Reason(
        "A c that is dropped lies so far below that one unit of its own is dropped too",
        ALL,
        (r"operations\.tr_fdpa\.RoundedFDPA\.step: `0` → `1`", r"operations\.ps_fdpa\.PSFDPA\.step: `0` → `1` #2"),
    ),
    Reason(
        "The bits of RDNA's payload from the quiet bit of fp16 or bf16 on are that bit, which is set already, or 0",
        ALL,
        (r"specials\.factor_nan: (`1` → `2`|`1` → `0` #2|`d\.man_bits - 1` → `d\.man_bits \+ 1`)",),
    ),
    Reason(
        "A zero has the format's smallest exponent and an infinity no significand, so that neither reaches 2^128",
        ALL,
        (r"operations\.tr_fdpa\.RoundedFDPA\.product_special: .*special is None and .*",),
    ),
    Reason(
        "A shift by nothing is exact on either way, and what leaves a remainder is not zero",
        ALL,
        (
            r"rounding\.shift_and_round: `(shift <= 0` → `shift < 0|0` → `-1|value < 0` → `value <= 0)`",
            r"rounding\.shift_and_round: `(0` → `1` #3|0` → `-1` #4|value > 0` → `value >= 0`)",
            r"rounding\.shift_and_round: `remainder > half` → `remainder >= half`",
            r"steps\.is_truncated: `(dropped > 0` → `dropped >= 0|0` → `-1)`",
            r"steps\.add_sticky: `(total < 0` → `total <= 0|0` → `1)`",
        ),
    ),
    Reason(
        "One NaN alone is what the set has to give",
        ALL,
        (r"specials\.combine: `len\(found\) > 1 or NAN in found` → `len\(found\) > 1`",),
    ),
    Reason(
        "Without `flush` no result is normalised below the smallest normal number",
        ALL,
        (
            r"format\.Format\.encode_scaled: `flush and lsb \+ self\.man_bits < self\.e_min` → "
            r"`lsb \+ self\.man_bits < self\.e_min`",
        ),
    ),
)  # fmt: skip


NO_STEP = (
    r".*\.(_validate|__post_init__|nan_is_fixed|_default)",
    r"conversion\.conversions_to",
    r"format\.(Format\.(_integer|_not_a_number_or|describe|encode|split|value)|power_of_two)",
    r"formats\.FORMATS",
    r"integer_format\.(integer|IntegerFormat\.(e_max|e_min|last_bit|negative_zero))",
    r"operations\.base\.(Operation\.(accumulating|parameters|scales_per_step|unit_keys)|check_.*|format_of)",
    r"operations\.fma\.FMA\.length",
)
"""Functions that no row enters, as regular expressions: they check keys, describe formats and units, or serve chains."""


def reason_of(name: str, missing: list[str]) -> Reason | None:
    """The reason why these witnesses do not notice a mutation; None if no reason is recorded."""
    for reason in REASONS:
        if set(missing) <= reason.missing and any(re.fullmatch(pattern, name) for pattern in reason.patterns):
            return reason
    return None


def problems(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Mutations that nobody notices and that have no reason, and reasons of mutations that somebody notices."""
    missing = {name: found["missing"] for result in results.values() for name, found in result["mutations"].items()}
    unexplained = [
        f"{name}: not noticed by {', '.join(silent)}"
        for name, silent in missing.items()
        if silent and reason_of(name, silent) is None
    ]
    idle = [
        f"no mutation that is not noticed needs {pattern}"
        for reason in REASONS
        for pattern in reason.patterns
        if not any(re.fullmatch(pattern, name) for name, silent in missing.items() if reason.missing & {*silent})
    ]
    return unexplained + idle + _not_entered(results)


def _not_entered(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Functions that no row enters and that are not known to be no part of a step."""
    places = [(module, place) for module, found in results.items() for place in found["not entered"]]
    names = [f"{module.removeprefix('golden.')}.{place}" for module, place in places]
    return [f"no row enters {name}" for name in names if not any(re.fullmatch(pattern, name) for pattern in NO_STEP)]
