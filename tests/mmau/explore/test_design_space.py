"""Points: golden's own loader makes each unit, and what is none says why."""

import json
import tomllib
from typing import Any

import pytest

import golden
from golden.units.unit_file import unit_from_table
from mmau.explore.columns import named, value_of
from mmau.explore.design_space import arithmetic_of, broken_by_measures, reference_of, unchecked
from mmau.explore.space_file import constraints_of
from mmau.explore.tasks import without_datapath
from tests.mmau.explore.texts import MEASURED, SMALL, space_of


def test_each_point_is_the_unit_of_its_file() -> None:
    points = list(space_of(SMALL + MEASURED).points())
    assert len({point.name for point in points}) == len({point.file_name for point in points}) == 12
    for point in points:
        assert point.unit is not None
        assert unit_from_table(tomllib.loads(point.toml)) == point.unit
        assert point.name == point.unit.name
    first = points[0].parameters
    assert (first["operation"], first["L"], first["F"], first["sticky"]) == ("T-FDPA", 2, 8, False)
    assert (first["a"], first["implementation.encoding"]) == ("e4m3", "ones-complement")


@pytest.mark.parametrize(
    ("sweep", "names"),
    [
        ("L = [2]\nF = [8]", ["small"]),
        ("L = [2]\nF = [8, 9]", ["F=8", "F=9"]),
        ('F = [8, 9]\nL = [2]\nrho = ["RZ-FP32", "RD-FP32"]', ["F=8 RZ-FP32", "F=8 RD-FP32", "F=9 RZ-FP32", "F=9 RD-FP32"]),
        ('L = [2]\nF = [8]\na = ["e4m3", "e5m2"]\nb = ["e4m3", "e5m2"]',
         ["a=e4m3 b=e4m3", "a=e4m3 b=e5m2", "a=e5m2 b=e4m3", "a=e5m2 b=e5m2"]),  # words of two keys are the same
        ('F = [8]\nsize = [{name = "2", L = 2}, {name = "4", L = 4}]', ["size=2", "size=4"]),
        ('F = [8]\nsize = [{name = "few of them", L = 2}, {name = "many", L = 4}]', ["few of them", "many"]),
        ('F = [8]\nsize = [{name = "L=2", L = 2}, {name = "more", L = 4}]', ["size=L=2", "size=more"]),
    ],
)  # fmt: skip
def test_names_of_points_have_what_differs_and_nothing_else(sweep: str, names: list[str]) -> None:
    text = SMALL.replace("L = [2, 4]\nF = {from = 8, to = 10}", sweep).partition("[sweep.implementation]")[0]
    for key in ("rho", "a", "b"):
        if f"\n{key} = [" in text:
            text = "".join(line for line in text.splitlines(True) if not line.startswith(f'{key} = "'))
    points = list(space_of(text + MEASURED).points())
    assert [point.name for point in points] == names
    assert len({point.file_name for point in points}) == len(points)
    assert all(point.unit is not None and point.unit.name == point.name for point in points)


@pytest.mark.attack("two points whose names could be the same")
def test_points_that_lack_a_key_have_names_of_their_own() -> None:
    """Where an operation has no F, words of other keys are not taken for it."""
    choice = '[{name = "x y", rho = "RZ-FP32"}, {name = "x", rho = "RNE-FP32"}]'
    more = '[{name = "y", L = 2}, {name = "z", L = 4}]'
    text = SMALL.replace("L = [2, 4]\nF = {from = 8, to = 10}", f"F = [8]\nfirst = {choice}\nsecond = {more}")
    points = list(space_of(text.replace('rho = "RZ-FP32"\n', "", 1) + MEASURED).points())
    assert len({point.name for point in points}) == len(points) == 8
    assert points[0].name == "first=x y second=y ones-complement"


def test_point_that_is_no_unit_says_why() -> None:
    points = list(space_of(SMALL.replace("to = 10", "to = 129, step = 121") + MEASURED).points())
    assert [point.is_valid for point in points] == [True, True, False, False] * 2
    assert points[2].message == "F must be an integer from 1 to 128, got 129"
    assert points[2].toml == ""
    assert points[2].parameters["F"] == 129


def test_points_of_several_operations_and_flags() -> None:
    text = SMALL.replace('operation = "T-FDPA"\n', "").replace(
        "L = [2, 4]\nF = {from = 8, to = 10}", 'operation = ["T-FDPA", "E-FDPA"]\nL = [2]\nF = [24]\nsticky = [false, true]'
    )
    points = list(space_of(text + MEASURED).points())
    assert [point.name.rpartition(" ")[0] for point in points[::2]] == [
        "T-FDPA sticky=false",  # L and F have one value
        "T-FDPA sticky=true",
        "E-FDPA",  # which has neither F, nor sticky, nor e_zero
    ]
    assert all(point.is_valid for point in points)


def test_parameters_beyond_a_limit_are_no_points_of_the_space() -> None:
    space = space_of(SMALL + "[constraints]\nmax_F = 9\nmin_L = 4\nmax_stages = 0\n" + MEASURED)
    told = {point.name.rpartition(" ")[0]: point.message for point in space.points()}
    assert told == {
        "L=2 F=8": "L = 2 is below min_L = 4",
        "L=2 F=9": "L = 2 is below min_L = 4",
        "L=2 F=10": "F = 10 is above max_F = 9; L = 2 is below min_L = 4",
        "L=4 F=8": "",
        "L=4 F=9": "",
        "L=4 F=10": "F = 10 is above max_F = 9",
    }


def test_numbers_of_points_are_their_places() -> None:
    space = space_of(SMALL + MEASURED)
    points = list(space.points())
    assert [space.point(space.values(number)).name for number in range(space.size)] == [point.name for point in points]


def test_units_that_compute_the_same_have_one_arithmetic() -> None:
    points = list(space_of(SMALL + MEASURED).points())
    units = [point.unit for point in points if point.unit is not None]
    assert arithmetic_of(units[0]) == arithmetic_of(units[1])
    assert len({arithmetic_of(unit) for unit in units}) == 6


@pytest.mark.parametrize(
    "name",
    [
        "sm_90:wgmma.m64n8k32.f32.e4m3.e4m3", "sm_120:mma.m16n8k32.f32.e4m3.e4m3.f32", "sm_80:mma.m16n8k16.f32.f16.f16.f32",
        "gfx1201:v_wmma_f32_16x16x16_bf16_w32", "armv9-sme:fmops.za.s.h", "armv9-sme:bfmops.za.h.h",
        "riscv-zvbdota:vfwbdota.vv.bf16.k8",
    ],
)  # fmt: skip
def test_reference_computes_what_the_instruction_does(name: str) -> None:
    import numpy as np

    instruction = golden.instruction(*name.split(":"))
    unit = reference_of(name).unit
    assert unit is not None
    rng = np.random.default_rng(0)
    a, b = (
        rng.integers(0, 1 << operand.width, (200, instruction.k)).astype(f"u{max(1, operand.storage_bits // 8)}")
        for operand in (instruction.a, instruction.b)
    )
    c = rng.integers(0, 1 << instruction.c.width, 200).astype(f"u{instruction.c.storage_bits // 8}")
    assert (unit.dot(a, b, c) == instruction.dot(a, b, c)).all()


def test_clock_is_swept_and_stands_only_where_it_is_given() -> None:
    clocks = "clock_ns = [3, 5.5]"
    points = list(space_of(SMALL.replace("[sweep.implementation]", f"[sweep.implementation]\n{clocks}") + MEASURED).points())
    assert {point.parameters["implementation.clock_ns"] for point in points} == {3, 5.5}
    assert all(point.is_valid for point in points)
    assert all("implementation.registers" not in point.parameters for point in points)
    without = next(iter(space_of(SMALL + MEASURED).points())).parameters
    assert not {"implementation.clock_ns", "implementation.registers"} & without.keys()
    with pytest.raises(ValueError, match=r"must hold integers, texts, true and false, got 2\.5$"):
        space_of(SMALL.replace("L = [2, 4]", "L = [2, 2.5]") + MEASURED)


FIGURES: dict[str, Any] = {
    "accuracy": {"normal": {"relative_error": {"max": 0.5}}, "chain-64": {"arithmetic_snr_db": 80.0}},
    "cost": {"cells": 100, "delay_ns": None},
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cells", 100),
        ("cost.cells", 100),
        ("delay_ns", None),
        ("area_um2", None),
        ("accuracy.normal.relative_error.max", 0.5),
        ("accuracy.chain-64.arithmetic_snr_db", 80.0),
        ("accuracy.normal.arithmetic_snr_db", None),
        ("accuracy.uniform.arithmetic_snr_db", None),
    ],
)
def test_columns_have_their_values(name: str, value: float | None) -> None:
    assert value_of(name, FIGURES) == value


def test_measures_beyond_a_limit_are_reported() -> None:
    table = {"max_cells": 99, "min_accuracy.chain-64.snr_db": 90, "max_accuracy.normal.relative_error.max": 1, "max_F": 3}
    found = constraints_of(table, "T-FDPA", ["normal", "chain-64"])
    ratio = "accuracy.chain-64.arithmetic_snr_db = 80 is below min_accuracy.chain-64.snr_db = 90"
    assert broken_by_measures(found, FIGURES) == f"cells = 100 is above max_cells = 99; {ratio}"
    assert broken_by_measures(constraints_of({"max_cells": 100}, "T-FDPA", []), FIGURES) == ""


def test_limit_on_a_figure_that_was_not_measured_is_reported_as_unchecked() -> None:
    found = constraints_of({"max_delay_ns": 5, "max_cells": 100}, "T-FDPA", [])
    assert broken_by_measures(found, FIGURES) == ""
    assert unchecked(found, FIGURES) == "not checked against max_delay_ns: no figure was measured"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"cells": 3},
            r"\[constraints\] key must be one of max_L, .*; got 'cells' \(did you mean 'min_cells' or 'max_cells'",
        ),
        (
            {"max_cell": 3},
            r"\[constraints\] max_cell: what is limited must be one of L, .*got 'cell' \(did you mean 'cells'",
        ),
        ({"max_cells": "3"}, r"\[constraints\] max_cells must be a number, got '3'"),
        ({"max_cells": float("nan")}, r"\[constraints\] max_cells must be a number, got nan"),
        ({"max_accuracy.uniform.snr_db": 3}, r"\[constraints\] max_accuracy\.uniform\.snr_db: .*accuracy\.uniform"),
    ],
)
def test_bad_limit_is_one_message(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        constraints_of(table, "T-FDPA", ["normal"])


def test_results_without_an_error_have_infinitely_much_signal() -> None:
    """So that a limit holds them to be good, and a search takes them."""

    def figures(rows: int, largest: float | None) -> dict[str, Any]:
        errors = {"max": largest, "unbounded": 0}
        found = {"finite_rows": rows, "total": {"relative_error": errors}, "relative_error": errors}
        return {"accuracy": {"normal": found | {"total_snr_db": None, "arithmetic_snr_db": None}}}

    for ratio in ("total_snr_db", "arithmetic_snr_db"):
        assert value_of(f"accuracy.normal.{ratio}", figures(5, 0)) == float("inf")
        assert value_of(f"accuracy.normal.{ratio}", figures(5, 0.5)) is None
        assert value_of(f"accuracy.normal.{ratio}", figures(0, None)) is None
    limits = constraints_of({"min_accuracy.normal.snr_db": 90}, "T-FDPA", ["normal"])
    assert broken_by_measures(limits, figures(5, 0)) == ""


@pytest.mark.parametrize(("swept", "which"), [(["F", "L"], "arithmetic"), (["F", "a"], "total"), (["scale"], "total")])
def test_a_plain_ratio_compares_what_varies(swept: list[str], which: str) -> None:
    (limit,) = constraints_of({"min_accuracy.normal.snr_db": 9}, "T-FDPA", ["normal"], swept)
    assert limit.column == f"accuracy.normal.{which}_snr_db"
    assert limit.key == "min_accuracy.normal.snr_db"


def test_a_measure_that_leaves_out_what_varies_is_warned_of() -> None:
    limits = '[constraints]\n"min_accuracy.normal.arithmetic_snr_db" = 20\nmax_cells = 9\n'
    formats = 'formats = [{a = "e4m3", b = "e4m3"}, {a = "e5m2", b = "e5m2"}]'
    text = SMALL.replace('a = "e4m3"\nb = "e4m3"\n', "").replace("[sweep]", f"[sweep]\n{formats}")
    (warning,) = space_of(text + MEASURED + limits).warnings
    assert warning.startswith("accuracy.normal.arithmetic_snr_db is against the exact sum of operands that are quantised")
    assert not space_of(text + MEASURED + limits.replace("arithmetic_snr", "total_snr")).warnings
    assert not space_of(SMALL + MEASURED + limits).warnings


def test_keys_vary_together() -> None:
    formats = '[{name = "FP8", a = "e4m3", b = "e5m2"}, {a = "e2m1", b = "e2m1", implementation = {stages = 2}}]'
    text = SMALL.replace('a = "e4m3"\nb = "e4m3"\n', "").replace("[sweep]", f"[sweep]\nformats = {formats}")
    space = space_of(text + MEASURED)
    points = list(space.points())
    assert {point.name.partition(" ")[0] for point in points} == {"FP8", "e2m1-e2m1-2"}
    assert {(point.parameters["a"], point.parameters["b"]) for point in points} == {("e4m3", "e5m2"), ("e2m1", "e2m1")}
    assert space.swept[:3] == ("a", "b", "implementation.stages")
    named_as_a_later_key = text.replace("formats = ", "scales = ").replace('{a = "e2m1"', '{name = "FP4", a = "e2m1"')
    named = {point.name.partition(" ")[0] for point in space_of(named_as_a_later_key + MEASURED).points()}
    assert named == {"FP8", "FP4"}
    for wrong, message in {
        "formats = [{}]": r"\[sweep.formats\] must set a key of the unit in each table, got \{\}",
        "formats = [{F = 4}]": r"the keys of \[sweep\] must have each value once, got 'F' twice",
        'formats = [{aa = "e4m3"}]': r"\[sweep.formats\] key must be one of .*; got 'aa'",
        "formats = [{L = 2}, 3]": r"\[sweep.formats\] must have a table for each format",
        "L = [{F = 4}]": r"\[sweep\] L must hold values; tables go under a name",
        'formats = [{a = "e4m3"}, {a = "e4m3"}]': r"\[sweep.formats\]: names must have each value once",
    }.items():
        other = SMALL.replace("L = [2, 4]\n", "") if wrong.startswith("L") else SMALL
        with pytest.raises(ValueError, match=f"^{message}"):
            space_of(other.replace('a = "e4m3"\n', "").replace("[sweep]", f"[sweep]\n{wrong}") + MEASURED)


OWN = (
    SMALL.replace('a = "e4m3"', 'a = "x"')
    + """
[fixed.formats.x]
exp_bits = 4
specials = "fn"
[sweep.formats.x]
man_bits = [2, 3]
bias = {from = 6, to = 8}
"""
)


def test_fields_of_an_own_format_are_swept() -> None:
    """Of one format alone, whose name all points have; equal fields are golden's format."""
    text = OWN.replace("L = [2, 4]\nF = {from = 8, to = 10}", "L = [2]").replace(', "sign-magnitude"', "")
    text = text.replace('"RZ-FP32"', '"RZ-FP32"\nF = 9')
    points = list(space_of(text + MEASURED).points())
    assert [point.message for point in points] == [""] * 6
    assert [point.name for point in points] == [f"x.man_bits={bits} x.bias={bias}" for bits in (2, 3) for bias in (6, 7, 8)]
    for point in points:
        assert point.unit is not None
        assert point.parameters["a"] == "x"
        fields = (point.unit.a.exp_bits, point.unit.a.man_bits, point.unit.a.bias, point.unit.a.specials)
        assert fields == tuple(point.parameters[f"formats.x.{key}"] for key in ("exp_bits", "man_bits", "bias", "specials"))
        assert unit_from_table(tomllib.loads(point.toml)) == point.unit
    assert [point.unit.a == golden.FORMATS["e4m3"] for point in points if point.unit] == [False] * 4 + [True, False]
    assert named("accuracy.normal.snr_db", ["formats.x.bias"]) == "accuracy.normal.total_snr_db"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (OWN.replace("man_bits = [2, 3]", "mantissa = [2, 3]"), r"\[sweep.formats.x\] key must be one of .* 'mantissa'"),
        (OWN.replace('specials = "fn"', 'special = "fn"'), r"\[fixed.formats.x\] key must be one of .* 'special'"),
        (OWN.replace('specials = "fn"', "specials = 'fn'\nman_bits = 2"), "formats.x.man_bits is in both"),
        (OWN.replace("[sweep.formats.x]\nman_bits = [2, 3]", "[sweep.formats]\nman_bits = [2, 3]\n[sweep.formats.x]"),
         r"\[sweep.formats\] must have a table for each format"),
    ],
)  # fmt: skip
def test_own_formats_that_are_none(wrong: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        space_of(wrong + MEASURED)


MODES = """
[fixed.controls.format]
key = "formats"
values = {0 = "e4m3", 1 = {a = "e2m1", b = "e2m1", L = 4}}
"""

ONE_OR_TWO = """
[[sweep.modes]]
name = "one"
controls = {}
[[sweep.modes]]
name = "two"
controls.format = {key = "formats", values = {0 = "e4m3", 1 = {a = "e2m1", b = "e2m1", L = 4}}}
"""


def test_units_of_several_modes_are_points() -> None:
    space = space_of(SMALL.replace("L = [2, 4]", "L = [2]") + MODES + MEASURED)
    points = list(space.points())
    assert [point.is_valid for point in points] == [True] * 6
    for point in points:
        assert point.unit is not None
        assert unit_from_table(tomllib.loads(point.toml)) == point.unit
        assert [choice.unit.operation.length for choice in point.unit.choices] == [2, 4]
        assert json.loads(json.dumps(point.parameters)) == point.parameters
        assert point.parameters["controls"] == "format: 0 (e4m3), 1 (a = e2m1, b = e2m1, L = 4)"


def test_modes_are_swept_as_a_whole() -> None:
    space = space_of(SMALL.replace("L = [2, 4]", "L = [2, 3]") + ONE_OR_TWO + MEASURED)
    units = {point.name: point.unit for point in space.points()}
    assert {name: unit and len(unit.controls) for name, unit in units.items()} == {
        f"L={L} F={F} {encoding} {modes}": number
        for L in (2, 3)
        for F in (8, 9, 10)
        for encoding in ("ones-complement", "sign-magnitude")
        for modes, number in (("one", 0), ("two", 1))
    }
    unit = units["L=3 F=8 ones-complement two"]
    assert unit is not None
    assert without_datapath(unit) == (
        "this unit has no datapath and was not synthesised or co-simulated: L times the width of a must be the same in all "
        "operations, got 24, 16 bits"
    )


def test_limits_and_objectives_name_modes() -> None:
    limit = '[constraints]\n"min_accuracy.normal.modes.format=1.snr_db" = 10\n'
    found = space_of(SMALL + MODES + limit + MEASURED).constraints
    assert [each.column for each in found] == ["accuracy.normal.modes.format=1.arithmetic_snr_db"]
    with pytest.raises(ValueError, match=r"accuracy\.normal\.modes\.format=2\.ulp\.mean"):
        space_of(SMALL + MODES + limit.replace("format=1.snr_db", "format=2.ulp.mean") + MEASURED)
    swept = space_of(SMALL + ONE_OR_TWO + limit + MEASURED).constraints  # formats vary: quantising them counts
    assert [each.column for each in swept] == ["accuracy.normal.modes.format=1.total_snr_db"]


def test_controls_that_are_none_are_refused_as_the_file_is_read() -> None:
    with pytest.raises(ValueError, match=r"^\[fixed\] \[controls\] format must have values, like "):
        space_of(SMALL + MODES.replace('values = {0 = "e4m3", 1', 'values = {} # {0 = "e4m3", 1') + MEASURED)
