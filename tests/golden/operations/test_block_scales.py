"""E-, TR- and GTR-FDPA under block scales: beside the twin, traced, and what they refuse."""

from typing import Any

import numpy as np
import pytest

from golden import Unit
from golden.stimulus import OperandShape, generate
from golden.units.unit_file import unit_from_table, unit_to_toml
from tests.twin import twin

BASE: dict[str, Any] = {"name": "u", "operation": "TR-FDPA", "a": "e2m1", "b": "e4m3", "c": "fp32", "L": 4, "F": 8, "F2": 12,
                        "K_block": 2, "scale": "ue8m0"}  # fmt: skip
EXACT: dict[str, Any] = {"operation": "E-FDPA", "F": None, "F2": None}

UNITS: dict[str, dict[str, Any]] = {
    "even and odd": {"operation": "GTR-FDPA"},
    "one block of two steps": {"L": 3, "K_block": 6, "scale": "ue4m3", "truncation": "RZ"},
    "signed scales of b": {"operation": "GTR-FDPA", "a": "bf16", "b": "bf16", "scale": "fp16", "scales": "b"},
    "scales of a": {"a": "tf32", "scales": "a", "F": 24, "F2": 31, "flush_inputs": True},
    "exact": {**EXACT, "scale": "ue4m3"},
    "exact, signed scales of b": {**EXACT, "a": "e4m3", "L": 2, "K_block": 4, "scale": "fp16", "scales": "b",
                                  "c": "fp16", "rho": "RD-FP16", "zero": "ieee"},
    "exact, powers of two": {**EXACT, "zero": "ieee", "overflow": "by-mode", "flush_inputs": True},
}  # fmt: skip


def unit(**changed: Any) -> Unit:
    """A unit with some keys of `BASE` replaced, those with None left out."""
    return unit_from_table({key: value for key, value in (BASE | changed).items() if value is not None})


@pytest.mark.parametrize("name", UNITS)
def test_results_are_the_twins_and_those_of_traces(name: str) -> None:
    """Rows with specials, products beyond 2^128 and scales of zero among them; other scales give other results."""
    u = unit(**UNITS[name])
    o, count = u.operation, 150
    rows = generate(OperandShape.of_operation(o, 2 * o.length), count, 3).operands
    got = u.dot(**rows._asdict()).tolist()
    for row in range(count):
        a, b, c = rows.a[row].tolist(), rows.b[row].tolist(), int(rows.c[row])
        scales = [[] if x is None else x[row].tolist() for x in (rows.scale_a, rows.scale_b)]
        assert twin.same(o, got[row], twin.dot(o, a, b, c, *scales))
        if row % 5 == 0:
            of_row = {key: codes[row] for key, codes in rows._asdict().items() if codes is not None}
            assert u.explain(**of_row).d == got[row]
    side = o.scale_operands[0]
    others = rows._asdict() | {side: np.roll(getattr(rows, side), 1, 0)}
    assert u.dot(**others).tolist() != got


def test_a_product_beyond_its_limit_meets_scales_as_an_infinity() -> None:
    """Its sign is that of all factors; a scale of zero makes it NaN; one below the limit is a number under any scale."""
    u = unit(a="bf16", b="bf16", L=1, K_block=1, scale="fp16", scales="b")
    large, zero = np.array([0x7F00], np.uint16), np.uint32(0)  # 2^127
    two, half = np.array([0x4000], np.uint16), np.array([0x3F00], np.uint16)
    d = [int(u.dot(large, two, zero, scale_b=np.array([scale], np.uint16))) for scale in (0x3C00, 0xBC00, 0x0000)]
    assert d == [0x7F800000, 0xFF800000, 0x7FC00000]
    assert u.d.value(int(u.dot(large, half, zero, scale_b=np.array([0x3C00], np.uint16)))) == 2**126
    assert u.dot(large, half, zero, scale_b=np.array([0x4400], np.uint16)) == 0x7F800000


ONES = np.full(2, 127, np.uint8)


def test_file_holds_the_keys_where_there_are_scales() -> None:
    plain = unit(K_block=None, scale=None)
    assert "scale" not in unit_to_toml(plain)
    assert "K_block" not in unit_to_toml(plain)
    assert 'K_block = 2\nscale = "ue8m0"\n' in unit_to_toml(unit())
    assert (plain.operation.is_native, unit().operation.is_native) == (True, False)
    with pytest.raises(ValueError, match=r"^engine 'native' computes no TR-FDPA of such formats or scales$"):
        unit().dot(np.zeros(4, np.uint8), np.zeros(4, np.uint8), None, ONES, ONES, "native")


WIDE = {"exp_bits": 11, "man_bits": 3, "bias": 1023, "specials": "ieee"}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scale": None}, "K_block and scales go with scale; got K_block=2, scales=both"),
        ({"K_block": 0}, "K_block must say how many elements share a ue8m0 scale; got 0"),
        ({"K_block": 3}, "K_block must divide L or be a multiple of it; got K_block=3, L=4"),
        ({"scales": "c"}, "scales must be one of both, a, b; got 'c'"),
        ({"scale": "wide", "formats": {"wide": WIDE}},
         "exponents of scaled products must lie above -999, that of a zero one; with scale = wide the lowest is -2050"),
        ({**EXACT, "flags": True}, "flags are not defined for sums under scales; got scale = ue8m0"),
    ],
)  # fmt: skip
def test_other_scales_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011
        unit(**changed)
    assert str(error.value) == message
