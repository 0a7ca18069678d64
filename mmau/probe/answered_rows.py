"""Evidence: the rows that a device under test has answered, under the name of the feature that asked for them."""

import numpy as np

from golden.arrays import BitArray
from golden.stimulus import Operands
from mmau.probe.features.feature import concatenated
from mmau.probe.model import Model


class Evidence:
    """Rows and the device's answers.

    Attributes:
        operands, d: all rows, in the order in which they were asked.
        features: for each row, the name of the feature that asked for it.
    """

    def __init__(self, operands: Operands, d: BitArray, feature: str) -> None:
        self.operands, self.d = operands, d
        self.features = [feature] * len(d)

    def __len__(self) -> int:
        return len(self.d)

    def add(self, operands: Operands, d: BitArray, feature: str) -> None:
        """Append rows, their results [rows], and the feature that asked for them."""
        self.operands = concatenated([self.operands, operands])
        self.d = np.concatenate([self.d, d])
        self.features += [feature] * len(d)

    def failing(self, model: Model) -> np.ndarray:
        """Rows that the model does not reproduce."""
        return np.flatnonzero(model.differs(self.operands, self.d))

    def is_equal(self, model: Model) -> bool:
        """Whether the model gives the same codes as the device, for NaN too."""
        return bool(np.array_equal(model.run(self.operands), self.d))

    def matched(self, model: Model, rows: np.ndarray) -> int:
        """How many of these rows the model reproduces."""
        return len(rows) - int(np.count_nonzero(model.differs(self.operands.rows(rows), self.d[rows])))
