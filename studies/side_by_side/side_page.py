"""The text of docs/evidence/side-by-side.md."""

from collections.abc import Mapping
from typing import Any

from golden import Unit
from golden.unit_file import unit_to_toml
from mmau.report import markdown
from studies.side_by_side.listing import FIGURES, Group, Listing, Published

Rows = Mapping[str, Mapping[str, Any]]
"""The findings of `studies.side_by_side.measured.row`, by key of the row."""


FLUSHES = {"flush_inputs": "subnormal operands", "flush_results": "subnormal results"}
"""Keys of a unit, and what they flush."""


def page(listed: Listing, rows: Rows, tools: Mapping[str, str]) -> str:
    """The page."""
    unmeasured, parts = dict(listed.absent), []
    for group in listed.groups:
        parts.append(_section(group, rows))
        waiting = [name for key, name in _names(group).items() if key not in rows]
        if waiting:
            unmeasured[group.name] = (
                f"{'; '.join(waiting)}: the run that wrote this page had no description or no time for them"
            )
    return markdown.document(
        "Published designs beside ours",
        PREFACE.format(tools=", ".join(tools[name] for name in ("yosys", "sta"))),
        *parts,
        "## Not measured",
        markdown.bullets(f"{name}: {reason}." for name, reason in unmeasured.items()),
        "## Sources",
        SOURCES,
        markdown.table(("design", "row", "commits", "files of our own"), _sources(listed, rows)),
    )


def _section(group: Group, rows: Rows) -> str:
    names = {key: name for key, name in _names(group).items() if key in rows}
    if not names:
        return ""
    lines = [[name, *figures(rows[key]), equality(rows[key]), proved(rows[key])] for key, name in names.items()]
    told = [f"{names[key]}: {text}" for key in names if (text := difference(rows[key]))]
    unit = unit_to_toml(group.unit).split("\n[implementation]")[0].strip()
    header = ("design", *FIGURES.values(), "equal to the unit", "proved")
    return markdown.paragraphs(
        f"## {group.name}",
        f"```toml\n{unit}\n```",
        arithmetic(group.unit),
        markdown.table(header, lines, numbers=range(1, 1 + len(FIGURES))),
        markdown.bullets(told) if told else "",
        losses(group, rows),
    )


def arithmetic(unit: Unit) -> str:
    """The treatment of special values and subnormals, and the rounding, of a function."""
    keys = vars(unit.operation)
    flushed = [what for key, what in FLUSHES.items() if keys.get(key)]
    kept = f"{' and '.join(flushed)} are flushed to zero" if flushed else "subnormals are kept, as operands and as results"
    return f"Infinities and NaN as IEEE 754 has them; {kept}; the result is rounded to {keys['rho']}."


def _names(group: Group) -> dict[str, str]:
    """The designs of a group, by key of the row."""
    names = {each.key: each.name for each in group.published}
    return names | {group.row_of(build): f"ours, {build}" for build in group.builds}


def figures(row: Mapping[str, Any]) -> list[str]:
    """The figures of a row as text."""
    return [
        f"{row['cells']:,}",
        str(row["depth"]),
        f"{row['area_um2']:,.0f}",
        f"{row['delay_ns']:.2f}",
        f"{row['power_mw']:.2f}",
    ]


def equality(row: Mapping[str, Any]) -> str:
    """How far a design agreed with its unit; only one that agreed in every result is called exact."""
    if not row["passed"]:
        counted = f"{row['mismatches']:,} of {row['vectors']:,} differ"
        return f"no: {counted}" if row["mismatches"] else f"no: {row['failures'][0]}"
    waived = ", ".join(f"{rule}: {count:,}" for rule, count in row["waived"].items())
    kept = f", waived {waived}" if waived else ""
    return f"{'exact' if row['agrees'] else 'but for what is waived'}, {row['vectors']:,} vectors{kept}"


def proved(row: Mapping[str, Any]) -> str:
    """The verdict of the proof, under the same rules; a design that differed is not called proved."""
    return "no" if row["proof"] == "proved" and not row["passed"] else {"open": "undecided"}.get(row["proof"], row["proof"])


def difference(row: Mapping[str, Any]) -> str:
    """The difference, or why it is not decided, as a sentence; empty where nothing is to be said."""
    parts = [] if row["passed"] else [f"co-simulation says: {row['diagnosis'] or row['failures'][0]}"]
    if row["proof"] == "refuted":
        parts.append(f"the proof's counter-example is {row['counterexample']}")
    if row["proof"] == "open":
        parts.append(f"the proof is open: {row['reason'] or 'no reason was given'}")
    if row["proof"] == "proved" and not row["passed"]:
        parts.append("the proof and the co-simulation contradict each other")
    return "; ".join(parts)


def losses(group: Group, rows: Rows) -> str:
    """By how much ours are larger or slower than each published design, and why."""
    lines, lost = [], set()
    for each in group.published:
        if each.key not in rows:
            continue
        for build in group.builds:
            if group.row_of(build) not in rows:
                continue
            more = _more(rows[group.row_of(build)], rows[each.key])
            lost |= set(more)
            told = ", ".join(f"{_named(figure)} {share:.1%}" for figure, share in more.items())
            lines.append(f"{build}, against {each.name}: {told or 'nothing'}")
    causes = [f"Why, {_named(figure)}: {group.why.get(figure, 'not looked into.')}" for figure in FIGURES if figure in lost]
    return markdown.paragraphs("What ours takes more:" if lines else "", markdown.bullets(lines) if lines else "", *causes)


def _named(figure: str) -> str:
    return FIGURES[figure].split(" (")[0]


def _more(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, float]:
    """The share by which each figure of ours is above theirs, of those that are."""
    return {figure: ours[figure] / theirs[figure] - 1 for figure in FIGURES if ours[figure] > theirs[figure]}


def _sources(listed: Listing, rows: Rows) -> list[tuple[str, str, str, str]]:
    found = [each for group in listed.groups for each in group.published if each.key in rows]
    return [(each.name, each.note, _commits(each), ", ".join(rows[each.key]["own"]) or "none") for each in found]


def _commits(published: Published) -> str:
    pairs = (source.split() for source in published.sources)
    return ", ".join(f"{repository} at {commit[:12]}" for repository, commit in pairs)


PREFACE = """\
`make side-by-side` measures this page's figures and writes it, with `side-by-side.json`; do not edit it. Each section has
one function, given as a unit, and designs that should compute it: published ones and ours, all without pipeline registers.

Every design goes through one flow, {tools}.
It is flattened first, ours too. Cells are two-input NAND and NOR gates and inverters, and depth is the number of them on the
longest path, by the flow of [area.md](area.md). Area, delay and power are those of a mapping to osu018 cells under static
timing analysis, each net changing 0.1 times in a cycle of 20 ns ([explore-cost.md](../guides/explore-cost.md)): no glitches,
no wires, no layout. The netlist of a design that agrees with its unit computed 1,000 vectors as the golden model does; other
netlists were not checked.

*Equal to the unit* is co-simulation in native code, special values and subnormals among the operands, under the rules of the
design's `[compare]`: a required NaN code, or either sign of zero. *Proved* is `mmau prove`, under the same rules, in a
minute. A design that differs from the unit is another circuit: its figures are not those of this function. Whether the
difference is a bug is for its authors to say; [published-designs.md](published-designs.md) has more runs and the causes."""

SOURCES = """\
None of it is part of this project. The target measures what the user describes: `DESIGNS=folder` names a folder that has a
folder for each published design, called as its `key` in `studies/side_by_side/designs.toml`. In that stand its
description, `dut.toml` ([own-design.md](../guides/own-design.md)), and files of one's own, such as a wrapper. All other
files that it reads must have the digest of that table, which is of these commits; others are refused. A page with fewer
rows than the last one is not written."""
