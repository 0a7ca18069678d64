"""Units of integers with zero points: their results beside the twin's on exact rationals; and what they refuse."""

import tomllib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from golden import Unit
from golden.arithmetic.formats import named_integer
from golden.stimulus import Operands, OperandShape, generate
from golden.units.unit_file import unit_from_table, unit_to_toml
from tests.twin import twin, zero_points_twin
from tests.twin.own_numbers import learn

ZERO_A, ZERO_B = {"za": {"key": "zero_a"}}, {"zb": {"key": "zero_b"}}
T: dict[str, Any] = {"operation": "T-FDPA", "L": 4, "F": 25, "rho": "RNE-FP32", "e_zero": -133, "a": "int4", "c": "fp32"}
KINDS: dict[str, dict[str, Any]] = {
    "tensor": T | {"a": "fp16", "b": "uint4", "controls": ZERO_B},
    "blocks": T | {"operation": "ST-FDPA", "a": "bf16", "b": "int4", "K_block": 2, "scale": "fp16", "scales": "b",
                   "controls": ZERO_B},
    "long blocks": T | {"operation": "GST-FDPA", "L": 8, "G": 4, "b": "uint8", "K_block": 16, "scale": "ue4m3",
                        "controls": ZERO_A | ZERO_B},
    "fraction": T | {"a": "q", "b": "q", "formats": {"q": {"bits": 8, "fraction": 6}}, "controls": ZERO_A},
    "IDPA": {"operation": "IDPA", "L": 6, "a": "int8", "b": "uint8", "c": "int32", "controls": ZERO_A | ZERO_B},
}  # fmt: skip


def unit(kind: str = "tensor", **changed: Any) -> Unit:
    return unit_from_table({"name": "u", **KINDS[kind]} | changed)


def rows_of(u: Unit, count: int, steps: int = 1) -> tuple[Operands, dict[str, Any]]:
    """Rows of the stimulus, and zero points for them: a column for each block, or one."""
    K = steps * u.operation.length
    rows = generate(OperandShape.of_operation(u.operation, K), count, 3).operands
    blocks = -(-K // (u.operation.block_size or K))
    rng = np.random.default_rng(1)
    return rows, {f"zero_{name}": rng.integers(0, 16, (count, blocks), rows.b.dtype) for name in u.zeros}


def expected_of(u: Unit, rows: Operands, zeros: dict[str, Any], row: int) -> int:
    """The twin's result for a row."""
    of_row = {name: codes[row].tolist() for name, codes in zeros.items()}
    a, b, c = rows.a[row].tolist(), rows.b[row].tolist(), int(rows.c[row])
    scales = [[] if x is None else x[row].tolist() for x in (rows.scale_a, rows.scale_b)]
    return zero_points_twin.dot(u.operation, of_row, a, b, c, *scales)


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_results_are_the_twins(kind: str, steps: int) -> None:
    """In both engines, of one step and of a chain; other zero points give other results."""
    u = unit(kind)
    learn(KINDS[kind])
    rows, zeros = rows_of(u, 120, steps)
    expected = [expected_of(u, rows, zeros, row) for row in range(120)]
    for engine in ("native", "reference"):
        got = u.dot(**rows._asdict(), **zeros, engine=engine).tolist()
        assert all(map(twin.same, [u.operation] * len(got), got, expected))
        others = {name: np.roll(codes, 1, 0) for name, codes in zeros.items()}
        other = u.dot(**rows._asdict(), **others, engine=engine).tolist()
        assert not all(map(twin.same, [u.operation] * len(other), other, expected))


def test_every_difference_of_four_bits() -> None:
    """The sum of one product is 1 · (q − z), an exact number."""
    one = np.float16(1).view(np.uint16)
    for form in ("int4", "uint4"):
        u, kind = unit(b=form, L=1), named_integer(form)
        assert kind is not None
        q, z = (each.reshape(-1, 1).astype(np.uint8) for each in np.divmod(np.arange(256), 16))
        d = u.dot(np.full_like(q, one, np.uint16), q, np.zeros(256, np.uint32), zero_b=z)
        found = [u.d.value(code) for code in d.tolist()]
        assert found == [
            Fraction(kind.number(x) - kind.number(y)) for x, y in zip(q[:, 0].tolist(), z[:, 0].tolist(), strict=True)
        ]


def test_zero_points_of_zero_change_no_exact_sum_and_a_trace_has_differences() -> None:
    exact = unit("IDPA")
    rows, zeros = rows_of(exact, 50)
    got = exact.dot(**rows._asdict(), **{name: codes * 0 for name, codes in zeros.items()})
    assert got.tolist() == unit("IDPA", controls={}).dot(**rows._asdict()).tolist()
    u = unit("blocks")
    rows, zeros = rows_of(u, 50)
    one = {name: codes[0] for name, codes in {**rows._asdict(), **zeros}.items() if codes is not None}
    assert u.explain(**one).d == u.dot(**one)
    assert unit_from_table(tomllib.loads(unit_to_toml(u))) == u


def test_without_c_results_are_of_the_kind_of_a() -> None:
    a, b = np.array([2, 3, 0, 0], np.float16), np.array([9, 1, 1, 1], np.uint8)
    assert unit().dot(a, b, zero_b=np.array([8], np.uint8)).dtype == np.float32
    assert unit().dot(a, b, zero_b=np.array([8], np.uint8)) == 2 * 1 - 3 * 7
    assert unit().dot(a.view(np.uint16), b, zero_b=np.array([8], np.uint8)).dtype == np.uint32


A, B = np.ones((5, 4), np.uint16), np.ones((5, 4), np.uint8)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "zero_b is missing: u takes zero points of b for each row"),
        ({"zero_b": B[:, :2]}, "zero_b must have shape (5, 1) (one zero point for all elements), got (5, 2)"),
        ({"zero_b": B[:, :1] + 20}, "zero_b: uint4 codes are 0 … 0xf, got 0x15"),
        ({"zero_a": B[:, :1], "zero_b": B[:, :1]}, "zero_a must be left out: u has no zero points of a in [controls]"),
    ],
)
def test_what_are_no_zero_points_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as error:
        unit().dot(A, B, **given)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("kind", "changed", "message"),
    [
        ("tensor", {"b": "e4m3"}, "elements with zero points must be integers, got e4m3"),
        ("tensor", {"b": "int16"}, "bits of int17 as an element must be an integer from 2 to 16, got 17"),
        ("tensor", {"controls": ZERO_B | {"mask_i": {"key": "mask"}}},
         "zero points go without other operands, got mask_i"),
        ("tensor", {"controls": ZERO_B | {"n": {"key": "operation", "values": {"0": {}, "1": {"a": "-a"}}}}},
         "zero points go with operands at their own ports, got a elsewhere"),
    ],
)  # fmt: skip
def test_units_without_zero_points_are_refused(kind: str, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^u: \[controls\] zb: ") as error:
        unit(kind, **changed)
    assert str(error.value) == f"u: [controls] zb: {message}"


def test_operations_without_products_and_values_are_refused() -> None:
    conversion = {"operation": "CVT", "a": "int8", "rho": "RNE-FP16"}
    with pytest.raises(ValueError, match=r"^u: \[controls\] za: zero points go with products of a and b, got CVT$"):
        unit_from_table({"name": "u", **conversion, "controls": ZERO_A})
    with pytest.raises(ValueError, match=r"^\[controls\] zb: zero points have no values; got \{'0': 1\}$"):
        unit(controls={"zb": {"key": "zero_b", "values": {"0": 1}}})
    with pytest.raises(ValueError, match=r"^\[controls\] has one input with key = \"zero_b\", got zb, zc$"):
        unit(controls=ZERO_B | {"zc": {"key": "zero_b"}})
