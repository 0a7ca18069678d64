"""The coverage models: complete on the samples, honest about what cannot be hit, and able to fail."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import golden
from cosim.coverage import covergroup as seen_module
from cosim.coverage.coverage_model import Counts, Model, count, covergroups, report, results, whole
from cosim.regressions.coverage_job import coverage_units
from golden.arithmetic.rounding import MODES, Mode
from golden.native.engine import computes
from golden.native.observe import Observation, observe
from golden.operations import OCFDPA, PSFDPA, TFDPA
from golden.stimulus import CORNERS, OperandShape, generate
from rtl.designs.sample_units import sample_units
from studies.coverage_table import ARGUED_ALONE
from tests.cosim.coverage.unit_coverage import bins_of, contradicted, counts_of, missed, operands, wrongly_unreachable
from tests.golden.native.native_rows import needs_native
from tests.golden.strategies import operations, products
from tests.golden.units.own_formats import own_unit

pytestmark = needs_native

OPERATIONS: dict[str, Any] = dict(golden.OPERATIONS)
"""The operations by name; each takes its own parameters, which only the running program knows."""

SAMPLES = {unit.name: unit.operation for unit in sample_units()}


def check_default_run(counts: Counts) -> None:
    """A run of the default length hits every bin but those that nothing can hit."""
    assert (missed(counts), wrongly_unreachable(counts), counts.rows) == ([], [], 20000)
    is_one_term = sum(len(each.terms) for each in counts.model.operation.structure.sums) == 1  # nothing aligns, nor cancels
    assert whole([counts]).hit > (60 if is_one_term else 100)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        name if name.startswith("small ") or " own " in name else pytest.param(name, marks=pytest.mark.long)
        for name in SAMPLES
    ],
)
def test_default_run_of_a_combinational_unit_hits_every_reachable_bin(name: str) -> None:
    check_default_run(counts_of(SAMPLES[name], ((20000, 0),)))


def operand_bits(operation: golden.Operation) -> int:
    """Bits of a and b of a step."""
    return operation.length * (operation.a.width + operation.b.width)


def test_samples_show_every_operation_large_and_small() -> None:
    by_name: dict[str, list[golden.Operation]] = {}
    for operation in SAMPLES.values():
        by_name.setdefault(operation.name, []).append(operation)
    assert list(by_name) == list(golden.OPERATIONS)
    for name, units in by_name.items():
        # The steps of RISC-V's draft are models alone: no datapath is made of them.
        of_units = [entry.operation for entry in golden.instructions() if entry.arch != "riscv-zvbdota"]
        if name in {operation.name for operation in of_units}:
            assert operand_bits(units[0]) == max(operand_bits(each) for each in of_units if each.name == name)
        assert min(map(operand_bits, units)) <= max(operand_bits(units[0]) // 2, units[0].a.width + units[0].b.width)
    keys = {key for operation in SAMPLES.values() for key in operation.parameters()}
    assert {"sticky", "flush_inputs", "flush_results", "overflow"} <= keys


def check_no_unreachable_bin_is_hit(data: st.DataObject, rows: int) -> None:
    operation = data.draw(operations(data.draw(st.sampled_from(list(golden.OPERATIONS)))).filter(computes))
    K = data.draw(st.composite(products)(operation))
    assert wrongly_unreachable(counts_of(operation, ((rows, data.draw(st.integers(0, 10**6))),), K)) == []


@pytest.mark.slow
@settings(max_examples=25)
@given(data=st.data())
def test_no_unreachable_bin_of_any_unit_is_hit(data: st.DataObject) -> None:
    check_no_unreachable_bin_is_hit(data, 1500)


@pytest.mark.long
@settings(max_examples=600)
@given(data=st.data())
def test_no_unreachable_bin_of_many_units_is_hit(data: st.DataObject) -> None:
    check_no_unreachable_bin_is_hit(data, 4000)


@pytest.mark.parametrize("to", ["E4M3", "E5M2", "FP16"])
@pytest.mark.parametrize("mode", MODES)
def test_ranges_whose_last_binade_holds_a_nan_end_where_their_format_does(mode: Mode, to: str) -> None:
    # 480, one place above the largest number of E4M3, has its leading one where 448 has.
    counts = counts_of(OPERATIONS["CVT"](a="fp32", rho=f"{mode}-{to}"), ((20000, 1),))
    assert (missed(counts), wrongly_unreachable(counts)) == ([], [])


BY_DEFINITION = (
    r"it takes two (terms|products)",
    r"there is one (c|product|T|term)",
    r"a step has (1 term|\d+ terms)",
    r"two terms grow by one bit",
    r"a group has one product",
    r"\w+ has (no (infinities|NaN|-0|sign|zero)|neither zeros nor subnormals)",
    r"a result of zero is \+0",
    r"subnormal results are flushed",
    r"nothing is flushed",
    r"the sticky bit lies below.*",
    r"overflow is infinity in RNE",
    r"(RZ|RNE|RD|RU|RO|RNA) does not round (positive|negative) numbers (up in magnitude|toward zero|away from zero)",
    r"(RZ|RNE|RD|RU|RO|RNA) leaves a last bit of what is not zero",
    r"RO only sets the last bit",
    r"a truncated sum is not normalised again",
    r"products of .* are finite, so that c alone can be special",
    r".* have no infinities(, so that c alone can be one)?",
    r"not both of .* have infinities",
    r"it is an operand's",
    r"every NaN of an operand goes before it",
    r"an invalid operation gives a NaN of its own",
    r"the smallest \w+ is 0",
    r"products of \w+ and \w+ have no sign",
)  # fmt: skip
"""Reasons that follow from what the words mean, whatever the numbers are."""

ROWS = {"GST-FDPA 0": 60_000, "GST-FDPA of one's own 0": 60_000}
"""Rows that show what 5,000 do not: c cut wholly beside groups, results rounded up to the smallest normal number."""


NOT_SHOWN = tuple((operation, "T and c: cancellation | 32 or more bits cancel") for operation in ("TR-FDPA", "GTR-FDPA"))
"""Operation and bin: by the model units of F = 40 and 128 of the coverage job can hit it, and their vectors do not."""


def is_argued_alone(operation: str, of_bin: str) -> bool:
    """Whether a bin of an operation, written "covergroup | bin", is one of those."""
    return any(argued.has(operation, of_bin) for argued in ARGUED_ALONE)


@pytest.mark.long
@pytest.mark.slow
def test_a_bin_that_is_unreachable_by_numbers_is_hit_where_these_differ() -> None:
    """And the default runs of pipelines, which show most of them, hit every reachable bin."""
    hit: set[tuple[str, str]] = set()
    unreachable: dict[tuple[str, str], str] = {}
    runs = [counts_of(operation) for operation in SAMPLES.values()]
    for counts in runs:
        check_default_run(counts)
    runs += [counts_of(unit.operation, ((ROWS.get(unit.name, 5000), 1),)) for unit in coverage_units()]
    reachable: set[tuple[str, str]] = set()
    for counts in runs:
        for group, name, reason, hits in bins_of(counts):
            bin_of = (counts.model.operation.name, f"{group} | {name}")
            if reason is None:
                reachable.add(bin_of)
            if hits:
                hit.add(bin_of)
            elif reason is not None and not any(re.fullmatch(pattern, reason) for pattern in BY_DEFINITION):
                unreachable[bin_of] = reason
    assert len(unreachable) > 300
    never = {bin_of: reason for bin_of, reason in unreachable.items() if bin_of not in hit}
    assert {bin_of for bin_of in never if bin_of in reachable or not is_argued_alone(*bin_of)} == set(NOT_SHOWN)


def test_c_of_two_formats_keeps_the_subnormal_numbers_of_the_one_with_the_larger_exponents() -> None:
    """fp16's lie far above bf16's lowest exponent, with significands of fewer bits than either format's."""
    fp16 = golden.FORMATS["fp16"]
    chained = TFDPA(a=fp16, b=fp16, c=fp16, L=1, F=3, rho="RZ-BF16", e_zero=-139, truncation="RO")
    counts = counts_of(chained, ((4000, 0),), 2)
    assert wrongly_unreachable(counts) == []
    group = "products and c: alignment"
    assert any(hits for of, name, _, hits in bins_of(counts) if of == group and name == "both kinds, c, wholly cut")


def test_zeros_alone_in_the_frame_of_c_make_a_number_far_below_all_others() -> None:
    """A zero product of the other sign is inverted to one unit of the last place at e_zero, which rounds to zero."""
    small = OCFDPA(a="fp16", b="e4m3", c="fp16", L=2, F=1, h=2, rho="RNE-FP16", e_zero=-139)  # type: ignore[arg-type]
    counts = counts_of(small, ((4000, 0),))
    assert wrongly_unreachable(counts) == []
    assert all(hits for of, name, _, hits in bins_of(counts) if of == "result: outcome" and name.startswith("to zero"))


@pytest.mark.parametrize(("h", "F"), [(3, 1), (4, 1), (4, 2), (5, 1), (6, 3)])
@pytest.mark.parametrize("P", [1, 2, 3])
def test_products_whose_headroom_lies_above_their_fraction_bits_are_rounded_down_to_a_larger_number(
    h: int, F: int, P: int
) -> None:
    products = PSFDPA(a="tf32", b="tf32", c="fp32", L=P, P=P, F=F, h=h, rho="RNE-FP32", e_zero=-126)  # type: ignore[arg-type]
    assert wrongly_unreachable(counts_of(products, ((4000, 0),))) == []


@pytest.mark.slow
def test_what_is_argued_alone_no_unit_can_hit() -> None:
    """Each entry is needed: it has bins that no unit calls reachable, and that some call unreachable by their numbers."""
    reasons: dict[tuple[str, str], set[str | None]] = {}
    for operation in {*SAMPLES.values(), *(unit.operation for unit in coverage_units())}:
        for group in covergroups(Model(operation, operation.length)):
            for name, reason in zip(group.bins, group.reasons, strict=True):
                reasons.setdefault((operation.name, f"{group.name} | {name}"), set()).add(reason)
    nowhere = [
        bin_of
        for bin_of, said in reasons.items()
        if None not in said and not all(any(re.fullmatch(p, str(reason)) for p in BY_DEFINITION) for reason in said)
    ]
    assert [bin_of for bin_of in nowhere if not is_argued_alone(*bin_of)] == []
    assert all(any(argued.has(*bin_of) for bin_of in nowhere) for argued in ARGUED_ALONE)


SMALL_T = SAMPLES["small T-FDPA"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("corner", "bin_of", "sample"),
    [
        ("several-specials", "special terms: several, +infinity", "small T-FDPA"),
        ("below-normal", "multiply-add: outcome: up to the smallest normal, -", "x86-amx tdpbf16ps.m16n16k32"),
        ("invalid-among-nans", "NaN that is kept: of an invalid operation, NaNs beside it, invalid", "small FTZ-EO-FMA"),
        ("cancellation", "products and c: cancellation: 16 to 31 bits cancel", "sm_80 mma.m16n8k32.satfinite.s32.s8.s8.s32"),
    ],
)
def test_a_corner_that_is_dropped_leaves_its_bin_missed(corner: str, bin_of: str, sample: str) -> None:
    operation = SAMPLES[sample]
    shape, model = OperandShape.of_operation(operation), Model(operation, operation.length)
    stimulus = generate(shape, 20000, 0)
    assert bin_of not in whole([count(model, stimulus.operands)]).missed
    others = stimulus.rows(np.flatnonzero(stimulus.label != stimulus.names.index(corner)))
    assert bin_of in whole([count(model, others.operands)]).missed
    assert corner in CORNERS


def test_a_model_without_a_step_shows_none_of_its_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_roundings(*arguments: Any) -> Observation:
        seen = observe(*arguments)
        seen.roundings["flags"] = 0
        return seen

    monkeypatch.setattr(seen_module, "observe", without_roundings)
    found = {bins.name: bins.hit for bins in results(count(Model(SMALL_T, 2), operands(SMALL_T, 2000)))}
    assert {name for name, hit in found.items() if not hit} == {
        "result: what is cut off", "result: direction of rounding", "result: outcome", "overflow",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["weights under fp16", "mxint8", "tables"])
def test_classes_that_no_code_of_an_element_has_are_no_bins(name: str) -> None:
    counts = counts_of(own_unit(name).operation, ((4000, 0),))
    classes = [each for each in results(counts) if each.name in ("class of a", "class of b")]
    assert [(each.missed, each.contradicted) for each in classes] == [((), ()), ((), ())]


def test_chains_show_what_c_is_at_each_step() -> None:
    counts = counts_of(SMALL_T, ((4000, 0),), K=8)
    found = {bins.name: bins for bins in results(counts)}["c of each step"]
    assert found.bins == 27
    assert found.missed == ()
    assert counts.model.K == 8


def test_report_names_what_is_missed() -> None:
    shown = report(counts_of(SMALL_T, ((50, 0),)))
    groups = {group["name"]: group for group in shown["covergroups"]}
    assert shown["operation"] == "T-FDPA"
    assert shown["rows"] == 50
    assert sum(group["hit"] for group in groups.values()) == shown["hit"]
    assert "both kinds, c, partly cut" not in groups["class of c"]["missed"]
    assert all(group["hit"] + len(group["missed"]) + group["unreachable"] == group["bins"] for group in groups.values())
    assert shown["hit"] < shown["bins"] - shown["unreachable"]


def test_a_bin_that_is_hit_although_it_is_called_unreachable_is_reported() -> None:
    counts = counts_of(SMALL_T, ((50, 0),))
    wrong, said = contradicted(counts)
    before, after = report(counts), report(wrong)
    assert (before["contradicted"], after["contradicted"]) == ((), (said,))
    assert all(before[key] == after[key] for key in ("hit", "unreachable", "bins"))
    assert [f"{group['name']}: {name}" for group in after["covergroups"] for name in group["contradicted"]] == [said]


def test_bins_of_a_group_have_names_of_their_own() -> None:
    for operation in SAMPLES.values():
        groups = covergroups(Model(operation, operation.length))
        assert len({group.name for group in groups}) == len(groups)
        assert all(len(set(group.bins)) == len(group.bins) for group in groups)
