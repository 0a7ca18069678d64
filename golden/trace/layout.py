"""The contents of a trace as headings, tables and bit pictures, the source of its text and HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from golden.arithmetic.formats import FORMATS
from golden.trace.records import Exact, Narrowing, Operand, Part, Rounding, Scaling, Special, Step, Sum, Term

MAX_COLUMNS = 100
"""Largest width of a bit picture (bits before and after the binary point); a wider sum is shown as numbers only."""

CUT_BITS = 24
"""Largest number of dropped bits that are shown after the bar."""


@dataclass(frozen=True)
class Heading:
    """A heading: level 1 for the whole trace, 2 for a step, 3 for a part."""

    text: str
    level: int


@dataclass(frozen=True)
class Facts:
    """Lines with a term and its value each."""

    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """A table: a header and rows."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class BitRow:
    """A number as bits in common columns.

    Attributes:
        name, sign: of the term. bits: with a binary point, leading zeros as `·`. cut: the dropped bits, behind the bar.
        note: a remark, or empty.
    """

    name: str
    sign: str
    bits: str
    cut: str
    note: str


@dataclass(frozen=True)
class Picture:
    """Bit pictures of the aligned terms and of their total, one below the other."""

    rows: tuple[BitRow, ...]


Block = Heading | Facts | Table | Picture


def headline(model: str, operation: str, parameters: Mapping[str, str | int], chain: Mapping[str, str | bool]) -> Heading:
    """The heading of a trace: the model, the operation, its parameters, and the table [chain], where there is one."""
    keys, chained = (", ".join(f"{key}={value}" for key, value in table.items()) for table in (parameters, chain))
    return Heading(f"{model}: {operation} {keys}" + (f"; [chain] {chained}" if chained else ""), 1)


def step_blocks(step: Step) -> list[Block]:
    """The blocks of one step: its operands, its parts, its result."""
    blocks: list[Block] = [Heading(step.title, 2), _operands(step.operands)]
    for part in step.parts:
        blocks += _part_blocks(part)
    return [*blocks, Facts((("d", described(step.d)),))]


def described(operand: Operand) -> str:
    """Describe a code in one line: bits by field, class and value."""
    return FORMATS[operand.format].describe(operand.code)


def _operands(operands: Sequence[Operand]) -> Table:
    header = ("operand", "code", "bits", "class", "sign", "exp", "sig")
    rows = []
    for x in operands:
        fmt = FORMATS[x.format]
        code = f"{x.code:#0{2 + fmt.storage_bits // 4}x}"
        finite = x.cls not in ("infinity", "nan")
        parts = (_sign(x.sign), str(x.exp), f"{x.sig:#x}") if finite else (_sign(x.sign), "", "")
        rows.append((x.name, code, fmt.split(x.code), x.cls, *parts))
    return Table(header, tuple(rows))


def _part_blocks(part: Part) -> list[Block]:
    if isinstance(part, Sum):
        return _sum_blocks(part)
    if isinstance(part, Scaling):
        text = f"{part.before} × {part.alpha} × {part.beta} = {part.exact} at exp {part.exp}"
        return [Facts(((f"scale {part.name}", text),))]
    if isinstance(part, Narrowing):
        lost = f"; {part.rule}: {abs(part.beyond)} too {'large' if part.beyond > 0 else 'small'}" if part.beyond else ""
        return [Facts((("narrow", f"{part.total}{lost} → {FORMATS[part.format].describe(part.code)}"),))]
    if isinstance(part, Special):
        what = "specials" if part.of == "d" else f"specials, {part.of}"
        return [Facts(((what, f"{'; '.join(part.reasons)}: {part.result}, {part.format} {part.code:#x}"),))]
    return [Facts(tuple(_rounding_lines(part)))]


def _sum_blocks(part: Sum) -> list[Block]:
    blocks: list[Block] = [Heading(part.of, 3)]
    rows = [(t.name, _sign(t.sign), str(t.exp), f"{t.sig:#x}", str(t.frac), t.cls, str(t.exact)) for t in part.terms]
    blocks.append(Table(("term", "sign", "exp", "sig", "frac", "class", "exact value"), tuple(rows)))
    if part.e is not None:
        setter = ", ".join(part.set_by) if part.set_by else "the floor of terms without a significand"
        fraction = part.e - min(t.aligned.exp for t in part.terms)
        facts = [("max_exp", f"{part.exponent} = {part.e}, set by {setter}")]
        facts.append(("align", f"{fraction} fraction bits at {part.exponent}, {part.truncation}"))
        blocks.append(Facts(tuple(facts)))
    picture = _picture(part)
    if picture is not None:
        blocks.append(picture)
    else:
        lost = tuple((f"align {t.name}", f"cut {t.cut}") for t in part.terms if t.cut.sig)
        blocks.append(Facts((*lost, ("accumulate", f"total = {part.total}"))))
    return blocks


def _picture(part: Sum) -> Picture | None:
    """The aligned terms in common columns; None if they are too wide."""
    point = part.e if part.e is not None else max((_lead(t.exact) for t in part.terms if t.exact.sig), default=None)
    if point is None:
        return None
    lsb = part.total.exp
    numbers = [*(t.aligned for t in part.terms), part.total]
    top = max([point, *(_lead(number) for number in numbers if number.sig)])
    if top - lsb + 1 > MAX_COLUMNS:
        return None
    rows = [BitRow(t.name, _sign(_shown_sign(t)), _bits(t.aligned, top, lsb, point), _cut(t), _note(t)) for t in part.terms]
    total = BitRow("total", _sign(int(part.total.sig < 0)), _bits(part.total, top, lsb, point), "", f"= {part.total}")
    return Picture((*rows, total))


def _shown_sign(term: Term) -> int:
    """The sign of the aligned term; of the exact term if alignment dropped all of it."""
    return int(term.aligned.sig < 0) if term.aligned.sig else term.sign


def _lead(number: Exact) -> int:
    return abs(number.sig).bit_length() - 1 + number.exp


def _bits(number: Exact, top: int, lsb: int, point: int) -> str:
    """The bits of a magnitude in columns top … lsb (exponents), leading zeros included, the binary point after `point`."""
    shift = number.exp - lsb
    magnitude = abs(number.sig) << shift
    digits = f"{magnitude:0{top - lsb + 1}b}"
    lead = len(digits) - magnitude.bit_length()
    digits = "·" * lead + digits[lead:]
    if shift:
        digits = digits[: len(digits) - shift] + " " * shift
    return f"{digits[: top - point + 1]}.{digits[top - point + 1 :]}"


def _cut(term: Term) -> str:
    """The bits of the exact term below those of the aligned term."""
    lsb = term.aligned.exp
    if not term.cut.sig or term.exact.exp >= lsb:
        return ""
    below = lsb - term.exact.exp
    lost = abs(term.exact.sig) & ((1 << below) - 1)
    digits = f"{lost:0{below}b}".rstrip("0")
    return digits if len(digits) <= CUT_BITS else digits[: CUT_BITS - 1] + "…"


def _note(term: Term) -> str:
    if term.dropped:
        return f"too small to count: cut {term.cut}"
    if not term.cut.sig:
        return ""
    up = abs(term.aligned.value) > abs(term.exact.value)
    return f"cut {term.cut}" + (", away from zero" if up else "")


def _rounding_lines(part: Rounding) -> list[tuple[str, str]]:
    lines = []
    if part.amount:
        tiny = "positive" if part.amount > 0 else "negative"
        lines.append(("sticky", f"for what alignment cut off, an amount below every bit is added, {tiny}"))
    if part.e_norm is None or part.last is None:
        lines.append(("normalise", f"{part.of} is zero"))
    else:
        lines += [("normalise", f"leading one at 2^{part.e_norm}")]
        bits = f"kept {part.kept:b} in units of 2^{part.last}, guard {part.guard}, sticky {part.sticky}"
        tie = ", a tie" if part.tie else ""
        carry = ", carry into a new leading bit" if part.carry else ""
        name = part.step if part.step == "truncate" else f"round {part.of}" if part.of != "total" else "round"
        lines.append((name, f"{part.mode}: {bits}{tie}: {part.direction}{carry} → {part.rounded}"))
    if part.code is not None:
        note = f" ({part.note})" if part.note else ""
        lines.append(("encode", f"{FORMATS[part.format].describe(part.code)}{note}"))
    return lines


def _sign(sign: int) -> str:
    return "−" if sign else "+"
