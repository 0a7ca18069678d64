"""The site as it is built: strictly, with search and an API reference, and for several versions."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cosim.bench
import golden
import mmau.testing
import rtl
from studies.site.__main__ import build
from studies.site.last_written import last_written
from tests.browser_page import BrowserPage
from tests.docs.documents import ROOT

pytestmark = pytest.mark.site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of versions, with one version built."""
    pytest.importorskip("mkdocs", reason="needs the extra `site`")
    folder = tmp_path_factory.mktemp("site")
    assert build(folder, "1.0") == 0
    return folder


def test_versions_are_listed_and_the_last_is_opened(site: Path) -> None:
    assert json.loads((site / "versions.json").read_text()) == [{"version": "1.0", "title": "1.0", "aliases": ["latest"]}]
    assert "url=latest/index.html" in (site / "index.html").read_text()
    assert (site / "latest" / "numerics.html").read_bytes() == (site / "1.0" / "numerics.html").read_bytes()


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    """Links may lead elsewhere; scripts, styles, fonts and pictures come from the site."""
    loaded = re.compile(r'<(?:script|img|link)[^>]*?(?:src|href)="(https?:[^"]*)"')
    pages = list((site / "latest").rglob("*.html"))
    assert len(pages) > 60
    assert {url for page in pages for url in loaded.findall(page.read_text(encoding="utf-8"))} == set()


@pytest.mark.parametrize("module", [golden, rtl, cosim, cosim.bench, mmau.testing], ids=lambda module: module.__name__)
def test_every_public_name_is_described(site: Path, module: Any) -> None:
    page = (site / "latest" / "reference" / "api" / f"{module.__name__}.html").read_text(encoding="utf-8")
    missing = [name for name in module.__all__ if f'id="{module.__name__}.{name}"' not in page]
    assert missing == []


def test_every_instruction_leads_to_the_explorer(site: Path) -> None:
    for arch in golden.ARCHITECTURES:
        page = (site / "latest" / "instructions" / f"{arch}.html").read_text(encoding="utf-8")
        entries = golden.instructions(arch)
        assert page.count(f"explorer.html#arch={arch}&amp;instr=") == len(entries) > 0
    assert (site / "latest" / "explorer.html").stat().st_size > 500_000


def test_explorer_leads_to_pages_and_headings_that_are_there(site: Path) -> None:
    """Its links are not MkDocs's, so that the strict build does not see them."""
    sources = (ROOT / "studies" / "explorer" / name for name in ("page.js", "page.html"))
    found = re.findall(r'"([\w/-]+\.html)(?:#([\w-]+))?"', "".join(source.read_text(encoding="utf-8") for source in sources))
    assert len(found) >= 3
    for page, heading in found:
        text = (site / "latest" / page).read_text(encoding="utf-8")
        assert not heading or f'id="{heading}"' in text, heading


def test_evidence_says_when_it_was_written(site: Path) -> None:
    for page in (ROOT / "docs" / "evidence").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").as_posix()
        made = name.replace("README.md", "index.md").removesuffix(".md") + ".html"
        text = (site / "latest" / made).read_text(encoding="utf-8")
        assert f"<p>{last_written(f'docs/{name}')}" in text


@pytest.mark.needs("chromium")
def test_search_works_from_a_disk(browser: Any, site: Path) -> None:
    """A term that stands in numerics.md alone leads there."""
    opened = BrowserPage(browser, site / "latest" / "index.html", viewport={"width": 1280, "height": 900})
    box = opened.page.locator("input.md-search__input")
    links = opened.page.locator(".md-search-result__link")
    for _ in range(100):  # what is typed before the theme's scripts have started is lost
        box.fill("")
        box.press_sequentially("Melquiond")
        opened.page.wait_for_timeout(200)
        if links.count():
            break
    assert any("numerics.html" in link for link in links.evaluate_all("all => all.map((each) => each.href)"))
    assert [url for url in opened.requests if not url.startswith("file:")] == []
    opened.context.close()


@pytest.mark.attack("documentation")
@pytest.mark.parametrize(
    ("page", "text", "complaint"),
    [
        ("guides/models.md", "[x](nowhere.md)", "nowhere.md"),
        ("guides/models.md", "[x](../numerics.md#no-such-section)", "no-such-section"),
        ("reference/unlisted.md", "# A page that the navigation lacks", "unlisted.md"),
        ("guides/models.md", "::: golden.no_such_name", "golden.no_such_name"),
    ],
    ids=["dead link", "dead anchor", "unlisted page", "unknown name"],
)
def test_fault_fails_the_build(tmp_path: Path, page: str, text: str, complaint: str) -> None:
    """A copy of the documents with the fault; a build that fails leaves nothing behind."""
    pytest.importorskip("mkdocs", reason="needs the extra `site`")
    for name in ("docs", "mkdocs.yml"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    hooks = tmp_path / "hooks.py"
    lines = [
        f"import sys; sys.path.insert(0, {str(ROOT)!r})",
        "from studies.site import hooks",
        "from pathlib import Path; from studies.site import outside",
        f"hooks.DOCS = outside.DOCS = Path({str(tmp_path / 'docs')!r})",
        "hooks.explorer_page = lambda: '<title>explorer</title>'  # which takes longest to make",
        "from studies.site.hooks import on_config, on_files, on_page_markdown",
    ]
    hooks.write_text("\n".join(lines))
    settings = tmp_path / "mkdocs.yml"
    settings.write_text(settings.read_text().replace("studies/site/hooks.py", "hooks.py"))
    with (tmp_path / "docs" / page).open("a") as file:
        file.write(f"\n{text}\n")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert complaint in result.stderr
