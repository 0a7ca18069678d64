"""Hooks that MkDocs calls while it builds the site (mkdocs.yml names this file)."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from fnmatch import fnmatchcase
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parents[2]))  # MkDocs loads this file by its path

import golden
from golden.catalogue import ARCHITECTURES, marketing_names
from golden.processes import run_tool
from golden.units.instruction import EVIDENCE, Instruction
from mmau.jobs.store import unsealed
from mmau.prove.records import PROOFS
from mmau.report.markdown import document, table
from studies.explorer.catalogue import describe
from studies.explorer.explorer_page import page as explorer_page
from studies.proofs.proofs_page import designs_document
from studies.site.outside import DOCS, PAGES, ROOT, linked_sources, with_site_links

API = {
    "golden": "Models, formats, the catalogue, matrix products.",
    "rtl": "Datapaths in Amaranth, their Verilog, their cost.",
    "cosim": "Co-simulation of generated and user designs.",
    "cosim.bench": "Parts of a cocotb testbench: stimulus, driver, monitor, scoreboard.",
    "mmau.testing": "Tests of matrix-product kernels: assertions, operands that tell, audits of tolerances.",
    "hwtests.device": "Devices that run instructions, for conformance and recordings.",
}
"""Modules whose public names have a page each, and a line about them. Names are those of `__all__`, or all classes and
functions of a module without one."""

SHOWN = 12
"""Number of instructions of one arithmetic that a page shows at once; the others can be unfolded."""


def made_pages() -> Iterator[tuple[str, str]]:
    """Path and Markdown of every generated page."""
    yield from api_pages()
    yield from instruction_pages()
    yield "evidence/proved-designs.md", designs_document(unsealed(PROOFS.read_bytes()))


def api_pages() -> Iterator[tuple[str, str]]:
    """Path and Markdown of each module's page."""
    for module, line in API.items():
        names = getattr(import_module(module), "__all__", None)
        blocks = [f"::: {module}.{name}" for name in names] if names else [f"::: {module}"]
        yield f"reference/api/{module}.md", "\n\n".join([f"# `{module}`", line, *blocks]) + "\n"


def instruction_pages() -> Iterator[tuple[str, str]]:
    """Path and Markdown of the index and of each architecture's page."""
    rows = [
        (f"[{arch}]({arch}.md)", ", ".join(marketing_names(arch)), f"{len(golden.instructions(arch)):,}")
        for arch in ARCHITECTURES
    ]
    line = "Every name opens the [explorer](../explorer.html), which computes it."
    index = table(("architecture", "sold as", "instructions"), rows, numbers=(2,))
    yield "instructions/index.md", document("Instructions", line, index)
    for arch in ARCHITECTURES:
        yield f"instructions/{arch}.md", _architecture(arch)


def _architecture(arch: str) -> str:
    entries = golden.instructions(arch)
    lines = [
        f"# {arch}" + (f" ({', '.join(marketing_names(arch))})" if marketing_names(arch) else ""), "",
        f"{len(entries):,} instructions, grouped by arithmetic. [numerics.md](../numerics.md) defines each operation; "
        "[evidence](../evidence/README.md) says what each kind of evidence means.", "",
    ]  # fmt: skip
    numbered = {_arithmetic(i): n for n, i in reversed(list(enumerate(entries)))}
    for arithmetic, group in groupby(sorted(entries, key=lambda i: numbered[_arithmetic(i)]), key=_arithmetic):
        lines += _group(arithmetic, list(group))
    return "\n".join(lines) + "\n"


def _arithmetic(i: Instruction) -> str:
    scale = f", scales {i.scale} for {i.block_size} elements" if i.scale else ""
    return f"{i.a} × {i.b} + {i.c} → {i.d}{scale}: {describe(i)}"


def _group(arithmetic: str, group: list[Instruction]) -> list[str]:
    formats, _, operation = arithmetic.partition(": ")
    kinds = [kind for kind in EVIDENCE if any(i.evidence == kind for i in group)]
    notes = sorted({i.note for i in group if i.note})
    links = [f"[`{i.name}`](../explorer.html#{urlencode({'arch': i.arch, 'instr': i.name})})" for i in group]
    open_links, folded = links[:SHOWN], links[SHOWN:]
    lines = [
        f"## {formats}",
        "",
        operation,
        "",
        f"Evidence: {', '.join(kinds)}." + "".join(f" {note}." for note in notes),
        "",
    ]
    lines += [", ".join(open_links), ""]
    if folded:
        lines += [
            '<details markdown="1">',
            f"<summary>{len(folded):,} more</summary>",
            "",
            ", ".join(folded),
            "",
            "</details>",
            "",
        ]
    return lines


OVERVIEW = "evidence/README.md"


def dated(markdown: str, path: str) -> str:
    """A page of evidence with a last line that says when it was written, and where its command is found.

    Args:
        path: path of the page's file under docs/.
    """
    when = last_written(f"docs/{path}")
    overview = "../" * (path.count("/") - 1) + "README.md#the-other-pages"
    from_what = "" if path == OVERVIEW else f" [The overview]({overview}) says which command writes which page."
    return f"{markdown.rstrip()}\n\n---\n\n{when}{from_what}\n" if when else markdown


def last_written(path: str) -> str:
    """A sentence; empty outside of a clone, and in one without its history, where every file is as old as the last commit.

    Args:
        path: the path of the file, from the project's folder.
    """
    try:
        said = _git("log", "-1", "--format=%cs %h", "--", path)
        if not said or _git("rev-parse", "--is-shallow-repository") != "false":
            return ""
        changed = _git("status", "--porcelain", "--", path)
    except (OSError, subprocess.SubprocessError):
        return ""
    day, commit = said.split()
    written = date.fromisoformat(day)
    since = ", and was changed since" if changed else ""
    return f"This page was last written on {written.day} {written:%B %Y}, in commit {commit}{since}."


def _git(*arguments: str) -> str:
    result = run_tool(["git", "-C", str(ROOT), *arguments])
    result.check_returncode()
    return result.stdout.strip()


Entry = Any
"""A path, or a title with a path or with entries below it."""


def expanded(nav: Sequence[Entry], pages: Sequence[str]) -> list[Entry]:
    """The navigation with each pattern replaced by the pages that match, in the order of `pages`.

    Raises:
        ValueError: a pattern that no page matches.
    """
    named = {path for path in _paths(nav) if "*" not in path}
    return [found for entry in nav for found in _entries(entry, named, pages)]


def _paths(entry: Entry) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for below in entry.values() if isinstance(entry, dict) else entry:
            yield from _paths(below)


def _entries(entry: Entry, named: set[str], pages: Sequence[str]) -> list[Entry]:
    if isinstance(entry, str):
        return _matching(entry, named, pages) if "*" in entry else [entry]
    ((title, below),) = entry.items()
    if isinstance(below, str):
        return [{title: _matching(below, named, pages)}] if "*" in below else [entry]
    return [{title: [found for each in below for found in _entries(each, named, pages)]}]


def _matching(pattern: str, named: set[str], pages: Sequence[str]) -> list[Entry]:
    found = [page for page in pages if fnmatchcase(page, pattern) and page not in named]
    if not found:
        raise ValueError(f"the navigation's pattern {pattern} must match a page, got none; correct it in mkdocs.yml")
    return list(found)


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
    for written, path in PAGES.items():
        text = (ROOT / written).read_text(encoding="utf-8")
        shown = text.replace(*EXPLORER, 1) if written == "README.md" else text
        kept.append(File.generated(config, path, content=with_site_links(shown, written)))
        sources |= set(linked_sources(text, written))
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
