"""T-FDPA units of several operand formats as one design, on one datapath: narrow operands are packed into words, and
multipliers and aligners are shared."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from operator import or_
from typing import Any, Self

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Member, Out

from golden import Implementation, Operation, Unit
from golden.checks import listed
from golden.operations import TFDPA
from golden.text import value_as_text
from golden.units.unit import Choice
from golden.units.unit_file import unit_to_toml
from rtl.datapath import depths
from rtl.datapath.base import check_placed
from rtl.datapath.fused_records import Operands, Terms
from rtl.datapath.step import Build, Step, Steps
from rtl.datapath.vector_steps import combine_specials, decode, subnormal_inputs
from rtl.designs.design import VECTORS, FromComponent, Paragraph, indented, one_a_cycle, unit_lines
from rtl.designs.ports import Elements, step_meanings, step_operands
from rtl.operations.lengths import check_range
from rtl.operations.t_fdpa import TruncatedDatapath
from rtl.steps.component import SharedComponent, indexed
from rtl.steps.interfaces import (
    ExpRange,
    Operand,
    OperandSignature,
    Special,
    SpecialSignature,
    Term,
    TermFormat,
    TermSignature,
    exp_range,
    union,
)
from rtl.steps.step_record import Record


@dataclass(frozen=True)
class LaneFormat:
    """The ranges of the operands and the product of a lane, over all formats that use it.

    Attributes:
        exps: exponents of an operand.
        sig_bits: bits of an operand's significand; significands of different formats are not aligned with each other.
        product: format of the product, with the fraction bits of the finest format.
    """

    exps: ExpRange
    sig_bits: int
    product: TermFormat

    @classmethod
    def of(cls, operations: Sequence[TFDPA]) -> "LaneFormat":
        """The format of a lane that holds elements of these operations."""
        operands = [operand for operation in operations for operand in (operation.a, operation.b)]
        frac = max(operation.product_frac for operation in operations)
        first = operations[0]
        exps = union([exp_range(operation.a) + exp_range(operation.b) for operation in operations])
        exps = exps.including(first.e_zero).including(idle_exp(first))
        sig_bits = 1 + max(operand.man_bits for operand in operands)
        return cls(union([exp_range(operand) for operand in operands]), sig_bits, TermFormat(exps, frac + 2, frac))

    @property
    def operand(self) -> OperandSignature:
        """Signature of a decoded operand in any of the formats."""
        return OperandSignature(self.exps, self.sig_bits)


def idle_exp(operation: TFDPA) -> int:
    """An exponent that is never the only largest: c is always a term, and its exponent is never below this one."""
    return min(operation.c.e_min, operation.e_zero)


@dataclass(frozen=True)
class Lane:
    """The ports of one lane."""

    x: Operand
    y: Operand
    prod: Term
    special: Special


class SubwordMultiply(SharedComponent):
    """Combinational multiplier of a word, made of up to four multipliers of half the widest significand.

    One pair of up to 2h bits (h: half the widest significand, rounded up) takes all four blocks, added as in long
    multiplication; packed pairs of at most h bits take one block each.

        bits of the product      4h       3h       2h       h        0
        block 0: low · low                          |                |     or lane 0
        block 1: high · high      |                 |                      or lane 1
        block 2: x low · y high            |                |              or lane 2
        block 3: x high · y low            |                |              or lane 3

    Args:
        lanes: what each lane's operands can be.
        operations: what `selected` selects.
        per_word: how many lanes each operation uses.

    Members:
        selected: In, one bit an operation.
        x_0 …, y_0 …: In, the operands of each lane, zero where it is idle.
        prod_0 …: Out(TermSignature). special_0 …: Out(SpecialSignature).
    """

    selected: Signal

    def __init__(self, lanes: Sequence[LaneFormat], operations: Sequence[TFDPA], per_word: Sequence[int]) -> None:
        self.formats, self.operations, self.per_word = tuple(lanes), tuple(operations), tuple(per_word)
        self._half = -(-max(lane.sig_bits for lane in lanes) // 2)
        members: dict[str, Member] = {"selected": In(len(operations))}
        for k, lane in enumerate(lanes):
            members |= {f"x_{k}": In(lane.operand), f"y_{k}": In(lane.operand)}
            members |= {f"prod_{k}": Out(TermSignature(lane.product)), f"special_{k}": Out(SpecialSignature())}
        super().__init__("multiply", (self.formats, self.operations, self.per_word), members)

    @property
    def lanes(self) -> list[Lane]:
        """The ports of each lane, in order."""
        ports = (indexed(self, member, len(self.formats)) for member in ("x", "y", "prod", "special"))
        return [Lane(*lane) for lane in zip(*ports, strict=True)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # 1. the significands' products, the only part that the lanes share
        whole = self._any_selected(lambda count: count == 1)
        sigs = self._products(m, whole)
        # 2. everything else, as in `Multiply`; an idle lane is a zero whose exponent is never the only largest
        for k, (lane, lane_format) in enumerate(zip(self.lanes, self.formats, strict=True)):
            x, y, prod, special = lane.x, lane.y, lane.prod, lane.special
            used = self._any_selected(lambda count, k=k: count > k)  # type: ignore[misc]  # mypy infers no default's type
            exp = Mux(x.zero | y.zero, self.operations[0].e_zero, x.exp + y.exp)
            infinite = x.inf | y.inf
            m.d.comb += [
                prod.sign.eq(x.sign ^ y.sign),
                prod.exp.eq(Mux(used, exp, idle_exp(self.operations[0]))),
                prod.sig.eq(self._placed(sigs[k], k, lane_format.product.frac)),
                special.nan.eq(x.nan | y.nan | (x.inf & y.zero) | (x.zero & y.inf)),
                special.pos_inf.eq(infinite & ~prod.sign),
                special.neg_inf.eq(infinite & prod.sign),
            ]
        return m

    def _products(self, m: Module, whole: Value) -> list[Signal]:
        """The product of each lane's significands."""
        half, lanes = self._half, self.lanes
        # 1. the halves of the wide pair, and the pairs of the lanes
        xs = [_extended(lane.x.sig, 2 * half) for lane in lanes]
        ys = [_extended(lane.y.sig, 2 * half) for lane in lanes]
        x_low, x_high, y_low, y_high = xs[0][:half], xs[0][half:], ys[0][:half], ys[0][half:]
        halves = [(x_low, y_low), (x_high, y_high), (x_low, y_high), (x_high, y_low)]
        # 2. four blocks: halves where one wide pair is selected, else lanes
        small = []
        for k, (x, y) in enumerate(halves):
            own = (xs[k][:half], ys[k][:half]) if k < len(lanes) else (Const(0, half), Const(0, half))
            block = Signal(2 * half, name=f"block_{k}")
            # A packed operand of lane 0 is its own low half.
            m.d.comb += block.eq(x * y if k == 0 else Mux(whole, x, own[0]) * Mux(whole, y, own[1]))
            small.append(block)
        # 3. the wide product: the blocks added at the places of their halves
        sigs = [Signal(4 * half, name=f"sig_{k}") for k in range(len(lanes))]
        cross = Mux(whole, Cat(Const(0, half), small[2] + small[3]), 0)
        m.d.comb += sigs[0].eq(small[0] + cross + Mux(whole, Cat(Const(0, 2 * half), small[1]), 0))
        # 4. the packed products
        m.d.comb += [sigs[k].eq(Mux(whole, 0, small[k])) for k in range(1, len(lanes))]
        return sigs

    def _placed(self, sig: Value, lane: int, frac: int) -> Value:
        """The product with its binary point at the lane's place, independent of the selected format."""
        using = [(o, bit) for o, bit, n in zip(self.operations, self.selected, self.per_word, strict=True) if n > lane]
        by_shift: dict[int, list[Value]] = {}
        for operation, bit in using:
            by_shift.setdefault(frac - operation.product_frac, []).append(bit)
        return reduce(or_, (Mux(Cat(bits).any(), sig << shift, 0) for shift, bits in by_shift.items()))

    def _any_selected(self, wanted: Callable[[int], bool]) -> Value:
        """High if the selected operation uses a number of lanes that the condition accepts."""
        return Cat(bit for bit, count in zip(self.selected, self.per_word, strict=True) if wanted(count)).any()


def _extended(value: Value, width: int) -> Value:
    return Cat(value, Const(0, width - len(value)))


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
        if unit.controls:
            raise ValueError(f"a multi-format datapath takes units without [controls], got {unit.name}")
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


@dataclass(frozen=True)
class MultiFormatDesign(FromComponent):
    """One datapath for T-FDPA units of several formats; its port `format` selects one of them.

    Raises:
        ValueError: units that cannot share a datapath.
    """

    units: tuple[Unit, ...]

    def __post_init__(self) -> None:
        check_units(self.units)

    @staticmethod
    def is_of(unit: Unit) -> bool:
        """Whether a unit's `[controls]` choose among T-FDPA in several formats."""
        formats = any(control.key == "formats" for control in unit.controls)
        return formats and all(isinstance(choice.unit.operation, TFDPA) for choice in unit.choices)

    @classmethod
    def of(cls, unit: Unit) -> Self:
        """The design of such a unit, a mode for each value of its control.

        Raises:
            ValueError: another port or other values than those of the datapath, further controls, or formats that cannot
                share it.
        """
        ports, codes = [control.port for control in unit.controls], [[*choice.codes.values()] for choice in unit.choices]
        if ports != ["format"] or codes != [[number] for number in range(len(codes))]:
            got = listed(f"{control.port} with {listed(map(str, control.codes))}" for control in unit.controls)
            raise ValueError(
                f"{unit.name}: [controls] of one T-FDPA datapath of several formats are one input, called format, with the "
                f"values 0, 1, 2 in this order; got {got}: give a design that has others with --dut"
            )
        return cls(tuple(replace(choice.unit, name=unit.name) for choice in unit.choices))

    @property
    def name(self) -> str:
        """Name of the first unit, and the number of units that share its datapath."""
        return f"{self.units[0].name} in {len(self.units)} formats"

    @property
    def title(self) -> str:
        return f"{self.operation.name} in {len(self.units)} formats"

    @property
    def operation(self) -> Operation:
        return self.units[0].operation

    @property
    def implementation(self) -> Implementation:
        return self.units[0].implementation

    @property
    def choices(self) -> tuple[Choice, ...]:
        return tuple(
            Choice(f"format {number} ({unit.name})", unit, {"format": number}, {"format": f"{number} ({unit.name})"})
            for number, unit in enumerate(self.units)
        )

    @property
    def shared_inputs(self) -> Mapping[str, int]:
        return {port.name: port.width for port in self.ports if port.name == "format"}

    @property
    def meanings(self) -> dict[str, str]:
        meanings = step_meanings(self.operation)
        unused = len(self.units) & (len(self.units) - 1) or len(self.units) == 1
        other = "; with any other number there are no products" if unused else ""
        select = {"format": f"which unit{other}"}
        return {key: meanings[key] for key in ("a", "b")} | select | {key: meanings[key] for key in ("c", "d")}

    @property
    def operands(self) -> dict[str, Elements]:
        """The elements of c and d; those of a and b differ from format to format."""
        operands = step_operands(self.operation)
        return {key: operands[key] for key in ("c", "d")}

    @property
    def port_lines(self) -> tuple[str, ...]:
        """The ports as the header lists them, a and b once for each unit."""
        operands = [
            f"{replace(port, meaning=step_meanings(unit.operation)[port.name])}; format = {number}"
            for number, unit in enumerate(self.units)
            for port in self.ports[:2]
        ]
        return (*operands, *(str(port) for port in self.ports[2:]))

    @property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        units = ((f"Unit where format = {number}:", *unit_lines(unit)) for number, unit in enumerate(self.units))
        ports = (f"{VECTORS}, w as the selected unit has it):", *indented(self.port_lines))
        return (*units, ports, (one_a_cycle(self.latency),))

    def component(self) -> MultiFormatDatapath:
        return MultiFormatDatapath(check_units(self.units), self.implementation)

    def as_table(self) -> dict[str, Any]:
        return {"formats": [unit_to_toml(unit) for unit in self.units]}
