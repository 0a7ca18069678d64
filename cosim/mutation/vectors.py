"""The vectors, pauses and resets of a run of `mmau cosim`, as the file that loop.cpp reads."""

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cosim.bench.exercise import RESET_PERIOD, RESETS
from cosim.bench.handshake import Stalls
from cosim.bench.packing import packed
from cosim.bench.stimulus import UnitSpecification, operand_widths
from cosim.bench.timing import Timing
from cosim.runner.power_up import PowerUp, power_ups
from golden import Operation, Unit
from golden.files import write_atomically
from rtl.designs.ports import step_operands
from rtl.designs.unit_design import as_design

PAUSES = 8
"""Decisions whether to pause that are made for each vector: more than any run needs, which else begins again with them."""


def port_bytes(width: int) -> int:
    """Bytes that Verilator's C++ holds a port in."""
    return next((size for size in (1, 2, 4, 8) if width <= 8 * size), 4 * -(-width // 32))


def row_bytes(operation: Operation) -> int:
    """Bytes of the operand ports of one vector, one after the other."""
    return sum(map(port_bytes, operand_widths(operation).values()))


def write_vectors(path: Path, unit: Unit, vectors: int, seed: int) -> None:
    """Operands, expected results and timing of a default run of a unit."""
    timing = Timing.of_design(as_design(unit))
    parts = power_ups("verilator", timing, vectors, seed)
    nan_mask, infinity = 0, 0
    if not unit.operation.nan_is_fixed():
        d = unit.operation.d
        assert d.infinity is not None
        nan_mask, infinity = (d.codes >> 1) - 1, d.infinity
    content = _array([row_bytes(unit.operation), len(parts), nan_mask, infinity], np.uint64)
    content += b"".join(_simulation(unit, part, timing) for part in parts)
    write_atomically(path, content)


def _simulation(unit: Unit, part: PowerUp, timing: Timing) -> bytes:
    options = dict(option.removeprefix("+verilator+").rsplit("+", 1) for option in part.plusargs)
    power_up = [int(options.get("rand+reset", 2)), int(options.get("seed", 0))]
    operands, expected = [], []
    for chunk in UnitSpecification(unit).chunks(part.vectors, part.seed):
        for products in chunk.products:
            operands.append(_operand_rows(unit.operation, products.stimulus.operands._asdict()))
            expected += products.expected  # type: ignore[attr-defined]
    pauses = PAUSES * part.vectors if timing.protocol != "combinational" else 0
    return b"".join(
        (
            _array(power_up, np.int32),
            _array(np.concatenate(operands).reshape(-1), np.uint8),
            _array(expected, np.uint64),
            _array(list(_pauses(f"in {part.seed}", pauses)), np.uint8),
            _array(list(_pauses(f"out {part.seed}", pauses)), np.uint8),
            _array(_resets(part.seed) if timing.reset != "none" else [], np.int64),
        )
    )


def _operand_rows(operation: Operation, operands: dict[str, object]) -> "np.ndarray[tuple[int, int], np.dtype[np.uint8]]":
    columns = []
    for name, elements in step_operands(operation).items():
        if name != "d":
            codes = np.asarray(operands[name])
            size = port_bytes(elements.width)
            lanes = packed(codes.reshape(len(codes), -1), elements.format)
            whole = b"".join(lane.to_bytes(size, "little") for lane in lanes)
            columns.append(np.frombuffer(whole, np.uint8).reshape(len(codes), size))
    return np.concatenate(columns, axis=1)


def _pauses(seed: str, count: int) -> Iterator[bool]:
    stalls = Stalls(seed)
    return (stalls.pause() for _ in range(count))


def _resets(seed: int) -> list[int]:
    """The first cycle of the first reset, and cycles from each to the next."""
    draws = random.Random(f"reset {seed}")
    return [draws.randrange(RESET_PERIOD // 20), *(draws.randrange(RESET_PERIOD // 2, RESET_PERIOD) for _ in range(RESETS - 1))]


def _array(values: object, dtype: type) -> bytes:
    array = np.asarray(values, dtype)
    return np.uint64(array.size).tobytes() + array.tobytes()


def ports_header(unit: Unit, top: str = "unit") -> str:
    """`ports.hpp`: how the loop drives the model of a unit with a further input `mutant`."""
    widths = operand_widths(unit.operation)
    lines, offset = [], 0
    for name, width in widths.items():
        size = port_bytes(width)
        lines.append(f"    std::memcpy(&model.{name}, row + {offset}, {size});")
        offset += size
    return "\n".join(
        (
            "#pragma once",
            "#include <cstdint>",
            "#include <cstring>",
            f'#include "V{top}.h"',
            f"#define CLOCKED {int(Timing.of_design(as_design(unit)).protocol != 'combinational')}",
            f"using Model = V{top};",
            f"constexpr uint64_t ROW_BYTES = {offset};",
            "inline void operands(Model& model, const uint8_t* row) {",
            *lines,
            "}",
            "inline uint64_t result(const Model& model) { return model.d; }",
            "",
        )
    )
