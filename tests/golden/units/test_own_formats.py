"""Units with formats of their own: the model equals exact rational arithmetic written apart, on every engine, and text and
unit are one."""

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.cache import tell_once
from golden.native.library import library
from golden.stimulus import OperandShape, generate
from golden.units.unit_file import load_unit, unit_from_table, unit_to_toml
from golden.variants.keys import one_off
from tests.golden.units.own_formats import TEXTS, own_unit
from tests.twin import twin
from tests.twin.own_numbers import numbers_of
from tests.twin.twin_numbers import Number

UNITS = Path(__file__).parents[3] / "examples" / "units"

ENGINES = ("reference", "native") if library() is not None else ("reference",)


@pytest.mark.parametrize("name", TEXTS)
def test_every_engine_gives_the_results_of_the_twin(name: str) -> None:
    compare(name, 60)


@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_many_rows_give_the_results_of_the_twin(name: str) -> None:
    compare(name, 20_000)


def compare(name: str, count: int) -> None:
    unit = own_unit(name)
    operation = unit.operation
    rows = generate(OperandShape.of_operation(operation), count, seed=3).operands
    given = (rows.a, rows.b, rows.c if "c" in operation.operands else None, rows.scale_a, rows.scale_b)
    engines = ENGINES if operation.is_native else ENGINES[:1]
    results = {engine: unit.dot(*given, engine=engine) for engine in engines}
    for row in range(len(rows.c)):
        scales = [() if s is None else s[row].tolist() for s in (rows.scale_a, rows.scale_b)]
        expected = twin.dot(operation, rows.a[row].tolist(), rows.b[row].tolist(), int(rows.c[row]), *scales)
        for engine, d in results.items():
            said = f"{engine}, row {row}: {operation.d.describe(int(d[row]))}, twin {operation.d.describe(expected)}"
            assert twin.same(operation, int(d[row]), expected), said


@pytest.mark.parametrize("name", TEXTS)
def test_text_of_a_unit_reads_back(name: str) -> None:
    unit = own_unit(name)
    assert unit_from_table(tomllib.loads(unit_to_toml(unit))) == unit


@pytest.mark.parametrize("name", TEXTS)
def test_trace_and_neighbours_of_a_unit(name: str) -> None:
    """The trace gives the model's result, and a model with one key changed gives another for some row."""
    unit = own_unit(name)
    rows = generate(OperandShape.of_operation(unit.operation), 300, seed=5).operands
    given: list[Any] = [rows.a, rows.b, rows.c if "c" in unit.operation.operands else None, rows.scale_a, rows.scale_b]
    d = unit.dot(*given)
    for row in range(0, 300, 60):
        trace = unit.explain(*(None if each is None else each[row] for each in given))
        assert trace.d == int(d[row])
        assert json.dumps(trace.as_dict())
    changed = [other for _, other in one_off(unit.operation)]
    differs = [(replace(unit, operation=other).dot(*given) != d).any() for other in changed]
    assert any(differs)


HIF8 = UNITS / "hif8.toml"


@pytest.mark.parametrize("name", ["hif8", "tables", "mxint8", "int16", "int4 groups"])
def test_every_code_of_an_element_without_fields(name: str) -> None:
    unit = own_unit(name)
    for key, given in tomllib.loads(TEXTS[name])["formats"].items():
        own = next(form for form in (unit.a, unit.b) if form.name == key)
        for code, number in enumerate(numbers_of(given)):
            x = own.decode(code)
            sig = (
                Number("finite", bool(x.sign), number.significand, x.exp).value if x.cls.name in ("ZERO", "NORMAL") else None
            )
            assert own.value(code) == (number.value if number.kind == "finite" else None)
            if sig:
                assert (sig, x.exp, x.sign) == (number.value, number.exponent, number.negative)


def test_file_of_a_table_is_the_definition() -> None:
    assert load_unit(HIF8).a == own_unit("hif8").a


BY_TABLE = TEXTS["hif8"].split("[formats")[0]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("0,1\n1,2\n1,nan", "[formats.hif8] t.csv gives code 0x1 twice: 2 and nan"),
        ("code,value\n0,0\n2,nan\n3,1", "hif8 must give a value for every code to 0x3; 0x1 has none, 3 have"),
        (
            "0,0\n1,1/3",
            "the value of code 0x1 of hif8 must be an integer over a power of two, as 0.75, 3/4 or 3*2^-2, or "
            "nan, inf or -inf; got '1/3'",
        ),
        (
            "0,0\n1,x",
            "the value of code 0x1 of hif8 must be an integer over a power of two, as 0.75, 3/4 or 3*2^-2, or "
            "nan, inf or -inf; got 'x'",
        ),
        ("0,0\n1", "a line of t.csv must be code,value, as 0x3c,1.5; got '1'"),
        ("code,value\n", "hif8 must give a value for every code, got none"),
        ("0,0\n1,-0", "hif8 must have a number other than zero"),
        ("0,0\n256,1", "codes of hif8 must be 0 to at most 0xff, got 0x100"),
        (
            "0,1\n1,1*2^-2000",
            "values of hif8 must have at most 24 significant bits and exponents from -1000 to 1000, got 1 bits "
            "and exponents from -2000 to 0",
        ),
    ],
)  # fmt: skip
def test_file_that_is_no_table(lines: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(lines)
    unit = tmp_path / "unit.toml"
    unit.write_text(f'name = "u"\n{BY_TABLE}[formats.hif8]\ntable = "t.csv"\n')
    with pytest.raises(ValueError, match=f"^{re.escape(f'{unit}: {said}')}$"):
        load_unit(unit)


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        (
            "mxint8", {"flush_inputs": True},
            "flush_inputs must be false where a is an integer, which has no subnormals; got true",
        ),
        ("mxint8", {"a": "int32"}, "bits of int32 as an element must be an integer from 2 to 16, got 32"),
        ("mxint8", {"formats": {"mxint8": {"bits": 1}}}, "bits of mxint8 must be an integer from 2 to 64, got 1"),
        ("mxint8", {"c": "int8"}, "c must be a floating-point format with fields, got int8, as a and b alone may be"),
        ("hif8", {"c": "hif8"}, "c must be a floating-point format with fields, got hif8, as a and b alone may be"),
        (
            "hif8", {"rho": "RNE-hif8"},
            "rounding_format of RNE-hif8 must be a floating-point format with fields and a sign, got hif8",
        ),
        ("int4 groups", {"scale": "int8"}, "scale must be a format with fields, at most 32 bits and no padding, got int8"),
        (
            "mxint8", {"formats": {"mxint8": {"bits": 8, "fraction": 9}}},
            "fraction of mxint8 must be an integer from 0 to 8, got 9",
        ),
        (
            "mxint8", {"formats": {"mxint8": {"bits": 8, "bias": 9}}},
            "[formats.mxint8] key must be one of bits, fraction, signed; got 'bias'",
        ),
        (
            "hif8", {"formats": {"hif8": {"values": ["0", 1]}}},
            "values of [formats.hif8] must be a list of texts, one for each code; got ['0', 1]",
        ),
        (
            "tables", {"operation": "MUL", "a": "few", "b": "few"},
            "a of MUL must be a floating-point format with fields, got few, as a and b alone may be",
        ),
    ],
)  # fmt: skip
def test_elements_that_are_refused(name: str, changed: dict[str, Any], said: str) -> None:
    table = tomllib.loads(f'name = "own"\n{TEXTS[name]}') | changed
    if changed.get("operation") == "MUL":
        table = {key: table[key] for key in ("name", "operation", "a", "b", "formats")}
    with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
        unit_from_table(table)


ONE_FIRST = """name = "no zero first"
operation = "T-FDPA"
L = 4
F = 24
e_zero = -132
rho = "RNE-FP32"
a = "q"
b = "q"
c = "fp32"
[formats.q]
values = ["1", "2", "-1", "0"]
"""
"""A format whose code 0 is no zero, so that it cannot stand for an idle product."""


def test_no_other_number_stands_for_an_idle_product() -> None:
    table = tomllib.loads(ONE_FIRST)
    twos, zero = np.ones((1, 8), np.uint8), np.zeros((1, 1), np.float32)
    unit = unit_from_table(table)
    assert golden.gemm(unit, twos, twos.T, zero).tolist() == [[32.0]]
    with pytest.raises(
        ValueError, match=r"^K must fill whole instructions, of 4 products here, where code 0 of a or b is not"
    ):
        golden.gemm(unit, twos[:, :5], twos[:, :5].T, zero)
    with pytest.raises(ValueError, match=r"\[controls\] mask_i masks products of a and b whose code 0 is \+0"):
        unit_from_table(table | {"controls": {"mask_i": {"key": "mask"}}})


def test_sums_take_an_operation_that_multiplies_and_adds() -> None:
    sums = {"tree": "pairwise"}
    with pytest.raises(ValueError, match=r"^\[sums\] goes with operation = E-FDPA with L = 1, or FMA"):
        unit_from_table({"name": "x", "operation": "CVT", "a": "e4m3", "rho": "RNE-FP32", "sums": sums})


def test_a_number_of_too_many_bits_is_refused_before_it_is_computed() -> None:
    table = tomllib.loads(ONE_FIRST) | {"formats": {"q": {"values": ["0", "1*2^9999999999"]}}}
    with pytest.raises(ValueError, match=r"1\*2\^9999999999"):
        unit_from_table(table)


def test_file_of_values_may_begin_with_a_mark_of_its_encoding(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("code,value\n0,0\n1,1.5", encoding="utf-8-sig")
    (tmp_path / "unit.toml").write_text(f'name = "u"\n{BY_TABLE}[formats.hif8]\ntable = "t.csv"\n')
    assert load_unit(tmp_path / "unit.toml").a.value(1) == 1.5


@pytest.mark.parametrize(
    ("format_lines", "said"),
    [
        (
            '[formats.hif8]\ntable = "t.csv"\nvalues = ["0", "1"]',
            "[formats.hif8] has both table and values, which say the same: leave one out",
        ),
        (
            "[formats.int12]\nbits = 8",
            "[formats.int12]: int12 is the name of an integer of 12 bits, with a sign: make it one, or choose another name",
        ),
        (
            "[formats.uint9]\nbits = 9",
            "[formats.uint9]: uint9 is the name of an integer of 9 bits, without a sign: make it one, or choose another "
            "name",
        ),
    ],
)  # fmt: skip
def test_formats_that_say_two_things_are_refused(format_lines: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "unit.toml"
    path.write_text(f'name = "u"\n{BY_TABLE}{format_lines}\n')
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: {said}')}$"):
        load_unit(path)


WIDE = {
    "name": "u", "operation": "ST-FDPA", "L": 4, "K_block": 2, "F": 20, "e_zero": -133, "a": "int8",
    "b": "bf16", "c": "fp32", "rho": "RNE-FP32", "scale": "fp32",
}  # fmt: skip
"""Products under scales of fp32: sums wider than the library's widest integer."""


INCLUDING = 'name = "x"\noperation = "E-FDPA"\nL = 2\na = "{0}"\nb = "e5m2"\nc = "fp32"\ninclude = {1}\n'

E3M4 = 'exp_bits = 3\nman_bits = 4\nbias = 3\nspecials = "ieee"\n'

ALONE = "include must be a file with tables [formats.NAME] alone; f.toml has "


def test_formats_of_a_file_beside_the_unit(tmp_path: Path) -> None:
    """As if they stood in the unit's file, which may have others; a table of values is read from the unit's folder too."""
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "formats.toml").write_text(f'[formats.e3m4]\n{E3M4}[formats.few]\ntable = "few.csv"\n')
    (tmp_path / "few.csv").write_text("0,0\n1,1\n2,1.5\n3,-1\n")
    own = "[formats.i3]\nbits = 3\n"
    for name, alone in (("e3m4", f"[formats.e3m4]\n{E3M4}"), ("few", '[formats.few]\ntable = "few.csv"\n'), ("i3", own)):
        path, plain = tmp_path / "unit.toml", tmp_path / "plain.toml"
        path.write_text(INCLUDING.format(name, '"more/formats.toml"') + own)
        plain.write_text(INCLUDING.format(name, "0").replace("include = 0\n", "") + alone)
        assert load_unit(path) == load_unit(plain)


@pytest.mark.parametrize(
    ("include", "other", "own", "said"),
    [
        ('"f.toml"', "L = 3\n[formats.e3m4]\n" + E3M4, "", ALONE + "L"),
        ('"f.toml"', "", "", ALONE + "none"),
        ('"f.toml"', "[formats.e3m4]\n" + E3M4, "[formats.e3m4]\n" + E3M4, "[formats.e3m4] is both"),
        ("3", "", "", "include must be"),
    ],
)
def test_file_of_formats_that_is_refused(include: str, other: str, own: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text(other)
    (tmp_path / "unit.toml").write_text(INCLUDING.format("e3m4", include) + own)
    with pytest.raises(ValueError, match=rf"unit.toml: {re.escape(said)}"):
        load_unit(tmp_path / "unit.toml")


@pytest.mark.skipif(library() is None, reason="the native library is not built")
def test_sums_too_wide_for_the_library_are_the_references(caplog: pytest.LogCaptureFixture) -> None:
    unit = unit_from_table(WIDE)
    rows = generate(OperandShape.of_operation(unit.operation), 20, seed=3).operands
    expected = unit.dot(*rows, engine="reference").tolist()
    assert [unit.dot(*rows).tolist() for _ in range(2)] == [expected] * 2
    said = "an exact sum of a step must fit 630 bits"
    assert [record.message.partition(";")[0] for record in caplog.records] == [said]
    with pytest.raises(ValueError, match=f"^{said}$"):
        unit.dot(*rows, engine="native")


def test_a_wide_accumulator_is_never_rounded() -> None:
    """With F + 2 + log2(L + 1) fraction bits all modes agree; with four fewer they do not."""
    table = tomllib.loads((UNITS / "unrounded-e4m3.toml").read_text(encoding="utf-8"))
    drawn = generate(OperandShape.of(unit_from_table(table), 64), 2000, 1).operands

    def results(man_bits: int, mode: str) -> list[int]:
        form = {**table["formats"]["acc"], "man_bits": man_bits}
        unit = unit_from_table({**table, "rho": f"{mode}-acc", "formats": {"acc": form}})
        return list(unit.dot(drawn.a, drawn.b, drawn.c % (1 << 10 + man_bits)).tolist())

    modes = ("RZ", "RU", "RD", "RNE")
    assert len({tuple(results(18, mode)) for mode in modes}) == 1
    assert len({tuple(results(14, mode)) for mode in modes}) > 1


def test_fixed_point_sum_is_exact_over_many_steps() -> None:
    """In order and reversed, in steps of 3 and of 1, and in two halves: the sum is one integer."""
    unit = own_unit("kulisch")
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 0x7F, (20, 63), np.uint8) | rng.integers(0, 2, (20, 63), np.uint8) << 7 for _ in "ab")
    c = rng.integers(0, 1 << 40, 20, np.uint64)
    d = unit.dot(a, b, c)
    assert (d == unit.dot(a[:, ::-1], b[:, ::-1], c)).all()
    assert (d == replace(unit, operation=unit.operation.changed(L=1)).dot(a, b, c)).all()
    half = unit.dot(a[:, :30], b[:, :30], c)
    assert (unit.dot(a[:, 30:], b[:, 30:], half) == d).all()


@pytest.mark.parametrize(
    ("keys", "bits", "fraction", "message"),
    [
        ({}, 64, 17, "c must have a fraction of at least 18 bits, which products of e4m3 and e4m3 reach; got 17"),
        ({"a": "bf16"}, 64, 64, "fraction of at least 142 bits, which products of bf16 and e4m3 reach; got 64"),
        ({}, 7, 7, "bits of c must be an integer from 8 to 64, got 7"),
        ({"c": "fp32"}, 64, 18, "c must be an integer, as int8; c may have a fraction; got 'fp32'"),
        ({"a": "e4m4"}, 64, 18, "a must be one of .*; got 'e4m4'"),
        ({"a": "b1"}, 64, 18, "bits of b1 as an element must be an integer from 2 to 16, got 1"),
        ({"a": "wide", "formats": {"wide": {"exp_bits": 8, "man_bits": 2, "bias": 2, "specials": "finite"}}}, 64, 18,
         "must have at most 128 bits in units of the last place of c, got 281"),
        ({"combination": "xor"}, 64, 18, "combination may be xor only where a and b are b1; got a=e4m3, b=e4m3"),
    ],
)  # fmt: skip
def test_fixed_point_refusals(keys: dict[str, Any], bits: int, fraction: int, message: str) -> None:
    formats = {"acc": {"bits": bits, "fraction": fraction}, **keys.get("formats", {})}
    table = {"name": "u", "operation": "IDPA", "L": 2, "a": "e4m3", "b": "e4m3", "c": "acc", **keys, "formats": formats}
    with pytest.raises(ValueError, match=message):
        unit_from_table(table)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"a": "uint16"}, "a of CVT must be an integer with a sign, got uint16"),
        ({"a": "int7"}, "bits of a, an integer, must be an integer from 8 to 64, got 7"),
        ({"a": "fp16"}, "nar = true needs an integer or a fixed-point number as a, got fp16"),
        ({"a": "hif8", "formats": {"hif8": {"values": ["0", "1"]}}}, "with fields, or an integer; got hif8"),
        ({"nar": 1}, "nar must be true or false, without quotes, got 1"),
        ({"rho": "RNE-E2M1", "overflow": "saturate"}, "has a NaN, which nar = true may lead to; got RNE-E2M1"),
        ({"flags": True}, "flags of CVT need a floating-point a, got int32"),
        ({"flush_inputs": True}, "flush_inputs must be false where a is an integer"),
        ({"nan": "first"}, "nan = first needs IEEE 754's NaNs in a and d; got a=int32, d=fp32"),
    ],
)
def test_fixed_point_read_refusals(keys: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        unit_from_table({"name": "u", "operation": "CVT", "a": "int32", "rho": "RNE-FP32", "nar": True, **keys})


@pytest.mark.skipif(library() is None, reason="the native engine is not installed")
def test_fixed_point_is_refused_by_the_native_engine_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    unit = own_unit("kulisch")
    a, c = np.zeros((1, 3), np.uint8), np.zeros(1, np.uint64)
    with pytest.raises(ValueError, match="engine 'native' computes no IDPA of such formats or scales"):
        unit.dot(a, a, c, engine="native")
    tell_once.cache_clear()
    for _ in range(2):
        assert unit.dot(a, a, c) == 0
    said = "engine 'reference' computes IDPA of e4m3 and e4m3 here, slowly"
    assert caplog.text.count(said) == 1


CHOSEN = """name = "chosen"
operation = "T-FDPA"
L = 4
F = 24
a = "e4m3"
b = "e4m3"
c = "fp32"
e_zero = -133
rho = "RZ-FP32"
[formats.e3m4]
exp_bits = 3
man_bits = 4
bias = 3
specials = "ieee"
[formats.e8m15]
exp_bits = 8
man_bits = 15
bias = 127
specials = "ieee"
[controls.format]
key = "formats"
values = {0 = {a = "e4m3", b = "e4m3"}, 1 = {a = "e3m4", b = "e4m3", rho = "RNE-e8m15", c = "e8m15"}}
"""


def test_values_of_a_control_name_formats_of_the_unit() -> None:
    unit = unit_from_table(tomllib.loads(CHOSEN))
    assert unit_from_table(tomllib.loads(unit_to_toml(unit))) == unit
    table = {key: value for key, value in tomllib.loads(CHOSEN).items() if key != "controls"}
    for choice, keys in zip(unit.choices, unit.controls[0].as_table()["values"].values(), strict=True):
        assert choice.unit.operation == unit_from_table(table | keys).operation
    assert [str(choice.unit.operation.d) for choice in unit.choices] == ["fp32", "e8m15"]


def test_a_whole_format_that_a_value_names_is_the_units() -> None:
    table = tomllib.loads(CHOSEN) | {"operation": "ADD", "a": "e8m15", "b": "e8m15", "rho": "RNE-e8m15"}
    for key in ("L", "F", "c", "e_zero"):
        del table[key]
    values = {"0": "e8m15", "1": "e3m4", "2": "e3m5"}
    with pytest.raises(ValueError, match=r"^\[controls\] format = 2 \(e3m5\): formats must be one of fp64"):
        _ = unit_from_table(table | {"controls": {"format": {"key": "formats", "values": values}}}).choices
    del values["2"]
    first, second = unit_from_table(table | {"controls": {"format": {"key": "formats", "values": values}}}).choices
    assert str(first.unit.operation.d) == "e8m15"
    alone = table | {"a": "e3m4", "b": "e3m4", "rho": "RNE-e3m4"}
    del alone["controls"]
    assert second.unit.operation == unit_from_table(alone).operation
