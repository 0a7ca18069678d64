"""An instruction's tile as seen from outside: its ports, and which products each step takes."""

from dataclasses import dataclass

from golden import Instruction


@dataclass(frozen=True)
class TileShape:
    """The shape of an instruction's tile, independent of its implementation.

    Attributes:
        instruction: the instruction; `dataclasses.replace` gives it another m or n.
    """

    instruction: Instruction

    @property
    def steps(self) -> int:
        """Number of steps of one tile."""
        return self.instruction.k // self.instruction.operation.length

    @property
    def c_step(self) -> int:
        """The step with which c is read."""
        return self.steps - 1 if self.instruction.fp16_order is not None else 0

    def products(self, step: int) -> list[int]:
        """The indices k of the elements of A and B that a step takes, in order of their places."""
        order = self.instruction.chain.order_over(self.instruction.k)
        length = self.instruction.operation.length
        return order[step * length : (step + 1) * length]

    def widths(self) -> dict[str, int]:
        """The widths of the ports for operands and result (bits)."""
        i, operation = self.instruction, self.instruction.operation
        widths = {
            "a": i.m * operation.length * i.a.width,
            "b": i.n * operation.length * i.b.width,
            "c": i.m * i.n * operation.c.width,
            "d": i.m * i.n * operation.d.width,
        }
        if i.scale is not None:
            scale_bits = operation.scales_per_step * i.scale.width
            widths |= {"scale_a": i.m * scale_bits, "scale_b": i.n * scale_bits}
        return widths
