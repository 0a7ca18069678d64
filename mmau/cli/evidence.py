"""`mmau evidence`: the recorded rows that models reproduce, who recorded them, and which keys no row pins."""

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import Any

import golden
from golden import Instruction
from golden.catalogue import ARCHITECTURES
from golden.catalogue.spellings import unrecorded
from golden.checks import unknown
from golden.files import check_output, is_stdout, write_output
from golden.html import element, joined, page
from golden.html import table as html_table
from golden.text import table
from mmau import DIFFERED, OK, WRONG_REQUEST
from mmau.analysis.ablation import PINNED, VECTORS
from mmau.analysis.silicon_evidence import Evidence, evidence_of, not_installed
from mmau.cli.json_objects import print_object
from mmau.cli.list_catalogue import parameter_text

Rows = list[tuple[str, ...]]

Table = tuple[str, Rows]
"""A caption, and rows of which the first is the header."""

AUTHORS = "the authors of the model validated it on silicon"


def run_evidence(arguments: argparse.Namespace) -> int:
    """Run `mmau evidence` and return its exit status."""
    if arguments.html is not None:
        if is_stdout(arguments.html) and arguments.json:
            raise ValueError("--json and --html - both write to stdout; give --html a file")
        check_output(arguments.html, ())
    found = evidence_of(chosen(arguments.arch, arguments.instr))
    remarks = not_installed()
    tables = details(found) if arguments.instr is not None else [overview(found), sources(found), summary(found)]
    if arguments.html is not None:
        write_output(arguments.html, html_of(tables, remarks).encode())
    if arguments.json:
        print_object("evidence", {"instructions": [evidence.as_dict() for evidence in found], "remarks": remarks})
    elif arguments.html is None or not is_stdout(arguments.html):
        print(text_of(tables, remarks))
    if not any(evidence.silicon for evidence in found) and len(remarks) > 1:
        return WRONG_REQUEST
    return OK if all(evidence.is_reproduced for evidence in found) else DIFFERED


def chosen(arch: str | None, name: str | None) -> list[Instruction]:
    """The instructions of an architecture, or of all, of that name.

    Raises:
        ValueError: an unknown architecture or name; the message lists near spellings, or says what is known of an
            instruction that the catalogue leaves out.
    """
    entries = golden.instructions(arch) + golden.sparse_instructions(arch)
    if name is None:
        return entries
    named = [entry for entry in entries if entry.name == name]
    if not named:
        archs = reversed(ARCHITECTURES) if arch is None else (golden.architecture(arch),)
        known = next(filter(None, (unrecorded(each, name) for each in archs)), None)
        raise ValueError(known or unknown("instruction", name, [entry.name for entry in entries]))
    return named


def reproduced_text(reproduced: int, rows: int) -> str:
    """The text "reproduced of rows", such as `2,000 of 2,000`."""
    return f"{reproduced:,} of {rows:,}"


def overview(found: Sequence[Evidence]) -> Table:
    """A row for each instruction with rows of silicon, held or reported elsewhere."""
    header = ("arch", "instruction", "evidence", "rows reproduced", "devices", "recorded by", "pinned by no row")
    rows: Rows = [header]
    for evidence in found:
        origins = [*(replay.held.entry for replay in evidence.silicon), *evidence.elsewhere]
        if origins:
            counted = reproduced_text(evidence.reproduced, evidence.rows) if evidence.silicon else "not held"
            unpinned = ", ".join(evidence.unpinned) if evidence.silicon else "-"
            origin = ["; ".join(dict.fromkeys(entry[key] for entry in origins)) for key in ("device", "who")]
            i = evidence.instruction
            rows.append((i.arch, i.name, ", ".join(evidence.kinds), counted, *origin, unpinned))
    return caption_of("Instructions with rows of silicon", rows), rows


def sources(found: Sequence[Evidence]) -> Table:
    """A row for each source of rows: who recorded them, where they were published, under which licence."""
    rows: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
    for evidence in found:
        for replay in (*evidence.silicon, *evidence.computed):
            entry = replay.held.entry
            rows.setdefault(source_of(entry), []).append((replay.reproduced, replay.rows))
        for report in evidence.elsewhere:
            rows.setdefault(source_of(report), [])
    listed: Rows = [("recorded by", "source", "licence", "rows reproduced")]
    for source, counts in rows.items():
        totals = [sum(column) for column in zip(*counts, strict=True)]
        listed.append((*source, reproduced_text(*totals) if counts else "not held"))
    return caption_of("Sources", listed), listed


def caption_of(caption: str, rows: Rows) -> str:
    """A caption, which says so where there is no row but the header."""
    return caption if len(rows) > 1 else f"{caption}: none"


def source_of(entry: dict[str, Any]) -> tuple[str, str, str]:
    """Who reported it, where, and under which licence, for a recording's entry or a report."""
    where = " @ ".join(filter(None, (entry["source"], entry["commit"][:8]))) or "this project"
    return entry["who"], f"computed: {where}" if entry.get("kind") == "computed" else where, entry["licence"]


def summary(found: Sequence[Evidence]) -> Table:
    """A row for each architecture: what its entries rest on."""
    rows: Rows = [("arch", "entries", "with rows", "rows reproduced", "same arithmetic as one with rows", *golden.EVIDENCE)]
    for arch in dict.fromkeys(evidence.instruction.arch for evidence in found):
        own = [evidence for evidence in found if evidence.instruction.arch == arch]
        kinds = Counter(evidence.instruction.evidence for evidence in own)
        rows.append((
            arch, f"{len(own):,}", f"{sum(bool(e.silicon) for e in own):,}",
            reproduced_text(sum(e.reproduced for e in own), sum(e.rows for e in own)),
            f"{sum(bool(e.alike) for e in own):,}", *(f"{kinds[kind]:,}" for kind in golden.EVIDENCE),
        ))  # fmt: skip
    return "All entries, by their strongest evidence", rows


def details(found: Sequence[Evidence]) -> list[Table]:
    """The evidence of each instruction: its rows, then the ablation of its keys."""
    tables: list[Table] = []
    for evidence in found:
        i = evidence.instruction
        caption = f"{i.arch} {i.name}: {i.operation.name} {parameter_text(i)}"
        tables.append((f"{caption}\n{'; '.join(known(evidence))}", recordings_table(evidence)))
        if evidence.findings:
            tables.append((ablation_caption(evidence), ablation_table(evidence)))
    return tables


def known(evidence: Evidence) -> list[str]:
    """Sentences on an instruction's evidence without their stops."""
    i = evidence.instruction
    origin = [f"evidence: {', '.join(evidence.kinds)}"]
    origin += [f"published: {AUTHORS}"] if "published" in evidence.kinds else []
    if evidence.alike:
        origin.append(f"no rows of its own; the same arithmetic as {', '.join(evidence.alike)}")
    return [*origin, *([f"note: {i.note}"] if i.note else [])]


def recordings_table(evidence: Evidence) -> Rows:
    """A row for each recording, computed ones included, and for each report elsewhere."""
    rows: Rows = [("rows reproduced", "kind", "device", "recorded by", "source", "software", "licence", "special operands")]
    for replay in (*evidence.silicon, *evidence.computed):
        entry = replay.held.entry
        who, source, licence = source_of(entry)
        rows.append((
            reproduced_text(replay.reproduced, replay.rows), entry["kind"], entry["device"], who, source,
            entry["software"] or "not stated", licence, ", ".join(entry["specials"]) or "none",
        ))  # fmt: skip
    for report in evidence.elsewhere:
        who, source, licence = source_of(report)
        compared = f"not included; {report['compared_by']} compares them"
        specials = ", ".join(report["specials"])
        rows.append((compared, "third-party", report["device"], who, source, report["software"], licence, specials))
    return rows


def ablation_caption(evidence: Evidence) -> str:
    """The result of the ablation as a sentence."""
    pinned = sum(finding.status == PINNED for finding in evidence.findings)
    text = f"One step of one key: {pinned} of {len(evidence.findings)} changes are pinned by rows of silicon"
    text += f"; unpinned: {', '.join(evidence.unpinned)}" if evidence.unpinned else ""
    return text + (f"; no row and no vector shows: {', '.join(evidence.unseen)}" if evidence.unseen else "")


def ablation_table(evidence: Evidence) -> Rows:
    """A row for each change of a key."""
    header = ("key", "change", "rows of silicon that disagree", "computed rows", f"of {VECTORS:,} vectors", "status")
    rows: Rows = [header]
    for finding in evidence.findings:
        vectors = "-" if finding.vectors is None else f"{finding.vectors:,}"
        status = f"{finding.status}: {finding.why_same}" if finding.why_same else finding.status
        rows.append((finding.key, finding.text, f"{finding.silicon:,}", f"{finding.computed:,}", vectors, status))
    return rows


def text_of(tables: Sequence[Table], remarks: Sequence[str]) -> str:
    """The tables as text, without those that have no row."""
    parts = [f"{caption}\n{table(rows)}" for caption, rows in tables if len(rows) > 1]
    parts += [caption for caption, rows in tables if len(rows) == 1]
    return "\n\n".join([*parts, *remarks])


def html_of(tables: Sequence[Table], remarks: Sequence[str]) -> str:
    """The tables as one page."""
    parts = [html_table(rows[0], rows[1:], caption) for caption, rows in tables]
    return page("Evidence", joined(parts), *(element("p", remark) for remark in remarks))
