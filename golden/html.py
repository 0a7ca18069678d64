"""Self-contained HTML pages: elements whose text is escaped, and one style sheet, light and dark, without any script.

The project builds all its HTML with this module. It is in golden because `trace.html()` needs it; Markdown and figures are
in `mmau.report`.

>>> str(element("td", "a < b", element("code", "0x1"), scope="row"))
'<td scope="row">a &lt; b<code>0x1</code></td>'
"""

from collections.abc import Sequence
from html import escape

VOID = frozenset({"br", "col", "hr", "meta"})
"""Elements without an end tag."""


class Markup(str):
    """Text that is already HTML. All other text is escaped when it becomes a child of an element."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str) -> Markup:
    """An element. Children are text or `Markup`; a trailing underscore of an attribute's name is dropped (`class_`)."""
    pairs = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{pairs}>")
    return Markup(f"<{name}{pairs}>{joined(children)}</{name}>")


def joined(children: Sequence[str]) -> Markup:
    """Join children; text is escaped."""
    return Markup("".join(child if isinstance(child, Markup) else visible(child) for child in children))


def visible(text: str) -> Markup:
    """Escape text; control characters, which HTML forbids, become their Unicode pictures."""
    pictures = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {127: 0x2421}
    return Markup(escape(text.translate(pictures)))


def table(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str, numbers: Sequence[int] = ()) -> Markup:
    """A table that scrolls, also by keyboard, if it is too wide for the page.

    Args:
        numbers: columns that are aligned to the right.
    """
    aligned = [{"class_": "number"} if column in numbers else {} for column in range(len(header))]
    head = element("tr", *(element("th", cell, scope="col", **kind) for cell, kind in zip(header, aligned, strict=True)))
    body = [element("tr", *(element("td", cell, **kind) for cell, kind in zip(row, aligned, strict=True))) for row in rows]
    whole = element("table", element("caption", caption), element("thead", head), element("tbody", *body))
    return wide(whole, caption)


def wide(inner: Markup, name: str) -> Markup:
    """Content that scrolls, also by keyboard, if it is too wide; its name is for screen readers."""
    return element("div", inner, class_="wide", tabindex="0", role="region", aria_label=name)


def details(summary: str, *body: str, opened: bool = False) -> Markup:
    """A section that opens and closes, also by keyboard."""
    inner = joined([element("summary", summary), *body])
    return Markup(f"<details{' open' if opened else ''}>{inner}</details>")


def page(title: str, *body: str) -> str:
    """A complete page, which loads nothing from the network."""
    head = joined(
        [
            element("meta", charset="utf-8"),
            element("meta", name_="generator", content="mmau"),
            element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name_="color-scheme", content="light dark"),
            element("title", title),
            element("style", Markup(STYLE)),
        ]
    )
    main = element("main", element("h1", title), *body)
    return f"<!DOCTYPE html>\n{element('html', element('head', head), element('body', main), lang='en')}\n"


STYLE = """
:root { color-scheme: light dark; --text: #1c1e21; --soft: #565b63; --back: #ffffff; --box: #f4f5f7; --line: #c9cdd3;
  --good: #1a6b32; --bad: #b3261e; --focus: #0b57d0; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e6ea; --soft: #a9afb8; --back: #17191c; --box: #22252a;
  --line: #454a52; --good: #7fd494; --bad: #ff9d94; --focus: #8ab4f8; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 75rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1, h2, h3, summary { overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 1.25rem 0 .25rem; }
code, pre, .code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .875rem; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: .25rem; padding: .75rem; overflow-x: auto; }
table { border-collapse: collapse; }
caption { text-align: left; color: var(--soft); padding-bottom: .25rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.wide { overflow-x: auto; margin: .5rem 0 1rem; }
.soft { color: var(--soft); }
.passed { color: var(--good); font-weight: 600; }
.failed { color: var(--bad); font-weight: 600; }
details { border: 1px solid var(--line); border-radius: .25rem; margin: .5rem 0; padding: 0 .75rem; }
summary { cursor: pointer; padding: .5rem 0; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
@media print { details { border: 0; } }
"""
