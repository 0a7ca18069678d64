"""The page of synthesised netlists."""

from studies.proofs.netlists import page

ROW = {"name": "unit", "operation": "T-FDPA", "built": "sign-magnitude"}


def test_the_page_counts_modules_and_whole_units() -> None:
    apart = [("unit", "proved", ""), ("unit_round", "open", "no answer"), ("unit_align", "refuted", "they differ")]
    flat = [("unit", "open", "they differ from a state")]
    text = page([
        {**ROW, "way": "apart", "modules": apart, "cpu": 1.2}, {**ROW, "way": "flat", "modules": flat, "cpu": 2.0},
    ])  # fmt: skip
    assert "Of 3 modules, each mapped by itself, 1 equal the Verilog, 1 differ,\n1 are open." in text
    assert "Of 1 units mapped as one circuit 0 are proved equal as a\nwhole, 0 differ, 1 are open." in text
    reasons = "unit_round: no answer; unit_align: they differ; as one circuit: they differ from a state"
    assert f"| unit | sign-magnitude | 1 of 3 | open | 3 | {reasons} |" in text
