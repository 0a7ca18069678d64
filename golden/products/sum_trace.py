"""How one element of a matrix product came about: every instruction along K, and every addition between and after them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from golden.arithmetic.conversion import rounding_to
from golden.arithmetic.formats import FP32, Format
from golden.arrays import BitArray, bits_dtype, to_bits
from golden.chains.sum_chain import SumTable
from golden.engines.batched_dot import matrix_scales
from golden.engines.engine import Batch
from golden.products.additions import Additions
from golden.products.gemm_order import GemmOrder, Plan, Run, instruction_products
from golden.products.k_layout import Gather, k_layout
from golden.products.operand_parts import operand
from golden.products.tiled import Summation
from golden.units.instruction import Instruction
from golden.units.unit import Unit

if TYPE_CHECKING:
    from golden.trace import Trace


@dataclass(frozen=True)
class Event:
    """An instruction, or an operation between instructions.

    Attributes:
        what: `instruction`, or the operation: `add`, `multiply`, `multiply-add`, `round`.
        operands: codes of what goes in; of an instruction c. result: the code of what comes out.
        formats: of the operands, and last of the result.
        number: of an instruction, its place in the order in which K is taken, from 0; else None.
        products: of an instruction, the products of K that it takes; −1 for +0·+0.
    """

    what: str
    operands: tuple[int, ...]
    result: int
    formats: tuple[Format, ...]
    number: int | None = None
    products: tuple[int, ...] = ()

    def __str__(self) -> str:
        values = [form.describe(code) for form, code in zip(self.formats, (*self.operands, self.result), strict=True)]
        name = self.what if self.number is None else f"instruction {self.number}, products {_ranges(self.products)}"
        return f"{name}: {', '.join(values[:-1])} → {values[-1]}"


@dataclass(frozen=True, eq=False)
class SumTrace:
    """The events of one element, in the order in which they are computed.

    Attributes:
        model: the instruction or the unit. events: what happened. d: the code of the result, of `d_format`.
    """

    model: Instruction | Unit
    events: tuple[Event, ...]
    d: int
    d_format: Format
    _rows: tuple[BitArray, ...] = field(repr=False)

    def instruction(self, number: int) -> "Trace":
        """The steps inside an instruction, by its number.

        Raises:
            ValueError: there is no such instruction.
        """
        event = next((event for event in self.events if event.number == number), None)
        if event is None:
            last = max(event.number for event in self.events if event.number is not None)
            raise ValueError(f"number must be that of an instruction, 0 to {last}, got {number!r}")
        k = instruction_products(self.model)
        a, b = (row[number * k : (number + 1) * k] for row in self._rows[:2])
        scales: tuple[BitArray, ...] = ()
        if self.model.operation.block_size is not None:
            blocks = k // self.model.operation.block_size
            scales = tuple(row[number * blocks : (number + 1) * blocks] for row in self._rows[2:])
        return self.model.explain(a, b, bits_dtype(self.model.c).type(event.operands[0]), *scales)

    def first_difference(self, other: "SumTrace") -> int | None:
        """The number of the first event with another result than in a trace of another kernel; None if all are equal."""
        pairs = zip(self.events, other.events, strict=False)
        differing = (number for number, (x, y) in enumerate(pairs) if (x.what, x.result) != (y.what, y.result))
        shorter = min(len(self.events), len(other.events))
        return next(differing, None if len(self.events) == len(other.events) else shorter)

    def __str__(self) -> str:
        lines = [f"{self.model.label}: {sum(event.number is not None for event in self.events)} instructions"]
        lines += [f"  {event}" for event in self.events]
        return "\n".join([*lines, f"d = {self.d_format.describe(self.d)}"])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def explain_sum(
    instruction: Instruction | Unit | None, a: Any, b: Any, c: Any = None, scale_a: Any = None, scale_b: Any = None,
    *, order: GemmOrder | None = None, bias: Any = None,
) -> SumTrace:  # fmt: skip
    """Trace one element of a matrix product over a whole K, instruction by instruction, under an order.

    Args:
        instruction: as of `golden.gemm`; None if the order names it.
        a, b: a row of A and a column of B, [K]; c: the element of C. scale_a, scale_b: their scales, [⌈K/K_block⌉].
        order: the order along K; scales at promotion and stream-K, which depend on more than one element, are refused.
        bias: fp32, where the order's epilogue adds one.

    Raises:
        TypeError, ValueError: operands or an order that `golden.gemm` refuses, or that one element does not have.
    """
    order = GemmOrder() if order is None else order
    model = order.model if instruction is None else instruction
    if not isinstance(model, (Instruction, Unit)):
        raise TypeError(f"instruction must be one of golden.instruction(arch, name), or a golden.Unit, got {model!r:.80}")
    order.check(model)
    if order.scale_at == "promotion" or order.k_order == "stream-k":
        raise ValueError(
            "explain_sum takes no order with scale_at = 'promotion' or k_order = 'stream-k', whose sums depend on where the "
            "element is; give the order of one output tile"
        )
    made = order.convert, order.passes, order.pass_tile
    x = operand("a", np.asarray(a)[None, :], model.a, *made, is_b=False)
    y = operand("b", np.asarray(b)[:, None], model.b, *made, is_b=True)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[0]:
        raise ValueError(f"a and b must have the same K; got {x.shape[1:]} and {y.shape[:1]}")
    K = x.shape[1]
    plan, gather, places = _planned(model, order, K)
    rows = [gather.products(x, slice(0, 1)), gather.products(y.T, slice(0, 1))]
    of_a = None if scale_a is None else np.asarray(scale_a)[None, :]
    of_b = None if scale_b is None else np.asarray(scale_b)[:, None]
    alpha, beta = matrix_scales(model.name, model.operation, of_a, of_b, (1, K, 1), x)
    scales = [gather.scales(alpha, slice(0, 1)), gather.scales(None if beta is None else beta.T, slice(0, 1))]
    start = np.zeros(1, bits_dtype(model.c)) if c is None else np.atleast_1d(to_bits("c", c, model.c))
    events: list[Event] = []
    summation = _Watched(model, order, None, events, places)
    added = None if bias is None else np.atleast_1d(to_bits("bias", np.float32(bias), FP32))
    d = summation(Batch(rows[0], rows[1], start, scales[0], scales[1]), plan, added)
    kept = tuple(row[0] for row in (*rows, *scales) if row is not None)
    return SumTrace(model, tuple(events), int(d[0]), order.result_format(model), kept)


def _planned(model: Instruction | Unit, order: GemmOrder, K: int) -> tuple[Plan, Gather, Any]:
    """The plan of one element, how its K products are padded and ordered, and the product in each place, -1 for +0·+0."""
    layout = k_layout(model, order, K)
    ((_, _, plan),) = order.regions(1, 1, layout.instructions, instruction_products(model), layout.pieces)
    gather = Gather.of(model, K, order.k_order, plan.taken, layout.places)
    numbers = gather.products(np.arange(1, K + 1, dtype=np.uint64)[None, :], slice(0, 1))[0]
    return plan, gather, numbers.astype(np.int64) - 1


def sum_program(order: GemmOrder, K: int) -> Unit:
    """A row's order on a CUDA core's multiply-add, as a unit with a table `[sums]` over K products that gives the same bits.

    Args:
        order: its model is a unit with one product a step and results of fp32; nothing is rounded between the parts. Its
            `output` may be another format where the unit's operation can round to it (E-FDPA).

    Raises:
        ValueError: another order.
    """
    unit = order.model
    if not isinstance(unit, Unit) or instruction_products(unit) != 1 or unit.d is not FP32:
        raise ValueError("a program of additions needs an order whose model is a unit of one product with results of fp32")
    if order.scale_at == "promotion" or order.k_order == "stream-k" or order.epilogue or order.split_sum != "fp32":
        raise ValueError("a program of additions has no scales, no stream-K, no epilogue, and parts that are added in fp32")
    plan, _, places = _planned(unit, order, K)
    none = np.empty(0, np.uint8)
    starts: list[Any] = [Batch(none, none, np.array(name, object)) for name in ("c", "0")]
    program = _Program(unit, order, None, ["0" if place < 0 else f"p{place}" for place in places.tolist()])
    tree: Any = program._parts(starts[0], starts[1], plan, _Nodes(unit.operation, None), None, FP32)
    to, operation = order.result_format(unit), unit.operation
    rounded = operation if to is FP32 else operation.changed(rho=rounding_to("RNE", to))  # after the last sum, in fp32
    return Unit(name=f"{unit.name}-of-{K}", operation=rounded, sums=SumTable(tree=tree))


@dataclass(frozen=True)
class _Program(Summation):
    """A summation of which each total is the tree of its places."""

    names: list[str] = field(repr=False)

    def chained(self, batch: Batch, instructions: Run) -> Any:
        total: Any = batch.c.item()
        for number in range(*instructions):
            total = (total, self.names[number])
        return total


class _Nodes(Additions):
    """Additions that are nodes of a tree."""

    def add(self, x: Any, y: Any) -> Any:
        return tuple(each.item() if isinstance(each, np.ndarray) else each for each in (x, y))

    def widened(self, codes: Any, operand: Format) -> Any:
        return codes


@dataclass(frozen=True)
class _Watched(Summation):
    """A summation of one element that writes down what it computes."""

    events: list[Event] = field(repr=False)
    places: Any = field(repr=False)

    def additions(self) -> Additions:
        return _WatchedAdditions(self)

    def chained(self, batch: Batch, instructions: Run) -> BitArray:
        k, model = instruction_products(self.model), self.model
        d = batch.c
        for number in range(*instructions):
            c, d = d, super().chained(batch._replace(c=d), (number, number + 1))
            products = tuple(self.places[number * k : (number + 1) * k].tolist())
            self.events.append(Event("instruction", (int(c[0]),), int(d[0]), (model.c, model.d), number, products))
        return d


class _WatchedAdditions(Additions):
    """Additions that are written down, where they are not part of another one."""

    def __init__(self, summation: _Watched) -> None:
        super().__init__(summation.model.operation, summation.engine)
        self._events = summation.events

    def _watched(self, what: str, compute: Callable[..., BitArray], *operands: BitArray) -> BitArray:
        before = len(self._events)
        total = compute(*operands)
        del self._events[before:]
        forms = (self.wide,) * (len(operands) + 1)
        self._events.append(Event(what, tuple(int(x[0]) for x in operands), int(total[0]), forms))
        return total

    def add(self, x: BitArray, y: BitArray) -> BitArray:
        return self._watched("add", super().add, x, y)

    def multiply(self, x: BitArray, y: BitArray) -> BitArray:
        return self._watched("multiply", super().multiply, x, y)

    def multiply_add(self, x: BitArray, y: BitArray, z: BitArray) -> BitArray:
        return self._watched("multiply-add", super().multiply_add, x, y, z)

    def rounded(self, totals: BitArray, output: Format) -> BitArray:
        if output is self.wide:
            return super().rounded(totals, output)
        codes = super().rounded(totals, output)
        self._events.append(Event("round", (int(totals[0]),), int(codes[0]), (self.wide, output)))
        return codes


def _ranges(products: tuple[int, ...]) -> str:
    """Products as ranges, +0·+0 as `zeros`."""
    parts: list[list[int]] = []
    for k in products:
        if parts and k >= 0 and parts[-1][-1] >= 0 and k == parts[-1][-1] + 1:
            parts[-1][-1] = k
        elif not (parts and k < 0 and parts[-1][-1] < 0):
            parts.append([k, k])
    shown = ["zeros" if first < 0 else str(first) if first == last else f"{first} … {last}" for first, last in parts]
    return ", ".join(shown)
