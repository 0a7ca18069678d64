"""The evidence for instructions: which recorded rows their models reproduce, computed now, and which keys no row pins."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import golden
from golden import Instruction
from golden.catalogue import table_evidence
from golden.comparison import differing
from golden.recordings.recording import Recording
from golden.recordings.recording_index import COMPUTED, FOLDER, Held, held, read_elsewhere, read_index
from mmau.analysis.ablation import UNPINNED, UNSEEN, Finding, ablate


@dataclass(frozen=True)
class Replay:
    """A recording, and how many of its rows the model reproduces."""

    held: Held
    reproduced: int

    @property
    def rows(self) -> int:
        """Number of rows of the recording."""
        return int(self.held.entry["rows"])

    def as_dict(self) -> dict[str, Any]:
        """The entry of the index, the file and the count, as values that JSON can hold."""
        return {"file": self.held.name, **self.held.entry, "reproduced": self.reproduced}


@dataclass(frozen=True)
class Evidence:
    """What is known of an instruction's model, and from which sources.

    Attributes:
        instruction: the entry of the catalogue.
        silicon, computed: its recordings of devices, and those that another model computed.
        elsewhere: reports of silicon that the project compares with and does not hold.
        findings: its ablation; empty without a row of silicon, or where a row is not reproduced.
        alike: instructions of the architecture with the same arithmetic that have rows, where this one has none.
    """

    instruction: Instruction
    silicon: tuple[Replay, ...]
    computed: tuple[Replay, ...]
    elsewhere: tuple[dict[str, Any], ...]
    findings: tuple[Finding, ...]
    alike: tuple[str, ...]

    @property
    def kinds(self) -> list[str]:
        """Every evidence that the instruction has, strongest first."""
        i = self.instruction
        found = {i.evidence, table_evidence(i.arch)[i.name]}
        return [kind for kind in golden.EVIDENCE if kind in found]

    @property
    def reproduced(self) -> int:
        """Rows of silicon that the model reproduces."""
        return sum(replay.reproduced for replay in self.silicon)

    @property
    def rows(self) -> int:
        """Rows of silicon that are held."""
        return sum(replay.rows for replay in self.silicon)

    @property
    def is_reproduced(self) -> bool:
        """Whether every row, computed ones included, is reproduced."""
        return all(replay.reproduced == replay.rows for replay in (*self.silicon, *self.computed))

    @cached_property
    def unpinned(self) -> list[str]:
        """The keys of which some change is noticed by no row of silicon, though vectors show it."""
        return list(dict.fromkeys(finding.key for finding in self.findings if finding.status == UNPINNED))

    @cached_property
    def unseen(self) -> list[str]:
        """The keys of which some change is noticed by no row and no vector, and may change nothing."""
        return list(dict.fromkeys(finding.key for finding in self.findings if finding.status == UNSEEN))

    def as_dict(self) -> dict[str, Any]:
        """Everything as values that JSON can hold."""
        return {
            "arch": self.instruction.arch, "instruction": self.instruction.name, "evidence": self.kinds,
            "note": self.instruction.note, "rows": self.rows, "reproduced": self.reproduced,
            "silicon": [replay.as_dict() for replay in self.silicon],
            "computed": [replay.as_dict() for replay in self.computed],
            "elsewhere": list(self.elsewhere), "alike": list(self.alike), "unpinned": self.unpinned,
            "ablation": [vars_of(finding) for finding in self.findings],
        }  # fmt: skip


def vars_of(finding: Finding) -> dict[str, Any]:
    """A finding as values that JSON can hold."""
    return {
        "key": finding.key, "change": finding.text, "silicon": finding.silicon, "computed": finding.computed,
        "vectors": finding.vectors, "status": finding.status, "why": finding.why_same,
    }  # fmt: skip


def evidence_of(instructions: Sequence[Instruction]) -> list[Evidence]:
    """The evidence for instructions, in their order; every row is replayed on the fastest engine, and every key changed.

    Raises:
        ValueError: an index or a recording is damaged, or names an instruction that does not exist; the message names it.
        OSError: it cannot be read.
    """
    files: dict[tuple[str, str], list[Held]] = {}
    for each in held():
        files.setdefault((each.entry["arch"], each.entry["instruction"]), []).append(each)
    check_known(files)
    with_rows = _by_arithmetic(files)
    reports = read_elsewhere(FOLDER)
    return [
        _evidence(
            i,
            files.get((i.arch, i.name), []),
            tuple(report for report in reports if report["arch"] == i.arch and i.name in report["instructions"]),
            with_rows.get((i.arch, i.chain), ()),
        )
        for i in instructions
    ]


def check_known(files: dict[tuple[str, str], list[Held]]) -> None:
    """Raise unless every instruction of the indexes is in the catalogue."""
    for (arch, name), found in files.items():
        try:
            golden.instruction(arch, name)
        except ValueError as error:
            raise ValueError(f"{found[0].folder / found[0].name} is of no instruction of the catalogue: {error}") from error


def _by_arithmetic(files: dict[tuple[str, str], list[Held]]) -> dict[tuple[str, Any], tuple[str, ...]]:
    """The names of the instructions with rows of silicon, by architecture and chain."""
    found: dict[tuple[str, Any], tuple[str, ...]] = {}
    for (arch, name), recordings in files.items():
        if any(is_silicon(each) for each in recordings):
            key = arch, golden.instruction(arch, name).chain
            found[key] = (*found.get(key, ()), name)
    return found


def is_silicon(found: Held) -> bool:
    """Whether a device had part in a recording."""
    return bool(found.entry["kind"] != "computed")


def _evidence(
    i: Instruction, files: Sequence[Held], reports: tuple[dict[str, Any], ...], alike: tuple[str, ...]
) -> Evidence:
    groups: list[tuple[list[Replay], list[Recording]]] = []
    for silicon in (True, False):
        chosen = [each for each in files if is_silicon(each) is silicon]
        recordings = [each.read() for each in chosen]
        groups.append(([Replay(each, reproduced(rows)) for each, rows in zip(chosen, recordings, strict=True)], recordings))
    (silicon_rows, of_silicon), (computed_rows, of_model) = groups
    sound = all(replay.reproduced == replay.rows for replay in (*silicon_rows, *computed_rows))
    findings = ablate(i, of_silicon, of_model) if of_silicon and sound else []
    return Evidence(i, tuple(silicon_rows), tuple(computed_rows), reports, tuple(findings), () if silicon_rows else alike)


def reproduced(recording: Recording) -> int:
    """Rows of a recording that the model of its instruction reproduces, on the fastest engine."""
    differs = differing(recording.dot(), recording.d, recording.instruction.operation)
    return len(recording) - int(np.count_nonzero(differs))


def recorded_rows() -> Counter[tuple[str, str]]:
    """Rows of silicon that the project holds of each architecture and instruction, as the index says: nothing is replayed.

    Raises:
        ValueError: not a valid index.
    """
    rows: Counter[tuple[str, str]] = Counter()
    for each in held():
        if is_silicon(each):
            rows[each.entry["arch"], each.entry["instruction"]] += each.entry["rows"]
    return rows


def not_installed() -> list[str]:
    """Sentences that name what is missing here: recordings of silicon, rows that another model computed."""
    reasons = {
        FOLDER: "no row of silicon can be replayed",
        COMPUTED: "the rows that MMA-Sim computed, which are in the project's source tree alone, are not replayed",
    }
    return [f"{folder} holds no recordings: {what}" for folder, what in reasons.items() if not read_index(folder)]
