"""The text of a cost report: the whole, its share of each product, the components."""

import pytest

from rtl.cost.report import Cost, CostReport, PartCost

WHOLE = Cost(cells=1001, transistors=4002, depth=50, registers=0)


@pytest.mark.parametrize(
    ("area", "products", "lines"),
    [
        (
            5000.0, 4,
            ["area in osu018 cells: 5000 µm²", "per product, 4 a step: 250 cells, 1000 transistors, 1250 µm²"],
        ),
        (
            None, 1,
            [
                "area in osu018 cells: not measured (no qflow-tech-osu018)",
                "per product, 1 a step: 1001 cells, 4002 transistors",
            ],
        ),
        (5000.0, None, ["area in osu018 cells: 5000 µm²"]),
    ],
    ids=["of four products", "without a library", "of no single unit"],
)  # fmt: skip
def test_report_states_the_share_of_each_product(area: float | None, products: int | None, lines: list[str]) -> None:
    report = CostReport(WHOLE, (PartCost("unit_align", 2, WHOLE),), area, 0, products)
    text = report.text("u").splitlines()
    assert text[0] == "u: 1001 cells (0 flip-flops), about 4002 transistors, logic depth 50, latency 0 cycles"
    assert text[1 : 1 + len(lines)] == lines
    assert text[1 + len(lines)] == "components, each synthesised by itself (the whole shares gates across them):"
    assert report.as_dict()["products"] == products
