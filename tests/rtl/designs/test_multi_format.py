"""The multi-format datapath against the T-FDPA operation of each of its formats."""

import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from golden import Implementation, Operation, Unit
from golden.operations import STFDPA, TFDPA
from golden.units.unit import CIRCUIT_CHOICES, ENCODINGS
from golden.units.unit_file import unit_from_table
from rtl import MultiFormatDesign, as_design, to_verilog
from rtl.designs.multi_format_design import MultiFormatDatapath
from tests.rtl.operations.test_datapaths import assert_equal, streamed, vectors
from tests.rtl.simulate import outputs
from tests.rtl.verilog.test_emit import verilator
from tests.volume import one_in

FORMATS = (("fp16", 1), ("bf16", 1), ("e4m3", 2), ("e5m2", 2), ("e2m1", 4))
"""Formats, and how many of their elements fit a word of 16 bits."""


def operations(words: int, formats: tuple[tuple[str, int], ...] = FORMATS, **changes: Any) -> list[TFDPA]:
    keys: dict[str, Any] = {"c": "fp32", "F": 25, "rho": "RZ-FP32", "e_zero": -133} | changes
    return [TFDPA(a=name, b=name, L=words * count, **keys) for name, count in formats]  # type: ignore[arg-type]


def mixed_rows(made: list[TFDPA], count: int) -> tuple[list[dict[str, int]], list[tuple[Unit, int]]]:
    """Vectors of every format in random order, each with its unit and what golden gives."""
    rows, expected = [], []
    for number, operation in enumerate(made):
        unit = Unit(name="u", operation=operation)
        operands, results = vectors(unit, count, number)
        rows += [row | {"format": number} for row in operands]
        expected += [(unit, result) for result in results]
    order = random.Random(1).sample(range(len(rows)), len(rows))
    return [rows[k] for k in order], [expected[k] for k in order]


def check(made: list[TFDPA], implementation: Implementation, count: int) -> None:
    rows, expected = mixed_rows(made, count)
    component = MultiFormatDatapath(made, implementation)
    seen = outputs(component, rows, lambda get: get(component.d))
    for row, got, (unit, want) in zip(rows, seen, expected, strict=True):
        assert_equal(unit, [row], [got], [want])


@pytest.mark.slow
@pytest.mark.parametrize("words", [pytest.param(1, marks=pytest.mark.long), 2])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        pytest.param({"rho": "RNE-FP16", "c": "fp16", "e_zero": -21}, marks=pytest.mark.long),
        {"F": 9, "truncation": "RD", "e_zero": 5},
        pytest.param({"F": 40, "e_zero": -300}, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_every_format_equals_its_own_operation(words: int, changes: dict[str, Any]) -> None:
    check(operations(words, **changes), Implementation(), 50)


@pytest.mark.slow
@pytest.mark.parametrize(
    "formats", [(("fp16", 1), ("e4m3", 2)), pytest.param(FORMATS, marks=pytest.mark.long)], ids=["two", "all"]
)
def test_formats_share_the_keys_of_units_of_ones_own(formats: tuple[tuple[str, int], ...]) -> None:
    keys = {"sticky": True, "truncation": "RD", "rho": "RO-BF16", "flush_inputs": True, "overflow": "saturate"}
    check(operations(1, formats, F=12, flush_results=True, **keys), Implementation(), 40)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", one_in(2, ENCODINGS))
def test_every_format_in_every_encoding_and_in_the_other_ways(encoding: str) -> None:
    ways: dict[str, Any] = {key: choices[1] for key, choices in CIRCUIT_CHOICES.items()}
    check(operations(1, truncation="RD"), Implementation(encoding=encoding, **ways), 60)


DIFFERENT = {"c": "fp32", "F": 13, "rho": "RZ-E8M13", "e_zero": -132}


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        operations(2, (("fp16", 1),)),
        operations(2, (("e4m3", 1), ("e2m1", 2))),
        operations(2, (("e2m1", 4), ("bf16", 1))),
        operations(2, (("e5m2", 1), ("e4m3", 1))),
        # a and b differ where their widths do not
        [TFDPA(a="e4m3", b="e5m2", L=4, **DIFFERENT), TFDPA(a="bf16", b="fp16", L=2, **DIFFERENT)],  # type: ignore[arg-type]
    ],
    ids=lambda made: " ".join(f"{operation.a}-{operation.b}" for operation in made),
)
def test_other_sets_of_formats(made: list[TFDPA]) -> None:
    check(made, Implementation(), 60)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stages", "in_idle", "out_stall"),
    one_in(2, [(1, 0.0, 0.0), (1, 0.2, 0.3), (3, 0.2, 0.3), (3, 0.0, 0.0), (8, 0.0, 0.0), (8, 0.2, 0.3)]),
)
def test_formats_change_from_one_vector_to_the_next_in_a_pipeline(stages: int, in_idle: float, out_stall: float) -> None:
    made = operations(1)
    rows, expected = mixed_rows(made, 8)
    component = MultiFormatDatapath(made, Implementation(stages=stages))
    results, cycles = streamed(component, rows, in_idle, out_stall)
    for row, got, (unit, want) in zip(rows, results, expected, strict=True):
        assert_equal(unit, [row], [got], [want])
    if in_idle == out_stall == 0.0:
        assert component.latency == stages
        assert cycles == len(rows) + stages, "one result a cycle after the latency"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "c", "d"),
    [
        ({}, 0x40490FDB, 0x40490FDB),
        ({"F": 9, "truncation": "RZ"}, 0x40490FDB, 0x40490000),
        ({"F": 9, "truncation": "RZ"}, 0xC0490FDB, 0xC0490000),
        ({"F": 9, "truncation": "RZ"}, 0xBFFFFFFF, 0xBFFFC000),
        ({"F": 9, "truncation": "RD"}, 0x40490FDB, 0x40490000),
        ({"F": 9, "truncation": "RD"}, 0xC0490FDB, 0xC0494000),
        ({"F": 9, "truncation": "RD"}, 0xBFFFFFFF, 0xC0000000),
    ],
)
def test_number_that_is_no_format_leaves_c_cut_to_f_bits(changes: dict[str, Any], c: int, d: int) -> None:
    """With F = 9 the 14 low bits of c's mantissa are lost."""
    assert with_no_format(changes, c) == d


def with_no_format(changes: dict[str, Any], c: int) -> int:
    """d with each number that is no index, whatever a and b hold."""
    component = MultiFormatDatapath(operations(1, **changes), Implementation())
    rows = [{"format": number, "a": 0x7C01, "b": 0x7FFF, "c": c} for number in (5, 6, 7)]
    results = set(outputs(component, rows, lambda get: get(component.d)))
    assert len(results) == 1
    return results.pop()


def units(**changes: Any) -> list[Unit]:
    return [
        Unit(name=f"tiny {operation.a}", operation=operation, implementation=Implementation(**changes))
        for operation in operations(2)
    ]


@pytest.mark.simulator
@pytest.mark.parametrize("stages", [pytest.param(0, marks=pytest.mark.long), 8])
def test_verilog_is_lint_clean_and_names_every_unit(stages: int, tmp_path: Path) -> None:
    text = to_verilog(MultiFormatDesign(tuple(units(stages=stages))), "many")
    assert text == to_verilog(MultiFormatDesign(tuple(units(stages=stages))), "many")
    assert re.match(r"// many: T-FDPA in 5 formats, generated by mmau \S+", text)
    assert [f'//   name = "tiny {name}"' in text for name, _ in FORMATS] == [True] * 5
    assert "//   input  b           32  8 x e2m1 (w = 4); format = 4" in text
    assert "//   input  format       3  which unit; with any other number there are no products" in text
    assert len(re.findall(r"^  many_multiply multiply_\d+ \(", text, flags=re.MULTILINE)) == 2
    path = tmp_path / "many.v"
    path.write_text(text)
    result = subprocess.run([verilator(), "--lint-only", "-Wall", path], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


TWO = operations(2, (("fp16", 1), ("e4m3", 2)))
SCALED = STFDPA(a="e4m3", b="e4m3", c="fp32", L=4, F=25, rho="RZ-FP32", e_zero=-133, K_block=4)  # type: ignore[arg-type]
TF32 = TWO[0].changed(a="tf32", b="tf32", L=1)
NOT_SHARED = "must be the same in all operations of a multi-format datapath, got"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([], "a multi-format datapath takes T-FDPA operations, got none"),
        ([SCALED], "a multi-format datapath takes T-FDPA operations, got ST-FDPA"),
        ([TWO[0], TWO[1].changed(F=24)], f"F {NOT_SHARED} 25, 24"),
        ([TWO[0], TWO[1].changed(c="fp16")], f"c {NOT_SHARED} fp32, fp16"),
        ([TWO[0], TWO[1].changed(sticky=True)], f"sticky {NOT_SHARED} false, true"),
        ([TWO[0], TWO[1].changed(overflow="saturate")], f"overflow {NOT_SHARED} infinity, saturate"),
        ([TWO[0], TWO[1].changed(L=5)], "L times the width of a must be the same in all operations, got 32, 40 bits"),
        (
            [TWO[0], TWO[1].changed(b="e2m1")],
            "a and b must be of one width in a multi-format datapath, got e4m3 of 8, e2m1 of 4",
        ),
        (
            [TF32, TWO[1].changed(a="e2m1", b="e2m1", L=8)],
            "a word of 32 bits must hold 1, 2 or 4 elements, got e2m1 of 4 bits",
        ),
        (
            [TF32, TWO[1].changed(a="fp16", b="fp16", L=2)],
            "a packed significand must fit half of the widest, 6 bits; fp16 has 11",
        ),
    ],
)
def test_operations_that_cannot_share_a_datapath_are_refused(bad: list[Operation], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        MultiFormatDesign(tuple(Unit(name="u", operation=operation) for operation in bad))


def test_units_that_are_built_differently_are_refused() -> None:
    different = [*units(), Unit(name="u", operation=operations(2)[0], implementation=Implementation(stages=1))]
    message = r"^stages must be the same in all units of a multi-format datapath, got 0, 1$"
    with pytest.raises(ValueError, match=message):
        MultiFormatDesign(tuple(different))


MODES: dict[str, Any] = {
    "0": "fp16", "1": {"a": "e4m3", "b": "e5m2", "L": 4}, "2": {"a": "e2m1", "b": "e2m1", "L": 8},
}  # fmt: skip


def of_file(values: dict[str, Any], port: str = "format", **changes: Any) -> Unit:
    """A unit whose file has an input that chooses formats."""
    keys = {"operation": "T-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 2, "F": 25, "rho": "RZ-FP32", "e_zero": -133}
    return unit_from_table({"name": "modes", **keys, "controls": {port: {"key": "formats", "values": values}}, **changes})


def test_unit_whose_input_chooses_formats_is_one_datapath() -> None:
    keys: dict[str, Any] = {"c": "fp32", "F": 25, "rho": "RZ-FP32", "e_zero": -133}
    pairs = [("fp16", "fp16", 2), ("e4m3", "e5m2", 4), ("e2m1", "e2m1", 8)]
    units = tuple(Unit(name="modes", operation=TFDPA(a=a, b=b, L=L, **keys)) for a, b, L in pairs)  # type: ignore[arg-type]
    assert as_design(of_file(MODES)) == MultiFormatDesign(units)


@pytest.mark.parametrize(
    ("unit", "got"),
    [
        (of_file(MODES, port="fmt_i"), "fmt_i with 0, 1, 2"),
        (of_file({"1": "fp16", "0": MODES["1"]}), "format with 1, 0"),
        (of_file({"0": "fp16", "2": MODES["1"]}), "format with 0, 2"),
    ],
)
def test_inputs_that_the_datapath_does_not_have_are_refused(unit: Unit, got: str) -> None:
    message = (
        "modes: [controls] of one T-FDPA datapath of several formats are one input, called format, with the values 0, 1, 2 "
        f"in this order; got {got}: give a design that has others with --dut"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        as_design(unit)
