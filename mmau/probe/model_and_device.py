"""An input on which a device under test differs from a model, made small."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from golden.comparison import differing
from golden.device import Device
from golden.stimulus import Operands
from golden.stimulus.shrink import smallest_operands
from mmau.probe.device_under_test import DeviceUnderTestError, Questioner
from mmau.probe.distinguish import Side, bits_that_differ, stream
from mmau.probe.journal import Journal


@dataclass(frozen=True)
class DeviceDifference:
    """An input on which a device under test differs from a model.

    Attributes:
        model: the model. device: the device's name.
        row: the input, [1, K]. d: the result of the model, and of the device.
        tried: vectors that were compared until one differed.
    """

    model: Side
    device: str
    row: Operands
    d: tuple[int, int]
    tried: int

    def text(self) -> str:
        """The input, both results, and the steps of the model."""
        d = self.model.shape.d
        lines = [
            f"x  {self.model.name}: {d.describe(self.d[0])}",
            f"y  {self.device}: {d.describe(self.d[1])}",
            f"   {bits_that_differ(d, *self.d)}, found after {self.tried} vectors",
        ]
        return "\n".join(lines) + "\n\n" + self.model.trace(self.row).text()

    def as_dict(self) -> dict[str, Any]:
        """The report as plain JSON."""
        named = zip(self.row._fields, self.row, strict=True)
        return {
            "equal": False,
            "input": {name: np.asarray(array)[0].tolist() for name, array in named if array is not None},
            "x": {"name": self.model.name, "d": self.d[0]},
            "y": {"name": self.device, "d": self.d[1]},
            "vectors": self.tried,
        }


def held_against(model: Side, dut: Device, vectors: int, seed: int) -> DeviceDifference | int:
    """An input on which the device differs, or the number of vectors that showed no difference.

    Args:
        vectors: random vectors to compare at most, after those made to show a difference. seed: the seed of all vectors.

    Raises:
        DeviceUnderTestError: the device misbehaves, or answers an input that shows a difference in two ways.
    """
    questioner = Questioner(dut, Journal(dut.name, dut.shape))

    def differs(rows: Operands) -> np.ndarray:
        return np.asarray(differing(questioner.ask(rows), model.run(rows), model.chain.operation))

    tried = 0
    for rows in stream(model.shape, vectors, seed):
        d = questioner.ask_unrecorded(rows)
        found = np.flatnonzero(differing(d, model.run(rows), model.chain.operation))
        if len(found):
            first = rows.rows(found[:1])
            again = int(questioner.ask(first)[0])
            if again != d[found[0]]:
                raise DeviceUnderTestError(
                    f"{dut.name} must give the same result whenever it is asked, and gave {dut.shape.d} "
                    f"{int(d[found[0]]):#x} first, then {again:#x}"
                )
            row = smallest_operands(first, model.shape, differs)
            results = int(model.run(row)[0]), int(questioner.ask(row)[0])
            return DeviceDifference(model, dut.name, row, results, tried + int(found[0]) + 1)
        tried += len(rows.c)
    return tried
