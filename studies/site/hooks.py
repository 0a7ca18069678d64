"""Hooks that MkDocs calls while it builds the site (mkdocs.yml names this file)."""

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parents[2]))  # MkDocs loads this file by its path

from studies.explorer.catalogue import page as explorer_page
from studies.site.generated_pages import made_pages
from studies.site.last_written import dated
from studies.site.navigation import expanded
from studies.site.outside import DOCS, PAGES, ROOT, linked_sources, with_site_links

WORKER = "assets/iframe-worker.js"
"""Named in mkdocs.yml, in place of the script that the plugin `offline` would load from the network."""

ASSETS = (WORKER, "assets/site.css")
"""Files beside this one that the site serves."""

EXPLORER = ("the instruction explorer", "the [instruction explorer](explorer.html)")
"""The front page's words for the explorer, and the link that only the site can have."""


def on_config(config: Any) -> Any:
    """Write out the patterns of the navigation."""
    made = [path for path, _ in made_pages()]
    written = [path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md"))]
    config.nav = expanded(config.nav, [*PAGES.values(), *made, *written])
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and files that are not under docs/, and rename docs/README.md."""
    kept = Files([file for file in files if file.src_uri != "README.md"])
    sources = set()
    for document, path in PAGES.items():
        text = (ROOT / document).read_text(encoding="utf-8")
        shown = text.replace(*EXPLORER, 1) if document == "README.md" else text
        kept.append(File.generated(config, path, content=with_site_links(shown, document)))
        sources |= set(linked_sources(text, document))
    for file in files.documentation_pages():
        sources |= set(linked_sources((DOCS / file.src_uri).read_text(encoding="utf-8"), f"docs/{file.src_uri}"))
    for source in sorted(sources):
        kept.append(File.generated(config, f"sources/{source}", content=(ROOT / source).read_bytes()))
    for path, text in made_pages():
        kept.append(File.generated(config, path, content=text))
    kept.append(File.generated(config, "explorer.html", content=explorer_page()))
    for asset in ASSETS:
        text = Path(__file__).with_name(asset.removeprefix("assets/")).read_text(encoding="utf-8")
        kept.append(File.generated(config, asset, content=text))
    return kept


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links to documents that have another place in the site; of evidence, when it was written."""
    if page.file.generated_by is not None:
        return markdown
    linked = with_site_links(markdown, f"docs/{page.file.src_uri}")
    return dated(linked, page.file.src_uri) if page.file.src_uri.startswith("evidence/") else linked
