"""The trace of one dot product: the chain runs unchanged on an operation that records its steps (golden.trace.parts), and
the records are shown as text, HTML or JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate, islice
from typing import Any

from golden import html
from golden.arithmetic.format import Format
from golden.arithmetic.formats import FP32
from golden.arithmetic.specials import nvidia_nan
from golden.chains.chain import NVIDIA, PAIRED, Chain
from golden.chains.sum_chain import sum_of
from golden.html import Markup, element
from golden.text import table
from golden.trace.parts import Event, watched
from golden.trace.records import Exact, Narrowing, Operand, Part, Rounding, Scaling, Special, Step, Sum, Term
from golden.trace.step_records import addition_record, step_record

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
    return operand.format.describe(operand.code)


def _operands(operands: Sequence[Operand]) -> Table:
    header = ("operand", "code", "bits", "class", "sign", "exp", "sig")
    rows = []
    for x in operands:
        fmt = x.format
        code = f"{x.code:#0{2 + fmt.storage_bits // 4}x}"
        finite = x.cls not in ("infinity", "nan")
        parts = (_sign(x.sign), str(x.exp), f"{x.sig:#x}") if finite else (_sign(x.sign), "", "")
        rows.append((x.name, code, fmt.split(x.code), x.cls, *parts))
    return Table(header, tuple(rows))


def _part_blocks(part: Part) -> list[Block]:
    if isinstance(part, Sum):
        return _sum_blocks(part)
    if isinstance(part, Scaling):
        text = f"{' × '.join(map(str, (part.before, *part.scales)))} = {part.exact} at exp {part.exp}"
        return [Facts(((f"scale {part.name}", text),))]
    if isinstance(part, Narrowing):
        lost = f"; {part.rule}: {abs(part.beyond)} too {'large' if part.beyond > 0 else 'small'}" if part.beyond else ""
        return [Facts((("narrow", f"{part.total}{lost} → {part.format.describe(part.code)}"),))]
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
    if part.code is not None and part.format is not None:
        note = f" ({part.note})" if part.note else ""
        lines.append(("encode", f"{part.format.describe(part.code)}{note}"))
    return lines


def _sign(sign: int) -> str:
    return "−" if sign else "+"


def page(title: str, blocks: Sequence[Block]) -> str:
    """A complete page. The first block, a heading, is its title."""
    return html.page(title, body(blocks[1:]))


def body(blocks: Sequence[Block], below: int = 0) -> Markup:
    """The trace as a fragment for a page with `golden.html.STYLE`.

    Args:
        below: level of the page's heading above the fragment.
    """
    return element("section", *(_element(block, below) for block in blocks))


def _element(block: Block, below: int) -> Markup:
    match block:
        case Heading(words, level):
            return element(f"h{level + below}", words)
        case Facts(lines):
            rows = (element("tr", element("th", word, scope="row"), element("td", _code(what))) for word, what in lines)
            return html.wide(element("table", *rows), ", ".join(word for word, _ in lines))
        case Table(header, rows):
            return html.table(header, [(row[0], *map(_code, row[1:])) for row in rows], f"{header[0]}s")
        case Picture(rows):
            cells = [(row.name, row.sign, _drawn(row), row.note) for row in rows]
            return html.table(("aligned", "sign", "bits | cut off", ""), cells, "aligned terms, and their total")


def _code(text: str) -> Markup:
    return element("code", text)


def _drawn(row: BitRow) -> Markup:
    """A bit picture: leading zeros are pale, and the bits that alignment dropped follow a bar."""
    zeros = len(row.bits) - len(row.bits.lstrip("·."))
    shown = [element("span", row.bits[:zeros], class_="soft"), row.bits[zeros:]]
    cut = [element("span", f"|{row.cut}", class_="failed")] if row.cut else []
    return element("code", *shown, *cut, style="white-space: pre")


INDENT = "  "


def text(blocks: Sequence[Block]) -> str:
    """All blocks of a trace as lines of text."""
    return "\n".join(line for block in blocks for line in _lines(block)) + "\n"


def _lines(block: Block) -> list[str]:
    match block:
        case Heading(words, level):
            return [words] if level == 1 else ["", words] if level == 2 else ["", f"{INDENT}{words}"]
        case Facts(lines):
            return [f"{INDENT}{word:<12} {what}".rstrip() for word, what in lines]
        case Table(header, rows):
            return [f"{INDENT}{line}" for line in table([header, *rows]).splitlines()]
        case Picture(rows):
            cells = [(r.name, r.sign, f"{r.bits}|{r.cut}" if r.cut else r.bits, r.note) for r in rows]
            *terms, total = table(cells).splitlines()
            rule = "-" * max(map(len, (*terms, total)))
            return [f"{INDENT}{line}" for line in (*terms, rule, total)]


@dataclass(frozen=True, kw_only=True)
class Trace:
    """The computation of one dot product, step by step.

    Attributes:
        model: name of the unit or instruction. operation: name of the operation. parameters: its keys.
        order: the indices k in the order in which the steps take them.
        chain: the keys of the table [chain] that are not at their defaults.
        steps: the steps of the chain, and the additions after them, such as that of c.
        d: the result's code. format: the result's format.
    """

    model: str
    operation: str
    parameters: dict[str, str | int]
    order: tuple[int, ...]
    steps: tuple[Step, ...]
    d: int
    format: Format
    chain: Mapping[str, str | bool] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The trace as values for JSON: exact numbers as {"sig", "exp"}, sig · 2**exp; `part` names the kind of a part."""
        return {
            "model": self.model,
            "operation": self.operation,
            "parameters": self.parameters,
            **({"chain": dict(self.chain)} if self.chain else {}),
            "order": list(self.order),
            "steps": [_step_table(step) for step in self.steps],
            "d": self.d,
            "format": self.format.name,
        }

    def blocks(self) -> list[Block]:
        """The contents of the text and of the HTML."""
        head = headline(self.model, self.operation, self.parameters, self.chain)
        return [head, *(block for step in self.steps for block in step_blocks(step))]

    def text(self) -> str:
        """The trace as text: tables, and bit pictures of the aligned terms."""
        return text(self.blocks())

    def html(self) -> str:
        """The trace as a self-contained HTML page."""
        blocks = self.blocks()
        return page(blocks[0].text if isinstance(blocks[0], Heading) else self.model, blocks)

    def html_body(self, below: int = 0) -> Markup:
        """The trace as an HTML fragment for a page with `golden.html.STYLE`.

        Args:
            below: level of the page's heading above the fragment.
        """
        return body(self.blocks(), below)

    def __str__(self) -> str:
        return self.text()


def _named(value: Any) -> Any:
    """Values for JSON, with the name of each format in place of its fields."""
    if isinstance(value, (list, tuple)):
        return type(value)(_named(each) for each in value)
    if not isinstance(value, dict):
        return value
    return {key: (each["name"] if each else "") if key == "format" else _named(each) for key, each in value.items()}


def _step_table(step: Step) -> dict[str, Any]:
    parts = [{"part": type(part).__name__.lower(), **_plain(asdict(part), part)} for part in step.parts]
    table: dict[str, Any] = _named({**asdict(step), "parts": parts})
    return table


def _plain(table: dict[str, Any], part: Any) -> dict[str, Any]:
    """The fields of a record, with every `Exact` as a table."""
    return {key: _value(getattr(part, key), value) for key, value in table.items()}


def _value(field: Any, value: Any) -> Any:
    if isinstance(field, Exact):
        return field._asdict()
    if isinstance(field, tuple) and field and not isinstance(field[0], str):
        return [_plain(inner, record) for inner, record in zip(value, field, strict=True)]
    return list(field) if isinstance(field, tuple) else value


def sum_trace(
    model: str,
    chain: Chain,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    scale_a: Sequence[int],
    scale_b: Sequence[int],
) -> Trace:
    """The trace of one dot product."""
    steps: list[Step] = []
    assert chain.sums is not None

    def watch(what: str, terms: Sequence[float], d: float) -> None:
        code = FP32.encode(d) if d - d == 0 else FP32.nan if d != d else FP32.signed_infinity(int(d < 0))
        assert code is not None
        shown = [repr(term) for term in terms]
        added = " + ".join(shown if len(shown) <= 4 else [*shown[:2], "…", shown[-1]])
        title = f"{what}: {added} = {d!r}"
        steps.append(Step(title=title, products=(), operands=(), parts=(), d=Operand.of("d", code, FP32)))

    d = sum_of(chain.operation, chain.sums, a, b, c, scale_a, scale_b, watch)
    o = chain.operation
    steps.append(Step(title=f"the sum in {o.d}", products=(), operands=(), parts=(), d=Operand.of("d", d, o.d)))
    return Trace(
        model=model,
        operation="sums",
        parameters=chain.sums.as_table(),
        order=tuple(range(len(a))),
        steps=tuple(steps),
        d=d,
        format=o.d,
    )


def trace_of(
    model: str,
    chain: Chain,
    a: Sequence[int],
    b: Sequence[int],
    c: int,
    scale_a: Sequence[int] = (),
    scale_b: Sequence[int] = (),
) -> Trace:
    """Trace the steps of one dot product, from bit patterns.

    Args:
        model: name of the unit or instruction.
    """
    if chain.sums is not None:
        return sum_trace(model, chain, a, b, c, scale_a, scale_b)
    events: list[Event] = []
    d = replace(chain, operation=watched(chain.operation, events))(a, b, c, scale_a, scale_b)
    K, L = len(a), chain.operation.length
    order = chain.order_over(K)
    steps = _steps(chain, order, L, events)
    steps += _additions(chain, steps, c, K)
    return Trace(
        model=model,
        operation=chain.operation.name,
        parameters=chain.operation.parameters(),
        order=tuple(order),
        steps=tuple(steps),
        d=d,
        format=chain.operation.d,
        chain={} if chain.order == PAIRED or chain.addition == NVIDIA else chain.table.changed(),
    )


def _additions(chain: Chain, steps: Sequence[Step], c: int, K: int) -> list[Step]:
    """Records of the additions after the steps, from left to right."""
    parts, records, titles = len(chain.parts(K, 0, 0)), list[Step](), _titles(chain, K)
    ends = [step.d.code for step in steps[len(steps) // parts - 1 :: len(steps) // parts]]

    def added(x: int, y: int) -> int:
        d, output, title = chain.added(x, y), chain.operation.d, next(titles)
        if chain.addition == NVIDIA:
            records.append(addition_record(title, x, y, output, d, nvidia_nan(output)))
        else:
            events: list[Event] = []
            watched(chain.adder, events).step([x], [output.encode(1)], y)
            records.append(step_record(chain.adder, f"{title}, as a[0]·1 + c", [0], events))
        return d

    chain.summed(ends, c, added)
    return records


def _titles(chain: Chain, K: int) -> Iterator[str]:
    if chain.addition == NVIDIA:
        yield f"c added at the end, RNE in {chain.operation.d}"
    elif chain.order == PAIRED:
        for k in range(0, K, 2):
            yield f"products {k} and {k + 1} added"
            yield f"{f'd of products 0 … {k - 1}' if k else 'c'} and their sum added"
    else:
        halves = ["the sum over even k", "the sum over odd k"]
        names = [*(halves if chain.order == "even-and-odd" else ["the sum of the products"]), "c"]
        yield from islice(accumulate(names, "{} + {}".format), 1, None)


def _steps(chain: Chain, order: Sequence[int], L: int, events: Sequence[Event]) -> list[Step]:
    """One record for each step, whose events end with the step itself."""
    count = len(order) // L
    steps, begin, operation = [], 0, chain.operation
    for number in range(count):
        end = next(place for place in range(begin, len(events)) if events[place].step == "step") + 1
        products = order[number * L : (number + 1) * L]
        title = f"step {number + 1} of {count}: {_range(products)}"
        steps.append(step_record(operation, title, products, events[begin:end]))
        begin = end
        if number + 1 < count:
            operation = operation.accumulating()
    return steps


def _range(products: Sequence[int]) -> str:
    if len(products) == 1:
        return f"product {products[0]}"
    if list(products) == list(range(products[0], products[0] + len(products))):
        return f"products {products[0]} … {products[-1]}"
    return "products " + ", ".join(map(str, products))
