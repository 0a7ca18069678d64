"""Every datapath against its golden operation: parameters off the catalogue, the published ones, and the handshake."""

import itertools
from typing import Any

import numpy as np
import pytest

import golden
from golden import Implementation, Unit
from golden.comparison import differing
from golden.operations import GTRFDPA, TFDPA, TRFDPA
from golden.stimulus import OperandShape, generate
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS, LATER_KEYS
from golden.units.unit_file import unit_from_table
from rtl import unit_datapath
from rtl.datapath.base import Datapath
from tests.rtl.random_units import MAKERS, random_unit
from tests.rtl.simulate import outputs, packed
from tests.rtl.stream import Handshake, ports_shown, stream_through
from tests.volume import one_in

Inputs = dict[str, int]

KEYS = {**CIRCUIT_CHOICES, **LATER_KEYS}
"""The keys that choose the circuit of one step, the default first."""


def way_names(implementation: Implementation) -> str:
    """A test's id: the encoding and whatever is not the default."""
    chosen = [getattr(implementation, key) for key, choices in KEYS.items() if getattr(implementation, key) != choices[0]]
    return "-".join([implementation.encoding, *chosen])


def vectors(unit: Unit, count: int, seed: int) -> tuple[list[Inputs], list[int]]:
    """The packed values of the ports, and the golden model's results."""
    operation = unit.operation
    operands = generate(OperandShape.of_operation(operation), count, seed).operands
    formats = {name: {"a": operation.a, "b": operation.b, "c": operation.c}[name] for name in operation.operands}
    if operation.scale_format is not None:
        formats |= {"scale_a": operation.scale_format, "scale_b": operation.scale_format}
    rows = []
    for row in range(count):
        codes = {name: np.atleast_1d(getattr(operands, name)[row]).tolist() for name in formats}
        rows.append({name: packed(codes[name], operand.width) for name, operand in formats.items()})
    return rows, unit.dot(*operands, engine="reference").tolist()


def assert_equal(unit: Unit, rows: list[Inputs], results: list[int], expected: list[int]) -> None:
    d = unit.operation.d
    assert len(results) == len(expected) > 0
    for row, got, want in zip(rows, results, expected, strict=True):
        assert not differing(got, want, unit.operation), (
            f"{unit.operation.parameters()} {row}: {d.describe(got)}, not {d.describe(want)}"
        )


def check(unit: Unit, count: int, seed: int = 0) -> None:
    rows, expected = vectors(unit, count, seed)
    component = unit_datapath(unit)
    assert_equal(unit, rows, outputs(component, rows, lambda get: get(component.d)), expected)


@pytest.mark.parametrize("bias", [300, -300])
@pytest.mark.parametrize("result_exp", ["serial", "parallel"])
def test_exponents_far_from_those_of_the_result(bias: int, result_exp: Any) -> None:
    """Every result overflows, or is tiny: its stored exponent has more bits than the format and than the exponent."""
    table = {
        "name": "far", "operation": "CVT", "a": "e4m3", "rho": "RNE-far", "implementation": {"result_exp": result_exp},
        "formats": {"far": {"exp_bits": 8, "man_bits": 7, "bias": bias, "specials": "ieee"}},
    }  # fmt: skip
    check(unit_from_table(table), 200)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))])
@pytest.mark.parametrize("operation", list(MAKERS))
def test_combinational_datapath_equals_golden_off_the_catalogue(operation: str, seed: int) -> None:
    # E-FDPA sums hundreds of bits, which this simulator takes one by one; co-simulation runs the volume.
    check(random_unit(operation, seed), 40 if operation == "E-FDPA" else 80, seed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "name"),
    [
        pytest.param("gfx908", "v_mfma_f32_32x32x4f16", marks=pytest.mark.long),
        pytest.param("gfx90a", "v_mfma_f32_32x32x4f16", marks=pytest.mark.long),
        ("gfx90a", "v_mfma_f32_32x32x2bf16"),
        ("gfx942", "v_mfma_f32_16x16x8_xf32"),
        pytest.param("gfx942", "v_mfma_f64_16x16x4_f64", marks=pytest.mark.long),
        ("sm_70", "mma.m8n8k4.f32.f16.f16.f16"),
    ],
)
def test_published_parameters(arch: str, name: str) -> None:
    operation = golden.instruction(arch, name).operation
    check(Unit(name=name, operation=operation), 25 if operation.name == "E-FDPA" else 100)


@pytest.mark.slow
@pytest.mark.parametrize("operation", [TRFDPA, GTRFDPA])
def test_negative_sum_that_rz_cuts_to_zero_keeps_its_sign(operation: Any) -> None:
    """The hypothetical symmetric CDNA3 unit: a sum below 2**(−126 − F2) is cut to −0."""
    keys: dict[str, Any] = {"a": "bf16", "b": "bf16", "c": "fp32", "L": 2, "F": 24, "F2": 31}
    symmetric = Unit(name="u", operation=operation(**keys, truncation="RZ"))
    tiny = 0x0000_0080  # bf16 2**−126, and beside it a zero
    small = 0x2F80  # 2**−32: the product, −2**−158, is the last bit of T, one below the last of F2
    row = {"a": tiny | 0x8000, "b": small, "c": 0}
    component = unit_datapath(symmetric)
    assert outputs(component, [row], lambda get: get(component.d)) == [0x8000_0000]
    assert symmetric.operation.step([tiny | 0x8000, 0], [small, 0], 0) == 0x8000_0000
    check(symmetric, 150)


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "encoding"), one_in(4, itertools.product([TFDPA, TRFDPA, GTRFDPA], ENCODINGS)))
@pytest.mark.parametrize("truncation", ["RZ", pytest.param("RD", marks=pytest.mark.long)])
def test_encoding_never_changes_a_result(encoding: str, truncation: str, operation: Any) -> None:
    keys: dict[str, Any] = {"e_zero": -133} if operation is TFDPA else {"F2": 12}
    made = operation(a="e5m2", b="e4m3", c="fp32", L=4, F=9, rho="RNE-FP32", truncation=truncation, **keys)
    check(Unit(name="u", operation=made, implementation=Implementation(encoding=encoding)), 120)


def built(**ways: str) -> list[Implementation]:
    """Every way to build one step, the others by default, and all of the ways that are not the default at once."""
    others = {key: choices[1:] for key, choices in KEYS.items()}
    single = [Implementation(**{key: choice}, **ways) for key, choices in others.items() for choice in choices]  # type: ignore[arg-type]
    return [*single, Implementation(**{key: choices[0] for key, choices in others.items()}, **ways)]  # type: ignore[arg-type]


def ways_to_build(encoding: str) -> list[Any]:
    """As parameters of a test: `make test` takes the one with all of the ways at once."""
    *single, all_at_once = built(encoding=encoding)
    return [
        *(pytest.param(one, id=way_names(one), marks=pytest.mark.long) for one in single),
        pytest.param(all_at_once, id=way_names(all_at_once)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "implementation"),
    [
        pytest.param(made, *way.values, id=f"{made.__name__}-{way.id}", marks=way.marks if k == n else pytest.mark.long)
        for k, made in enumerate([TRFDPA, GTRFDPA, TFDPA])
        for n, encoding in enumerate(ENCODINGS)
        for way in ways_to_build(encoding)
    ],
)
@pytest.mark.parametrize("truncation", [pytest.param("RZ", marks=pytest.mark.long), "RD"])
def test_no_way_to_build_changes_a_result(implementation: Implementation, truncation: str, operation: Any) -> None:
    keys: dict[str, Any] = {"e_zero": -133} if operation is TFDPA else {"F2": 12}
    made = operation(a="e5m2", b="e4m3", c="fp32", L=3, F=9, rho="RNE-FP32", truncation=truncation, **keys)
    check(Unit(name="u", operation=made, implementation=implementation), 40)


@pytest.mark.slow
@pytest.mark.parametrize("implementation", ways_to_build("ones-complement"))
@pytest.mark.parametrize("operation", one_in(2, [name for name in MAKERS if name not in ("T-FDPA", "TR-FDPA", "GTR-FDPA")]))
def test_every_datapath_in_every_way(implementation: Implementation, operation: str) -> None:
    drawn = random_unit(operation, 40)
    check(Unit(name="u", operation=drawn.operation, implementation=implementation), 40)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_pair_of_codes_of_a_small_unit_in_every_way(encoding: str) -> None:
    operation = TFDPA(a="e2m1", b="e2m1", c="fp16", L=1, F=6, rho="RNE-FP16", e_zero=-21)  # type: ignore[arg-type]
    implementation = built(encoding=encoding)[-1]
    unit = Unit(name="u", operation=operation, implementation=implementation)
    pairs = list(itertools.product(range(16), range(16), [0x0000, 0x8001, 0x3C00, 0xBC00, 0xC0FF, 0x4801, 0x7BFF, 0x7C00]))
    a, b, c = (np.array(column, np.uint16) for column in zip(*pairs, strict=True))
    expected = unit.dot(a.astype(np.uint8)[:, None], b.astype(np.uint8)[:, None], c).tolist()
    component = unit_datapath(unit)
    rows = [{"a": p, "b": q, "c": r} for p, q, r in pairs]
    assert_equal(unit, rows, outputs(component, rows, lambda get: get(component.d)), expected)


def streamed(component: Datapath, rows: list[Inputs], in_idle: float, out_stall: float) -> tuple[list[int], int]:
    """The results of all rows, with random gaps at the input and stalls at the output, and the cycles that took."""
    shown = [ports_shown(component, row) for row in rows]
    return stream_through(component, Handshake.of_ports(component), shown, len(rows), in_idle, out_stall)


@pytest.mark.slow
@pytest.mark.parametrize(
    "stages", [pytest.param(n, marks=[] if n in (1, 2, 4, 8) else pytest.mark.long) for n in range(1, 9)]
)
@pytest.mark.parametrize(("in_idle", "out_stall"), [(0.0, 0.0), (0.5, 0.0), (0.4, 0.6)])
def test_pipeline_keeps_order_and_loses_nothing(stages: int, in_idle: float, out_stall: float) -> None:
    operation = TFDPA(a="e3m2", b="e4m3", c="fp16", L=2, F=10, rho="RNE-FP16", e_zero=-21)  # type: ignore[arg-type]
    unit = Unit(name="u", operation=operation, implementation=Implementation(stages=stages))
    rows, expected = vectors(unit, 60, stages)
    component = unit_datapath(unit)
    results, cycles = streamed(component, rows, in_idle, out_stall)
    assert_equal(unit, rows, results, expected)
    if in_idle == out_stall == 0.0:
        assert component.latency == stages
        assert cycles == len(rows) + stages, "one result a cycle after the latency"


@pytest.mark.slow
@pytest.mark.parametrize("stages", [3, *(pytest.param(stages, marks=pytest.mark.long) for stages in (1, 8))])
@pytest.mark.parametrize("operation", one_in(2, MAKERS))
def test_every_datapath_pipelines(operation: str, stages: int) -> None:
    unit = random_unit(operation, 100 + stages, stages)
    rows, expected = vectors(unit, 20, stages)
    results, _ = streamed(unit_datapath(unit), rows, 0.2, 0.3)
    assert_equal(unit, rows, results, expected)


@pytest.mark.long
@pytest.mark.parametrize("stages", [1, 3, 8])
@pytest.mark.parametrize("operation", list(MAKERS))
def test_every_datapath_gives_one_result_a_cycle_after_its_latency(operation: str, stages: int) -> None:
    unit = random_unit(operation, 100 + stages, stages)
    rows, expected = vectors(unit, 10, stages)
    component = unit_datapath(unit)
    results, cycles = streamed(component, rows, 0.0, 0.0)
    assert_equal(unit, rows, results, expected)
    assert component.latency == stages
    assert cycles == len(rows) + stages
