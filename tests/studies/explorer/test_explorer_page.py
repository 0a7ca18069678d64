"""The explorer as a reader uses it: choosing, typing, links, keys."""

import time
from collections.abc import Callable
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden
from golden.arrays import bits_dtype
from tests.browser_page import BrowserPage

pytestmark = [pytest.mark.site, pytest.mark.needs("chromium")]


def result(opened: BrowserPage) -> str:
    return str(opened.page.locator("#result").inner_text())


def choose(opened: BrowserPage, arch: str, name: str) -> None:
    opened.page.select_option(
        "#arch",
        label=next(text for text in opened.page.locator("#arch option").all_inner_texts() if text.split()[0] == arch),
    )
    opened.page.select_option("#instruction", label=name)


def test_first_example_stands_there_at_once(opened: BrowserPage) -> None:
    assert "d = -0.75" in result(opened)
    assert "fp32 0xbf400000" in result(opened)
    first = opened.page.locator("#trace details").first.inner_text()
    assert "e_max = 23" in first
    assert "none\t-0.125" in first


def test_page_is_small_and_answers_at_once(
    browser: Any, explorer: Path, record_property: Callable[[str, object], None]
) -> None:
    """The summary has the time to the first answer, which depends on the machine's load."""
    assert explorer.stat().st_size < 2_000_000
    page = BrowserPage(browser, explorer)
    took = page.page.evaluate("() => { const begin = performance.now(); start(); return performance.now() - begin; }")
    record_property("told", f"{explorer.stat().st_size:,} bytes; from data to the first answer {took:.0f} ms")
    assert "d = -0.75" in result(page)
    page.finish()


@pytest.mark.parametrize(
    ("example", "d"),
    [
        ("Four products", "-0.75"),
        ("The same on Volta", "0"),
        ("FP8 on Hopper", None),
        ("A product below 2^-14", "0"),
        ("1·1 − 2^−25 on CDNA3", "0x1.fffffep-1"),
        ("1·1 − 1 on RDNA3", "0x1p-23"),
        ("A subnormal operand on AMX", "0"),
        ("Infinities of both signs", "nan"),
    ],
)
def test_example_gives_what_the_reference_gives(opened: BrowserPage, example: str, d: str | None) -> None:
    """And what its title says."""
    number, preset = opened.page.evaluate(
        "(example) => [...PRESETS.entries()].find(([, { title }]) => title.startsWith(example))", example
    )
    opened.page.select_option("#preset", str(number))
    i = golden.instruction(preset["arch"], preset["name"])
    numbers = {name: [number_of(word) for word in preset[name].split()] for name in "abc"}
    codes = {name: [getattr(i, name).encode(Fraction(x)) if isfinite(x) else infinity_of(getattr(i, name), x) for x in found]
             for name, found in numbers.items()}  # fmt: skip
    a, b = (np.array([codes[name] + [0] * (i.k - len(codes[name]))], bits_dtype(getattr(i, name))) for name in "ab")
    expected = int(i.dot(a, b, np.array(codes["c"], bits_dtype(i.c)), engine="reference")[0])
    assert f"{i.d.name} {expected:#0{2 + i.d.width // 4}x}" in result(opened)
    assert d is None or f"d = {d}\n" in result(opened)


def number_of(word: str) -> float:
    return float.fromhex(word) if "0x" in word else float(word)


def infinity_of(operand: golden.Format, x: float) -> int:
    return operand.signed_infinity(int(x < 0))


@pytest.mark.parametrize(
    ("arch", "name", "d"),
    [("sm_70", "mma.m8n8k4.f32.f16.f16.f32", "0"), ("sm_80", "mma.m16n8k16.f32.f16.f16.f32", "-0.5")],
)
def test_other_instruction_keeps_the_operands(opened: BrowserPage, arch: str, name: str, d: str) -> None:
    opened.page.fill("#a", "-8192 -0.5 -0.25 -0.125")
    opened.page.fill("#b", "1024 1 1 1")
    opened.page.fill("#c", "8388608")
    choose(opened, arch, name)
    assert f"d = {d}\n" in result(opened)


def test_input_by_keys_is_computed(opened: BrowserPage) -> None:
    opened.page.focus("#a")
    opened.page.keyboard.press("Control+A")
    opened.page.keyboard.type("3")
    opened.page.focus("#b")
    opened.page.keyboard.press("Control+A")
    opened.page.keyboard.type("0x1.8p1")
    opened.page.focus("#c")
    opened.page.keyboard.press("Control+A")
    opened.page.keyboard.type("0x3f800000")
    opened.page.keyboard.press("Enter")
    assert "d = 10\n" in result(opened)


def test_complaints_stand_below_their_fields(opened: BrowserPage) -> None:
    opened.page.fill("#a", " ".join(["1"] * 17))
    opened.page.fill("#b", "1, two")
    opened.page.locator("#form button[type=submit]").click()
    assert opened.page.locator("#a-note").inner_text() == "a has 16 elements, got 17"
    assert opened.page.locator("#b-note").inner_text().startswith('"two" is no number')
    assert "a: a has 16 elements" in result(opened)
    assert opened.page.locator("#trace").inner_text() == ""


def test_rounded_input_is_said(opened: BrowserPage) -> None:
    opened.page.fill("#a", "0.1")
    opened.page.locator("#form button[type=submit]").click()
    assert opened.page.locator("#a-note").inner_text() == "fp16, 16 elements: 0.1 is rounded to 0.0999755859375"


def test_link_holds_the_input(opened: BrowserPage, browser: Any, explorer: Path) -> None:
    choose(opened, "gfx942", "v_mfma_f32_16x16x16_f16")
    opened.page.fill("#a", "1.5 nan")
    opened.page.fill("#b", "2 1")
    opened.page.locator("#form button[type=submit]").click()
    link = opened.page.url
    other = browser.new_page()
    other.goto(link)
    assert other.locator("#a").input_value() == "1.5 nan"
    assert other.locator("#instruction option:checked").inner_text() == "v_mfma_f32_16x16x16_f16"
    assert other.locator("#result").inner_text() == result(opened)
    assert "d = nan" in result(opened)
    other.close()


@pytest.mark.attack("explorer")
@pytest.mark.parametrize(
    "named", ["arch=sm_91&instr=mma.m16n8k16.f32.f16.f16.f32", "arch=sm_90&instr=mma.none", "instr=%E0%A4"]
)
def test_link_to_no_instruction_is_refused_and_stays(browser: Any, explorer: Path, named: str) -> None:
    """No other instruction stands in for it: a report would be about that one."""
    other = browser.new_page()
    other.goto(f"{explorer.as_uri()}#{named}&a=1&b=1&c=1")
    assert other.locator("#result").inner_text().startswith("The link names ")
    assert "which is no instruction of this page" in other.locator("#result").inner_text()
    assert other.locator("#trace").inner_text() == other.locator("#others").inner_text() == ""
    assert other.url.endswith(f"{named}&a=1&b=1&c=1")
    other.close()


@pytest.mark.parametrize(("a", "complaint"), [("2 one", '"one" is no number'), ("<b>1</b> %&#+", '"<b>1</b>" is no number')])
def test_link_holds_input_that_is_refused(opened: BrowserPage, browser: Any, a: str, complaint: str) -> None:
    opened.page.fill("#a", a)
    opened.page.locator("#form button[type=submit]").click()
    other = browser.new_page()
    other.goto(opened.page.url)
    assert other.locator("#a").input_value() == a
    assert complaint in result(opened)
    assert other.locator("#result").inner_text() == result(opened)
    other.close()


@pytest.mark.attack("explorer")
@pytest.mark.parametrize(
    ("a", "complaint"),
    [
        ("1" * 200_000 + "x", "a number has at most 2000 characters, got 200001"),
        ("1 " * 100_000, "a has 16 elements, got 100000"),
    ],
    ids=["one word", "many words"],
)
def test_huge_input_is_refused_at_once(opened: BrowserPage, a: str, complaint: str) -> None:
    """A pattern that tried each place of the point would take hours. Such an input has no link, and says so."""
    opened.page.set_default_timeout(10_000)
    opened.page.evaluate("(a) => { at('a').value = a; compute(); }", a)
    assert complaint in result(opened)
    opened.page.click("#link")
    assert opened.page.locator("#copied").inner_text() == "The input is too long for a link."


def test_result_follows_what_is_typed(opened: BrowserPage) -> None:
    """Without leaving the field: no result stands beside an input that it does not belong to."""
    opened.page.fill("#c", "8388609")
    opened.page.wait_for_function("() => at('result').innerText.includes('d = 0.25')")


@pytest.mark.parametrize(
    ("arch", "name", "known"),
    [("gfx908", "v_mfma_f32_16x16x16f16", False), ("sm_90", "mma.m16n8k16.f32.f16.f16.f32", True)],
)
def test_nan_whose_bits_are_not_known_is_called_so(opened: BrowserPage, arch: str, name: str, known: bool) -> None:
    assert golden.instruction(arch, name).operation.nan_is_fixed() is known
    opened.page.evaluate("(given) => preset(given)", {"arch": arch, "name": name, "a": "nan", "b": "1", "c": "0"})
    assert "d = nan" in result(opened)
    assert ("Which NaN the hardware writes is not known" in result(opened)) is not known


def test_example_can_be_chosen_again_after_a_change(opened: BrowserPage) -> None:
    opened.page.select_option("#preset", "0")
    opened.page.fill("#c", "1")
    assert opened.page.locator("#preset option:checked").inner_text() == "choose …"
    opened.page.select_option("#preset", "0")
    assert opened.page.locator("#c").input_value() == "8388608"
    assert "d = -0.75" in result(opened)


def test_infinity_keeps_its_sign(opened: BrowserPage) -> None:
    opened.page.fill("#c", "-inf")
    opened.page.locator("#form button[type=submit]").click()
    assert result(opened).split("\n")[0] == "d = -inf"
    assert result(opened).strip().endswith("fp32 0xff800000")


def test_filter_leaves_the_names_that_hold_every_word(opened: BrowserPage) -> None:
    opened.page.fill("#filter", "e4m3 m64n8k")
    names = opened.page.locator("#instruction option").all_inner_texts()
    wanted = [i.name for i in golden.instructions("sm_90") if "e4m3" in i.name and "m64n8k" in i.name]
    assert names == wanted != []


def test_other_units_stand_beside(opened: BrowserPage) -> None:
    rows = [row.split("\t") for row in opened.page.locator("#others tbody tr").all_inner_texts()]
    found = {row[0]: row[2].removesuffix(" =") for row in rows}
    assert found["sm_70"] == "0"
    assert found["sm_80"] == "-0.5"
    assert found["sm_90"] == "-0.75"
    assert found["gfx908"] == "-0.875"


def test_every_field_has_a_label_and_every_table_a_name(opened: BrowserPage) -> None:
    unlabelled = (
        "() => [...document.querySelectorAll('input, select, textarea')].filter((e) => !e.labels.length).map((e) => e.id)"
    )
    assert opened.page.evaluate(unlabelled) == []
    nameless = "() => [...document.querySelectorAll('.wide')].filter((e) => !e.getAttribute('aria-label')).length"
    assert opened.page.evaluate(nameless) == 0


def test_scales_are_asked_for_where_there_are_any(opened: BrowserPage) -> None:
    assert not opened.page.locator("#scales").is_visible()
    name = next(i.name for i in golden.instructions("sm_120") if i.scale is not None)
    choose(opened, "sm_120", name)
    assert opened.page.locator("#scales").is_visible()
    opened.page.fill("#a", "1")
    opened.page.fill("#b", "1")
    opened.page.fill("#scale_a", "2")
    opened.page.locator("#form button[type=submit]").click()
    assert "d = 2\n" in result(opened)


def test_narrow_screen_does_not_scroll_sideways(browser: Any, explorer: Path) -> None:
    page = BrowserPage(browser, explorer, viewport={"width": 360, "height": 700})
    time.sleep(0.1)
    assert page.page.evaluate("() => document.documentElement.scrollWidth") <= 360
    page.finish()
