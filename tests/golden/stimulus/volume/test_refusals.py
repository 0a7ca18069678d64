"""The stimulus at volume without a library, and what it refuses."""

import ctypes
from typing import Any

import numpy as np
import pytest

from golden.arithmetic.formats import FORMATS, FP16, FP32
from golden.native import stimulus as native
from golden.native.library import library, message
from golden.native.parameters import format_number
from golden.stimulus import OperandShape, volume
from tests.golden.native.native_rows import needs_native
from tests.golden.stimulus.volume.test_volume import HOPPER, SHAPES


def test_a_machine_without_the_library_is_told_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "library", lambda: None)
    message = (
        r"^the stimulus at volume needs the native library, which is not installed here: install the project with pip, or "
        r"put its _mmau\.so into \S+/golden/native$"
    )
    with pytest.raises(ValueError, match=message):
        volume.rows(HOPPER, 1, 0, 20)


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"m": 0}, r"^m must be .*1.*1024.*got 0"),
        ({"n": 1025}, r"^n must be .*1024.*got 1025"),
        ({"seed": -1}, r"^seed must be .*got -1"),
        ({"first": -1}, r"^first must be .*got -1"),
        ({"count": -1}, r"^count must be .*got -1"),
    ],
    ids=lambda x: "" if isinstance(x, str) else next(iter(x)),
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], rule: str) -> None:
    given = {"m": 1, "n": 1, "seed": 0, "first": 0, "count": 1} | arguments
    with pytest.raises(ValueError, match=rule):
        volume.tiles(HOPPER, **given)


def test_too_many_products_are_refused() -> None:
    shape = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=65537)
    with pytest.raises(ValueError, match=r"^K must be .*got 65537"):
        volume.tiles(shape, 1024, 1, 0, 0, 1)


INTEGERS = {
    "a": format_number(FORMATS["int8"]),
    "b": format_number(FORMATS["uint8"]),
    "c": format_number(FORMATS["int32"]),
    "d": format_number(FORMATS["int32"]),
}
INTEGERS |= {"d_man_bits": 0}


@needs_native
@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"a": 99 << 4}, "a, b and c must be formats"),
        ({"c": format_number(FORMATS["fp16"]) & ~15}, "a, b and c must be formats"),
        ({"d_man_bits": 24}, "a, b and c must be formats"),
        ({"K": 0}, "K must be"),
        ({"K_block": -1}, "K_block must be"),
        ({"K_block": 16, "scale": 3 << 10}, "scale must be"),
        ({"a": format_number(FORMATS["int8"])}, "a, b and c must be formats"),
        (INTEGERS | {"c": format_number(FORMATS["fp32"])}, "a, b and c must be formats"),
        (INTEGERS | {"d": format_number(FORMATS["fp32"])}, "a, b and c must be formats"),
        (INTEGERS | {"b": format_number(FORMATS["int32"])}, "a, b and c must be formats"),
        (INTEGERS | {"d_man_bits": 31}, "a, b and c must be formats"),
        (INTEGERS | {"K_block": 16}, "a, b and c must be formats"),
        (INTEGERS | {"K": 0}, "K must be"),
    ],
)
def test_library_refuses_what_is_no_stimulus(changes: dict[str, int], rule: str) -> None:
    shape = native.StimulusShape(**({key: getattr(volume.parameters(HOPPER), key) for key in native.KEYS} | changes))
    lib = library()
    assert lib is not None
    assert message(lib.mmau_check_stimulus(ctypes.byref(shape), None, ctypes.c_int64(0))).startswith(rule)


@needs_native
def test_library_refuses_a_table_of_another_shape() -> None:
    """Of as many bytes."""
    table = volume.corner_table(SHAPES["tf32"], 1).blob
    a, c = np.zeros((1, 1, 16), np.uint16), np.zeros((1, 1, 1), np.uint32)
    arrays = (a, a.copy(), c, None, None, np.zeros(1, np.uint8))
    with pytest.raises(ValueError, match=r"^corners must be NULL or a corner table made for these formats"):
        native.fill_tiles(volume.parameters(HOPPER), table, 1, 0, 1, 1, 1, arrays)
