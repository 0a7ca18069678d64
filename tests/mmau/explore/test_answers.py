"""answers.md and arrays.json: fronts and winners against a search over all points, and limits that nothing keeps."""

import tomllib
from typing import Any

import pytest

from mmau.explore.accuracy import check_workload
from mmau.explore.accuracy.workload import KEYS as KINDS_OF_WORKLOADS
from mmau.explore.accuracy.workload import PROPERTIES
from mmau.explore.answers import answers, arrays, representatives, spread
from mmau.explore.compared import costs_of
from mmau.explore.design_space import Asked, Constraint, Question
from mmau.explore.premises import DRAWN
from mmau.explore.records import is_candidate
from tests.mmau.explore import sample


def rows_under(text: str, head: str) -> list[list[str]]:
    """The rows of the tables under a heading, without their first two lines."""
    part = text.partition(f"\n{head}")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    heads = [number - 1 for number, line in enumerate(lines) if line.startswith("| ---")]
    kept = [line for number, line in enumerate(lines) if number not in heads and number - 1 not in heads]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in kept]


def done() -> list[dict[str, Any]]:
    return [record for record in sample.records() if record["status"] == "done" and record["kind"] == "point"]


SNR = "accuracy.normal.arithmetic_snr_db"

AT_LEAST_100 = Constraint(f"min_{SNR}", SNR, 100.0, None)


def on_front(text: str) -> set[str]:
    """The names of the points that the table marks."""
    return {row[0] for row in rows_under(text, "## The points") if row[-1].startswith("front")}


def test_front_is_of_the_points_that_no_other_beats_in_area_and_accuracy() -> None:
    right = [record for record in sample.records() if is_candidate(record)]

    def place(record: dict[str, Any], workload: str) -> tuple[float, float]:
        return record["cost"]["area_um2"], -record["accuracy"][workload]["arithmetic_snr_db"]

    def is_beaten(one: dict[str, Any], workload: str) -> bool:
        (area, error), others = place(one, workload), [place(other, workload) for other in right]
        return any(x <= area and y <= error and (x, y) != (area, error) for x, y in others)

    wanted = {one["name"] for one in right for workload in ("normal", "outliers") if not is_beaten(one, workload)}
    assert on_front(answers(sample.records(), "t")) == wanted


def test_every_point_that_is_measured_stands_in_the_table_with_its_figures() -> None:
    records = sample.records()
    for record in records[:20]:
        record["beyond"] = "area_um2 = 9 is above max_area_um2 = 8"
    rows = {row[0]: row for row in rows_under(answers(records, "t"), "## The points")}
    assert {record["name"] for record in done()} <= {*rows}
    assert rows[records[6]["name"]][1:4] == ["4", "20", "112,000"]
    assert "beyond a limit" in rows[records[6]["name"]][-1]
    assert "circuit is wrong" in rows[records[0]["name"]][-1]
    assert rows[records[-1]["name"]][-1] == "reference"


def test_winner_of_a_question_is_the_best_of_those_that_keep_its_limits() -> None:
    none = Constraint("max_delay_ns", "delay_ns", 0.5, None)
    coarse = Question("coarse", None, (Constraint("max_F", "F", 12, "F"),), {"encoding": "sign-magnitude"})
    asked = Asked((AT_LEAST_100,), (Question("fast", "delay_ns", (AT_LEAST_100,)), Question("none", None, (none,)), coarse))
    records = sample.records()
    for record in records:  # a limit of the space hides nothing from a question
        record["beyond"] = "some limit"
    found = {row[0]: row for row in rows_under(answers(records, "t", asked), "## Questions")}
    kept = [record for record in done() if record["accuracy"]["normal"]["arithmetic_snr_db"] >= 100]
    kept = [record for record in kept if not record["cosimulation"]["mismatches"]]
    assert kept
    snr = "SNR of arithmetic alone, normal"
    smallest = min(kept, key=lambda record: (record["cost"]["area_um2"], record["name"]))
    assert found[f"least area; {snr} ≥ 100 dB"][1] == smallest["name"]
    fastest = min(kept, key=lambda record: (record["cost"]["delay_ns"], record["name"]))
    row = found[f"**fast**: least delay; {snr} ≥ 100 dB"]
    assert row[1:3] == [fastest["name"], f"delay {fastest['cost']['delay_ns']:.4g} ns; {snr} 108.4 dB"]
    assert found["**none**: least area; delay ≤ 0.5 ns"][1:] == ["none", "–", "–"]
    assert found["**coarse**: least area; F ≤ 12; encoding = sign-magnitude"][1] == "L=4 F=10 sign-magnitude"


def test_points_slower_than_their_clock_win_nothing() -> None:
    records = sample.records()
    asked = Asked((), (Question("small"),))
    (row,) = rows_under(answers(records, "t", asked), "## Questions")
    for record in records:
        if record["name"] == row[1]:
            record["late"] = "delay_ns = 9 is above clock_ns = 1"
    (other,) = rows_under(answers(records, "t", asked), "## Questions")
    assert other[1] != row[1]


def equal_within(error: float) -> list[dict[str, Any]]:
    """Three points whose ratios differ by 0.3 dB, with a standard error."""
    records = [record for record in done() if record["axes"]["encoding"] == "ones-complement"][2:5]
    for number, record in enumerate(records):
        for workload in ("normal", "outliers"):
            measured = record["accuracy"][workload]
            measured["arithmetic_snr_db"] = 20.0 + 0.3 * number
            measured["snr_standard_error_db"] = {"arithmetic": error}
    return records


@pytest.mark.parametrize(("error", "marked"), [(0.1, 0), (0.2, 2)])
def test_points_that_differ_by_chance_are_marked(error: float, marked: int) -> None:
    """Standard errors of a difference are 0.14 and 0.28 dB: neighbours differ by 2.1 and 1.1 of them."""
    text = answers(equal_within(error), "t")
    notes = [row[-1] for row in rows_under(text, "## The points")]
    assert len(notes) == 3
    assert sum("≈ " in note for note in notes) == marked


def test_area_that_mapping_spreads_as_much_is_about_equal() -> None:
    records = equal_within(0.5)
    for record, area in zip(records, (100.0, 101.0, 150.0), strict=True):
        record["cost"] |= {"area_um2": area, "wanted": {"library": "asap7", "clock_ns": 1.0, "activity": 0.1}}
    (row,) = rows_under(answers(records, "t", Asked((), (Question("small"),))), "## Questions")
    assert (row[1], row[-1]) == (records[0]["name"], records[1]["name"])
    assert "| area (µm², ±4 %) |" in answers(records, "t")


def test_what_a_key_changes_is_of_points_that_differ_in_it_alone() -> None:
    records = [record for record in done() if record["axes"]["F"] in (14, 22)]
    rows = rows_under(answers(records, "t"), "## What each key changes")
    of = {row[0]: row for row in rows}
    assert of["14 → 22"][1:3] == ["4", "+33 %"]  # (22 + 10) / (14 + 10), whatever L and the encoding are
    assert of["14 → 22"][-1] == "+48.2"
    assert of["4 → 8"][1:3] == ["4", "+100 %"]
    assert of["ones-complement → sign-magnitude"][1:3] == ["4", "+10 %"]


def test_costs_many_times_as_large_are_a_factor() -> None:
    records = [record for record in done() if record["axes"]["F"] in (14, 22)]
    for record in records:
        record["cost"]["area_um2"] *= 40 if record["axes"]["F"] == 22 else 1
    (row,) = [row for row in rows_under(answers(records, "t"), "## What each key changes") if row[0] == "14 → 22"]
    assert row[2] == "× 53.3"


def test_few_words_are_compared_each_with_each() -> None:
    records = done()[:3]
    for record, name in zip(records, ("one", "two", "three"), strict=True):
        record["axes"] = {"formats": name}
        record["cosimulation"] = None
    found = [row[0] for row in rows_under(answers(records, "t"), "## What each key changes")]
    assert found == ["one → two", "one → three", "two → three"]


def in_two_libraries() -> list[dict[str, Any]]:
    """Points of L = 4 and 8 in the cells of osu018, the same ones a hundred times smaller in asap7's, as a key `build`."""
    found = []
    for cells, scale in (("osu018", 1.0), ("asap7", 0.01)):
        for record in done()[4:12] + done()[16:]:
            build = f"{cells}-L{record['axes'].pop('L')}"
            record["axes"]["build"] = build
            record["name"] = f"F={record['axes']['F']} {record['axes']['encoding']} {build}"
            record["cost"]["wanted"]["library"] = cells
            record["cost"] |= {key: scale * record["cost"][key] for key in ("area_um2", "energy_pj", "delay_ns")}
            found.append(record)
    return found


def test_nothing_is_compared_across_libraries_of_cells() -> None:
    records = in_two_libraries()
    text = answers(records, "t", Asked((), (Question("small"), Question("coarse", None, (), {"build": "asap7-L4"}))))
    front = on_front(text)
    assert {name.replace("osu018", "asap7") for name in front if "osu018" in name} == {
        name for name in front if "asap7" in name
    }
    small = {row[1]: row[2] for row in rows_under(text, "## Questions") if "small" in row[0]}
    assert {*small} == {"osu018", "asap7"}
    assert all(cells in winner for cells, winner in small.items())
    assert [row[1] for row in rows_under(text, "## Questions") if "coarse" in row[0]] == ["asap7"]
    changed = [row[0] for row in rows_under(text, "## What each key changes") if "-L" in row[0]]
    assert changed == ["osu018-L4 → osu018-L8", "asap7-L4 → asap7-L8"]
    best = [row[1:3] for row in rows_under(text, "## The best of each") if row[0] == "area (µm²)"]
    assert [cells for cells, _ in best] == ["osu018", "asap7"]
    assert all(cells in winner for cells, winner in best)


def test_what_a_key_changes_is_stated_for_each_library() -> None:
    records = in_two_libraries()
    for record in records:
        record["cost"]["area_um2"] *= 2 if record["axes"]["F"] == 22 and "asap7" in record["name"] else 1
    rows = rows_under(answers(records, "t"), "## What each key changes")
    assert {row[1]: row[3] for row in rows if row[0] == "14 → 22"} == {"osu018": "+33 %", "asap7": "+167 %"}


def with_arrays(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for record in records:
        figures = {"array_area_um2_per_mac": 9.0, "array_clock_ns": 3.0, "array_energy_pj_per_mac": 1.0}
        record["cost"] |= {key: value * record["axes"]["F"] for key, value in figures.items()}
    return records


def test_arrays_of_some_points_hide_nothing_of_the_others() -> None:
    records = done()[4:]
    with_arrays([record for record in records if record["axes"]["L"] == 8])
    found = [*costs_of(records, Asked()).values()]
    arrays = ["cost.array_area_um2_per_mac", "cost.array_clock_ns", "cost.array_energy_pj_per_mac"]
    assert found == ["cost.area_um2", "cost.delay_ns", "cost.energy_pj", *arrays]
    assert any("L=4" in name for name in on_front(answers(records, "t")))
    assert [*costs_of(with_arrays(records), Asked()).values()] == arrays
    reference = sample.records()[-1]  # which has no array, and decides nothing
    assert [*costs_of([*records, reference], Asked()).values()] == arrays


def test_keys_stand_beside_the_names_in_the_first_table_whatever_its_costs_are() -> None:
    for records in (done()[4:8], with_arrays(done()[4:8]), [*with_arrays(done()[4:6]), *done()[6:8]]):
        for record in records:
            record["parameters"] = {**record["parameters"], "implementation.stages": 2}
        first = answers(records, "t").partition("## The points")[2].partition("\n| point |")[2].partition("\n")[0]
        assert first.startswith(" L | stages | clock of power (ns) | area")


def test_fewer_pairs_of_a_column_are_counted_beside_it() -> None:
    records = [record for record in done() if record["axes"]["F"] in (14, 22)]
    with_arrays([record for record in records if record["axes"]["L"] == 8])
    (row,) = [row for row in rows_under(answers(records, "t"), "## What each key changes") if row[0] == "14 → 22"]
    assert (row[1], row[2]) == ("4", "+33 %")
    assert "+57 % of 2" in row


def test_ratios_of_cut_blocks_say_so_wherever_they_stand() -> None:
    records = done()[4:8]
    assert "cut blocks" not in answers(records, "t").lower()
    records[0]["cut_blocks"] = ["normal"]
    text = answers(records, "t", Asked((AT_LEAST_100,)))
    assert "SNR of arithmetic alone, normal with cut blocks (dB)" in text
    assert "SNR of arithmetic alone, normal with cut blocks ≥ 100 dB" in text
    assert "SNR of arithmetic alone, outliers (dB)" in text
    assert "Cut blocks: a row is one step" in text


def test_energies_say_that_they_have_no_glitches_and_how_many_there_may_be() -> None:
    records = [record for record in done() if record["axes"]["F"] in (14, 22)]
    text = answers(records, "t")
    assert "| energy of a step, no glitches (pJ)" in text
    assert "Name a workload as the activity to see how many there may be." in text
    for record in records:
        record["cost"]["energy_unit_delay_pj"] = record["axes"]["F"] * record["cost"]["energy_pj"]
    text = answers(records, "t")
    assert "a step takes 14 to 22 times the energy" in text
    (row,) = [row for row in rows_under(text, "## What each key changes") if row[0] == "14 → 22"]
    assert (row[2], row[5]) == ("+33 %", "+110 %")  # 32 · 22 / (24 · 14)


def test_clock_and_activity_of_the_power_say_where_they_come_from() -> None:
    records = done()[4:8]
    said = "at a clock of 20 ns, the default, as the space names none; cells leak for that time. Activity: "
    assert f"{said}each net changes 0.1 times in a cycle." in answers(records, "t")
    for record in records:
        record["cost"] |= {
            "meets_clock": True,
            "wanted": {"clock_ns": 9.0, "activity": "500 rows of normal, b held for 64 rows"},
        }
    assert "at a clock of 9 ns; cells leak for that time. Activity: 500 rows of normal, b held for 64 rows." in answers(
        records, "t"
    )


def test_throughputs_say_whether_they_are_the_arrays() -> None:
    records = done()[4:8]
    for record in records:
        record["cost"] |= {"tops_per_mm2": 2.0, "array_tops_per_mm2": 1.0, "array_tops_per_watt": 1.0}
    best = [row[0] for row in rows_under(answers(records, "t"), "## The best of each")]
    of_array = ["throughput per area of the array (TOPS/mm²)", "throughput per power of the array, no glitches (TOPS/W)"]
    assert [each for each in best if "throughput" in each] == ["throughput per area of the datapath (TOPS/mm²)", *of_array]


def test_points_that_are_as_good_as_the_best_one_are_named() -> None:
    rows = rows_under(answers(equal_within(0.2), "t"), "## The best of each")
    (row,) = [row for row in rows if row[0] == "SNR of arithmetic alone, normal (dB)"]
    assert row[-1] != "–"
    alike = done()[4:]
    for record in alike:
        record["accuracy"]["normal"]["arithmetic_snr_db"] = 50.0
    rows = rows_under(answers(alike, "t"), "## The best of each")
    (row,) = [row for row in rows if row[0] == "SNR of arithmetic alone, normal (dB)"]
    assert row[-1].count(", ") == 5
    assert row[-1].endswith(f" and {len(alike) - 7} more")


def test_interrupted_run_says_what_is_missing() -> None:
    records = [*done()[4:6], sample.without_result("L=4 F=99", "unfinished", "not measured: cost", 99)]
    said = answers(records, "t")
    assert "3 points, 2 measured." in said
    assert "Not measured to the end, since the run was interrupted: L=4 F=99; report.html says why." in said


def test_what_is_measured_of_an_unfinished_point_stands_in_the_table_and_wins_nothing() -> None:
    records = done()[4:8]
    best = min(records, key=lambda record: record["cost"]["area_um2"])
    best |= {"status": "unfinished", "accuracy": None, "message": "not measured: accuracy on normal"}
    asked = Asked((), (Question("small"), Question("nothing yet", None, (), {"F": best["axes"]["F"], "encoding": "x"})))
    best["axes"]["encoding"] = "x"
    text = answers(records, "t", asked)
    rows = [row for row in rows_under(text, "## The points") if row[0] == best["name"]]
    assert rows[0][3] == f"{best['cost']['area_um2']:,.0f}"
    assert {row[-1] for row in rows} == {"unfinished"}
    found = {row[0].partition("**: ")[0]: row[1] for row in rows_under(text, "## Questions")}
    assert found["**nothing yet"] == "none, so far"
    assert found["**small"].endswith(", so far")
    assert not found["**small"].startswith(best["name"])


QUANTISED = {"kind": "chain", "K": 1024, "name": "normal", "quantise": {"scale_per": "tensor", "scale_from": "mse"}}


def test_page_says_what_was_measured_before_its_first_table() -> None:
    records = done()[4:8]
    for record, (size, scale) in zip(records, [(32, "ue8m0"), (16, "ue4m3")] * 2, strict=True):
        record["parameters"] |= {"K_block": size, "scale": scale}
        record["toml"] = 'name = "x"\nL = 4\nc = "fp32"\n[implementation]\nstages = 2\n'
    asked = Asked(workloads=(check_workload(QUANTISED), check_workload("outliers")))
    said = answers(records, "t", asked).partition("\n|")[0]
    assert "Workload normal: a and b from N(0, 1), c = 0, K = 1,024 products, 1,000 rows." in said
    assert (
        "elements of at most 8 bits have one factor for the whole tensor; factors and scales of blocks are chosen by "
        in said
    )
    assert "Workload outliers: a, b and c from N(0, 1), of which a share of 0.001 has noise of standard deviation 10" in said
    assert "Blocks: L=4 ones-complement: 32 elements share a scale of ue8m0; L=4 sign-magnitude: 16 elements share" in said
    assert "SNR of arithmetic alone (dB): the power of the exact sum of the operands as they are after quantising" in said
    assert "total SNR" not in said
    assert "All points: L = 4, c = fp32, stages = 2." in said
    assert "Co-simulation: of 4 points 4 agree with their models, 100,000 vectors each." in said
    assert "Proof: 1 of 4 points are proved for all inputs." in said


def test_page_says_that_nothing_was_verified_where_nobody_asked() -> None:
    records = [record | sample.NOT_VERIFIED for record in done()[4:8]]
    said = answers(records, "t").partition("\n|")[0]
    assert "Co-simulation: not asked for.\n" in said
    mapped = [{**record, "cost": {**record["cost"], "netlist_vectors": 1000}} for record in records]
    assert "The mapped netlists of 4 points gave their models' bits on 1,000 rows." in answers(mapped, "t")
    assert "Proof: not asked for." in said
    said = answers(records, "t", Asked(cosimulation=True, proof=True)).partition("\n|")[0]
    assert "Co-simulation: of 4 points 0 agree with their models." in said
    assert "Proof: 0 of 4 points are proved for all inputs." in said
    records[0] |= sample.verified(9, mismatches=1, proved=False)
    said = answers(records, "t").partition("\n|")[0]
    assert "0 agree with their models, 9 vectors each; 1 DIFFER." in said
    assert "0 of 4 points are proved for all inputs, 1 REFUTED." in said


@pytest.mark.parametrize("kind", sorted(set(KINDS_OF_WORKLOADS) - {PROPERTIES}))
def test_every_kind_of_workload_has_words(kind: str) -> None:
    assert kind in DRAWN


def test_ratio_that_one_pair_changes_names_it() -> None:
    records = [record for record in done() if record["axes"]["F"] in (14, 22)]
    records[-1]["accuracy"]["normal"]["arithmetic_snr_db"] += 5.0
    (row,) = [row for row in rows_under(answers(records, "t"), "## What each key changes") if row[0] == "14 → 22"]
    assert row[-2] == "+49.4 (+48.2 to +53.2, L=8 sign-magnitude)"


def test_energies_with_and_without_glitches_have_one_spread() -> None:
    record = done()[4]
    record["cost"]["wanted"]["library"] = "asap7"
    shares = [spread(f"cost.{name}", record) for name in ("energy_pj", "energy_unit_delay_pj", "delay_ns")]
    assert shares == [0.036, 0.036, 0.020]


def test_tables_are_narrow_and_have_no_names_of_columns() -> None:
    text = answers(sample.records(), "t", Asked((AT_LEAST_100,)))
    for line in text.partition("\n## The units\n")[0].splitlines():
        assert line.count(" | ") <= 8, line
        assert not any(word in line for word in ("snr_db", "accuracy.", "cost.", "_um2", "p99")), line


def test_every_named_point_has_its_file() -> None:
    text = answers(sample.records(), "t", Asked((AT_LEAST_100,)))
    named = on_front(text) | {row[1] for row in rows_under(text, "## The best of each")}
    named |= {row[1] for row in rows_under(text, "## Questions")}
    units = text.partition("\n## The units\n")[2]
    assert named
    assert all(f"\n{name}:\n" in units for name in named)
    for block in units.split("```toml\n")[1:]:
        assert tomllib.loads(block.partition("```")[0])


def test_representatives_of_many_points_are_on_the_front() -> None:
    records = sample.records()
    kept, said = representatives(records, 3)
    assert {record["name"] for record in kept} <= on_front(answers(records, "t"))
    assert said == f", 3 of {len(records)} points, along the front of cost and accuracy"
    assert representatives(records, 1000) == (records, "")


def test_arrays_hold_what_a_model_of_a_system_needs() -> None:
    record = done()[0]
    assert arrays([record]) == []
    record["cost"] |= {"array_area_um2": 10.0, "array_utilisation": {"fc": 0.5}}
    (found,) = arrays([record])
    assert (found["name"], found["area_um2"], found["utilisation"]) == (record["name"], 10.0, {"fc": 0.5})
    assert found["wanted"]["clock_ns"] == 20.0
