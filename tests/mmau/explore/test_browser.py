"""report.html in a real browser: clicks, keys and the visible result."""

import base64
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from mmau.explore.design_space import Asked, Constraint
from mmau.explore.html_report import packed
from mmau.explore.html_report import page as report_page
from tests.mmau.explore import sample
from tests.mmau.explore.browser_page import Opened
from tests.mmau.explore.test_records import by_definition

pytestmark = [pytest.mark.slow, pytest.mark.needs("chromium")]

DONE = 25
POINTS = 28


def value(name: str, *path: str) -> Any:
    """A value of the sample."""
    found: Any = next(record for record in sample.records() if record["name"] == name)
    for key in path:
        found = found[key]
    return found


def test_page_shows_every_point_and_its_state(opened: Opened) -> None:
    assert len(opened.names()) == POINTS
    assert opened.page.locator("#shown").text_content() == "28 of 28 shown."
    drawn = opened.drawn()
    assert len(drawn) == DONE
    assert drawn["L=4 F=14 ones-complement"]["x"] == value("L=4 F=14 ones-complement", "cost", "area_um2")
    symbols = {
        "L=4 F=10 ones-complement": "x",  # its circuit differs
        "L=4 F=10 sign-magnitude": "circle-open",  # not co-simulated
        "L=4 F=14 ones-complement": "triangle-up",  # the third value of the second key
        "sm_90 mma.m16n8k16.f32.f16.f16.f32": "star-open",
    }
    assert {name: drawn[name]["symbol"] for name in symbols} == symbols
    verdicts = dict(zip(opened.names(), opened.column("verdict"), strict=True))
    assert verdicts["L=4 F=10 ones-complement"] == "7 mismatches in 100,000 results"
    assert verdicts["L=4 F=10 sign-magnitude"] == "not co-simulated"
    assert verdicts["L=4 F=12 sign-magnitude"] == "100,000 vectors, no mismatch"
    assert [name for name, text in verdicts.items() if "proved" in text] == ["L=4 F=14 ones-complement"]
    assert opened.page.locator("#problems").is_visible()


def test_library_is_unpacked_byte_for_byte(opened: Opened) -> None:
    """What has no matches, far and near ones, old distances again, and every kind of length."""
    draws = random.Random(0)
    words = [draws.randbytes(length) for length in (1, 2, 3, 9, 17, 300)]
    mixed = b"".join(draws.choice([*words, draws.randbytes(2)]) for _ in range(3000))
    for content in (b"", b"a", b"ab" * 500, draws.randbytes(3000), mixed, b"x" + mixed[:9000] * 3):
        sent = base64.b64encode(packed(content)).decode()
        found = opened.page.evaluate("(text) => unpacked(Uint8Array.from(atob(text), (c) => c.charCodeAt(0))).join()", sent)
        assert found == ",".join(map(str, content))


def test_filters_reduce_the_points(opened: Opened) -> None:
    page = opened.page
    page.locator("fieldset", has_text="encoding").get_by_label("sign-magnitude").uncheck()
    assert not [name for name in opened.names() if name.endswith("sign-magnitude")]
    assert len(opened.drawn()) == DONE - 12
    page.locator("fieldset", has_text="status").get_by_label("done").uncheck()
    assert opened.names() == ["F=0", "F=90", "F=120"]
    assert opened.drawn() == {}
    page.locator("#reset").click()
    assert len(opened.names()) == POINTS
    page.get_by_label("Name holds").fill("F=25")
    assert len(opened.names()) == 4
    assert page.locator("#shown").text_content() == "4 of 28 shown."


def test_axes_change_the_plot_and_its_front(opened: Opened) -> None:
    opened.choose("#x", "cost.delay_ns")
    opened.choose("#y", "accuracy.outliers.arithmetic_snr_db")
    drawn = opened.drawn()
    assert "L=4 F=12 sign-magnitude" not in drawn  # it has no delay
    point = drawn["L=8 F=18 sign-magnitude"]
    assert point["x"] == value("L=8 F=18 sign-magnitude", "cost", "delay_ns")
    assert point["y"] == value("L=8 F=18 sign-magnitude", "accuracy", "outliers", "arithmetic_snr_db")
    assert "without a value" in str(opened.page.locator("#plot-note").text_content())
    opened.choose("#y", "parameters.F")
    assert "No Pareto front" in str(opened.page.locator("#plot-note").text_content())


@pytest.mark.parametrize(
    ("x", "y", "signs"),
    [
        ("cost.area_um2", "accuracy.normal.relative_error.p99", (1, 1)),
        ("cost.delay_ns", "accuracy.normal.arithmetic_snr_db", (1, -1)),
    ],
)
def test_front_is_the_exact_one(opened: Opened, x: str, y: str, signs: tuple[int, int]) -> None:
    opened.choose("#x", x)
    opened.choose("#y", y)
    largest = {name for name, point in opened.drawn().items() if point["size"] > 9}
    names, pairs = [], []
    for record in sample.records():
        if record["kind"] == "point" and record["status"] == "done" and not (record["cosimulation"] or {}).get("mismatches"):
            two = [value(record["name"], *key.split(".")) for key in (x, y)]
            names.append(record["name"])
            pairs.append(tuple(None if v is None else v * sign for v, sign in zip(two, signs, strict=True)))
    assert largest == {names[number] for number in by_definition(pairs)}  # type: ignore[arg-type]


@pytest.mark.attack("names that cover each other, a point or a line, and names beside the markers of other points")
def test_names_are_near_their_own_point_alone_or_joined_to_it(opened: Opened) -> None:
    places = [[60, 300], [92, 300], [93, 288], [118, 288], [117, 220], [290, 60], [291, 60]]
    found = opened.page.evaluate(
        """(places) => {
          const points = places.map((_, number) => ({ point: number, name: `NVFP4 F=${number}` }));
          const spots = new Map(places.map((place, number) => [number, place]));
          return nameBoxes(points, spots, [0, 0, 400, 330], [[[60, 300], [92, 300]]], [[300, 200, 400, 240]])
            .map(({ point, joined, x, y }) => [point, joined, x, y, widthOf(`NVFP4 F=${point}`)]);
        }""",
        places,
    )
    assert [number for number, *_ in found] == [0, 1, 2, 3, 4, 5, 6]
    boxes: list[tuple[float, float, float, float]] = []
    for number, joined, x, y, width in found:
        left, top = places[number][0] + x - width / 2, places[number][1] + y - 7.5
        box = (left, top, left + width, top + 15)
        assert 0 <= left < left + width <= 400
        assert 0 <= top < top + 15 <= 330
        for other in [*boxes, (300, 200, 400, 240), *((x, y, x, y) for x, y in places)]:
            assert not (box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3])
        gaps = [math.hypot(max(box[0] - x, 0, x - box[2]), max(box[1] - y, 0, y - box[3])) for x, y in places]
        assert joined or 2 * gaps[number] <= min(gap for other, gap in enumerate(gaps) if other != number)
        boxes.append(box)
    assert {joined for _, joined, *_ in found} == {True, False}


def test_names_of_the_front_are_in_the_plot_and_none_twice(opened: Opened) -> None:
    opened.page.get_by_label("Name holds").fill("L=4 F=1")
    names = opened.page.evaluate("document.getElementById('plot').layout.annotations.map(({ text }) => text)")
    note = str(opened.page.locator("#plot-note").text_content())
    front = [name for name, point in opened.drawn().items() if point["size"] > 9]
    assert front
    assert len({*names}) == len(names) == 7
    assert all(name in names or name in note for name in front)


def test_front_of_ties_and_missing_values_is_the_exact_one(opened: Opened) -> None:
    infinity = float("inf")
    cases: list[list[Any]] = [
        [[1, 5], [2, 3], [2, 3], [2, 4], [3, 3], [None, 0], [0, None], [4, 1], [4, 1], [4, 0], [5, 0]],
        [[1, infinity], [1, infinity], [2, 7], [0, infinity], [-infinity, infinity]],
        [[0, 0], [0, 0]],
        [],
    ]
    for pairs in cases:
        found = opened.page.evaluate("pairs => [...front(pairs)].sort((p, q) => p - q)", pairs)
        assert found == by_definition([(x, y) for x, y in pairs])


def test_heading_sorts_the_table_both_ways(opened: Opened) -> None:
    heading = opened.page.locator('#table thead th[data-key="cost.delay_ns"]')
    assert heading.get_attribute("aria-sort") == "none"
    for direction in ("ascending", "descending"):
        heading.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") == direction
        delays = opened.column("cost.delay_ns")
        numbers = [float(text) for text in delays if text != "–"]
        assert numbers == sorted(numbers, reverse=direction == "descending")
        assert delays[len(numbers) :] == ["–"] * (POINTS - len(numbers))  # without a value: last either way
        assert len(numbers) == DONE - 1


def test_pointer_shows_the_point_and_a_click_opens_it(opened: Opened) -> None:
    page = opened.page
    page.locator("#plot").scroll_into_view_if_needed()
    place = page.evaluate(
        """() => { const plot = document.getElementById("plot"); const box = plot.getBoundingClientRect();
        const trace = plot.data.find((each) => (each.customdata || []).includes(2)); const at = trace.customdata.indexOf(2);
        const { xaxis, yaxis } = plot._fullLayout;
        return [box.left + xaxis._offset + xaxis.c2p(trace.x[at]), box.top + yaxis._offset + yaxis.c2p(trace.y[at])]; }"""
    )
    page.mouse.move(place[0] - 3, place[1])
    page.mouse.move(*place)
    page.wait_for_selector("#plot .hoverlayer .hovertext")
    shown = str(page.locator("#plot .hoverlayer").text_content())
    assert sample.HOSTILE in shown  # as text
    assert "area: 88,000 µm²" in shown
    assert "100,000 vectors, no mismatch" in shown
    page.mouse.click(*place)
    assert page.locator("#point-name").text_content() == sample.HOSTILE


def test_toml_is_copied(opened: Opened) -> None:
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened.page
    page.get_by_role("button", name="L=8 F=22 ones-complement").click()
    page.locator("#copy").click()
    page.locator("#copied:not(:empty)").wait_for()
    assert page.locator("#copied").text_content() == "Copied."
    assert page.evaluate("navigator.clipboard.readText()") == value("L=8 F=22 ones-complement", "toml")


def test_dialog_says_why_a_value_is_missing_and_why_a_point_failed(opened: Opened) -> None:
    page = opened.page
    page.get_by_role("button", name="L=4 F=12 sign-magnitude").click()
    assert sample.NO_STA in str(page.locator("#point-body").text_content())
    page.locator("#close").click()
    page.get_by_role("button", name="F=120", exact=True).click()
    text = str(page.locator("#point-body").text_content())
    assert "timed out: synthesis took more than 600 s; log: logs/F=120.txt" in text
    assert "not co-simulated" in text


def test_keyboard_alone_is_enough(opened: Opened) -> None:
    page = opened.page
    focused = "document.activeElement.id || document.activeElement.textContent"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"  # the focus is seen
    page.keyboard.press("Enter")
    assert page.evaluate(focused) == "points"
    seen = []
    for _ in range(30):  # on through the table: its headings, then the names
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.closest('thead') ? 'heading' : document.activeElement.className"))
        if seen[-1] == "name":
            break
    assert seen[-1] == "name"
    assert seen[:2] == ["", "wide"]  # the choice of columns; the table, which the arrow keys scroll
    assert set(seen[2:-1]) == {"heading"}
    page.wait_for_selector("#plot .hoverlayer .hovertext")  # the row's point is marked in the plot
    assert "L=4 F=10 ones-complement" in str(page.locator("#plot .hoverlayer").text_content())
    page.keyboard.press("Enter")
    assert page.locator("#point").evaluate("dialog => dialog.open")
    inside = [page.evaluate(focused)]
    for _ in range(2):
        page.keyboard.press("Tab")
        inside.append(page.evaluate(focused))
    assert inside == ["close", "toml", "copy"]
    page.keyboard.press("Escape")
    assert not page.locator("#point").evaluate("dialog => dialog.open")
    assert page.evaluate(focused) == "L=4 F=10 ones-complement"  # back where it was
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")  # the last heading: sorts, and keeps the focus
    assert page.evaluate("document.activeElement.closest('th').getAttribute('aria-sort')") == "ascending"


def test_distributions_and_components_follow_the_filter(opened: Opened) -> None:
    page = opened.page
    page.get_by_label("Name holds").fill("L=8 F=25")
    names = page.evaluate("document.getElementById('distribution').data.map((trace) => trace.name)")
    assert names == ["L=8 F=25"], "one arithmetic"
    bars = page.evaluate("document.getElementById('components').data.map((trace) => [trace.name, trace.x[0]])")
    parts = [list(pair) for pair in value("L=8 F=25 ones-complement", "cost", "area_by_component").items()]
    assert bars == [*parts, ["mapped as a whole", value("L=8 F=25 ones-complement", "cost", "area_um2")]]
    opened.choose("#workload", "outliers")
    shares = page.evaluate("document.getElementById('distribution').data[0].customdata")
    assert sum(shares) == pytest.approx(1)
    page.get_by_label("Name holds").fill("F=0")
    assert page.locator("#distribution").is_hidden()
    assert page.locator("#component-note").text_content() == "No shown point has an area by component."


def test_infinite_and_zero_values_are_reported(browser: Any, tmp_path: Path) -> None:
    records = sample.records()[4:9]
    for record, error in zip(records, (0.0, float("inf"), 1e-6, float("nan"), 1e-3), strict=True):
        record["accuracy"]["normal"]["relative_error"]["p99"] = error
    file = tmp_path / "report.html"
    limit = Constraint("max_error", "accuracy.normal.relative_error.p99", 1e-4, None)
    file.write_text(report_page(records, "t", "", Asked((limit,))), encoding="utf-8")
    opened = Opened(browser, file, viewport={"width": 1280, "height": 900})
    note = str(opened.page.locator("#plot-note").text_content())
    assert note.startswith("3 of 5 shown points are drawn; not drawn: 1 infinite, 1 without a value.")
    assert "1 of them are 0 and stand a decade below the smallest other value." in note
    shown = dict(zip(opened.names(), opened.column("accuracy.normal.relative_error.p99"), strict=True))
    assert [shown[record["name"]] for record in records] == ["0", "∞", "1.000e−6", "–", "0.001"]
    assert json.loads(opened.page.locator("#data").text_content() or "")["points"][1]["state"] == "agrees"
    opened.finish()
