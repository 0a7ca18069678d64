"""Published designs beside ours: what is called exact, what is refused, and that the page is that of its figures."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golden import Unit
from golden.unit_file import unit_from_table, unit_to_toml
from rtl.cost.synthesis import TOP
from rtl.verilog.emit import to_verilog
from studies.side_by_side.__main__ import kept, run_all
from studies.side_by_side.listing import Group, Listing, Published, listing
from studies.side_by_side.measured import row
from studies.side_by_side.side_page import difference, equality, losses, page, proved
from studies.side_by_side.sources import described

EVIDENCE = Path(__file__).parents[3] / "docs" / "evidence"

UNIT = unit_from_table(
    {"name": "small", "operation": "E-FDPA", "a": "e2m1", "b": "e2m1", "c": "fp16", "L": 1, "rho": "RNE-FP16"}
)

ROW: dict[str, Any] = {
    "cells": 100, "depth": 10, "area_um2": 1000.0, "delay_ns": 2.0, "power_mw": 0.5, "netlist_vectors": 1000,
    "passed": True, "agrees": True, "vectors": 2000, "mismatches": 0, "waived": {}, "failures": [], "diagnosis": "",
    "proof": "proved", "reason": "", "counterexample": "", "own": [],
}  # fmt: skip


def placed(folder: Path, changed: tuple[str, str] = ("", ""), protocol: str = "combinational") -> Published:
    """A design in a folder of descriptions: the small unit's own Verilog, with one text of it replaced."""
    text = to_verilog(UNIT, TOP)
    assert changed[0] in text
    (folder / "sources").mkdir(parents=True)
    (folder / "theirs").mkdir()
    (folder / "sources" / "theirs.v").write_text(text.replace(*changed, 1) if changed[0] else text)
    clock = 'clock = "clk"\n' if protocol != "combinational" else ""
    description = f'top = "{TOP}"\nsources = ["../sources/theirs.v"]\nprotocol = "{protocol}"\n{clock}'
    (folder / "theirs" / "dut.toml").write_text(description)
    return Published(key="theirs", name="Theirs", sources=("somebody/design 0123456789abcdef",), digest="", note="")


def with_digest(published: Published, folder: Path) -> Published:
    """The same with the digest of the files that lie there."""
    with pytest.raises(ValueError, match="must have the digest") as caught:
        described(published, UNIT, folder)
    return replace(published, digest=str(caught.value).split("got ")[1].split(":")[0])


def small_listing(published: Published) -> Listing:
    return Listing((Group(name="Small", builds={"default": UNIT}, published=(published,), why={}),), {})


def measured(unit: Unit, folder: Path, dut: Path | None = None) -> dict[str, Any]:
    content = {"unit": unit_to_toml(unit), "vectors": 2000, "seconds": 60.0}
    return row(content | ({} if dut is None else {"dut": str(dut)}), folder)


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.needs("opensta")
@pytest.mark.needs("cells")
def test_design_that_equals_its_unit_has_the_figures_of_ours(tmp_path: Path) -> None:
    placed(tmp_path)
    ours, theirs = measured(UNIT, tmp_path), measured(UNIT, tmp_path, tmp_path / "theirs" / "dut.toml")
    assert (equality(theirs), proved(theirs), difference(theirs)) == ("exact, 2,000 vectors", "proved", "")
    assert {key: theirs[key] for key in ("cells", "depth", "area_um2")} == {
        key: ours[key] for key in ("cells", "depth", "area_um2")
    }, "one circuit has the same figures whoever wrote it"


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.needs("opensta")
@pytest.mark.needs("cells")
@pytest.mark.attack("a published design that differs from the unit of its row")
def test_design_that_differs_is_not_called_exact_nor_proved(tmp_path: Path) -> None:
    placed(tmp_path, ("assign d = ", "assign d = 16'h1 ^ "))
    found = measured(UNIT, tmp_path, tmp_path / "theirs" / "dut.toml")
    assert not found["passed"]
    assert found["netlist_vectors"] == 0
    assert equality(found) == f"no: {found['mismatches']:,} of 2,000 differ"
    assert proved(found) == "refuted"
    assert "counter-example" in difference(found)


@pytest.mark.slow
@pytest.mark.attack("other sources than those of the commits that the page names")
def test_other_sources_are_refused(tmp_path: Path) -> None:
    published = with_digest(placed(tmp_path), tmp_path)
    assert described(published, UNIT, tmp_path) is not None
    source = tmp_path / "sources" / "theirs.v"
    source.write_text(source.read_text() + "\n")
    with pytest.raises(
        ValueError, match=r"theirs/dut\.toml: the files that it reads of somebody/design .* check these commits out"
    ):
        described(published, UNIT, tmp_path)


@pytest.mark.slow
def test_own_files_are_no_part_of_the_digest(tmp_path: Path) -> None:
    published = with_digest(placed(tmp_path), tmp_path)
    (tmp_path / "theirs" / "own.v").write_text("module own; endmodule\n")
    path = tmp_path / "theirs" / "dut.toml"
    path.write_text(path.read_text().replace('["', '["own.v", "'))
    found = described(published, UNIT, tmp_path)
    assert found is not None
    assert found.own == ("own.v",)


@pytest.mark.slow
def test_design_with_registers_is_refused(tmp_path: Path) -> None:
    published = placed(tmp_path, protocol="valid")
    with pytest.raises(ValueError, match="protocol must be combinational, for all designs are compared without registers"):
        described(published, UNIT, tmp_path)


@pytest.mark.slow
@pytest.mark.attack("a page that loses a row without a word")
def test_page_with_fewer_rows_is_refused(tmp_path: Path) -> None:
    outcome = tmp_path / "side.json"
    before = json.dumps({"tools": {}, "rows": {"small | default": ROW, "theirs": ROW}})
    outcome.write_text(before)
    listed = small_listing(Published(key="theirs", name="Theirs", sources=("a/b 0",), digest="0", note=""))
    with pytest.raises(
        ValueError, match=r"has rows that this run would not have: theirs; describe them in .*, or remove side\.json"
    ):
        run_all(outcome, tmp_path / "store", tmp_path / "nothing", listed)
    assert outcome.read_text() == before
    assert not outcome.with_suffix(".md").exists()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "exact, 2,000 vectors"),
        ({"waived": {"nan = 0x7e00": 3}}, "exact, 2,000 vectors, waived nan = 0x7e00: 3"),
        (
            {"agrees": False, "waived": {"zero_sign = ignore": 3}},
            "but for what is waived, 2,000 vectors, waived zero_sign = ignore: 3",
        ),
        ({"passed": False, "agrees": False, "mismatches": 2}, "no: 2 of 2,000 differ"),
        ({"passed": False, "agrees": False, "failures": ["3 results are missing"]}, "no: 3 results are missing"),
    ],
)
def test_only_what_agreed_everywhere_is_exact(changes: dict[str, Any], text: str) -> None:
    assert equality({**ROW, **changes}) == text


@pytest.mark.attack("a proof that contradicts the co-simulation of the same design")
def test_design_that_differed_is_never_proved() -> None:
    found = {**ROW, "passed": False, "mismatches": 1, "diagnosis": "a cause"}
    assert proved(found) == "no"
    assert difference(found) == "co-simulation says: a cause; the proof and the co-simulation contradict each other"


def test_losses_are_those_of_every_build_with_their_cause() -> None:
    published = Published(key="theirs", name="Theirs", sources=("a/b 0",), digest="0", note="")
    group = replace(small_listing(published).groups[0], why={"cells": "because of this."})
    text = losses(group, {"small | default": {**ROW, "cells": 110, "delay_ns": 3.0}, "theirs": ROW})
    assert "- default, against Theirs: cells 10.0%, delay 50.0%" in text
    assert "Why, cells: because of this." in text
    assert "Why, delay: not looked into." in text
    assert "- default, against Theirs: nothing" in losses(group, {"small | default": ROW, "theirs": ROW})


def test_page_is_that_of_the_figures() -> None:
    found = json.loads((EVIDENCE / "side-by-side.json").read_text())
    assert (EVIDENCE / "side-by-side.md").read_text() == page(listing(), found["rows"], found["tools"])


def test_designs_without_a_row_are_named_on_the_page() -> None:
    published = Published(key="theirs", name="Theirs", sources=("a/b 0",), digest="0", note="")
    text = page(small_listing(published), {"small | default": ROW}, {"yosys": "Yosys 1", "sta": "OpenSTA 1"})
    assert "- Small: Theirs: the run that wrote this page had no description or no time for them." in text


def test_reason_has_no_folders_and_one_complaint() -> None:
    reason = "as it is: Verilator complains:\n    %Warning-WIDTH: /home/me/x/fma.sv:2:3: 5 bits/32\n    and 26 more"
    found = kept({**ROW, "reason": reason}, ["own.v"])
    assert (found["reason"], found["own"]) == (
        "as it is: Verilator complains: %Warning-WIDTH: fma.sv:2:3: 5 bits/32",
        ["own.v"],
    )
