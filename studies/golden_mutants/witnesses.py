"""Witnesses of golden on boundary rows: the native engine, the twin, and the specification of proofs."""

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import numpy as np
import numpy.typing as npt
from bitwuzla import Term, TermManager

from golden import Unit
from golden.arithmetic.formats import Format
from golden.arrays import bits_dtype
from mmau.prove.datapath.unit_questions import SPECIFICATIONS
from mmau.prove.evaluation import Evaluation
from studies.golden_mutants.boundary_rows import BoundaryRow, BoundaryUnit, operation_of
from studies.symbolic.model_copy import REFERENCE, Modules, copied, source_of, unchanged
from tests.twin import twin

SPECIFICATION = "mmau.prove.specification"

SPECIFICATION_MODULES = tuple(dict.fromkeys(specify.__module__ for specify in SPECIFICATIONS.values()))

SPECIFYING = ((*REFERENCE, *SPECIFICATION_MODULES), ("golden", SPECIFICATION, "mmau.prove.netlist.terms"))
"""Names and packages of a copy that has the specification too, which reads formats and constants of golden."""

SPECIFIED = {
    operation.name: (specify.__module__.rpartition(".")[2], specify.__name__)
    for operation, specify in SPECIFICATIONS.items()
}
"""The module and function of each operation's specification."""

SECONDS = 0.5
"""CPU time limit (s) of one step of a mutant, which takes some 50 µs if it ends at all."""

LOADING = 3.0
"""CPU time limit (s) for loading a mutant, reading its constants, or making its specification."""

WRONG = -1
"""Used as the result where computing it raised an error."""


def operation_or_none(modules: Modules, unit: BoundaryUnit) -> Any:
    """The operation of a copy; None if it is refused there."""
    try:
        return operation_of(modules["golden.operations"].OPERATIONS, unit.keys)
    except Exception:
        return None


def golden_results(operation: Any, unit: BoundaryUnit) -> Iterator[int]:
    """The results of a copy of golden, row by row; `WRONG` for an error."""
    for row in unit.rows:
        try:
            with limited(SECONDS):
                d = operation.step(*row.operands)
        except Exception:
            d = WRONG
        yield d if type(d) is int else WRONG


class Unending(Exception):
    """A mutant that does not end."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `Unending` after this much CPU time (s)."""

    def end(signum: int, frame: FrameType | None) -> None:
        raise Unending

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def native_results(unit: BoundaryUnit) -> list[int]:
    """The results of the native engine."""
    operation = unit.operation

    def array(codes: Sequence[Any], fmt: Format | None) -> npt.NDArray[Any] | None:
        return None if fmt is None else np.array(codes, bits_dtype(fmt))

    a, b, c, alpha, beta = zip(*(row.operands for row in unit.rows), strict=True)
    formats = (operation.a, operation.b, operation.c, operation.scale_format, operation.scale_format)
    arrays: list[Any] = [array(codes, fmt) for codes, fmt in zip((a, b, c, alpha, beta), formats, strict=True)]
    x, y, z, scale_a, scale_b = arrays
    codes: list[int] = Unit(name="unit", operation=operation).dot(x, y, z, scale_a, scale_b, engine="native").tolist()
    return codes


def twin_agrees(unit: BoundaryUnit, row: BoundaryRow, d: int) -> bool:
    """Whether a result is that of the second implementation."""
    return d != WRONG and twin.same(unit.operation, d, twin.dot(unit.operation, *row.operands))


class Specified:
    """The specification of an operation of a copy of golden; its result is `WRONG` for an error."""

    def __init__(self, modules: Modules, unit: BoundaryUnit, operation: Any) -> None:
        self._modules, self._operation, self._named = modules, operation, SPECIFIED[str(unit.keys["operation"])]
        self._evaluation: Evaluation | None = None
        self._ports: list[tuple[Term, int]] = []

    def d(self, row: BoundaryRow) -> int:
        """The result d of a row (a code)."""
        try:
            with limited(LOADING):
                evaluation = self._evaluation = self._evaluation or self._made()
        except Exception:
            return WRONG
        values = {
            term: sum(code << (k * width) for k, code in enumerate(codes))
            for (term, width), codes in zip(self._ports, (row.a, row.b, (row.c,), row.scale_a, row.scale_b), strict=False)
        }
        return evaluation.of(values)[0]

    def _made(self) -> Evaluation:
        module, function = self._named
        terms = self._modules["mmau.prove.netlist.terms"].Terms(TermManager())
        operation = self._operation
        scale, count = operation.scale_format, operation.scales_per_step
        sizes = [(operation.a.width, operation.length), (operation.b.width, operation.length), (operation.c.width, 1)]
        sizes += [(scale.width, count)] * 2 if scale is not None else []
        names = ("a", "b", "c", "scale_a", "scale_b")
        ports = {name: terms.free(name, width * n) for name, (width, n) in zip(names, sizes, strict=False)}
        self._ports = [(bits.term, width) for bits, (width, _) in zip(ports.values(), sizes, strict=True)]
        observer = self._modules[f"{SPECIFICATION}.observer"].Observer()
        d = getattr(self._modules[f"{SPECIFICATION}.{module}"], function)(terms, operation, ports, observer)
        return Evaluation([d.term])


def run_rows(modules: Modules, unit: BoundaryUnit, operation: Any) -> None:
    """Compute d of every row."""
    for row in unit.rows:
        operation.step(*row.operands)


def specify(modules: Modules, unit: BoundaryUnit, operation: Any) -> None:
    """Make the specification of an operation, for the unit's first row."""
    Specified(modules, unit, operation).d(unit.rows[0])


def entered(unit: BoundaryUnit, work: Callable[[Modules, BoundaryUnit, Any], None]) -> set[tuple[str, str]]:
    """The functions of golden, module and qualified name, that work on an operation of a fresh copy enters."""
    modules = copied(unchanged, *SPECIFYING)
    files = {str(source_of(name)): name for name in modules}
    operation = operation_of(modules["golden.operations"].OPERATIONS, unit.keys)
    for value in vars(modules["golden.arithmetic.formats"]).values():
        if isinstance(value, modules["golden.arithmetic.format"].Format):
            for key in [key for key in vars(value) if key not in type(value).__dataclass_fields__]:
                del vars(value)[key]  # computed already
    codes = set[CodeType]()

    def called(frame: FrameType, event: str, argument: object) -> None:
        codes.add(frame.f_code)

    sys.setprofile(called)
    try:
        work(modules, unit, operation)
    finally:
        sys.setprofile(None)
    return {(files[code.co_filename], code.co_qualname) for code in codes if code.co_filename in files}
