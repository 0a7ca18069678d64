"""T-FDPA in several operand formats on one datapath: narrow operands are packed, multipliers and aligners are shared."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from operator import or_
from typing import Any

from amaranth import Const, Mux, Signal, Value
from amaranth.lib.wiring import In, Member

from golden import Implementation, Operation, Unit
from golden.checks import listed
from golden.operations import TFDPA
from golden.text import value_as_text
from rtl.datapath import depths
from rtl.datapath.base import check_placed
from rtl.datapath.fused_records import Operands, Terms
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import combine_specials, decode, subnormal_inputs
from rtl.designs.subword import LaneFormat, SubwordMultiply
from rtl.operations.lengths import check_range
from rtl.operations.t_fdpa import TruncatedDatapath
from rtl.steps.interfaces import Operand, Special, Term
from rtl.steps.step_record import Record

LANES = (1, 2, 4)
"""Numbers of elements of one format that may share a word."""

WORD_16 = {"fp16": 1, "bf16": 1, "e4m3": 2, "e5m2": 2, "e2m1": 4}
"""Formats whose elements fill a word of 16 bits, each with the number of elements in a word."""


@dataclass(frozen=True, eq=False)
class FormatOperands(Operands):
    """Record of the operand ports: the operands and the number of the selected format."""

    format: Value = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class DecodedWords(Record):
    """Record after step decode: for each word, the elements of its lanes in the selected format; and c."""

    format: Value
    x: tuple[tuple[Operand, ...], ...]
    y: tuple[tuple[Operand, ...], ...]
    z: Operand


@dataclass(frozen=True, eq=False)
class WordProducts(Terms):
    """Record after step multiply: for each word, the products of its lanes; and c."""

    c: Term
    prod: tuple[tuple[Term, ...], ...]
    special: Special

    @property
    def terms(self) -> tuple[Term, ...]:
        return (*(product for word in self.prod for product in word), self.c)


class MultiFormatDatapath(TruncatedDatapath):
    """T-FDPA of the operation that `format` selects: as many products as its operands fit into `a` and `b`.

    a and b are vectors of words, each as wide as the widest format. A word holds one element of that width, two of half of
    it, or four of a quarter, and has one multiplier that serves them all and a lane (exponent adder and aligner) for each:

        16 bits      [           fp16 or bf16            ]     lane 0
        2 × 8 bits   [      e4m3       |       e4m3      ]     lanes 1 and 0
        4 × 4 bits   [  e2m1  |  e2m1  |  e2m1  |  e2m1  ]     lanes 3 to 0

    Step max_exp and all that follow do not depend on the format: a lane that the selected format leaves idle is a zero whose
    exponent is never the only largest.

    Args:
        operations: T-FDPA that share all keys but a, b and L; L is proportional to how many elements a word holds.
        implementation: how it is built.

    Members:
        As of any datapath, and format: In, an index into `operations`; with a number that is no index there are no products,
        and d is ρ of c truncated to F bits.

    Raises:
        ValueError: operations that cannot share a datapath; the message names key, rule and values.
    """

    format: Signal

    def __init__(self, operations: Sequence[TFDPA], implementation: Implementation) -> None:
        self.operations = check_operations(operations)
        self.word_bits = max(operation.a.width for operation in self.operations)
        self.words = self.operations[0].L * self.operations[0].a.width // self.word_bits
        self._per_word = [self.word_bits // operation.a.width for operation in self.operations]
        self.lanes = max(self._per_word)
        #: What the elements of each lane can be.
        self.lane_formats = [
            LaneFormat.of([o for o, count in zip(self.operations, self._per_word, strict=True) if count > lane])
            for lane in range(self.lanes)
        ]
        super().__init__(self.operations[0], implementation)

    def input_members(self, operation: Operation) -> dict[str, Member]:
        return super().input_members(operation) | {"format": In(range(max(2, len(self.operations))))}

    def settles_steps(self) -> tuple[Hashable, ...]:
        return (*self.operations, *super().settles_steps())

    def operands(self) -> FormatOperands:
        return FormatOperands(**{name: getattr(self, name) for name in self.inputs})

    def term_steps(self) -> Steps[Any, WordProducts]:
        return Steps(Step("decode", depths.DECODE, self.decode_words)).then(
            Step("multiply", self.multiply_depth(), self.multiply)
        )

    @property
    def term_count(self) -> int:
        return self.words * self.lanes + 1

    def multiply_depth(self) -> int:
        return max(depths.multiply(operation.a, operation.b) for operation in self.operations)

    def decode_words(self, build: Build, operands: FormatOperands) -> DecodedWords:
        """Step decode: every lane's element in the selected format, and the number of that format, which step multiply
        needs."""
        selected = self._selected(build, operands.format)
        x, y = self._elements(build, "x", operands.a, selected), self._elements(build, "y", operands.b, selected)
        z = decode(build, "decode_z", operands.c, self.operation.c, subnormal_inputs(self.operation))
        return DecodedWords(operands.format, x, y, z)

    def multiply(self, build: Build, decoded: DecodedWords) -> WordProducts:
        """Step multiply: a product a lane."""
        selected = self._selected(build, decoded.format)
        c, c_special = self.addend(build, decoded.z)
        products, specials = [], [c_special]
        for number, (x, y) in enumerate(zip(decoded.x, decoded.y, strict=True)):
            component = SubwordMultiply(self.lane_formats, self.operations, self._per_word)
            build.place(f"multiply_{number}", component)
            build.assign(component.selected.eq(selected))
            for lane, p, q in zip(component.lanes, x, y, strict=True):
                build.drive(lane.x, p)
                build.drive(lane.y, q)
                specials.append(lane.special)
            products.append(tuple(lane.prod for lane in component.lanes))
        return WordProducts(c, tuple(products), combine_specials(build, specials))

    def _selected(self, build: Build, number: Value) -> Signal:
        """One bit for each operation, set for the selected one; all clear for a number that is no index."""
        selected = Signal(len(self.operations))
        build.assign(selected.eq(Const(1, 1) << number))
        return selected

    def _elements(self, build: Build, side: str, codes: Value, selected: Signal) -> tuple[tuple[Operand, ...], ...]:
        """The elements of every word and lane, in the selected format."""
        return tuple(
            tuple(self._element(build, side, codes, selected, word, lane) for lane in range(self.lanes))
            for word in range(self.words)
        )

    def _element(self, build: Build, side: str, codes: Value, selected: Signal, word: int, lane: int) -> Operand:
        """The element of a lane, decoded in every format that uses the lane, of which one is selected."""
        decoded = list(self._in_each_format(build, side, codes, selected, word, lane))
        signature = self.lane_formats[lane].operand
        members: dict[str, Value] = {}
        for member, description in signature.members.items():
            chosen = Signal(description.shape, name=f"chosen_{side}_{word}_{lane}_{member}")
            build.assign(chosen.eq(reduce(or_, (Mux(bit, getattr(code, member), 0) for bit, code in decoded))))
            members[member] = chosen
        return Operand(**members, signature=signature)

    def _in_each_format(
        self, build: Build, side: str, codes: Value, selected: Signal, word: int, lane: int
    ) -> Iterator[tuple[Value, Operand]]:
        for number, (operation, count) in enumerate(zip(self.operations, self._per_word, strict=True)):
            if lane < count:
                operand = operation.a if side == "x" else operation.b
                code = codes.word_select(word * count + lane, operand.width)
                name = f"decode_{side}_{word}_{lane}_{operand}_{number}"
                yield selected[number], decode(build, name, code, operand, subnormal_inputs(operation))


def check_units(units: Sequence[Unit]) -> tuple[TFDPA, ...]:
    """The operations of units that can share a datapath, and are built alike.

    Raises:
        ValueError: as `MultiFormatDatapath`, or where a key of `[implementation]` differs.
    """
    for unit in units:
        check_placed(unit.implementation)
    for key in (item.name for item in fields(Implementation)):
        found = list(dict.fromkeys(str(getattr(unit.implementation, key)) for unit in units))
        if len(found) > 1:
            raise ValueError(f"{key} must be the same in all units of a multi-format datapath, got {listed(found)}")
    return check_operations([unit.operation for unit in units])


def check_operations(operations: Sequence[Operation]) -> tuple[TFDPA, ...]:
    """The operations, if they can share a datapath.

    Raises:
        ValueError: as `MultiFormatDatapath`.
    """
    fused = tuple(operation for operation in operations if isinstance(operation, TFDPA))
    if not fused or len(fused) < len(operations):
        raise ValueError(f"a multi-format datapath takes T-FDPA operations, got {listed(o.name for o in operations)}")
    for operation in fused:
        check_range(operation)
    for key in (key for key in TFDPA.unit_keys() if key not in ("a", "b", "L")):
        found = list(dict.fromkeys(value_as_text(getattr(operation, key)) for operation in fused))
        if len(found) > 1:
            raise ValueError(f"{key} must be the same in all operations of a multi-format datapath, got {listed(found)}")
    widths = [_width(operation) for operation in fused]
    word_bits = max(widths)
    half = -(-max(_sig_bits(operation) for operation in fused) // 2)
    bits = [operation.L * width for operation, width in zip(fused, widths, strict=True)]
    if len(set(bits)) > 1:
        raise ValueError(f"L times the width of a must be the same in all operations, got {listed(map(str, bits))} bits")
    if bits[0] % word_bits:
        raise ValueError(f"L must fill words of {word_bits} bits, got {bits[0]} bits")
    for operation, width in zip(fused, widths, strict=True):
        count = word_bits // width
        if word_bits % width or count not in LANES:
            raise ValueError(f"a word of {word_bits} bits must hold 1, 2 or 4 elements, got {operation.a} of {width} bits")
        if count > 1 and _sig_bits(operation) > half:
            raise ValueError(
                f"a packed significand must fit half of the widest, {half} bits; {operation.a} has {_sig_bits(operation)}"
            )
    return fused


def _width(operation: TFDPA) -> int:
    if operation.a.width != operation.b.width:
        a, b = operation.a, operation.b
        raise ValueError(f"a and b must be of one width in a multi-format datapath, got {a} of {a.width}, {b} of {b.width}")
    return operation.a.width


def _sig_bits(operation: TFDPA) -> int:
    return 1 + max(operation.a.man_bits, operation.b.man_bits)
