"""The text of a cost report: the whole, its share of each product, the components."""

import pytest

from rtl.cost.cost_results import Cost, CostReport, PartCost, PipelineTiming, StageDelay

WHOLE = Cost(cells=1001, transistors=4002, depth=50, registers=0)


@pytest.mark.parametrize(
    ("area", "products", "lines"),
    [
        (
            5000.0, 4,
            [
                "area in osu018 cells: 5000 µm², without wires",
                "per product, 4 a step: 250 cells, 1000 transistors, 1250 µm²",
            ],
        ),
        (
            None, 1,
            [
                "area in osu018 cells: not measured (no qflow-tech-osu018)",
                "per product, 1 a step: 1001 cells, 4002 transistors",
            ],
        ),
        (5000.0, None, ["area in osu018 cells: 5000 µm², without wires"]),
    ],
    ids=["of four products", "without a library", "of no single unit"],
)  # fmt: skip
def test_report_states_the_share_of_each_product(area: float | None, products: int | None, lines: list[str]) -> None:
    report = CostReport(WHOLE, (PartCost("unit_align", 2, WHOLE),), area, 0, products)
    assert report.text("u").splitlines()[: 2 + len(lines)] == [
        "u: 1001 cells (0 flip-flops), about 4002 transistors, logic depth 50, latency 0 cycles",
        *lines,
        "components, each synthesised by itself (the whole shares gates across them):",
    ]
    assert report.as_dict()["products"] == products


def test_lines_state_slacks_and_balance() -> None:
    stages = (StageDelay("align", 2.0), StageDelay("encode", 3.0))
    assert PipelineTiming(stages, 3.25, 100.0, 4.0, 4).lines(3.0) == [
        "  stage 1, to the register after align: 2.000 ns, worst slack 1.000 ns",
        "  stage 2, to the register after encode: 3.000 ns, worst slack 0.000 ns",
        "  all paths: 3.250 ns, worst slack -0.250 ns",
        "  longest stage / mean of the stages: 1.20",
    ]
    combinational = PipelineTiming((), 3.25, 100.0, 4.0, 4)
    assert combinational.balance is None
    assert combinational.lines(3.0) == ["  all paths: 3.250 ns, worst slack -0.250 ns"]


def test_curve_has_a_line_a_number_of_stages() -> None:
    curve = (
        PipelineTiming((), 5.0, 1000.0, 8.0, 4),
        PipelineTiming((StageDelay("align", 2.0), StageDelay("encode", 3.0)), 3.25, 1500.0, 12.0, 4),
        PipelineTiming((), 0.5, 358.0, 0.0512, 4),
    )
    lines = CostReport(WHOLE, (), 1000.0, 2, 4, curve).text("u").splitlines()
    start = lines.index("area and energy against delay, in osu018 cells, without wires and a clock tree:")
    assert [line.split() for line in lines[start + 2 :]] == [
        ["0", "5.000", "ns", "1000", "µm²", "8.00", "pJ", "250", "µm²", "2.00", "pJ", "-"],
        ["2", "3.250", "ns", "1500", "µm²", "12.0", "pJ", "375", "µm²", "3.00", "pJ", "1.20"],
        ["0", "0.500", "ns", "358", "µm²", "0.0512", "pJ", "89.5", "µm²", "0.0128", "pJ", "-"],
    ]
