"""Random bits as an operand: results of units that round stochastically, beside the twin's, and what they refuse."""

import tomllib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from golden import Unit
from golden.stimulus import Operands, OperandShape, generate
from golden.units.unit_file import unit_from_table, unit_to_toml
from tests.twin import stochastic_twin, twin
from tests.twin.own_numbers import learn

KINDS: dict[str, dict[str, Any]] = {
    "fp16": {"operation": "E-FDPA", "L": 1, "a": "fp16", "b": "fp16", "c": "fp16", "rho": "RZ-FP16", "zero": "ieee"},
    "fp32": {"operation": "T-FDPA", "L": 2, "F": 40, "e_zero": -200, "a": "bf16", "b": "bf16", "c": "fp32",
             "rho": "RZ-FP32"},
    "bf16": {"operation": "T-FDPA", "L": 4, "F": 23, "e_zero": -200, "a": "e4m3", "b": "e5m2", "c": "bf16", "rho": "RZ-BF16",
             "overflow": "saturate"},
    "e4m3": {"operation": "E-FDPA", "L": 2, "a": "e4m3", "b": "e4m3", "c": "fp16", "rho": "RZ-E4M3", "overflow": "saturate"},
    "NaN": {"operation": "E-FDPA", "L": 2, "a": "e4m3", "b": "e4m3", "c": "fp16", "rho": "RZ-E4M3"},
    "e5m2": {"operation": "E-FDPA", "L": 2, "a": "e5m2", "b": "e5m2", "c": "e5m2", "rho": "RZ-E5M2", "flush_inputs": True},
    "fnuz": {"operation": "E-FDPA", "L": 2, "a": "e5m2fnuz", "b": "e4m3fnuz", "c": "fp16", "rho": "RZ-E4M3FNUZ"},
    "numbers": {"operation": "E-FDPA", "L": 4, "a": "e2m1", "b": "e2m1", "c": "e2m1", "rho": "RZ-E2M1",
                "overflow": "saturate"},
    "p3109": {"operation": "E-FDPA", "L": 2, "a": "p", "b": "p", "c": "p", "rho": "RZ-p",
              "formats": {"p": {"exp_bits": 4, "man_bits": 3, "bias": 8, "specials": "p3109"}}},
    "scaled": {"operation": "ST-FDPA", "L": 4, "K_block": 4, "F": 25, "e_zero": -300, "a": "e2m1", "b": "e4m3", "c": "fp32",
               "scale": "ue8m0", "rho": "RZ-FP16"},
}  # fmt: skip
"""Units of every kind of special values, and of sums that are exact, truncated and scaled."""

VARIANTS: dict[str, tuple[str, bool]] = {"A": ("RZ", False), "B": ("RZ", True), "C": ("RNE", False)}


def unit(kind: str, variant: str = "A", bits: int = 3) -> Unit:
    mode, half = VARIANTS[variant]
    table = dict(KINDS[kind])
    table["rho"] = table["rho"].replace("RZ", mode)
    return unit_from_table({"name": "u", **table, "controls": {"random": {"key": "random", "bits": bits, "half": half}}})


def rows_of(u: Unit, count: int, seed: int = 3) -> tuple[Operands, Any]:
    """Rows of the stimulus with random bits."""
    assert u.random is not None
    rows = generate(OperandShape.of_operation(u.operation), count, seed).operands
    return rows, np.random.default_rng(seed).integers(0, 1 << u.random.width, count, np.uint32)


def by_twin(u: Unit, variant: str, rows: Operands, random: Any) -> list[int]:
    assert u.random is not None
    scales = [[()] * len(rows.a) if x is None else x.tolist() for x in (rows.scale_a, rows.scale_b)]
    given = zip(random.tolist(), rows.a.tolist(), rows.b.tolist(), rows.c.tolist(), *scales, strict=True)
    return [stochastic_twin.dot(u.operation, variant, u.random.width, *row) for row in given]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", KINDS)
def test_results_are_the_twins(kind: str, variant: str) -> None:
    """In both engines; of few bits and of many."""
    learn(KINDS[kind])
    for bits in (1, 3, 11):
        u = unit(kind, variant, bits)
        rows, random = rows_of(u, 250)
        expected = by_twin(u, variant, rows, random)
        for engine in ("native", "reference"):
            got = u.dot(*rows, random=random, engine=engine).tolist()
            assert all(map(twin.same, [u.operation] * len(got), got, expected)), (bits, engine)


@pytest.mark.parametrize(("other", "variant"), [("B", "A"), ("C", "A"), ("A", "B"), ("A", "C")])
def test_twin_tells_the_variants_apart(other: str, variant: str) -> None:
    u = unit("fp16", variant)
    rows, random = rows_of(u, 400)
    assert u.dot(*rows, random=random).tolist() != by_twin(u, other, rows, random)


@pytest.mark.parametrize("wrong", ["a mantissa bit more", "bits inverted", "bits reversed", "added to NaN", "sign of zero"])
def test_twin_sees_a_wrong_rounding(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    kind = {"added to NaN": "fnuz", "sign of zero": "fnuz"}.get(wrong, "e4m3")
    u = unit(kind)
    rows, random = rows_of(u, 600)
    given = {"bits inverted": 7 - random, "bits reversed": random >> 2 | random & 2 | (random & 1) << 2}.get(wrong, random)
    if wrong == "a mantissa bit more":
        given = random >> 1 << 1
    if wrong == "added to NaN":
        monkeypatch.setattr("golden.arithmetic.random_bits.is_lone_sign", lambda *of: np.zeros_like(of[1]))
    if wrong == "sign of zero":
        monkeypatch.setattr(type(u.operation.d), "negative_zero", property(lambda form: form.sign_bit))
    got = u.dot(*rows, random=given).tolist()
    monkeypatch.undo()
    assert got != by_twin(u, "A", rows, random)


def test_each_random_number_rounds_away_as_often_as_its_place_says() -> None:
    """Over all random numbers the mean of A is the sum cut below the last of them; B rounds it to nearest."""
    c = np.arange(
        0x3C00, 0x3C00 + 64, dtype=np.uint16
    )  # fp16: 1 and 63 numbers above it, 1/8 ulp of e4m3 away from each other
    table = {"operation": "E-FDPA", "L": 1, "a": "e4m3", "b": "e4m3", "c": "fp16", "rho": "RZ-E4M3", "overflow": "saturate"}
    zero = np.zeros((64, 1), np.uint8)
    for half in (False, True):
        control = {"key": "random", "bits": 4, "half": half}
        u = unit_from_table({"name": "u", **table, "controls": {"random": control}})
        away = sum((u.dot(zero, zero, c, random=np.full(64, r, np.uint8)) == 0x39).astype(int) for r in range(16))
        delta = np.arange(64) / 128
        assert away.tolist() == np.floor(delta * 16 + (0.5 if half else 0)).astype(int).tolist()


def test_kinds_of_operands_and_files() -> None:
    u = unit("fp16", "B", 10)
    assert unit_from_table(tomllib.loads(unit_to_toml(u))) == u
    rows, random = rows_of(u, 6)
    d = u.dot(*rows, random=random)
    floats = [x.view(np.float16) for x in (rows.a, rows.b, rows.c)]
    assert np.array_equal(u.dot(floats[0], floats[1], floats[2], random=random).view(np.uint16), d)
    assert np.array_equal(u.dot(rows.a.reshape(2, 3, 1), rows.b.reshape(2, 3, 1), rows.c.reshape(2, 3),
                                random=random.reshape(2, 3)).reshape(6), d)  # fmt: skip
    assert np.array_equal(u.dot(rows.a, rows.b, random=random), u.dot(rows.a, rows.b, rows.c * 0, random=random))
    plain = replace(u, controls=())
    assert np.array_equal(plain.dot(*rows), u.dot(*rows, random=random * 0))


@pytest.mark.parametrize(
    ("keys", "given", "message"),
    [
        ({}, {}, "random is missing: u takes 3 random bits for each row"),
        ({}, {"random": np.array([8], np.uint8)}, "random must be at most 0x7, got 0x8"),
        ({}, {"random": np.array([1, 2], np.uint8)}, r"random must have shape \(1,\) \(that of c\), got \(2,\)"),
        ({}, {"random": np.array([1])}, "random must be an array of unsigned integers, got int64"),
        ({}, {"random": np.array([1], np.uint8), "flags": True}, "flags must be false: u rounds by random bits"),
        ({"controls": {}}, {"random": np.array([1], np.uint8)}, "random must be left out: u has no random bits"),
        ({"overflow": "by-mode"}, {}, "random bits go with overflow = infinity or saturate, .* got overflow = by-mode"),
        ({"flush_results": True}, {}, "without flush_results and flags; got .* flush_results = True"),
        ({"flags": True}, {}, "without flush_results and flags; got .* flags = True"),
        ({"operation": "FMA"}, {}, "A multiply-add with random bits is E-FDPA with L = 1 and zero = ieee"),
        ({"operation": "IDPA", "a": "int8", "b": "int8", "c": "int32", "L": 1}, {}, "an operation with a rho, got IDPA"),
        ({"rho": "RZ-E8M13"}, {}, "random bits need a rho to a format without padding and with subnormals"),
        ({"rho": "RZ-FP64"}, {}, "of at most 60 bits; got RZ-FP64"),
        ({"controls": {"r": {"key": "random"}}}, {}, r"\[controls\] r must have bits, like \{key = \"random\", bits = 8\}"),
        ({"controls": {"r": {"key": "random", "bits": 33}}}, {}, "random bits must be an integer from 1 to 32, got 33"),
        ({"controls": {"r": {"key": "random", "values": {}}}}, {}, "key must be one of key, bits, half; got 'values'"),
        ({"controls": {p: {"key": "random", "bits": 3} for p in "rs"}}, {}, 'one input with key = "random", got r, s'),
    ],
)  # fmt: skip
def test_refusals(keys: dict[str, Any], given: dict[str, Any], message: str) -> None:
    table = {"name": "u", "operation": "E-FDPA", "L": 1, "a": "fp16", "b": "fp16", "c": "fp16", "rho": "RZ-FP16"}
    if keys.get("operation") == "FMA":
        table = {key: value for key, value in table.items() if key != "L"}
    if keys.get("operation") == "IDPA":
        table = {key: value for key, value in table.items() if key != "rho"}
    one, code = np.zeros((1, 1), np.uint16), np.zeros(1, np.uint16)
    whole = {"controls": {"random": {"key": "random", "bits": 3}}, **table, **keys}
    with pytest.raises((TypeError, ValueError), match=message):
        unit_from_table(whole).dot(one, one, code, **given)


def test_what_takes_no_random_bits_says_so() -> None:
    u = unit("fp16")
    message = r"u rounds by random bits, its \[controls\] random: dot takes them, as random, for one step"
    one, code = np.zeros(1, np.uint16), np.zeros((), np.uint16)
    for call in (lambda: u.explain(one, one, code), lambda: u.chain_over(1)):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match="K must be at most L=1 with random bits, got 2"):
        u.dot(np.zeros((1, 2), np.uint16), np.zeros((1, 2), np.uint16), random=np.zeros(1, np.uint8))
