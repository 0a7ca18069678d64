"""The page docs/evidence/recordings.md: what is known of every entry of the catalogue, and from where.

    python -m studies.recorded_evidence docs/evidence/recordings.md

`make recordings` runs it: it replays every row that the project holds and changes every key of every instruction with rows.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import golden
from golden import Instruction
from golden.files import write_atomically
from mmau.analysis.ablation import PINNED, SAME, UNPINNED, UNSEEN, VECTORS, Finding
from mmau.analysis.silicon_evidence import Evidence, evidence_of
from mmau.cli.evidence import source_of
from mmau.report.markdown import document, table

INTRODUCTION = """\
`make recordings` writes this page. It replays every recorded row that the project holds
([hwtests/recordings](../../hwtests/recordings/README.md)) on the models, and then changes each key of each instruction
with rows by one step, to see which rows notice. `mmau evidence` computes the same on your machine, for one instruction in
detail.

`published` means that the authors of the model validated it on silicon; their rows are not public. Rows that their program
MMA-Sim computed are called computed here and are no evidence of silicon. Entries without rows have the evidence that their
table states. The words are those of [numerics.md, section 10](../numerics.md#10-evidence)."""

ABLATION = f"""\
A number counts the rows of silicon that disagree when the key is changed by one step: integers to the nearest valid values
below and above, choices to every other one, in the order in which `mmau evidence` lists them. **0** is unpinned: no row of
silicon notices, though default vectors or computed rows show the change. `=` marks a change that has no effect on any
operand, by an argument that `mmau evidence` states; `·` one that none of {VECTORS:,} default vectors shows either, so that
it may have none. An empty cell is a key that the instruction does not have. The columns `NaN` and `zero` change the code of
NaN results and the sign of zero results: they count rows with such a result."""

MARKS = {UNPINNED: "**0**", SAME: "=", UNSEEN: "·"}

SHORT = {"code of NaN results": "NaN", "sign of zero results": "zero", "order of products": "order", "place of c": "c"}


def family(i: Instruction) -> str:
    """The common part of similar instructions' names: `mma`, `tcgen05 kind::f16`, `v_wmma`, `tdpbf16ps`."""
    if i.name.startswith("v_"):
        return "_".join(i.name.split("_")[:2])
    kind = re.search(r"kind::\w+", i.name)
    return i.name.split(".")[0] + (".sp" if i.sparse else "") + (f" {kind[0]}" if kind else "")


def summary(found: Sequence[Evidence]) -> str:
    """A row for each architecture, family and operation."""
    groups: dict[tuple[str, str, str], list[Evidence]] = {}
    for evidence in found:
        i = evidence.instruction
        groups.setdefault((i.arch, family(i), i.operation.name), []).append(evidence)
    header = (
        "architecture",
        "family",
        "operation",
        "entries",
        "with rows",
        "rows reproduced",
        "recorded by",
        "alike",
        "evidence",
    )
    rows = []
    for (arch, name, operation), group in groups.items():
        replays = [replay for evidence in group for replay in evidence.silicon]
        who = sorted({replay.held.entry["who"] for replay in replays} | {r["who"] for e in group for r in e.elsewhere})
        kinds = Counter(evidence.instruction.evidence for evidence in group)
        rows.append((
            arch, name, operation, f"{len(group):,}", f"{sum(bool(evidence.silicon) for evidence in group):,}",
            reproduced_text(group), "; ".join(who), f"{sum(bool(evidence.alike) for evidence in group):,}",
            ", ".join(f"{kinds[kind]:,} {kind}" for kind in golden.EVIDENCE if kinds[kind]),
        ))  # fmt: skip
    return table(header, rows, numbers=(3, 4, 5, 7))


def reproduced_text(group: Sequence[Evidence]) -> str:
    """`2,000 of 2,000`; empty without a row."""
    rows = sum(evidence.rows for evidence in group)
    return f"{sum(evidence.reproduced for evidence in group):,} of {rows:,}" if rows else ""


def sources(found: Sequence[Evidence]) -> str:
    """A row for each device and source."""
    rows: Counter[tuple[str, ...]] = Counter()
    reproduced: Counter[tuple[str, ...]] = Counter()
    specials: dict[tuple[str, ...], set[str]] = {}
    for evidence in found:
        for replay in (*evidence.silicon, *evidence.computed):
            entry = replay.held.entry
            key = (entry["device"], *source_of(entry))
            rows[key] += replay.rows
            reproduced[key] += replay.reproduced
            specials.setdefault(key, set()).update(entry["specials"])
        for report in evidence.elsewhere:
            key = (report["device"], *source_of(report))
            rows[key], specials[key] = report["rows"], set(report["specials"])
    header = ("device", "recorded by", "source", "licence", "rows", "reproduced", "special operands")
    lines = [
        (
            *key,
            f"{count:,}",
            f"{reproduced[key]:,}" if key in reproduced else "by `make peer`",
            ", ".join(sorted(specials[key])),
        )
        for key, count in rows.items()
    ]
    return table(header, lines, numbers=(4, 5))


def ablations(found: Iterable[Evidence]) -> list[str]:
    """A heading and a table for each operation: a row for each instruction with rows, a column for each key."""
    by_operation: dict[str, list[Evidence]] = {}
    for evidence in found:
        if evidence.findings:
            by_operation.setdefault(evidence.instruction.operation.name, []).append(evidence)
    parts = []
    for operation, group in by_operation.items():
        keys = list(dict.fromkeys(finding.key for evidence in group for finding in evidence.findings))
        header = ("architecture", "instruction", "rows", *(SHORT.get(key, key) for key in keys))
        rows = [
            (e.instruction.arch, f"`{e.instruction.name}`", f"{e.rows:,}", *(cell(e.findings, key) for key in keys))
            for e in group
        ]
        parts += [f"### {operation}", table(header, rows, numbers=(2,))]
    return parts


def cell(findings: Sequence[Finding], key: str) -> str:
    """The counts of the changes of one key."""
    return " / ".join(MARKS.get(f.status, f"{f.silicon:,}") for f in findings if f.key == key)


def unpinned(found: Sequence[Evidence]) -> str:
    """A table, by key, of how many instructions with rows have the key, and of how many pin every change of it that can have
    an effect."""
    total: Counter[str] = Counter()
    open_: Counter[str] = Counter()
    for evidence in found:
        total.update({finding.key for finding in evidence.findings})
        open_.update(evidence.unpinned)
    most = sorted(total.items(), key=lambda item: (-item[1], item[0]))
    rows = [(key, f"{count:,}", f"{count - open_[key]:,}", f"{open_[key]:,}") for key, count in most]
    return table(
        ("key", "instructions with rows", "no change of it unpinned", "some change unpinned"), rows, numbers=(1, 2, 3)
    )


def page() -> str:
    """The text of the page."""
    found = evidence_of(golden.instructions() + golden.sparse_instructions())
    with_rows = [evidence for evidence in found if evidence.silicon]
    changes = [finding for evidence in found for finding in evidence.findings]
    statuses = Counter(finding.status for finding in changes)
    totals = zip(*((e.rows, e.reproduced, bool(e.alike)) for e in found), strict=True)
    rows, reproduced, alike = map(sum, totals)
    counts = (
        f"Of {len(found):,} entries {len(with_rows):,} have rows of silicon, {rows:,} rows in all, of which the models "
        f"reproduce {reproduced:,}; {alike:,} more have the arithmetic of one of these. "
        f"Of {len(changes):,} changes of one key the rows of silicon pin {statuses[PINNED]:,}; {statuses[UNPINNED]:,} are "
        f"unpinned, {statuses[SAME]:,} have no effect on any operand, and {statuses[UNSEEN]:,} are shown by no vector."
    )
    return document(
        "Recorded rows, and what they pin", INTRODUCTION, counts, "## Sources", sources(found),
        "## Entries by architecture and family",
        "`alike`: entries without rows whose arithmetic is that of one with rows, on the same architecture.", summary(found),
        "## Keys that no row pins", unpinned(found),
        "## Ablation of every instruction with rows", ABLATION, *ablations(found),
    )  # fmt: skip


if __name__ == "__main__":
    write_atomically(Path(sys.argv[1]), page().encode())
