"""Programs of additions: what they compute by hand, the quick engine beside the definition, files, traces and refusals."""

import re
import tomllib
from typing import Any

import numpy as np
import pytest

import golden
from golden.arithmetic.rounding import Mode
from golden.arrays import bits_dtype
from golden.chains.sum_chain import C_PLACES, TREES, SumTable
from golden.engines.engine import codes_of, values_of
from golden.operations import TFDPA
from golden.stimulus import OperandShape, generate, rows_of
from golden.units.unit import Unit
from golden.units.unit_file import unit_from_table, unit_to_toml
from tests.sum_units import SUM_UNITS
from tests.twin import sums_twin
from tests.twin.own_numbers import learn

FORMATS: dict[str, dict[str, Any]] = {
    "fp16": {"operation": "E-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 1},
    "e4m3": {"operation": "E-FDPA", "a": "e4m3", "b": "e5m2", "c": "fp32", "L": 1, "rho": "RNE-FP16"},
    "fp32": {"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32"},
}

MULTIPLIED = (
    "of a unit with [sums] must be a floating-point format with fields, at most 24 significant bits, exponents within 300, "
    "and beyond 16 bits IEEE 754's special values"
)
FAR = {"exp_bits": 3, "man_bits": 2, "bias": 400, "specials": "fn"}
ADDED = (
    "of a unit with [sums] must have a sign, subnormals, IEEE 754's special values, no padding, at most 24 significant bits "
    "and exponents within 300"
)
PLACES = "[sums] tree must have c and each of p0, p1, … once, without a gap, and 0 wherever a sum begins at +0"
FORMAT = "one of RZ, RNE, RD, RU, RO, RNA and a format of e2 to e8 and m1 to m23 such as RNE-e8m23"
NESTED = '[sums] tree must be a name or nested arrays of "p0", "p1", …, "c" and "0"'


def deep(levels: int) -> Any:
    """Nodes above one place, each of one member."""
    return "c" if not levels else [deep(levels - 1)]


def sums(formats: str = "fp16", **table: Any) -> Unit:
    return unit_from_table({"name": "sums", **FORMATS[formats], "sums": table})


def result(unit: Unit, products: list[float], c: float) -> float:
    a = np.array([products], np.float16)
    return float(unit.dot(a, np.ones_like(a), np.array([c], np.float32))[0])


@pytest.mark.parametrize(
    ("table", "products", "c", "d"),
    [
        ({"tree": "in-order"}, [2**-12, 2**-12, 2**-12, 2**-12], 4096.0, 4096.0),  # ties to even
        ({"tree": "pairwise", "c": "last"}, [2**-12, 2**-12, 2**-12, 2**-12], 4096.0, 4096.0 + 2**-10),
        ({"tree": "pairwise"}, [2**-12, 2**-12, 2**-12], 4096.0, 4096.0 + 2**-11),  # (c + p0) + (p1 + p2)
        ({"tree": "halves", "c": "last"}, [4096.0, 2**-12, -4096.0, 2**-12], 0.0, 2**-11),
        ({"tree": "compensated"}, [2**-12, 2**-12, 2**-12, 2**-12], 4096.0, 4096.0 + 2**-10),
        ({"tree": "ascending", "c": "among"}, [4096.0, 2**-12, 2**-12], 0.0, 4096.0 + 2**-11),
        ({"tree": "descending", "c": "among"}, [2**-12, 2**-12, 4096.0], 0.0, 4096.0),
        ({"tree": "exact"}, [2**-12, 4096.0, -4096.0, 2**-12], 0.0, 2**-11),
        ({"tree": "in-order", "group": 2, "node": "RZ-e8m13"}, [1.0, 2**-13, 1.0, 2**-14], 0.0, 2 + 2**-13),
        ({"tree": "in-order", "node": "RNE-e8m7"}, [256.0, 1.0], 0.0, 256.0),
        ({"tree": [["p0", "p2"], [["p1", "p3"], "c"]]}, [4096.0, 2**-12, -4096.0, 2**-12], 0.0, 2**-11),
        ({"tree": [["p0", "p1"], "c"]}, [-0.0, -0.0], -0.0, -0.0),
        ({"tree": [[["0", "p0"], "p1"], "c"]}, [-0.0, -0.0], -0.0, 0.0),
        ({"tree": [["p0", "p1", "p2"], "c"], "node": "RNE-e8m7"}, [256.0, 1.0, 1.0], 0.0, 258.0),  # 256 + 1 is a tie
        ({"tree": [["p0"], "c"], "node": "RZ-e8m7"}, [257.0], 1.0, 256.0),  # 257 is cut to 256 first, then 257 again
    ],
)  # fmt: skip
def test_sums_by_hand(table: dict[str, Any], products: list[float], c: float, d: float) -> None:
    got = result(sums(**table), products, c)
    assert (got, np.signbit(got)) == (d, np.signbit(d))


@pytest.mark.slow
@pytest.mark.parametrize("formats", FORMATS)
@pytest.mark.parametrize("tree", TREES)
def test_engine_equals_the_definition(formats: str, tree: str) -> None:
    """The definition is exact rational arithmetic; the engine is float64 with its errors."""
    nodes = (
        ("exact", "RNE-e8m23", "RNE-e8m23"), ("RNE-e8m23", "RZ-e8m13", "RZ-e8m7"), ("exact", "RNE-e5m10", "RNE-e8m23"),
        ("RU-e5m6", "RD-e8m15", "RO-e8m10"), ("RNA-e4m3", "RU-e6m9", "RNA-e8m23"),
    )  # fmt: skip
    for number, (product, node, outer) in enumerate(nodes):
        for group, c in ((0, C_PLACES[number % 3]), (4, ("first", "last")[number % 2])):
            unit = sums(formats, tree=tree, group=group, product=product, node=node, outer=outer, c=c)
            rows = generate(OperandShape.of(unit, 8), 60, number).operands
            expected = unit.dot(rows.a, rows.b, rows.c, engine="reference")
            assert np.array_equal(unit.dot(rows.a, rows.b, rows.c, engine="native"), expected)


def random_tree(places: list[str], rng: np.random.Generator) -> Any:
    """The places in any order, under nodes of one to four members."""
    if len(places) == 1:
        return places[0]
    cuts = sorted(rng.choice(np.arange(1, len(places)), min(len(places) - 1, int(rng.integers(1, 4))), replace=False))
    order = [places[k] for k in rng.permutation(len(places))]
    parts = [order[start:end] for start, end in zip([0, *cuts], [*cuts, len(places)], strict=True)]
    members = [random_tree(part, rng) for part in parts]
    return [["0", members[0]], *members[1:]] if rng.integers(2) else members


@pytest.mark.slow
@pytest.mark.parametrize("formats", FORMATS)
def test_engine_equals_the_definition_in_any_tree(formats: str) -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        tree = random_tree([*(f"p{k}" for k in range(int(rng.integers(1, 9)))), "c"], rng)
        unit = sums(formats, tree=tree, product=("exact", "RNE-e8m13")[seed % 2], node=("RZ-e8m13", "RNE-e8m23")[seed % 2])
        assert unit_from_table(tomllib.loads(unit_to_toml(unit))) == unit
        rows = generate(OperandShape.of(unit, unit.usual_K), 60, seed).operands
        expected = unit.dot(rows.a, rows.b, rows.c, engine="reference")
        assert np.array_equal(unit.dot(rows.a, rows.b, rows.c, engine="native"), expected)


@pytest.mark.parametrize("truncation", ["RZ", "RD", "RO"])
@pytest.mark.parametrize(("formats", "K"), [("fp16", 5), ("e4m3", 8)])
def test_a_sum_whose_terms_are_cut_is_a_t_fdpa(formats: str, K: int, truncation: Mode) -> None:
    """T-FDPA in C++ is written apart; its only NaN and zero are NVIDIA's."""
    table = {"tree": "exact", "node": "RZ-e8m13", "F": 13, "truncation": truncation, "e_zero": -133}
    unit = unit_from_table({"name": "sums", **FORMATS[formats], "rho": "RNE-FP32", "sums": table})
    fused = TFDPA(
        a=unit.a, b=unit.b, c=unit.c, L=K, F=13, rho="RZ-E8M13", e_zero=-133, truncation=truncation, overflow="by-mode"
    )
    rows = generate(OperandShape.of(unit, K), 400, 7).operands
    expected = Unit(name="fused", operation=fused).dot(rows.a, rows.b, rows.c, engine="native").view(np.float32)
    got = unit.dot(rows.a, rows.b, rows.c).view(np.float32)
    assert np.array_equal(got, expected, equal_nan=True)
    assert np.isnan(got).any()
    assert (got == 0).any()
    assert np.isfinite(got).sum() > 200


@pytest.mark.parametrize(
    ("table", "places"),
    [
        ({"tree": "in-order"}, [[["c", "p0"], "p1"], "p2"]),
        ({"tree": "pairwise", "c": "last"}, [[["p0", "p1"], "p2"], "c"]),
        ({"tree": "halves", "c": "among"}, [["p0", "p2"], ["p1", "c"]]),
        ({"tree": "exact"}, ["c", "p0", "p1", "p2"]),
    ],
    ids=str,
)
def test_named_trees_are_trees_of_places(table: dict[str, Any], places: Any) -> None:
    named, unit = sums(**table, node="RZ-e8m13", outer="RZ-e8m13"), sums(tree=places, node="RZ-e8m13")
    rows = generate(OperandShape.of(named, 3), 500, 3).operands
    assert np.array_equal(named.dot(rows.a, rows.b, rows.c), unit.dot(rows.a, rows.b, rows.c))


@pytest.mark.attack("programs of additions")
@pytest.mark.parametrize("engine", ["reference", "native"])
def test_compensation_begins_at_plus_zero(engine: str) -> None:
    """As `float lost = 0` in a program: with −0 the sum of nothing but −0 was +0, and an infinity alone with c was NaN."""
    unit = sums(tree="compensated")
    negative, one, infinity = (np.array(codes, np.uint16) for codes in ([[0x8000, 0x8000]], [[0x3C00, 0x3C00]], [[0x7C00]]))
    assert unit.dot(negative, one, np.array([0x80000000], np.uint32), engine=engine).tolist() == [0x80000000]
    assert unit.dot(infinity, one[:, :1], np.array([0x7F800000], np.uint32), engine=engine).tolist() == [0x7F800000]


def test_file_holds_the_program_and_the_trace_its_steps() -> None:
    unit = sums(tree="pairwise", group=4, node="RZ-e8m13", c="last")
    assert unit_from_table(tomllib.loads(unit_to_toml(unit))) == unit
    ones = np.ones(4, np.float16)
    text = unit.explain(ones, ones, np.float32(0.5).reshape(())).text()
    assert "addition: 1.0 + 1.0 = 2.0" in text
    assert "addition: 4.0 + 0.5 = 4.5" in text


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"node": "RNE-e9m23"}, f"[sums] node must be {FORMAT}, got 'RNE-e9m23'"),
        ({"product": "e8m23"}, f"[sums] product must be {FORMAT} or exact, got 'e8m23'"),
        ({"tree": "exact", "F": 4}, "[sums] F = 4 goes with e_zero, the exponent with which a zero term counts"),
        ({"e_zero": 0}, "[sums] e_zero and truncation go with F, the fraction bits that terms are cut to"),
        (
            {"F": 4, "e_zero": 0},
            '[sums] F goes with tree = "exact", whose sums have all terms at once; got in-order',
        ),
        ({"tree": "exact", "F": 0, "e_zero": 0}, "[sums] F must be an integer from 1 to 128, got 0"),
        ({"c": "among", "group": 2}, "[sums] c = among goes with one group of all products; leave out group"),
        ({"group": -1}, "[sums] group must be at least 0, got -1"),
        (
            {"scaled": "RNE-e8m23"},
            "[sums] scaled goes with group, the products whose sum the scales of their block multiply",
        ),
        ({"group": 2, "scaled": "exact"}, f"[sums] scaled must be {FORMAT}, got 'exact'"),
        ({"tree": [["p0", "p2"], "c"]}, f"{PLACES}; p1 is missing"),
        ({"tree": ["p0", "p1"]}, f"{PLACES}; c is missing"),
        ({"tree": [["p0", "p0"], "c"]}, f"{PLACES}; p0 stands 2 times"),
        ({"tree": [["p0", 1], "c"]}, f"{NESTED}, got 1"),
        ({"tree": [["p0", []], "c"]}, f"{NESTED}, got []"),
        ({"tree": deep(300)}, f"{NESTED} of at most 200 levels"),
        (
            {"tree": ["p0", "c"], "c": "last"},
            "[sums] tree of places says where c is added, without groups; leave out group, c and outer",
        ),
    ],
)
def test_wrong_keys_are_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        SumTable(**table)


def test_operation_with_an_arithmetic_of_its_own_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^\[sums\] goes with operation = E-FDPA with L = 1, or FMA of at most 32 bits"):
        unit_from_table({"name": "x", **FORMATS["fp16"], "L": 2, "sums": {}})
    with pytest.raises(ValueError, match=r"^K must be a multiple of the group of \[sums\], 4, got 6$"):
        sums(group=4).chain_over(6)
    assert isinstance(sums().operation, golden.OPERATIONS["E-FDPA"])


def test_tree_of_places_fixes_the_number_of_products() -> None:
    unit = sums(tree=[["p0", "p1"], "c"])
    assert unit.usual_K == 2
    three = np.ones((1, 3), np.float16)
    with pytest.raises(ValueError, match=r"^K must be 2, the products of the tree of \[sums\], got 3$"):
        unit.dot(three, three, np.zeros(1, np.float32))


@pytest.mark.slow
@pytest.mark.parametrize("name", SUM_UNITS)
def test_sums_are_those_of_the_twin(name: str) -> None:
    """The twin is exact rational arithmetic written apart; it sees the wrong design."""
    unit, wrong = SUM_UNITS[name].unit(), SUM_UNITS[name].unit(is_wrong=True)
    assert unit.sums is not None
    learn(SUM_UNITS[name].keys)
    rows = generate(OperandShape.of(unit, unit.usual_K), 800, 3).operands
    expected = [
        sums_twin.dot(unit.sums, unit.operation, row.a, row.b, row.c, row.scale_a, row.scale_b) for row in rows_of(rows)
    ]
    assert unit.dot(*rows).tolist() == unit.dot(*rows, engine="reference").tolist() == expected
    assert wrong.dot(*rows).tolist() != expected


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"a": "far", "formats": {"far": FAR}}, f"a {MULTIPLIED}; got far"),
        ({"b": "int8"}, f"b {MULTIPLIED}; got int8"),
        ({"c": "e4m3"}, f"c {ADDED}; got e4m3"),
        ({"rho": "RNE-E4M3"}, f"the format of rho {ADDED}; got e4m3"),
    ],
)
def test_formats_that_sums_do_not_take_are_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        unit_from_table({"name": "sums", **FORMATS["fp16"], **keys, "sums": {}})


@pytest.mark.parametrize("name", ["two levels", "chunks of hybrid FP8", "22 bits in groups, then promoted", "block scales"])
def test_product_of_matrices_is_that_of_dot_products(name: str) -> None:
    """Two steps, each of which adds to the sum so far; under scales one block."""
    unit = SUM_UNITS[name].unit()
    K = 2 * unit.usual_K
    rows = generate(OperandShape.of(unit, K), 12, 3).operands
    A, B, C = rows.a[:3], rows.b[3:7], rows.c.reshape(3, 4)
    alpha, beta = (None, None) if rows.scale_a is None or rows.scale_b is None else (rows.scale_a[:3], rows.scale_b[3:7])
    a, b = np.repeat(A, 4, 0), np.tile(B, (3, 1))
    if alpha is None or beta is None:
        first = unit.dot(a[:, : K // 2], b[:, : K // 2], rows.c)
        expected = unit.dot(a[:, K // 2 :], b[:, K // 2 :], first)
        got = golden.gemm(unit, A, B.T, C)
    else:
        expected = unit.dot(a, b, rows.c, np.repeat(alpha, 4, 0), np.tile(beta, (3, 1)))
        got = golden.gemm(unit, A, B.T, C, alpha, beta.T)
    assert got.tolist() == expected.reshape(3, 4).tolist()


SCALED = {"group": 4, "scaled": "RNE-e8m23"}

BOTH = "[sums] scaled goes with scale and K_block of the unit, whose scales it multiplies"


@pytest.mark.parametrize(
    ("keys", "table", "said"),
    [
        ({}, SCALED, f"{BOTH}; got scaled = RNE-e8m23, scale = None"),
        ({"scale": "ue8m0", "K_block": 8}, {"group": 4}, f"{BOTH}; got scaled = None, scale = ue8m0"),
        ({"scale": "ue8m0", "K_block": 6}, SCALED,
         "[sums] group must divide K_block, so that its products share scales; got group = 4, K_block = 6"),
        ({"scale": "far", "K_block": 8, "formats": {"far": FAR}}, SCALED, "scale of a unit with [sums] must have at most 24 "
         "significant bits, exponents within 300, and beyond 16 bits IEEE 754's special values; got far"),
    ],
)  # fmt: skip
def test_scales_that_sums_do_not_take_are_refused(keys: dict[str, Any], table: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        unit_from_table({"name": "sums", **FORMATS["fp16"], **keys, "sums": table})


def test_scales_in_a_trace_and_beyond_a_block() -> None:
    """Two blocks of two groups: 2 · (1 + 1) twice, and NaN · (1 + 1)."""
    unit = unit_from_table(
        {"name": "sums", **FORMATS["fp16"], "scale": "ue8m0", "K_block": 4, "sums": {"group": 2, "scaled": "RNE-e8m23"}}
    )
    ones, half = np.ones(8, np.float16), np.float32(0.5).reshape(())
    scales = np.array([128, 127], np.uint8), np.array([127, 255], np.uint8)
    assert float(unit.dot(ones[:4], ones[:4], half, scales[0][:1], scales[1][:1])) == 8.5
    assert np.isnan(unit.dot(ones, ones, half, *scales))
    text = unit.explain(ones, ones, half, *scales).text()
    assert [text.count(each) for each in ("rounding: 2.0 = 2.0", "rounding: 4.0 = 4.0", "rounding: nan = nan")] == [2, 2, 4]
    assert (unit.usual_K, unit_from_table(tomllib.loads(unit_to_toml(unit)))) == (2, unit)


@pytest.mark.parametrize("name", ["fp32", "tf32", "fp16"])
def test_values_by_fields_are_numpys(name: str) -> None:
    """Codes of fp32 and fp16 to float64 and back; tf32 is fp32 without its low bits."""
    form = golden.FORMATS[name]
    infinity = form.infinity or 0
    codes = np.random.default_rng(0).integers(0, form.codes, 20_000).astype(bits_dtype(form))
    codes[:6] = np.array([0, 1, infinity, infinity + 1, infinity - 1, 1 << form.width - 1])
    kept = codes & codes.dtype.type(-(1 << form.pad_bits) & form.codes - 1)
    with np.errstate(all="ignore"):
        values, expected = values_of(form, codes), kept.view(f"f{codes.itemsize}").astype(np.float64)
    assert np.array_equal(values, expected, equal_nan=True)
    assert np.array_equal(np.signbit(values[values == 0]), np.signbit(expected[expected == 0]))
    if not form.pad_bits:
        with np.errstate(all="ignore"):
            assert np.array_equal(codes_of(form, values)[~np.isnan(values)], codes[~np.isnan(values)])
