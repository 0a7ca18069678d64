"""Summation trees from answers alone: those of the operations, and what stands against one."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import golden
from golden.arithmetic.formats import FP16, FP32
from golden.device import Device
from golden.stimulus import Operands
from golden.units.unit_file import operation_from_table, unit_from_table
from mmau.probe.device_under_test import ModelDevice, Questioner, dut_of
from mmau.probe.find_tree import Order, as_dict, order_of, text_of
from mmau.probe.journal import Journal
from mmau.probe.model_tree import Exact, Tree, canonical
from tests.mmau.probe.devices import changed, dut, unit


def asked(device: Device, path: Path | None = None) -> Order:
    journal = Journal(device.name, device.shape, path)
    found = order_of(Questioner(device, journal))
    journal.save()
    return found


def of(operation: str, **keys: object) -> Device:
    table: dict[str, object] = {"operation": operation, "a": "fp16", "b": "fp16", "c": "fp32"}
    return dut_of(unit(operation_from_table(table | keys)))


def named(places: int, start: int = 0, step: int = 1) -> list[Tree]:
    return [f"p{k}" for k in range(start, places, step)]


FUSED = {"F": 20, "rho": "RZ-FP32", "e_zero": -28}
GROUPS = {"a": "e4m3", "b": "e5m2", "F": 25, "e_zero": -133, "scale": "ue8m0", "rho": "RNE-FP32"}
CONVERTED = dut_of(golden.instruction("sm_90", "mma.m16n8k32.f16.e4m3.e4m3.f16"))


def fma_chain(rho: str, K: int = 5) -> Device:
    return dut(operation_from_table({"operation": "FMA", "a": "fp32", "b": "fp32", "c": "fp32", "rho": rho}), K=K)


TREES: dict[str, tuple[Device, Tree]] = {
    "T-FDPA": (of("T-FDPA", L=4, **FUSED), [["c", *named(4)], *named(8, 4)]),
    "long T-FDPA": (of("T-FDPA", L=16, **FUSED), [["c", *named(16)], *named(32, 16)]),
    "E-FDPA": (of("E-FDPA", L=3, rho="RNE-FP32"), Exact([Exact(["c", *named(3)]), *named(6, 3)])),
    "FTZ-AddMul": (of("FTZ-AddMul", P=4), [["c", [["p0", "p1"], ["p2", "p3"]]], [["p4", "p5"], ["p6", "p7"]]]),
    "FTZ-FMA": (of("FTZ-FMA", L=2), [[[["c", "p1"], "p0"], "p3"], "p2"]),
    "FMA": (fma_chain("RNE-FP32", 2), [["c", "p0"], "p1"]),
    # beside a large term a small one of its sign rounds up to the next number, and is lost where it is negative
    "FMA up": (fma_chain("RU-FP32", 3), [[["c", "p0"], "p1"], "p2"]),
    "FMA down": (fma_chain("RD-FP32", 3), [[["c", "p0"], "p1"], "p2"]),
    "FMA toward zero": (fma_chain("RZ-FP32"), [[[[["c", "p0"], "p1"], "p2"], "p3"], "p4"]),
    # d = c + (even + odd): c does not meet the chains before they have met
    "FTZ-EO-FMA": (
        dut(operation_from_table({"operation": "FTZ-EO-FMA", "a": "bf16", "b": "bf16", "c": "fp32", "L": 6}), K=6),
        ["c", [[["p0", "p2"], "p4"], [["p1", "p3"], "p5"]]],
    ),
    # the scales are one, so that all groups of a step are one exact sum, which is cut beside a large c
    "GST-FDPA": (of("GST-FDPA", L=4, G=2, K_block=2, **GROUPS), [["c", named(4)], named(8, 4)]),
    "four by four": (
        CONVERTED, ["c", [[f"p{k}" for k in range(32) if k % 4 < 2], [f"p{k}" for k in range(32) if k % 4 > 1]]],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "four by four" else name for name in TREES]
)
def test_tree(name: str) -> None:
    device, tree = TREES[name]
    found = asked(device)
    assert found.tree is not None, found.why
    assert canonical(found.tree) == canonical(tree)
    assert isinstance(found.tree, Exact) == isinstance(tree, Exact)


@pytest.mark.slow
def test_fewer_vectors_than_pairs() -> None:
    found = asked(of("T-FDPA", L=16, **FUSED))
    assert found.asked < 33 * 32 / 2


BY_NO_RULE: Tree = [["c", ["p0", ["p1", "p2"]]], [[["p3", "p4"], "p5"], ["p6", "p7"]]]
LANES: Tree = [[[[["0", "p0"], "p4"], [["0", "p1"], "p5"]], [[["0", "p2"], "p6"], [["0", "p3"], "p7"]]], "c"]


def toward_zero(tree: Tree, node: str) -> Device:
    sums = {"operation": "E-FDPA", "a": "fp16", "b": "fp16", "c": "fp32", "L": 1, "sums": {"tree": tree, "node": node}}
    return dut_of(unit_from_table({"name": "toward zero", **sums}))


@pytest.mark.parametrize("node", ["RZ-e8m23", "RZ-e8m13", "RZ-e8m7"])
@pytest.mark.parametrize("tree", [BY_NO_RULE, LANES], ids=["by no rule", "lanes"])
def test_sums_that_are_rounded_toward_zero(tree: Tree, node: str) -> None:
    """A small term beside a large one of the other sign leaves a last place of the large one."""
    found = asked(toward_zero(tree, node))
    assert found.tree is not None, found.why
    assert canonical(found.tree) == canonical(without_zeros(tree))


@pytest.mark.parametrize(
    "device", [fma_chain("RO-FP32"), of("T-FDPA", L=4, **FUSED, truncation="RO")], ids=["sums", "terms"]
)
def test_what_is_rounded_to_odd_has_no_tree(device: Device) -> None:
    assert asked(device).tree is None


@pytest.mark.attack("orders that answers do not show")
def test_gain_that_no_rounding_toward_zero_explains_has_no_tree() -> None:
    """The terms that are lost are those of a tree; where -U is in p5, it gains one last place more than its nodes give."""
    honest = toward_zero(BY_NO_RULE, "RZ-e8m23")
    assert asked(honest).tree is not None

    def more(operands: Operands, d: np.ndarray) -> np.ndarray:
        value = d.view(np.float32)
        gains = (operands.a[:, 5] >> 15 == 1) & (value >= 64)
        return np.where(gains, value + np.float32(64), value).view(np.uint32)

    assert asked(changed(honest, more)).tree is None


def without_zeros(tree: Tree) -> Tree:
    """The tree without the zeros that sums begin with."""
    if isinstance(tree, str):
        return tree
    members = [without_zeros(member) for member in tree if member != "0"]
    return members[0] if len(members) == 1 else members


def test_places_that_meet_three_apart() -> None:
    """Ten products and c at once, but p1 and p4 before: no two places of one node are a power of two apart."""
    e_max = of("T-FDPA", L=10, **FUSED)

    def dot(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        value = FP16.value
        d = []
        for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True):
            terms = [value(i) * value(j) for i, j in zip(x, y, strict=True)]  # type: ignore[operator]
            terms[1], terms[4] = fused([terms[1], terms[4]]), Fraction(0)
            d.append(FP32.encode(fused([*terms, FP32.value(z)])))  # type: ignore[list-item]
        return np.array(d, np.uint32)

    found = asked(ModelDevice(name="three apart", shape=replace(e_max.shape, K=10), function=lambda rows: dot(*rows[:3])))
    assert found.tree is not None
    assert canonical(found.tree) == canonical(["c", ["p1", "p4"], *(f"p{k}" for k in (0, 2, 3, 5, 6, 7, 8, 9))])


def fused(terms: list[Fraction]) -> Fraction:
    """The sum of terms that are cut 20 bits below the largest."""
    largest = max(map(abs, terms))
    if not largest:
        return Fraction(0)
    last = Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length() - 20)
    return sum((int(term / last) * last for term in terms), Fraction(0))


def test_small_terms_that_a_floor_does_not_cut() -> None:
    """Of few values of v none is above the place where all is cut, and small enough for a sum of them."""
    found = asked(of("ST-FDPA", a="e5m2", b="e5m2", L=2, K_block=2, F=24, rho="RZ-FP32", e_zero=26))
    assert found.tree is not None


def test_formats_that_do_not_reach_far_leave_an_exact_node() -> None:
    found = asked(of("T-FDPA", a="e2m1", b="e2m1", L=2, **FUSED))
    assert found.reach == 4
    assert isinstance(found.tree, Exact)
    assert text_of(found).splitlines()[1] == "d (exact)"


def test_a_sum_that_no_tree_gives() -> None:
    """A term is lost in every third row."""
    honest = of("T-FDPA", L=2, **FUSED)

    def wrong(operands: object, d: np.ndarray) -> np.ndarray:
        return np.where(np.arange(len(d)) % 3 == 1, d ^ np.array(1 << 20, d.dtype), d)

    found = asked(changed(honest, wrong))
    assert found.tree is None
    assert "d is not a whole number of terms" in found.why or "no power of two" in found.why
    assert text_of(found).splitlines()[1].startswith("not found: ")
    assert as_dict(found)["drawn"] is None


def test_a_floor_above_all_terms_leaves_nothing_to_count() -> None:
    found = asked(of("T-FDPA", L=2, F=5, rho="RZ-FP32", e_zero=900))
    assert found.tree is None
    assert found.why.startswith("no power of two in all places")


def test_integers_have_no_order() -> None:
    keys = {"operation": "IDPA", "a": "int8", "b": "int8", "c": "int32", "L": 2, "overflow": "wrap"}
    found = asked(dut(operation_from_table(keys)))
    assert (found.tree, found.asked) == (None, 0)


def test_answers_that_a_journal_holds_are_not_asked_again(tmp_path: Path) -> None:
    device = of("T-FDPA", L=2, **FUSED)
    first = asked(device, tmp_path / "state.npz")
    questioner = Questioner(device, Journal(device.name, device.shape, tmp_path / "state.npz"))
    assert order_of(questioner).tree == first.tree
    assert questioner.vectors == 0
