"""Recording of an operation's steps, and records of single parts of a step (terms, exact sums, roundings, specials), from
its arguments and its result.

The recording operation is an instance of a class derived from the model's, whose steps call the model's steps and append an
event. The arithmetic is the model's, and a model that is not recorded has no overhead.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import getattr_static
from typing import Any, NamedTuple

from golden.arithmetic import steps
from golden.arithmetic.format import Cls, Decoded, Format
from golden.arithmetic.rounding import Mode, shift_and_round
from golden.arithmetic.specials import NAN, addend_special
from golden.arithmetic.specials import Special as SpecialResult
from golden.operations import Operation
from golden.operations.structure import Addend, Element, Node, Partial, Product, Structure, Zero
from golden.trace.records import Exact, Part, Rounding, Special, Sum, Term

STEPS = (
    "decoded", "multiply", "combined", "raised", "scaled", "group_term", "addend", "max_exp", "align", "in_frame",
    "accumulate", "exact_sum", "group_sum", "truncate", "converted", "narrowed", "rounded_sum", "flushed_sum",
    "flushed_product", "flushed_add", "encode_special", "fma", "add", "step",
)  # fmt: skip
"""The recorded methods of operations; no operation has all of them. A step comes after the steps that it calls."""


class Event(NamedTuple):
    """An executed step.

    Attributes:
        step: its name, one of `STEPS`.
        arguments: its arguments, without `self`.
        result: its return value.
    """

    step: str
    arguments: tuple[Any, ...]
    result: Any


def watched(operation: Operation, events: list[Event]) -> Operation:
    """A copy of the operation that appends every step it executes to `events`."""
    cls = type(operation)
    steps = {name: _noting(name, getattr_static(cls, name), events) for name in STEPS if hasattr(cls, name)}
    return operation.with_steps(**steps)


def _noting(name: str, step: Any, events: list[Event]) -> Any:
    """The step, wrapped so that it appends an event for every call."""
    if isinstance(step, staticmethod):
        function: Callable[..., Any] = step.__func__

        def of_the_class(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            events.append(Event(name, (*arguments, *named.values()), result))
            return result

        return staticmethod(of_the_class)

    def of_an_operation(self: Operation, *arguments: Any, **named: Any) -> Any:
        result = step(self, *arguments, **named)
        events.append(Event(name, (*arguments, *named.values()), result))
        return result

    return of_an_operation


def reasons_of(
    pairs: Sequence[tuple[str, Decoded, Decoded]], c: Decoded | None, of_product: Callable[..., SpecialResult | None]
) -> list[tuple[str, SpecialResult]]:
    """The terms that are not finite, in words, and the result that they determine."""
    found = [(name, x, y, special) for name, x, y in pairs if (special := of_product(x, y)) is not None]
    reasons = [(_why(name, x, y, special), special) for name, x, y, special in found]
    return reasons if c is None else [*reasons, *reasons_of_term("c", c)]


def reasons_of_term(name: str, x: Decoded) -> list[tuple[str, SpecialResult]]:
    """A term that is one operand, where it is not finite, in words, and the result that it determines."""
    special = addend_special(x)
    return [] if special is None else [(f"{name} is {'NaN' if special == NAN else infinity_text(special)}", special)]


def _why(name: str, x: Decoded, y: Decoded, special: SpecialResult) -> str:
    if Cls.NAN in (x.cls, y.cls):
        return f"{name} has a NaN operand"
    if special == NAN:
        return f"{name} is 0·∞"
    if Cls.INFINITY in (x.cls, y.cls):
        return f"{name} is {infinity_text(special)}"
    return f"{name} is too large: it counts as {infinity_text(special)}"


def special_record(
    of: str, reasons: Sequence[tuple[str, SpecialResult]], special: SpecialResult, d: Format, code: int
) -> Special:
    """The reasons that decide: NaNs take precedence over infinities; infinities of both signs are named if they make it."""
    deciding = [text for text, reason in reasons if reason == special] or [text for text, _ in reasons]
    result = "NaN" if special == NAN else infinity_text(special)
    return Special(of=of, reasons=tuple(deciding), result=result, format=d, code=code)


def infinity_text(sign: SpecialResult) -> str:
    """An infinity of that sign."""
    return "−∞" if sign else "+∞"


def node_name(structure: Structure, node: Node, products: Sequence[int]) -> str:
    """What a trace calls a term of a sum.

    Args:
        products: the indices k of the step's products.
    """
    match node:
        case Product():
            return f"a[{products[node.k]}]·b[{products[node.k]}]"
        case Partial():
            leaves = structure.leaves[node.of]
            return structure.sums[node.of].total or f"products {products[leaves[0]]} … {products[leaves[-1]]}"
        case Zero():
            return "+0"
        case Element():
            return f"{node.operand}[{products[0]}]"
        case Addend():
            return "c"


def class_text(x: Decoded) -> str:
    """The class of an operand."""
    return x.cls.name.lower()


def exact_value(term: steps.Term) -> Exact:
    """A term's value."""
    return Exact(term.sig, term.exp - term.frac)


def term_record(name: str, classes: str, term: steps.Term, aligned: Exact, dropped: bool = False) -> Term:
    """A term before and after alignment."""
    exact = exact_value(term)
    lsb = min(exact.exp, aligned.exp)
    cut = (exact.sig << (exact.exp - lsb)) - (aligned.sig << (aligned.exp - lsb))
    return Term(
        name=name, cls=classes, sign=int(term.sig < 0), exp=term.exp, sig=abs(term.sig), frac=term.frac, exact=exact,
        aligned=aligned, cut=Exact(cut, lsb), dropped=dropped,
    )  # fmt: skip


def exact_sum_record(of: str, named: Sequence[tuple[str, str, steps.Term]], total: int, lsb: int) -> Sum:
    """The record of a sum without dropped bits: every term is exact in units of 2**lsb."""
    terms = [term_record(name, classes, term, Exact(steps.align(term, lsb, 0, "RZ"), lsb)) for name, classes, term in named]
    return Sum(of=of, exponent="", e=None, set_by=(), truncation="", terms=tuple(terms), total=Exact(total, lsb))


def rounding_record(
    total: int, lsb: int, rounded: Format, mode: Mode, d: Format, code: int, flush: bool = False
) -> Rounding:
    """The record of steps normalise, round and encode of a total, from their arguments and the resulting code."""
    last = rounded.last_bit(total, lsb, flush)
    sig = shift_and_round(total, last - lsb, mode)
    record = rounded_record("round", "total", Exact(total, lsb), last, mode, sig)
    carry = bool(abs(sig) >> (rounded.man_bits + 1))
    return replace(record, code=code, note=_note(d, code, record.rounded), format=d, carry=carry)


def _note(d: Format, code: int, rounded: Exact) -> str:
    """A note on the actions of encode beyond packing."""
    cls, largest = d.decode(code).cls, d.value(d.max_finite)
    assert largest is not None
    if cls is Cls.INFINITY:
        return "overflow: infinity"
    if abs(rounded.value) > largest:
        return "overflow: largest finite number"
    if cls is Cls.ZERO and rounded.sig:
        return "subnormal, flushed to zero"
    return "subnormal" if cls is Cls.SUBNORMAL else ""


def rounded_record(step: str, of: str, exact: Exact, last: int, mode: Mode, sig: int) -> Rounding:
    """The bits above and below the last retained bit."""
    magnitude, shift = abs(exact.sig), last - exact.exp
    kept = magnitude >> shift if shift > 0 else magnitude << -shift
    lost = magnitude & ((1 << shift) - 1) if shift > 0 else 0
    half = 1 << (shift - 1) if shift > 0 else 0
    direction = "exact" if not lost else "toward zero" if abs(sig) == kept else "away from zero"
    return Rounding(
        step=step, of=of, exact=exact, amount=0, mode=mode,
        e_norm=magnitude.bit_length() - 1 + exact.exp if magnitude else None,
        last=last if magnitude else None,
        kept=kept, guard=int(bool(lost & half)), sticky=int(bool(lost & (half - 1)) if shift > 0 else 0),
        tie=bool(lost) and lost == half, direction=direction, carry=False, rounded=Exact(sig, last), format=None, code=None,
        note="",
    )  # fmt: skip


class EventReader:
    """Reader of the events of one step, in order: the method `_STEP` of a subclass reads an event of that step."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[str, str]] = {}  # id of a term to its name and the classes of its factors
        self._parts: list[Part] = []

    def of(self, events: Sequence[Event]) -> list[Part]:
        """The parts of the step."""
        for event in events:
            read: Callable[..., None] | None = getattr(self, f"_{event.step}", None)
            if read is not None:
                read(event.result, *event.arguments)
        return self._parts

    def _term(self, known: steps.Term, term: steps.Term, aligned: Exact) -> Term:
        name, classes = self._names[id(known)]
        return term_record(name, classes, known, aligned, dropped=term.sig != known.sig)
