"""The table [chain] of a unit file: the catalogue's chains as units, chains by hand, engines, refusals."""

import itertools
import re
import tomllib
from typing import Any

import numpy as np
import pytest

import golden
from golden.chains.chain import ADD_C, CHAIN_ORDERS
from golden.comparison import differing
from golden.native.parameters import parameters
from golden.stimulus import OperandShape, generate
from golden.units.unit_file import unit_from_table, unit_to_toml

FP8: dict[str, Any] = {
    "name": "fp8", "operation": "T-FDPA", "L": 16, "F": 25, "rho": "RZ-FP32", "e_zero": -133, "a": "e4m3", "b": "e5m2",
    "c": "fp32",
}  # fmt: skip
FLAT = {"exp_bits": 6, "man_bits": 9, "bias": 31, "specials": "ieee", "subnormals": False}
PUBLISHED = {"convert": "fp16", "order": "pairs-of-four", "add_c": "last"}

BF16: dict[str, Any] = {
    "name": "bf16", "operation": "FMA", "a": "bf16", "b": "bf16", "c": "fp32", "flush_inputs": True, "flush_results": True,
}  # fmt: skip


def unit(keys: dict[str, Any], **chain: Any) -> golden.Unit:
    return unit_from_table(keys | ({"chain": chain} if chain else {}))


def operands(made: golden.Unit, rows: int, K: int = 32) -> tuple[Any, Any, Any]:
    found = generate(OperandShape.of(made, K), rows, seed=3).operands
    return found.a, found.b, found.c


@pytest.mark.parametrize(("d", "rho", "e_zero"), [("f32", "RZ-FP32", -133), ("f16", "RNE-FP16", -21)])
def test_published_chain_is_the_catalogues(d: str, rho: str, e_zero: int) -> None:
    """FP8 `mma.sync` of sm_90, which adds c last, in the orders of three tables."""
    keys = FP8 | {"rho": rho, "e_zero": e_zero, "c": d.replace("f", "fp")}
    instruction = golden.instruction("sm_90", f"mma.m16n8k32.{d}.e4m3.e5m2.{d}")
    made = unit(keys, **PUBLISHED)
    assert made.chain_over(32) == instruction.chain
    rows = operands(made, 2_000)
    np.testing.assert_array_equal(made.dot(*rows), instruction.dot(*rows))
    for order in ("in-order", "even-odd"):
        assert (unit(keys, **PUBLISHED | {"order": order}).dot(*rows) != instruction.dot(*rows)).any()


@pytest.mark.slow
def test_multiply_adds_over_even_and_odd_elements_are_tdpbf16ps() -> None:
    """An equivalent of FTZ-EO-FMA, except for the codes of NaN, which FMA does not fix."""
    instruction = golden.instruction("x86-amx", "tdpbf16ps.m16n16k32")
    made = unit(BF16, order="even-and-odd", add_c="last")
    rows = operands(made, 5_000)
    got, expected = made.dot(*rows), instruction.dot(*rows)
    assert not differing(got, expected, made.operation).any()
    for other in (
        unit(BF16, order="even-and-odd"),
        unit(BF16, order="even-odd", add_c="last"),
        unit(BF16, add_c="last"),
        unit(BF16 | {"flush_results": False}, order="even-and-odd", add_c="last"),
    ):
        assert differing(other.dot(*rows), expected, made.operation).sum() > 10


SIMPLE: dict[str, Any] = {"name": "x", "operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32"}
BIG = 2.0**24


@pytest.mark.parametrize(
    ("chain", "d"),
    [
        # products 2^24, 1, −2^24, 1 on c = 1: 1 is half an ulp of 2^24, and a tie goes to 2^24
        ({}, 1.0),
        ({"order": "even-odd"}, 2.0),
        ({"order": "pairs-of-four"}, 1.0),
        ({"order": "even-and-odd"}, 2.0),
        ({"add_c": "last"}, 2.0),
        ({"order": "even-odd", "add_c": "last"}, 3.0),
        ({"order": "even-and-odd", "add_c": "last"}, 3.0),
    ],
)
def test_chains_by_hand(chain: dict[str, str], d: float) -> None:
    made = unit(SIMPLE, **chain)
    a = np.array([BIG, 1, -BIG, 1], np.float32)
    for engine in ("reference", "native"):
        assert made.dot(a, np.ones(4, np.float32), np.float32(1), engine=engine) == d
    assert made.explain(a, np.ones(4, np.float32), np.float32(1)).d == np.float32(d).view(np.uint32)


@pytest.mark.parametrize(
    ("chain", "c", "d"),
    [
        # products 2^24 and 1; 2^24 + 1 lies between two numbers of fp32
        ({"addition": "RNE"}, 1.0, BIG),
        ({"addition": "RZ"}, 1.0, BIG),
        ({"addition": "RU"}, 1.0, BIG + 2),
        ({"addition": "RO"}, 1.0, BIG + 2),
        ({"addition": "RU", "subtract": True}, 1.0, -BIG + 1),
        ({"addition": "RD", "subtract": True}, -1.0, -BIG - 2),
        ({"addition": "RU", "subtract": True}, -1.0, -BIG),
    ],
)
def test_modes_of_an_addition_and_subtracted_products_by_hand(chain: dict[str, Any], c: float, d: float) -> None:
    a = np.array([BIG, 0], np.float32)
    for of_chain, of_c in (({"add_c": "last"}, c), ({"order": "even-and-odd"}, 0.0)):
        a[1] = 0 if of_c else (-c if chain.get("subtract") else c)  # the odd chain has c's part
        made = unit(SIMPLE, **chain, **of_chain)
        for engine in ("reference", "native"):
            assert made.dot(a, np.ones(2, np.float32), np.float32(of_c), engine=engine) == d
        assert made.explain(a, np.ones(2, np.float32), np.float32(of_c)).d == np.float32(d).view(np.uint32)


@pytest.mark.parametrize(("a", "c", "d"), [(0.0, -0.0, -0.0), (0.0, 0.0, 0.0), (-0.0, -0.0, 0.0), (2.0, 3.0, -7.0)])
def test_subtracted_products_have_the_other_sign_also_those_that_are_zero(a: float, c: float, d: float) -> None:
    for keys, add_c in itertools.product((SIMPLE, SIMPLE | {"operation": "E-FDPA", "L": 1, "zero": "ieee"}), ADD_C):
        if keys["operation"] == "FMA" and add_c == "last":
            continue  # its chain starts from +0, to which -0 is lost
        keys = keys | ({} if keys["operation"] == "FMA" else {"a": "bf16", "b": "bf16"})
        made = unit(keys, subtract=True, add_c=add_c)
        x, y = (np.array([value], np.float32).view(np.uint32) for value in (a, 5.0))
        if made.a.width == 16:
            x, y = (x >> 16).astype(np.uint16), (y >> 16).astype(np.uint16)
        for engine in ("reference", "native"):
            found = made.dot(x, y, np.float32(c).view(np.uint32), engine=engine)
            assert int(found) == int(np.float32(d).view(np.uint32)), (keys["operation"], add_c, engine)


def test_c_may_be_narrower_than_d_where_signs_of_zeros_are_those_of_ieee_754() -> None:
    keys = {"operation": "E-FDPA", "a": "fp16", "b": "fp16", "c": "fp16", "rho": "RNE-FP32", "L": 4, "zero": "ieee"}
    a, c = np.array([[1, 2, 3, 4]], np.float16), np.array([0.5], np.float16)
    for engine in ("reference", "native"):
        assert unit({"name": "x", **keys}, order="even-odd").dot(a, a, c, engine=engine) == 30.5


ALL: list[dict[str, Any]] = [
    *(
        {"order": order, "add_c": add_c} | convert
        for order, add_c, convert in itertools.product(CHAIN_ORDERS, ADD_C, ({}, {"convert": "fp16"}))
    ),
    {"add_c": "last", "addition": "RO"},
    {"order": "even-and-odd", "addition": "RD"},
    {"order": "even-and-odd", "add_c": "last", "addition": "RU", "subtract": True},
    {"subtract": True},
    {"convert": "fp16", "subtract": True},
]


def named(chain: dict[str, Any]) -> str:
    return "-".join(f"{value}" for value in chain.values())


@pytest.mark.slow
@pytest.mark.parametrize("chain", ALL, ids=named)
def test_engines_agree_and_traces_end_in_the_same(chain: dict[str, Any]) -> None:
    made = unit(FP8, **chain)
    a, b, c = operands(made, 200)
    native = made.dot(a, b, c)
    np.testing.assert_array_equal(native, made.dot(a, b, c, engine="reference"))
    not_finite = np.flatnonzero(native & 0x7F800000 == 0x7F800000)
    for row in (0, 7, 150, not_finite[0]):
        trace = made.explain(a[row], b[row], c[row])
        assert (trace.d, sorted(trace.order)) == (native[row], list(range(32)))
        assert trace.steps[-1].d.code == native[row]
        keys = ", ".join(f"{key}={value}" for key, value in made.chain.changed().items())
        is_published = made.chain_over(32).fp16_order is not None  # whose steps and last addition say it all
        assert trace.text().splitlines()[0].endswith(f"; [chain] {keys}") == (bool(keys) and not is_published)
        assert trace.as_dict().get("chain", {}) == ({} if is_published else made.chain.changed())


@pytest.mark.parametrize("chain", ALL, ids=named)
def test_file_reads_back(chain: dict[str, Any]) -> None:
    made = unit(FP8, **chain)
    assert unit_from_table(tomllib.loads(unit_to_toml(made))) == made
    assert ("[chain]" in unit_to_toml(made)) == (chain != {"order": "in-order", "add_c": "first"})


@pytest.mark.parametrize(
    ("keys", "chain", "message"),
    [
        (FP8, {"order": "odd-even"}, r"\[chain\] order must be one of in-order, .*; got 'odd-even'"),
        (FP8, {"add_c": "middle"}, r"\[chain\] add_c must be one of first, last; got 'middle'"),
        (FP8, {"convert": "bf16"}, r"\[chain\] convert must be one of fp16; got 'bf16'"),
        (FP8, {"adds": "c"}, r"\[chain\] key must be one of add_c, addition, convert, order, subtract; got 'adds'"),
        (FP8, {"add_c": "last", "addition": "RN"}, r"\[chain\] addition must be one of .*; got 'RN'"),
        (
            FP8, {"addition": "RZ"},
            r"\[chain\] addition is for sums outside of the steps, of which there are none; got RZ",
        ),
        (FP8, {"subtract": "yes"}, r"\[chain\] subtract must be true or false, without quotes, got 'yes'"),
        (
            {"name": "x", "operation": "IDPA", "L": 4, "a": "uint8", "b": "int8", "c": "int32"}, {"subtract": True},
            r"\[chain\] subtract inverts a bit that is a's sign alone, which uint8 does not have",
        ),
        (FP8 | {"a": "fp16"}, PUBLISHED, r"a must be one of e4m3, e5m2; got 'fp16'"),
        (SIMPLE, {"convert": "fp16"}, r"a must be one of e4m3, e5m2; got 'fp32'"),
        (FP8 | {"c": "fp16"}, {"add_c": "last"}, r"\[chain\] adds in the format of d: c must be fp32, got fp16"),
        (
            FP8 | {"c": "flat", "rho": "RNE-flat", "formats": {"flat": FLAT}}, {"add_c": "last"},
            r"\[chain\] adds as FMA does, in formats with subnormals; got d = flat",
        ),
        (
            {"name": "x", "operation": "FTZ-FMA", "L": 2, "a": "bf16", "b": "bf16", "c": "fp32"}, {"add_c": "last"},
            r"\[chain\] adds in the format of rho, but FTZ-FMA has no rho",
        ),
        (
            FP8 | {"operation": "ST-FDPA", "K_block": 32}, {"order": "even-odd"},
            r"\[chain\] is for operations without scales, but ST-FDPA has scales",
        ),
    ],
)  # fmt: skip
def test_table_that_is_refused(keys: dict[str, Any], chain: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        unit(keys, **chain)


def test_chain_must_be_a_table() -> None:
    with pytest.raises(ValueError, match=r"^chain must be a table, got 'even-odd'$"):
        unit_from_table(FP8 | {"chain": "even-odd"})


@pytest.mark.parametrize(
    ("order", "K", "message"),
    [
        ("pairs-of-four", 6, "K must be a multiple of 4 for the order pairs-of-four, got 6"),
        ("even-odd", 15, "K must be a multiple of 2 for the order even-odd, got 15"),
        ("even-and-odd", 48, "K must be a multiple of L=16 of T-FDPA where it is larger, got K=24"),
    ],
)
def test_number_of_products_that_does_not_fit(order: str, K: int, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        unit(FP8, order=order).dot(np.zeros(K, np.uint8), np.zeros(K, np.uint8), np.uint32(0))


def test_library_never_takes_such_a_chain_for_a_plain_one() -> None:
    with pytest.raises(ValueError, match=r"^engine 'native' computes no such chain in one call: Chain\("):
        parameters(unit(FP8, order="even-odd").chain_over(32), 32)
