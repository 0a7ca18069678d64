"""The request for a unit's cost, and `CostError`, the one error of such a measurement, whichever tool failed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from golden.checks import check_bool, check_choice, check_int, check_number, check_period, check_type, unknown
from golden.files import write_atomically
from rtl.cost.fpga import PARTS
from rtl.cost.liberty import DEFAULT
from rtl.cost.library_files import check_library
from rtl.cost.mapped_netlist import NetlistError
from rtl.cost.timing import TimingError
from rtl.yosys import YosysError


class CostError(Exception):
    """A tool failed or did not end in time, or what it wrote cannot be trusted; the message says where its log is."""


@contextmanager
def one_message(name: str, logs: Path | None = None) -> Iterator[None]:
    """A context that turns the errors of a tool or of its reader into a `CostError`.

    Args:
        name: name of the unit.
        logs: folder for the log of a tool that fails; None discards the log.
    """
    try:
        yield
    except (YosysError, TimingError) as error:
        raise CostError(f"{name}: {error}{kept_log(error.log, name, logs)}") from error
    except NetlistError as error:
        raise CostError(str(error)) from error


def kept_log(log: str, name: str, logs: Path | None) -> str:
    """Write a log into the folder, if there is one, and return a phrase that says where it is."""
    if logs is None:
        return ""
    path = logs / f"{re.sub(r'[^A-Za-z0-9=._-]+', '_', name)}.log"
    write_atomically(path, log.encode())
    return f"; its log is {path}"


POWER_NS = 20.0
"""The clock period at which power is stated where none is wanted (ns)."""

LEAST_ACTIVITY = 0.001
"""The least activity, in changes of a net a clock cycle."""


@dataclass(frozen=True, kw_only=True)
class CostRequest:
    """The request for a unit's cost.

    Attributes:
        clock_ns: the wanted clock period (ns): the circuit is mapped for area if it meets it then, and for delay otherwise;
            power is stated at it, and stages must meet it. None for the shortest delay; power is then stated at `POWER_NS`.
        activity: changes of every net in one clock cycle, 0.001 to 2; glitches are not counted.
        library: a cell library, as `rtl.cost.library_files.check_library` takes it.
        stages: whether to look for the fewest pipeline stages that meet the clock, by synthesis and timing analysis of each.
        fpga: parts, of `rtl.cost.fpga.PARTS`, for which the unit is placed and routed.
        vectors: number of stimulus vectors that the mapped netlist must compute as the golden model does.
        limit: longest run of one tool (seconds).
        saif: whether the mapped netlist is kept, with the changes of its nets while rows of operands follow each other.
        layers: m, n and k of matrix products by name, of which the share of its time that an array works is wanted.
    """

    clock_ns: float | None = None
    activity: float = 0.1
    library: str = DEFAULT
    stages: bool = False
    fpga: tuple[str, ...] = ()
    vectors: int = 1000
    limit: float = 900.0
    saif: bool = False
    layers: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given: object = self.fpga
        if not isinstance(given, (list, tuple)):
            raise TypeError(f"fpga must be a list of parts, got {given!r}")
        object.__setattr__(self, "fpga", tuple(given))
        if self.clock_ns is not None:
            check_period("clock_ns", self.clock_ns)
        check_number("activity", self.activity, LEAST_ACTIVITY, 2.0)
        check_number("limit", self.limit, 0.1, 1e6)
        check_type("library", self.library, str)
        check_library(self.library)
        check_bool("stages", self.stages)
        check_bool("saif", self.saif)
        for part in self.fpga:
            check_choice("fpga", part, PARTS)
        check_int("vectors", self.vectors, 4, 100_000)
        check_type("layers", self.layers, Mapping)
        for name, shape in self.layers.items():
            if not isinstance(shape, (list, tuple)) or len(shape) != 3:
                raise ValueError(
                    f"layers must be shapes [m, n, k] by name, like fc = [512, 4096, 1024]; got {name} = {shape!r}"
                )
            for key, size in zip("mnk", shape, strict=True):
                check_int(f"{key} of the layer {name}", size, 1, 1 << 31)

    @property
    def period_ns(self) -> float:
        """The clock period at which power is stated (ns)."""
        return POWER_NS if self.clock_ns is None else self.clock_ns

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> "CostRequest":
        """The request that a table of keys and values describes; missing keys have their defaults.

        Raises:
            ValueError: an unknown key, or an impossible value.
        """
        names = [field.name for field in fields(cls)]
        if strange := sorted(set(table) - set(names)):
            raise ValueError(unknown("a key of the table of cost", strange[0], names))
        try:
            return cls(**table)
        except TypeError as error:  # a value of another type, which in a file is a wrong value
            raise ValueError(str(error)) from None
