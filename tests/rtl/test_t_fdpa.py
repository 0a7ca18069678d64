"""The T-FDPA datapath against the golden operation: parameter sets on and off the catalogue, and the handshake."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from amaranth.sim import Simulator

from golden import FORMATS, Format, Implementation, Unit
from golden.conversion import CONVERSIONS
from golden.operations import TFDPA
from golden.unit import ENCODINGS
from rtl import datapath
from rtl.t_fdpa import TFDPADatapath
from tests.rtl.simulate import outputs

MULTIPLICANDS = ["tf32", "bf16", "fp16", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "e4m3fnuz", "e5m2fnuz"]
Operands = tuple[list[int], list[int], int]


def random_code(rng: random.Random, operand: Format) -> int:
    """Any bits, or near one exponent so that terms overlap, or tiny so that results are subnormal, or zero."""
    kind = rng.random()
    if kind < 0.3:
        return rng.randrange(operand.codes)
    if kind > 0.95:
        return 0
    centre = operand.bias if kind < 0.7 else operand.bias // 2 if kind < 0.8 else 0
    stored_exp = min(max(centre + rng.randint(-4, 4), 0), (1 << operand.exp_bits) - 1)
    field = (stored_exp << operand.man_bits) | rng.getrandbits(operand.man_bits)
    sign = rng.getrandbits(1) << (operand.exp_bits + operand.man_bits)
    return (sign | field) << operand.pad_bits


def random_operands(rng: random.Random, operation: TFDPA) -> Operands:
    a = [random_code(rng, operation.a) for _ in range(operation.L)]
    b = [random_code(rng, operation.b) for _ in range(operation.L)]
    return a, b, random_code(rng, operation.c)


def pack(codes: Sequence[int], operand: Format) -> int:
    return sum(code << (k * operand.width) for k, code in enumerate(codes))


def inputs(operation: TFDPA, operands: Operands) -> dict[str, int]:
    a, b, c = operands
    return {"a": pack(a, operation.a), "b": pack(b, operation.b), "c": c}


def random_unit(seed: int) -> Unit:
    rng = random.Random(seed)
    operation = TFDPA(
        L=rng.choice([1, 2, 3, 4, 5, 7]),
        F=rng.randint(6, 40),
        rho=list(CONVERSIONS)[seed % len(CONVERSIONS)],
        e_zero=rng.choice([-300, -133, -132, -126, -60, -21, -19, 0, 5]),
        truncation=rng.choice(["RZ", "RD"]),
        a=FORMATS[MULTIPLICANDS[seed % 10]],
        b=FORMATS[rng.choice(MULTIPLICANDS)],
        c=FORMATS[rng.choice(["fp32", "fp16", "bf16"])],
    )
    return Unit(name=f"random-{seed}", operation=operation, implementation=Implementation(encoding=rng.choice(ENCODINGS)))


@pytest.mark.parametrize("seed", range(26))
def test_combinational_datapath_equals_golden_off_the_catalogue(seed: int) -> None:
    unit, rng = random_unit(seed), random.Random(seed + 1000)
    operation, component = unit.operation, datapath(unit)
    assert isinstance(operation, TFDPA)
    rows = [random_operands(rng, operation) for _ in range(150)]
    seen = outputs(component, [inputs(operation, row) for row in rows], lambda get: get(component.d))
    for (a, b, c), got in zip(rows, seen, strict=True):
        assert got == operation.step(a, b, c), (operation.parameters(), a, b, c)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("truncation", ["RZ", "RD"])
def test_encoding_never_changes_a_result(encoding: str, truncation: str) -> None:
    operation = TFDPA(
        a="e5m2", b="e4m3", c="fp16", L=4, F=7, rho="RNE-FP16", e_zero=-21, truncation=truncation
    )  # fmt: skip
    component = datapath(Unit(name="u", operation=operation, implementation=Implementation(encoding=encoding)))
    rng = random.Random(5)
    rows = [random_operands(rng, operation) for _ in range(300)]
    seen = outputs(component, [inputs(operation, row) for row in rows], lambda get: get(component.d))
    assert seen == [operation.step(*row) for row in rows]


def stream_through(
    component: TFDPADatapath, rows: list[Operands], in_idle: float, out_stall: float
) -> tuple[list[int], int]:
    """The results of all rows, with random gaps at the input and stalls at the output, and the cycles that took."""
    operation, rng = component.operation, random.Random(3)
    results: list[int] = []
    cycles = 0

    async def source(ctx: Any) -> None:
        for row in rows:
            while rng.random() < in_idle:
                await ctx.tick()
            for name, value in inputs(operation, row).items():
                ctx.set(getattr(component, name), value)
            ctx.set(component.in_valid, 1)
            await ctx.tick().until(component.in_ready)
            ctx.set(component.in_valid, 0)

    async def sink(ctx: Any) -> None:
        nonlocal cycles
        while len(results) < len(rows):
            assert cycles < 40 * len(rows) + 100, "the unit does not answer"
            ctx.set(component.out_ready, rng.random() >= out_stall)
            _, _, valid, ready, d = await ctx.tick().sample(component.out_valid, component.out_ready, component.d)
            cycles += 1
            if valid and ready:
                results.append(d)

    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(source)
    simulator.add_testbench(sink)
    simulator.run()
    return results, cycles


@pytest.mark.parametrize("stages", range(1, 9))
@pytest.mark.parametrize(("in_idle", "out_stall"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.4, 0.6)])
def test_pipeline_keeps_order_and_loses_nothing(stages: int, in_idle: float, out_stall: float) -> None:
    operation = TFDPA(a="e3m2", b="e4m3", c="fp16", L=2, F=10, rho="RNE-FP16", e_zero=-21)  # type: ignore[arg-type]
    component = datapath(Unit(name="u", operation=operation, implementation=Implementation(stages=stages)))
    rng = random.Random(stages)
    rows = [random_operands(rng, operation) for _ in range(60)]
    results, cycles = stream_through(component, rows, in_idle, out_stall)
    assert results == [operation.step(*row) for row in rows]
    if in_idle == out_stall == 0.0:
        assert component.latency == stages
        assert cycles == len(rows) + stages, "one result a cycle after the latency"
