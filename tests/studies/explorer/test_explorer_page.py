"""The explorer as a reader uses it: choosing, typing, links, keys."""

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
    codes = {name: [code_of(getattr(i, name), word) for word in preset[name].split()] for name in "abc"}
    a, b = (np.array([codes[name] + [0] * (i.k - len(codes[name]))], bits_dtype(getattr(i, name))) for name in "ab")
    expected = int(i.dot(a, b, np.array(codes["c"], bits_dtype(i.c)), engine="reference")[0])
    assert f"{i.d.name} {expected:#0{2 + i.d.width // 4}x}" in result(opened)
    assert d is None or f"d = {d}\n" in result(opened)


def test_one_s_complement_is_said(opened: BrowserPage) -> None:
    choose(opened, "gfx1100", "v_dot2_f32_f16")
    for field, text in (("a", "6000"), ("b", "6000"), ("c", "-36000000")):
        opened.page.fill(f"#{field}", text)
    opened.page.locator("#form button[type=submit]").click()
    said = "one's complement: a[0]·b[0], a[1]·b[1] of the other sign than c enter inverted; that adds "
    facts = str(opened.page.locator("#trace").inner_text())
    assert said in facts
    added = facts.split(said)[1].split()[0]
    assert f"d = {added}\n" in result(opened)


def test_filter_takes_formats(opened: BrowserPage) -> None:
    choose(opened, "gfx942", "v_mfma_f32_16x16x32_fp8_fp8")
    opened.page.fill("#filter", "e4m3fnuz 32x32")
    assert opened.page.locator("#instruction option").all_inner_texts()[0].startswith("v_mfma_f32_32x32x16_")


@pytest.mark.parametrize(
    ("name", "arch"), [("mi300x", "gfx942"), ("RTX3090", "sm_80"), ("GB300", "sm_100"), ("RTX 30", "sm_90")]
)
def test_part_is_found_by_its_name(opened: BrowserPage, name: str, arch: str) -> None:
    """Each shows what it rests on where it is read as another; an unknown name changes nothing."""
    opened.page.fill("#part", name)
    opened.page.locator("#part").press("Tab")
    assert opened.page.locator("#arch option:checked").inner_text().split()[0] == arch
    assert opened.page.locator("#about td").first.inner_text().split()[0] == arch
    note = opened.page.locator("#part-note").inner_text()
    if name == "RTX 30":
        assert note == "no part of this name: choose an architecture"
    else:
        part = golden.part(name)
        assert f" is {part.target}" in note
        assert note.endswith(f", read as {part.arch}: {part.note}" if part.note else part.target)


@pytest.mark.parametrize(
    ("arch", "name", "order"),
    [
        ("sm_90", "wgmma.m64n8k32.f32.e4m3.e4m3", {"promote_every": 4}),
        ("sm_80", "mma.m16n8k16.f32.f16.f16.f32", {"split_k": 3, "promote_every": 2}),
        ("gfx942", "v_mfma_f32_16x16x16_f16", {"split_k": 4, "k_order": "reverse", "k_tile": 16}),
        ("gfx1100", "v_wmma_f16_16x16x16_f16_w32", {}),
    ],
)
def test_whole_k_gives_what_gemm_gives(opened: BrowserPage, arch: str, name: str, order: dict[str, Any]) -> None:
    """K is no multiple of the instruction's, and the second time 0·∞ is among the products, where there is an infinity."""
    choose(opened, arch, name)
    i, rng, K = golden.instruction(arch, name), np.random.default_rng(3), 200
    opened.page.locator("#whole summary").click()
    fields = {"K": K, "promote": order.get("promote_every", ""), "split": order.get("split_k", "")}
    for field, value in fields.items():
        opened.page.fill(f"#{field}", str(value))
    opened.page.select_option("#order", order.get("k_order", "ascending"))
    for at_7 in ("1", "inf")[: 1 if i.a.infinity is None else 2]:
        words = [[repr(float(x)) for x in rng.integers(-8, 9, K) * 2.0 ** rng.integers(-3, 2, K)] for _ in "ab"]
        words[0][7], words[1][7] = at_7, "0"
        for field, each in zip("ab", words, strict=True):
            opened.page.fill(f"#{field}", " ".join(each))
        opened.page.fill("#c", "1")
        opened.page.locator("#form button[type=submit]").click()
        a, b = (np.array([[code_of(i.a, word) for word in each]], bits_dtype(i.a)) for each in words)
        c = np.array([[code_of(i.c, "1")]], bits_dtype(i.c))
        expected = int(golden.gemm(i, a, b.T, c, order=golden.GemmOrder(**order))[0, 0])
        assert f"{i.d.name} {expected:#0{2 + i.d.width // 4}x}" in result(opened)
        assert f"instruction {-(-K // i.k) - 1}: products" in opened.page.locator("#trace").inner_text()


@pytest.mark.attack("explorer")
def test_whole_k_that_the_page_cannot_compute_is_refused(opened: BrowserPage) -> None:
    for arch, name, field, complaint in (
        ("sm_100", "tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0", "K", "where operands have scales"),
        ("sm_90", "mma.m16n8k16.f16.f16.f16.f16", "split", "parts are added in fp32, d is fp16"),
        ("sm_80", "mma.m16n8k16.f32.f16.f16.f32", "promote", "promote must be an integer from 0 to 65536"),
    ):
        choose(opened, arch, name)
        opened.page.evaluate("() => { at('whole').open = true; }")
        opened.page.fill(f"#{field}", "-1" if "must be" in complaint else "2")
        opened.page.locator("#a").focus()
        assert complaint in result(opened)
        opened.page.fill(f"#{field}", "")


def test_bits_of_terms_stand_at_their_places(opened: BrowserPage) -> None:
    """Four products and c = 2^23 on Hopper: what lies below e_max - 25 is struck through."""
    rows = opened.page.locator("#trace tr:has(td.bits)").all()
    bits = {row.locator("th").inner_text(): row.locator("td.bits").inner_html() for row in rows}
    assert bits["c"] == " 1" + "0" * 23 + "<s></s>"
    assert bits["a[3]·b[3]"].strip().startswith("<s>1")
    assert not bits["a[1]·b[1]"].strip().startswith("<s>1")


def test_page_leads_to_the_site(opened: BrowserPage) -> None:
    links = [each.get_attribute("href") for each in opened.page.locator("nav a").all()]
    assert links == [
        "index.html",
        "guides/models.html",
        "instructions/index.html",
        "numerics.html",
        "evidence/index.html",
    ]


def code_of(operand: golden.Format, word: str) -> int:
    x = float.fromhex(word) if "0x" in word else float(word)
    return operand.encode(Fraction(x)) if isfinite(x) else operand.signed_infinity(int(x < 0))


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


def test_complaints_stand_below_their_fields(opened: BrowserPage) -> None:
    opened.page.fill("#a", " ".join(["1"] * 17))
    opened.page.fill("#b", "1, two")
    opened.page.locator("#form button[type=submit]").click()
    assert opened.page.locator("#a-note").inner_text() == "a has 16 elements, got 17"
    assert opened.page.locator("#b-note").inner_text().startswith('"two" is no number')
    assert "a: a has 16 elements" in result(opened)
    assert opened.page.locator("#trace").inner_text() == ""


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


def test_other_units_stand_beside(opened: BrowserPage) -> None:
    rows = [row.split("\t") for row in opened.page.locator("#others tbody tr").all_inner_texts()]
    found = {row[0]: row[2].removesuffix(" =") for row in rows}
    assert found["sm_70"] == "0"
    assert found["sm_80"] == "-0.5"
    assert found["sm_90"] == "-0.75"
    assert found["gfx908"] == "-0.875"


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
