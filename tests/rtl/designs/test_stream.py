"""A unit behind streams of structs: under back-pressure, in its example, and its layouts."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from golden import Implementation, Operation, Unit
from golden.operations import GSTFDPA, TFDPA
from golden.stimulus import OperandShape, generate
from rtl import StreamDatapath
from rtl.designs.stream import check_streamed, operand_layout, result_layout
from tests.rtl.random_units import random_unit
from tests.rtl.stream import Handshake, Show, stream_through

SCALED_KEYS: dict[str, Any] = {"a": "e2m1", "b": "e2m1", "c": "fp32", "L": 4, "G": 2, "K_block": 2, "scale": "ue4m3"}
SCALED = GSTFDPA(**SCALED_KEYS, F=35, rho="RZ-FP32", e_zero=-139)


def structs(operation: Operation, count: int, seed: int) -> tuple[list[dict[str, Any]], list[int]]:
    """Operands of `count` steps as the payload takes them, and the codes of their results."""
    operands = generate(OperandShape.of_operation(operation), count, seed).operands
    names = list(operand_layout(operation).members)
    rows = [{name: np.asarray(getattr(operands, name)[row]).tolist() for name in names} for row in range(count)]
    return rows, Unit(name="u", operation=operation).dot(*operands).tolist()


def shown(component: StreamDatapath, row: dict[str, Any]) -> Show:
    """Sets the payload."""
    return lambda ctx: ctx.set(component.operands.payload, row)


@pytest.mark.slow
@pytest.mark.parametrize(("in_idle", "out_stall"), [(0.0, 0.0), (0.4, 0.6)])
@pytest.mark.parametrize("operation", [random_unit("T-FDPA", 0).operation, SCALED], ids=lambda operation: operation.name)
def test_results_come_in_order_and_none_is_lost(operation: Operation, in_idle: float, out_stall: float) -> None:
    component = StreamDatapath(Unit(name="u", operation=operation, implementation=Implementation(stages=3)))
    rows, expected = structs(operation, 40, 7)
    ports = Handshake.of_streams(component.operands, component.results)
    transfers = [shown(component, row) for row in rows]
    results, cycles = stream_through(component, ports, transfers, len(rows), in_idle, out_stall)
    assert results == expected
    if in_idle == out_stall == 0.0:
        assert cycles == len(rows) + component.latency == len(rows) + 3


def test_struct_of_operands_lies_as_the_ports_of_the_datapath_do() -> None:
    layout = operand_layout(SCALED)
    assert {name: field.width for name, field in layout} == {"a": 16, "b": 16, "c": 32, "scale_a": 16, "scale_b": 16}
    assert layout["a"].shape.elem_shape == 4
    assert layout["a"].shape.length == 4
    assert layout["scale_b"].shape.elem_shape == 8
    assert {name: field.width for name, field in result_layout(SCALED)} == {"d": 32}


def test_unit_without_a_handshake_is_refused() -> None:
    operation = TFDPA(a="e2m1", b="e2m1", c="fp16", L=1, F=6, rho="RNE-FP16", e_zero=-21)  # type: ignore[arg-type]
    message = "stages of a datapath with streams must be an integer from 1 to 8, got 0"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_streamed(Unit(name="u", operation=operation))


def example() -> ModuleType:
    path = Path(__file__).parents[3] / "examples" / "stream_datapath.py"
    spec = importlib.util.spec_from_file_location("stream_datapath", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_example_keeps_the_largest_result(capsys: pytest.CaptureFixture[str]) -> None:
    example().main()
    largest, cycles = re.findall(r"products: (\S+) after (\d+) cycles", capsys.readouterr().out)[0]
    assert float(largest) > 0
    assert int(cycles) > 2 * 40, "the design looks at every other cycle only, so the unit was held up"
