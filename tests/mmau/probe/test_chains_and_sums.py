"""Tables [chain] and programs of additions are found; a device that is none of these is described without a model's tree."""

from typing import Any

import numpy as np
import pytest

from golden.arithmetic.formats import BF16, FP16, FP32, Format
from golden.chains.sum_chain import SumTable
from golden.device import Device
from golden.native.engine import set_threads
from golden.stimulus import Operands, OperandShape, generate
from golden.units.unit import Unit
from golden.units.unit_file import unit_from_table
from mmau.cli.devices_under_test import chosen
from mmau.probe.candidates import alike_by_rule, neighbours
from mmau.probe.device_under_test import ModelDevice, dut_of
from mmau.probe.distinguish import Difference, distinguish, parameters_apart, sides
from mmau.probe.known_properties import rounding_repeats
from mmau.probe.loop import Finding, probe
from mmau.probe.model import NODES, model
from mmau.probe.model import SUMS as SUMS_FAMILY
from mmau.probe.model_tree import Exact, as_places
from mmau.probe.papers.asker import Asker
from mmau.probe.probe_report import as_dict, open_keys, text_of
from tests.mmau.probe.devices import summed_in_order

TRUNCATED = {"operation": "T-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 4, "F": 24, "rho": "RZ-FP32", "e_zero": -133}
FP8 = TRUNCATED | {"a": "e4m3", "b": "e5m2"}
FUSED = {"operation": "FMA", "a": "bf16", "b": "bf16", "c": "fp32"}
SUMS = {"operation": "E-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 1}


def found(unit: Unit, K: int = 8) -> None:
    """The probe's model gives the unit's results, on rows that it has not seen."""
    device = dut_of(unit, K)
    finding = probe(device, 3000)
    assert finding.is_whole()
    assert finding.model is not None
    rows = generate(device.shape, 4000, 77).operands
    assert not finding.model.differs(rows, unit.dot(rows.a, rows.b, rows.c)).any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "chain"),
    [
        pytest.param(TRUNCATED, {"order": "even-and-odd"}, marks=pytest.mark.long),
        (TRUNCATED, {"order": "even-odd", "add_c": "last"}),
        pytest.param(FUSED, {"add_c": "last"}, marks=pytest.mark.long),
        pytest.param(FUSED, {"order": "pairs-of-four"}, marks=pytest.mark.long),
        pytest.param(FP8, {"convert": "fp16", "order": "even-and-odd", "add_c": "last"}, marks=pytest.mark.long),
    ],
)
def test_tables_of_chains_are_found(keys: dict[str, Any], chain: dict[str, str]) -> None:
    found(unit_from_table({"name": "chained", **keys, "chain": chain}), 16)


@pytest.mark.long
@pytest.mark.parametrize(
    "table",
    [
        {"tree": [[[[["0", "p0"], "p4"], [["0", "p1"], "p5"]], [[["0", "p2"], "p6"], [["0", "p3"], "p7"]]], "c"]},
        {"tree": [["p0", "p1", "p2", "p3"], [["p4", "p5", "p6", "p7"], "c"]], "node": "RNE-e8m20"},
        {"tree": [["c", ["p0", ["p1", "p2"]]], [[["p3", "p4"], "p5"], ["p6", "p7"]]], "product": "RNE-e8m12"},
        *(
            {"tree": [["c", ["p0", ["p1", "p2"]]], [[["p3", "p4"], "p5"], ["p6", "p7"]]], "node": node}
            for node in ("RZ-e8m23", "RZ-e8m13", "RZ-e8m7")
        ),
    ],
    ids=["lanes", "exact in fours", "by no rule", "fp32 toward zero", "FP22 toward zero", "bf16 toward zero"],
)
def test_trees_of_places_are_found(table: dict[str, Any]) -> None:
    found(unit_from_table({"name": "sums", **SUMS, "sums": table}))


def test_order_with_a_node_that_loses_several_terms_is_no_tree_of_places() -> None:
    assert as_places([["p0", "p1"], Exact(["p2", "p3", "c"])]) == (("p0", "p1"), ("p2", "p3", "c"))
    assert as_places([["p0", "p1"], ["p2", "p3", "c"]]) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "table",
    [
        pytest.param({"tree": "pairwise", "c": "last"}, marks=pytest.mark.long),
        pytest.param({"tree": "compensated"}, marks=pytest.mark.long),
        pytest.param({"tree": "in-order", "group": 4, "node": "RZ-e8m13"}, marks=pytest.mark.long),
        {"tree": "descending", "c": "among"},
    ],
    ids=lambda table: table["tree"],
)
def test_programs_of_additions_are_found(table: dict[str, Any]) -> None:
    found(unit_from_table({"name": "sums", **SUMS, "sums": table}))


@pytest.mark.parametrize(
    ("table", "counts"), [({}, False), ({"c": "among"}, False), ({"c": "last"}, True), ({"group": 2}, True)]
)
def test_outer_is_open_where_nothing_is_added_outside(table: dict[str, Any], counts: bool) -> None:
    shape = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4)
    program = model(SUMS_FAMILY, SumTable(**table).as_table(), shape)
    changed = {key for candidate in neighbours(program) for key, _ in candidate.keys}
    rows = generate(shape, 400, 0).operands
    other = program.changed(outer="RZ-e8m7")
    assert ("outer" in changed) is counts is bool((program.run(rows) != other.run(rows)).any())
    named = [(key.key, key.values) for key in open_keys(Finding("program", shape, program), rows) if key.key == "outer"]
    assert named == ([] if counts else [("outer", "any")])


@pytest.mark.slow
@pytest.mark.parametrize("a", [FP16, BF16])
def test_nodes_that_hold_every_product_are_named_by_rule(a: Format) -> None:
    """And no others of fp16: rows tell each of the rest from exact products."""
    shape = OperandShape(a=a, b=a, c=FP32, d=FP32, K=1)
    program = model(SUMS_FAMILY, SumTable(c="last").as_table(), shape)
    rows = generate(shape, 4000, 0).operands
    alike = {value for each in alike_by_rule(program) if each.key == "product" for value in each.values}
    differ = {node for node in NODES if (program.run(rows) != program.changed(product=node).run(rows)).any()}
    assert not alike & differ
    assert alike == (set(NODES) - differ if a is FP16 else set())  # products of bf16 reach beyond the exponents of e8
    assert not alike & {value for each in neighbours(program) for key, value in each.keys if key == "product"}


def by_bits_of_the_sum(k: int, total: np.ndarray, part: np.ndarray) -> np.ndarray:
    """A hash of the exact sum: the same answer to the same question."""
    return ((total.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) / 2**24 < part


@pytest.mark.long
@pytest.mark.attack("devices that a probe must not name")
def test_rounding_at_random_is_named_and_no_wrong_tree_is_shown() -> None:
    set_threads(1)
    finding = probe(summed_in_order("random", by_bits_of_the_sum), 2000)
    assert not finding.is_whole()
    roundings = [one for one in finding.known if one.what == "rounding"]
    assert roundings[0].finding.startswith("random: ")
    assert len(roundings[0].rows) == 16
    text = text_of(finding, [])
    assert "validation" not in text
    assert text.count("└─ p3") == 1  # the order from the answers alone: c and p0, then one after the other
    assert "order from the answers alone" in text
    assert [one["what"] for one in as_dict(finding, [])["known"]][:2] == [
        "the same answer when it is asked again", "a NaN among the operands",
    ]  # fmt: skip


@pytest.mark.attack("devices that a probe must not name")
@pytest.mark.parametrize(
    "keys", [TRUNCATED, *(SUMS | {"sums": {"node": node}} for node in ("RNE-e8m13", "RNE-e8m7", "RNE-e5m10", "RZ-e8m13"))]
)
def test_rounding_by_the_bits_of_the_sum_is_not_called_random(keys: dict[str, Any]) -> None:
    """Sums that are rounded to fewer bits than d has round bits of c too, and were called random."""
    (known,) = rounding_repeats(Asker(dut_of(unit_from_table({"name": "x", **keys}))))
    assert known.finding == "by the bits of the sum alone"
    assert known.vectors == 12 * 16


def by_hash(bits: int, of: str) -> Device:
    """c + a·b, up or down by a hash of the sum or of a, to so many bits behind the leading one."""

    def dot(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        total = c.view(np.float32).astype(np.float64) + (a.view(np.float16).astype(np.float64) * b.view(np.float16)).sum(1)
        last = np.ldexp(1.0, np.frexp(total)[1] - 1 - bits)
        hashed = (a[:, 0] if of == "a" else total.view(np.uint64)).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return (np.floor(total / last + (hashed >> np.uint64(40)) / 2**24) * last).astype(np.float32).view(np.uint32)

    return ModelDevice(
        name="by hash", shape=OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=1), function=lambda rows: dot(*rows[:3])
    )


@pytest.mark.parametrize(("bits", "of"), [(23, "sum"), (10, "sum"), (23, "a"), (10, "a")])
def test_rounding_by_a_hash_is_called_random(bits: int, of: str) -> None:
    (known,) = rounding_repeats(Asker(by_hash(bits, of)))
    assert known.finding.startswith("random: ")


@pytest.mark.attack("devices that a probe must not name")
def test_c_that_is_rounded_before_the_sum_is_not_called_random() -> None:
    """c to bf16, products and sums in fp32: bits of c that are gone before the sum decide nothing about its rounding."""
    unit = unit_from_table({"name": "x", **SUMS, "sums": {"tree": "in-order"}})

    def dot(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        return unit.dot(a, b, (c + np.uint32(0x7FFF) + (c >> np.uint32(16) & np.uint32(1))) & np.uint32(0xFFFF0000))

    shape = OperandShape(a=FP16, b=FP16, c=FP32, d=FP32, K=4)
    assert rounding_repeats(Asker(ModelDevice(name="c in bf16", shape=shape, function=lambda rows: dot(*rows[:3])))) == []


@pytest.mark.slow
def test_parameter_that_makes_the_difference_is_named() -> None:
    x, y = sides(chosen("sm_80:mma.m16n8k8.f32.f16.f16.f32"), chosen("sm_90:mma.m16n8k8.f32.f16.f16.f32"))
    difference = distinguish(x, y, 1000, 0)
    assert isinstance(difference, Difference)
    assert [(one.key, one.x, one.y, one.alone) for one in parameters_apart(difference)] == [
        ("F", 24, 25, True), ("e_zero", -132, -133, False),
    ]  # fmt: skip


@pytest.mark.attack("a chain that a parameter's effect is not asked of")
def test_no_parameter_is_named_of_chains_that_convert_or_reorder() -> None:
    """With the other side's F in a plain chain, x would be another arithmetic than it is."""
    narrow, wide = (chosen(f"sm_{arch}:mma.m16n8k32.f16.e4m3.e4m3.f16") for arch in ("89", "90"))
    x, y = sides(narrow, wide)
    codes = np.zeros((1, 32), np.uint8)
    row = Operands(codes, codes, np.zeros(1, np.uint16), None, None)
    assert not (x.chain.is_plain and y.chain.is_plain)
    assert parameters_apart(Difference(x, y, row, (0, 1), 1)) == []
