"""Every operation, key and order of 1.0.0: its unit and its results, in files of vectors; orders of products in files."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.arrays import bits_dtype
from golden.comparison import differing
from golden.units.unit import Implementation, Unit
from tests.promises.old_files import FILES

UNITS = sorted((FILES / "units").glob("*.txt"))
ORDERS = sorted(FILES.glob("gemm*.toml"))


def unit_of(file: Path, folder: Path) -> Unit:
    """The unit whose vectors a file has: its lines with one #, without that and the blank after it."""
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if re.match("#(?!#)", line)]
    written = folder / f"{file.stem}.toml"
    written.write_text("\n".join(line[2:] for line in lines) + "\n", encoding="utf-8")
    return golden.load_unit(written)


def wrong_rows(file: Path, folder: Path) -> int:
    """How many results differ from those of the file."""
    unit = unit_of(file, folder)
    text = file.read_text(encoding="utf-8")
    columns = re.findall(r"(\w+)(?:\[0\] … \w+\[(\d+)\])? (\w+)(?:,|:)", text.splitlines()[1])
    rows = np.array([[int(word, 16) for word in line.split()] for line in text.splitlines() if line[0] != "#"], np.uint64)
    assert len(rows) == 12
    arrays: dict[str, Any] = {}
    for name, last, operand in columns:
        count = int(last) + 1 if last else 1
        part, rows = rows[:, :count].astype(bits_dtype(golden.FORMATS[operand])), rows[:, count:]
        arrays[name] = part if last or name not in ("c", "d") else part[:, 0]
    assert rows.shape[1] == 0
    d = arrays.pop("d")
    return int(np.count_nonzero(differing(unit.dot(**arrays), d, unit.operation)))


@pytest.mark.parametrize("file", UNITS, ids=lambda path: path.stem)
def test_unit_is_read_and_gives_its_results(file: Path, tmp_path: Path) -> None:
    assert wrong_rows(file, tmp_path) == 0


def test_every_operation_and_every_key_stands_in_a_file(tmp_path: Path) -> None:
    units = [unit_of(file, tmp_path) for file in UNITS]
    assert {unit.operation.name for unit in units} >= set(golden.OPERATIONS)
    given = {line.split(" = ")[0].lstrip("# ") for file in UNITS for line in file.read_text().splitlines() if " = " in line}
    keys = {key for unit in units for key in unit.operation.parameters()} | {each.name for each in fields(Implementation)}
    assert keys - given == set()
    assert {"convert", "order", "add_c", "addition", "subtract", "tree", "group", "product", "node", "outer"} <= given


def test_every_key_of_an_order_stands_in_a_file() -> None:
    given = {line.split(" = ")[0] for file in ORDERS for line in file.read_text().splitlines() if " = " in line}
    assert {each.name for each in fields(golden.GemmOrder)} - {"model"} <= given
    assert {"unit", "instruction"} <= given


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("scaled", {"model": golden.instruction("sm_90", "wgmma.m64n128k32.f32.e4m3.e4m3"), "promote_every": 4,
                    "scale_at": "promotion", "scale_block": (1, 128), "epilogue": ("alpha", "bias"), "alpha": 0.5,
                    "output": "bf16"}),
        ("striped", {"split_k": 3, "split_tile": 64, "split_sum": "workspace", "stripes": (2, 32),
                     "epilogue": ("alpha-beta", "output"), "alpha": 2.0, "beta": 0.25, "output": "fp16"}),
        ("reverse", {"k_order": "reverse", "k_tile": 64, "split_k": 2, "split_sum": "in-place", "split_tile": 64,
                     "output": "fp16"}),
        ("permuted", {"k_order": (1, 0, 3, 2), "epilogue": ("beta",), "beta": 3.0}),
        ("pieces", {"k_order": "stream-k", "tile": (128, 128), "tiles": (((0, 12),), ((8, 12), (0, 8)))}),
        ("shares", {"k_order": "stream-k", "tile": (128, 64), "workers": 132}),
        ("kernel", {"residue": "first", "k_tile": 32, "split_k": 4, "split_tile": 36, "split_order": (3, (0, 2), 1),
                    "stripes": (2, 8), "stripe_order": "butterfly"}),
        ("passes", {"convert": "rne", "passes": "tf32x3", "pass_tile": 32, "promote_every": 12}),
    ],
)  # fmt: skip
def test_order_is_read_as_before(name: str, keys: dict[str, Any]) -> None:
    assert golden.load_order(FILES / f"gemm-{name}.toml") == golden.GemmOrder(**keys)


@pytest.mark.attack("promise")
def test_another_result_and_an_unknown_key_are_noticed(tmp_path: Path) -> None:
    file = FILES / "units" / "ps-fdpa-0.txt"
    text = file.read_text(encoding="utf-8")
    changed = tmp_path / "changed.txt"
    changed.write_text(text.replace("# F = 26", "# F = 10"), encoding="utf-8")
    assert wrong_rows(changed, tmp_path) > 0
    changed.write_text(text.replace("# h = 2", "# headroom = 2"), encoding="utf-8")
    with pytest.raises(ValueError, match="headroom"):
        wrong_rows(changed, tmp_path)
