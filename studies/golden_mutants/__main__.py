"""Change every rule and constant of golden's reference one at a time, and see who notices on the boundary rows.

    python -m studies.golden_mutants TABLE.md STORE

The folder STORE records finished modules (`mmau.jobs`), so that an interrupted run of the same sources resumes. The exit
status is 1 if a mutation is noticed by fewer than it should be and `studies/golden_mutants/__main__.py` has no reason, or
has a reason for what is noticed.
"""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from golden.files import write_atomically
from mmau.jobs import Store, Task, program, run
from mmau.jobs.provenance import GOLDEN, digest_of_sources
from mmau.report import markdown
from studies.golden_mutants.boundary_rows import boundary_units
from studies.golden_mutants.judge import NATIVE, RECORDED, SPECIFICATION, TWIN, WITNESSES, Judge, reference_modules
from studies.golden_mutants.mutations import short

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
        (r"formats\.(UINT4|B1): .*",),
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
            r"conversion\.(_of_name|_word_of|check_rounding|conversion|rounding_to|spelled): .*",
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
            r"format\.Format\.sign_bit: .*",
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
            r"operations\.fma\.(MUL|ADD)\._(special|signs): `0` → `-1`.*",
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
        (r"operations\.t_fdpa\.TruncatedFDPA\.decoded_scales: `.*",),
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
        (r"operations\.tr_fdpa\.RoundedFDPA\.product_special: .*is None and .*",),
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
            r"format\.Format\.encode_scaled: `flush and \(lsb \+ self\.man_bits < self\.e_min or not sig\)` → "
            r"`lsb \+ self\.man_bits < self\.e_min or not sig`",
        ),
    ),
)  # fmt: skip


NO_STEP = (
    r".*\.(_validate|__post_init__|nan_is_fixed|_default)",
    r"conversion\.conversions_to",
    r"format\.(Format\.(_hash|_integer|_not_a_number_or|describe|encode|magnitude_mask|split|value)|power_of_two)",
    r"formats\.(FIELDS|FORMATS|_TABLE|fields_of|format_from_fields)",
    r"integer_format\.(integer|IntegerFormat\.(e_max|e_min|last_bit|negative_zero))",
    r"operations\.base\.(Operation\.(accumulating|parameters|scales_per_step|unit_keys)|check_.*|format_of)",
    r"operations\.fma\.FMA\.length",
    r"(flags|operations\.exact_sum\.(FLAG_KEYS|ExactSum\.(flags_of|_is_invalid|_quiet_nans))|format\.Format\.is_quiet).*",
)
"""What no row needs, as regular expressions: it checks keys, describes formats and units, serves chains, or raises flags,
which `tests/golden/operations/test_flags.py` compares with the second implementation."""


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
    names = [f"{short(module)}.{place}" for module, place in places]
    return [f"no row enters {name}" for name in names if not any(re.fullmatch(pattern, name) for pattern in NO_STEP)]


Results = Mapping[str, Mapping[str, Any]]
"""Module to the result of its task."""


def page(results: Results) -> str:
    """The text of the page, in Markdown."""
    judged = {module: result["mutations"] for module, result in results.items() if result["mutations"]}
    rows = [_row(short(module), mutations) for module, mutations in judged.items()]
    every = {name: found for result in results.values() for name, found in result["mutations"].items()}
    return markdown.document(
        "What notices a change of golden",
        introduction(),
        markdown.table(HEADER, [*rows, _row("all", every)], numbers=range(1, len(HEADER))),
        "## What is not noticed, and why",
        *_reasons(every),
        "## What no row enters",
        "These functions compute no step: they check keys, describe formats and units, or serve chains.",
        ", ".join(f"`{short(module)}.{place}`" for module, result in results.items()
                  for place in result["not entered"]) + ".",
    )  # fmt: skip


HEADER = ("module of golden", "mutations", *WITNESSES, "not noticed by all")


def introduction() -> str:
    """The paragraphs on how the run was made."""
    units = boundary_units()
    rows = sum(len(unit.rows) for unit in units)
    return f"""\
`make golden-mutants` writes this page. \
It changes golden's reference in one place at a time: a comparison, a constant, an operator, a
branch, a part of a condition, the default of a key. Each change is held to the {rows:,} boundary rows of {len(units)}
operations (`studies/golden_mutants/boundary_rows.json`), and these should notice it: the recorded results, the second
implementation on fractions (twin), the native engine, and the specification that proofs are made against, built while golden
is changed. What the specification imports from golden changes there too; such constants are held to literals
(`studies/golden_mutants/judge.py`), and where these notice a change, the specification is not asked. A mutant that cannot
be loaded, raises an error or does not end is noticed by all."""


def _row(module: str, mutations: Mapping[str, Any]) -> list[str]:
    counts = [sum(witness in found["noticed"] for found in mutations.values()) for witness in WITNESSES]
    return [
        module,
        *(f"{n:,}" for n in (len(mutations), *counts, sum(bool(found["missing"]) for found in mutations.values()))),
    ]


def _reasons(every: Mapping[str, Any]) -> list[str]:
    """A paragraph and a list for each reason."""
    parts = []
    for reason in REASONS:
        names = [name for name, found in every.items() if found["missing"] and reason_of(name, found["missing"]) is reason]
        parts += [f"**{reason.text}** ({len(names)})", markdown.bullets(names)]
    return parts


SOURCES = (
    *GOLDEN, "mmau/prove/specification/*.py", "studies/symbolic/model_copy.py", "studies/golden_mutants/judge.py",
    "studies/golden_mutants/mutations.py", "studies/golden_mutants/witnesses.py", "studies/golden_mutants/judge.py",
    "studies/golden_mutants/boundary_rows.py", "studies/golden_mutants/boundary_rows.json", "tests/twin/*.py",
)  # fmt: skip
"""The sources that decide which witnesses notice a mutation."""


@cache
def judge() -> Judge:
    """The judge on the recorded rows, one in each process."""
    return Judge(boundary_units())


def judged(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The work of one task: of every mutation of a module, who noticed it and who should have."""
    verdicts = {mutation.name: judge().verdict(mutation) for mutation in judge().judged(content["module"])}
    return {
        "mutations": {name: {"noticed": sorted(v.noticed), "missing": v.missing} for name, v in verdicts.items()},
        "not entered": judge().not_entered(content["module"]),
    }


def campaign(written: Path, store_folder: Path) -> int:
    """Judge what is not in the store yet, and write the table.

    Returns:
        Exit status: 1 where a module failed, or `problems` has any.
    """
    depends = {"sources": digest_of_sources(SOURCES)}
    tasks = [Task(module, {"module": module}, depends) for module in reference_modules()]
    with Store(store_folder, "mutants of golden") as store:
        records = run(tasks, judged, store, workers=1, retry=True, unit="modules")
    found = [f"{record.task.name}: {record.message}" for record in records if not record.done]
    results = {record.task.name: record.result for record in records if record.done}
    found += problems(results)
    for line in found:
        print(line)
    if not found:
        write_atomically(written, page(results).encode())
    return int(bool(found))


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge the mutations of every module, and return the exit status."""
    parser = argparse.ArgumentParser(prog="golden_mutants", description="Who notices a change of golden's reference.")
    parser.add_argument("table", type=Path, help="the file to write")
    parser.add_argument("store", type=Path, help="the folder of finished tasks")
    options = parser.parse_args(arguments)
    return program("golden_mutants", lambda: campaign(options.table, options.store))


if __name__ == "__main__":
    sys.exit(main())
