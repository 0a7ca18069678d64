"""The parts of a step that is a sequence of multiply-adds and additions, each rounded (FTZ-FMA, FTZ-EO-FMA)."""

from collections.abc import Sequence

from golden.arithmetic import steps
from golden.arithmetic.formats import FP32, Cls, Decoded
from golden.arithmetic.specials import NAN, addend_special, product_special
from golden.arithmetic.specials import Special as SpecialResult
from golden.operations.structure import Structure
from golden.trace.parts import (
    class_text,
    exact_sum_record,
    infinity_text,
    node_name,
    reasons_of,
    rounding_record,
    special_record,
)
from golden.trace.records import Part
from golden.trace.watch import Event


class MultiplyAddParts:
    """Reads the events of one step in order and returns its parts."""

    def __init__(self, structure: Structure, products: Sequence[int]) -> None:
        sums = [[node_name(structure, node, products) for node in each.nodes] for each in structure.sums]
        self._names = iter([(first, second) for first, second in sums])
        self._parts: list[Part] = []
        self._classes: list[str] = []
        self._sum: tuple[int, Sequence[steps.Term]] | None = None

    def of(self, events: Sequence[Event]) -> list[Part]:
        """The parts of the step."""
        for event in events:
            match event.step:
                case "multiply":
                    self._classes.append("·".join(class_text(x) for x in event.arguments[:2]))
                case "addend":
                    self._classes.append(class_text(event.arguments[0]))
                case "flushed_sum":
                    self._sum = event.result, event.arguments[0]
                case "fma" | "add":
                    self._operation(event)
        return self._parts

    def _operation(self, event: Event) -> None:
        """Record one multiply-add or addition, from the events noted since the last one."""
        names = next(self._names)
        of = " + ".join(names)
        if self._sum is None:
            self._parts.append(special_record(of, *_reasons(names, event.arguments), FP32, event.result))
        else:
            code, terms = self._sum
            named = list(zip(names, self._classes, terms, strict=True))
            total, lsb = steps.exact_sum(terms)
            self._parts.append(exact_sum_record(of, named, total, lsb))
            self._parts.append(rounding_record(total, lsb, FP32, "RNE", FP32, code, flush=True))
        self._sum, self._classes = None, []


def _reasons(names: tuple[str, str], codes: Sequence[int]) -> tuple[list[tuple[str, SpecialResult]], SpecialResult]:
    """The operands that determine a special result, and that result."""
    *factors, z = (steps.flushed(FP32.decode(code)) for code in codes)
    reasons = reasons_of([(names[0], factors[0], factors[1])], None, product_special) if len(factors) == 2 else []
    addends = [(names[1], z)] if len(factors) == 2 else list(zip(names, (*factors, z), strict=True))
    reasons += [(_addend_text(name, x), special) for name, x in addends if (special := addend_special(x)) is not None]
    found = {special for _, special in reasons}
    return reasons, NAN if len(found) > 1 else found.pop()


def _addend_text(name: str, x: Decoded) -> str:
    return f"{name} is NaN" if x.cls is Cls.NAN else f"{name} is {infinity_text(1 if x.sign else 0)}"
