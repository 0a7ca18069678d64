"""T-FDPA in several operand formats on one datapath: narrow operands are packed, multipliers and aligners are shared."""

from collections.abc import Sequence
from dataclasses import fields
from functools import reduce
from operator import or_
from typing import Any

from amaranth import Const, Mux, Signal, Value
from amaranth.lib.wiring import In

from golden import Implementation, Operation, Unit
from golden.checks import listed
from golden.operations import TFDPA
from rtl.datapath import depths
from rtl.datapath.base import Build
from rtl.datapath.pipeline import Bundle, flatten
from rtl.datapath.stages import combine_specials
from rtl.designs.slot import LaneShape, SlotMultiply
from rtl.operations.limits import check_range
from rtl.operations.t_fdpa import TruncatedDatapath
from rtl.steps.decode import Decode
from rtl.steps.shapes import TermShape

LANES = (1, 2, 4)
"""How many elements of a format may share a slot."""

SLOT_16 = {"fp16": 1, "bf16": 1, "e4m3": 2, "e5m2": 2, "e2m1": 4}
"""Every format whose elements fill a slot of 16 bits, and how many do."""


class MultiFormatDatapath(TruncatedDatapath):
    """T-FDPA of the operation that `format` selects: as many products as its operands fit into `a` and `b`.

    A slot is as wide as the widest format. It holds one element of that width, two of half of it, or four of a quarter, and
    has one multiplier that serves them all and a lane (exponent adder and aligner) for each. Step max_exp and all that
    follow know nothing of formats: a lane that the selected format leaves idle is a zero whose exponent never decides.

    Args:
        operations: T-FDPA of one c, F, rho, e_zero and truncation; L is proportional to how many elements a slot holds.
        implementation: how it is built.

    Members:
        As of any datapath, and format: In, an index into `operations`; with a number that is no index there are no products,
        and d is ρ of c cut to F bits.

    Raises:
        ValueError: operations that cannot share a datapath; the message names key, rule and values.
    """

    def __init__(self, operations: Sequence[TFDPA], implementation: Implementation) -> None:
        self.operations = check_operations(operations)
        self.slot_bits = max(operation.a.width for operation in self.operations)
        self.slots = self.operations[0].L * self.operations[0].a.width // self.slot_bits
        self._per_slot = [self.slot_bits // operation.a.width for operation in self.operations]
        self.lanes = max(self._per_slot)
        #: What the elements of each lane can be.
        self.lane_shapes = [
            LaneShape.of([o for o, count in zip(self.operations, self._per_slot, strict=True) if count > lane])
            for lane in range(self.lanes)
        ]
        super().__init__(self.operations[0], implementation)

    def input_members(self, operation: Operation) -> dict[str, Any]:
        return super().input_members(operation) | {"format": In(range(max(2, len(self.operations))))}

    def term_shapes(self) -> dict[str, TermShape]:
        return {f"prod_{s}_{lane}": self.lane_shapes[lane].product for s in range(self.slots) for lane in range(self.lanes)}

    def decode(self, build: Build, values: Bundle) -> Bundle:
        """Step decode: every lane's element in the selected format, and what `multiply` must know of the format."""
        selected = self._selected(build, values["format"])
        decoded: Bundle = {"format": values["format"]}
        for side, vector in (("x", "a"), ("y", "b")):
            for index in range(self.slots * self.lanes):
                slot, lane = divmod(index, self.lanes)
                codes = [self._element(build, side, values[vector], number, slot, lane) for number in range(len(selected))]
                for member, shape in self.lane_shapes[lane].operand.members.items():
                    name = f"{side}_{slot}_{lane}_{member}"
                    decoded[name] = Signal(shape.shape, name=f"chosen_{name}")
                    choices = [(bit, code[member]) for bit, code in zip(selected, codes, strict=True) if code is not None]
                    build.m.d.comb += decoded[name].eq(reduce(or_, (Mux(bit, value, 0) for bit, value in choices)))
        z = Decode(self.operation.c)
        build.place("decode_z", z)
        build.m.d.comb += z.code.eq(values["c"])
        return decoded | flatten("z", z.x)

    def multiply(self, build: Build, values: Bundle) -> Bundle:
        """Step multiply: a product a lane."""
        selected = self._selected(build, values["format"])
        terms = self.with_c(build, values)
        specials = ["special_c"]
        for slot in range(self.slots):
            part = SlotMultiply(self.lane_shapes, self.operations, self._per_slot)
            build.place(f"multiply_{slot}", part)
            build.m.d.comb += part.selected.eq(selected)
            for lane in range(self.lanes):
                build.drive(getattr(part, f"x_{lane}"), f"x_{slot}_{lane}", values)
                build.drive(getattr(part, f"y_{lane}"), f"y_{slot}_{lane}", values)
                terms |= flatten(f"prod_{slot}_{lane}", getattr(part, f"prod_{lane}"))
                terms |= flatten(f"special_{slot}_{lane}", getattr(part, f"special_{lane}"))
                specials.append(f"special_{slot}_{lane}")
        return combine_specials(build, terms, specials)

    def multiply_depth(self) -> int:
        return max(depths.multiply(operation.a, operation.b) for operation in self.operations)

    def _selected(self, build: Build, number: Value) -> Signal:
        """One bit an operation, none for a number that is no index."""
        selected = Signal(len(self.operations))
        build.m.d.comb += selected.eq(Const(1, 1) << number)
        return selected

    def _element(self, build: Build, side: str, codes: Value, number: int, slot: int, lane: int) -> dict[str, Value] | None:
        """The element that operation `number` has in that lane, decoded; None where it has none."""
        operation, count = self.operations[number], self._per_slot[number]
        if lane >= count:
            return None
        operand = operation.a if side == "x" else operation.b
        part = Decode(operand)
        build.place(f"decode_{side}_{slot}_{lane}_{operand}_{number}", part)
        build.m.d.comb += part.code.eq(codes.word_select(slot * count + lane, operand.width))
        return {member: getattr(part.x, member) for member in part.x.signature.members}


def check_units(units: Sequence[Unit]) -> tuple[TFDPA, ...]:
    """The operations of units that can share a datapath, and are built alike.

    Raises:
        ValueError: as `MultiFormatDatapath`, or where a key of `[implementation]` differs.
    """
    for key in (field.name for field in fields(Implementation)):
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
    for key in ("c", "F", "rho", "e_zero", "truncation"):
        found = list(dict.fromkeys(str(getattr(operation, key)) for operation in fused))
        if len(found) > 1:
            raise ValueError(f"{key} must be the same in all operations of a multi-format datapath, got {listed(found)}")
    widths = [_width(operation) for operation in fused]
    slot_bits = max(widths)
    half = -(-max(_sig_bits(operation) for operation in fused) // 2)
    bits = [operation.L * width for operation, width in zip(fused, widths, strict=True)]
    if len(set(bits)) > 1:
        raise ValueError(f"L times the width of a must be the same in all operations, got {listed(map(str, bits))} bits")
    if bits[0] % slot_bits:
        raise ValueError(f"L must fill slots of {slot_bits} bits, got {bits[0]} bits")
    for operation, width in zip(fused, widths, strict=True):
        count = slot_bits // width
        if slot_bits % width or count not in LANES:
            raise ValueError(f"a slot of {slot_bits} bits must hold 1, 2 or 4 elements, got {operation.a} of {width} bits")
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
