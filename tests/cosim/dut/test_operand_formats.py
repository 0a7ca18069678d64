"""`[formats]` of a dut.toml: valid tables, and the messages for invalid ones."""

from pathlib import Path
from typing import Any

import pytest

from cosim.dut.operand_formats import formats_from_table, load_formats
from golden.arithmetic.formats import E4M3, FP16, FP32, UE8M0
from golden.stimulus import OperandShape

PLAIN = {"a": "fp16", "b": "fp16", "c": "fp32", "d": "fp32", "K": 4}
SCALED = PLAIN | {"a": "e4m3", "b": "e4m3", "K": 32, "scale": "ue8m0", "K_block": 16}


def test_every_key_arrives() -> None:
    assert formats_from_table(PLAIN) == OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4)
    assert formats_from_table(SCALED) == OperandShape(a=E4M3, b=E4M3, c=FP32, d=FP32, K=32, scale=UE8M0, block_size=16)


def test_a_file_with_and_without_the_table(tmp_path: Path) -> None:
    path = tmp_path / "dut.toml"
    path.write_text('top = "x"\n[formats]\na = "fp16"\nb = "fp16"\nc = "fp32"\nd = "fp32"\nK = 4\n')
    assert load_formats(path) == formats_from_table(PLAIN)
    path.write_text('top = "x"\n')
    assert load_formats(path) is None
    path.write_text("formats = 3\n")
    with pytest.raises(ValueError, match=r"dut.toml: formats must be a table, got 3"):
        load_formats(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"L": 4}, r"\[formats\] key must be one of a, b, c, d, K, scale, K_block; got 'L'"),
        ({"a": None}, r"\[formats\] is missing a; its keys are a, b, c, d, K, scale, K_block"),
        ({"a": "fp17"}, r"\[formats\] a 'fp17' is not one of the \d+ known \(did you mean 'fp16'"),
        ({"d": 32}, r"\[formats\] d 32 is not one of the \d+ known"),
        ({"K": 0}, r"\[formats\] K must be an integer from 1 to 1024, got 0"),
        ({"K": True}, r"\[formats\] K must be an integer from 1 to 1024, got True"),
        ({"scale": "ue8m0"}, r"\[formats\] scale and K_block go together"),
        ({"scale": "ue8m0", "K_block": 2000}, r"\[formats\] K_block must be an integer from 1 to 1024, got 2000"),
    ],
)
def test_invalid_tables_are_refused(changes: dict[str, Any], message: str) -> None:
    table = {key: value for key, value in (PLAIN | changes).items() if value is not None}
    with pytest.raises(ValueError, match=message):
        formats_from_table(table)
