"""Modifiers of RDNA's instructions on 16-bit formats: how the assembler writes them, and how they change the operands
(numerics.md, section 7)."""

from dataclasses import dataclass, fields

import numpy as np

from golden import Instruction
from golden.arrays import BitArray
from golden.checks import check_int

HALF_BITS = 16
"""Bits of one half of a register."""

ALL = 7
"""The bits for all three operands: 1 for A, 2 for B, 4 for C."""

NAMES = ("op_sel", "op_sel_hi", "neg_lo", "neg_hi")


@dataclass(frozen=True, kw_only=True)
class Modifiers:
    """Modifiers of an instruction, each a mask with a bit for A, B and C, as in `ALL`.

    Attributes:
        op_sel: for a `v_dot2`, the operands A and B whose high half is taken for product 0. For a `v_wmma` with 16-bit
            results on RDNA3, the bit of C reads C from, and writes D to, the high halves of registers; the other bits are
            ignored.
        op_sel_hi: for a `v_dot2`, the operands whose high half is taken for product 1 (the default); ignored by a `v_wmma`.
        neg_lo, neg_hi: negate the elements of even (neg_lo) and odd (neg_hi) k. For C, neg_hi takes the magnitude, then
            neg_lo negates.
    """

    op_sel: int = 0
    op_sel_hi: int = ALL
    neg_lo: int = 0
    neg_hi: int = 0

    def text(self) -> str:
        """The modifiers as the assembler writes them; those with their default value are left out."""
        listed = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return "".join(
            f" {name}:[{bits & 1},{bits >> 1 & 1},{bits >> 2 & 1}]" for name, bits, default in listed if bits != default
        )

    @property
    def takes_high_half_of_c(self) -> bool:
        """Whether 16-bit C and D lie in the high halves of registers."""
        return bool(self.op_sel & 4)

    def applied(
        self, instruction: Instruction, a: BitArray, b: BitArray, c: BitArray
    ) -> tuple[BitArray, BitArray, BitArray]:
        """The operands after the modifiers: the instruction returns for a, b and c what the model returns for these.

        Args:
            a, b: bit patterns [..., K].
            c: bit patterns [...].

        Raises:
            ValueError: the instruction has no such modifiers.
        """
        check_modifiers(instruction, self)
        seen = []
        for operand, codes in enumerate((a, b)):
            low, high, neg_lo, neg_hi = (getattr(self, name) >> operand & 1 for name in NAMES)
            halves = codes[..., [low, high]] if is_dot2(instruction) else codes
            sign = np.where(np.arange(halves.shape[-1]) % 2, neg_hi, neg_lo) * instruction.a.negative_zero
            seen.append(halves ^ sign.astype(codes.dtype))
        sign_of_c = c.dtype.type(instruction.c.negative_zero)
        magnitude = c & ~sign_of_c if self.neg_hi & 4 else c
        return seen[0], seen[1], magnitude ^ sign_of_c if self.neg_lo & 4 else magnitude


def is_dot2(instruction: Instruction) -> bool:
    """Whether the instruction computes a dot product in every lane."""
    return instruction.name.startswith("v_dot2")


def free_bits(instruction: Instruction) -> dict[str, int]:
    """For each modifier, the bits that may differ from the default; empty for an instruction on which no effect is known."""
    i = instruction
    if is_dot2(i):
        return {} if i.d.width == HALF_BITS else dict.fromkeys(NAMES, 3)
    halves = ALL if i.d.width == HALF_BITS and i.arch != "gfx1201" else 0
    return {"op_sel": halves, "op_sel_hi": halves, "neg_lo": ALL, "neg_hi": ALL}


def check_modifiers(instruction: Instruction, modifiers: Modifiers) -> None:
    """Raise unless the instruction has these modifiers, and their effect is known."""
    name, free = instruction.name, free_bits(instruction)
    if instruction.c.name == "int32":
        raise ValueError(f"{name} has no modifiers but its signs and clamp")
    if not free:
        raise ValueError(f"{name} has no modifiers here: nobody has recorded their effect")
    for field in fields(modifiers):
        bits, allowed = getattr(modifiers, field.name), free[field.name]
        check_int(field.name, bits, 0, ALL)
        if (bits ^ field.default) & ~allowed:
            but = f" but for the bits {allowed} (1 of A, 2 of B, 4 of C)" if allowed else ""
            raise ValueError(f"{field.name} of {name} must be {field.default}{but}, got {bits}")
