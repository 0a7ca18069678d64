"""Volume runs in native code: segments in parallel, as one, and a replay of the first mismatch in cocotb."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cosim.bench.coverage import BETWEEN, disagreement, flags_of, pairs_by_name
from cosim.bench.minimise import AGREES_ALONE
from cosim.bench.mismatch import ComparedRow, Group, Minimised, Mismatch, described, joined
from cosim.bench.products import DotProducts, EchoRows, Element
from cosim.bench.returned import parts_of
from cosim.bench.scoreboard import Outcome
from cosim.bench.stimulus import specification_of
from cosim.bench.waits import waits_by_name
from cosim.build.errors import SimulationError
from cosim.build.sources import sources_of
from cosim.coverage.coverage_model import Counts
from cosim.runner.job import Simulated
from cosim.runner.request import Request
from cosim.runner.simulate import replay
from cosim.runner.vhdl_circuit import circuit_of
from cosim.volume.decoded_vectors import Decoder
from cosim.volume.design_plan import write_plan
from cosim.volume.segments import DIRECTED, Segment, Vectors
from cosim.volume.simulation_program import Broken, build_program, run_program
from cosim.volume.vector_files import RowsFile
from golden import Cls
from golden.engines.engine import fastest_engine
from golden.processes import in_parallel
from rtl.designs.design import Design
from rtl.designs.ports import Echo

NOTHING: Mapping[str, Any] = {
    "sent": 0, "received": 0, "dropped": 0, "waiting": 0, "surplus": 0, "left_out": 0, "mismatches": 0, "stopped": None,
    "seconds": 0.0, "classes": {}, "result_classes": [0] * len(Cls), "result_pairs": [],
    "waits": {}, "waived": {}, "groups": [], "rows": [], "returned": [],
}  # fmt: skip
"""The counts of a program that ended without an outcome."""


def part_of(
    design: Design, request: Request, segment: Segment, rows: RowsFile | None, outcome: Mapping[str, Any] | Broken
) -> Simulated:
    """The results of one segment of a run.

    Args:
        rows: the file of its vectors; None for native vectors.
    """
    if isinstance(outcome, Broken):
        last_line = outcome.log.strip().rpartition("\n")[2]
        reason = f"{outcome.how}: {last_line}" if last_line else outcome.how
        outcome = {**NOTHING, "stopped": f"the simulation broke off: {reason}"}
    classes = segment.classes if rows is None else rows.classes
    decoder = Decoder(design, request.results, classes)
    compared = [decoder.compared(row) for row in outcome["rows"]]
    differing = tuple(row for row, raw in zip(compared, outcome["rows"], strict=True) if not raw["agrees"])
    texts = {at: _text(decoder, row) for at, row in enumerate(outcome["rows"]) if not row["agrees"]}
    checked, disagreements = _checked(decoder, rows, outcome)
    made = classes if rows is not None else {int(label): classes[int(label)] for label in outcome["classes"]}
    counts = Outcome(
        vectors=segment.vectors,
        left_out=outcome["left_out"] + (0 if rows is None else rows.left_out),
        sent=outcome["sent"],
        dropped=outcome["dropped"],
        received=outcome["received"],
        waiting=outcome["waiting"],
        surplus=outcome["surplus"],
        first_surplus=outcome["first_surplus"] if outcome["surplus"] else None,
        mismatches=outcome["mismatches"],
        first_mismatch=next(iter(texts.values()), None),
        groups=joined(_group(decoder, group, outcome["rows"], compared, texts) for group in outcome["groups"]),
        differing=differing,
        agreeing=tuple(row for row, raw in zip(compared, outcome["rows"], strict=True) if raw["agrees"])
        if differing
        else (),
        engine=fastest_engine() if specification_of(design, request.results, request.widths).is_native else "reference",
        checked=checked,
        disagreements=len(disagreements),
        first_disagreement=next(iter(disagreements), None),
        waived=dict(outcome["waived"]),
        stopped=outcome["stopped"],
        classes={name: outcome["classes"].get(str(label), 0) for label, name in sorted(made.items())},
        result_classes={cls.name.lower(): outcome["result_classes"][cls] for cls in Cls},
        coverage=_covered(rows, outcome),
        result_pairs=pairs_by_name(outcome["result_pairs"], design.operation.d),
        choice_pairs={} if rows is None else rows.coverage.choice_pairs(),
        raised=_raised(design.echoes, outcome["returned"], classes),
        returned={
            name: tuple(counts)
            for echo, of in zip(design.echoes, outcome["returned"], strict=False)
            for name, counts in zip(parts_of(echo), of["counts"], strict=True)
        },
        waits=waits_by_name(outcome["waits"], design.operation.d),
    )
    return Simulated(outcome=counts, seconds=outcome["seconds"])


def _raised(echoes: Sequence[Echo], returned: Sequence[Mapping[str, Any]], classes: Mapping[int, str]) -> dict[str, int]:
    """Results by output of exception flags, flags raised, and class, as `Coverage.raised` has them."""
    found = Counter[str]()
    for echo, of in zip(echoes, returned, strict=False):  # none came where the program ended without an outcome
        for label, code, count in of["raised"] if echo.flags else ():
            found[BETWEEN.join((echo.name, flags_of(echo, code), classes[label]))] += count
    return dict(sorted(found.items()))


def _covered(rows: RowsFile | None, outcome: Mapping[str, Any]) -> tuple[Counts, ...]:
    """The bins hit by the rows of a file where every row was compared and agreed; else none."""
    if rows is None or outcome["mismatches"] or outcome["stopped"] is not None or outcome["received"] != rows.vectors:
        return ()
    return rows.coverage.counts()


def _text(decoder: Decoder, row: Mapping[str, Any]) -> str:
    """Describe an element that differs, in full."""
    returned = decoder.echo(row)
    if returned is not None:
        return described(row["vector"], *returned)
    compared = decoder.compared(row)
    return described(compared.vector, Element(decoder.alone(row), 0, compared.place), compared.got)


def _group(
    decoder: Decoder,
    group: Mapping[str, Any],
    rows: list[Mapping[str, Any]],
    compared: list[ComparedRow],
    texts: Mapping[int, str],
) -> Group:
    """Convert a group of the program; several of them may have the key of one group of a report, and are joined later."""
    members = [Mismatch.of(compared[at], decoder.result(rows[at])) for at in group["rows"]]
    first = group["rows"][0]
    return Group(**members[0].group._asdict(), count=group["count"], first=texts[first], mismatches=tuple(members))


def _checked(decoder: Decoder, rows: RowsFile | None, outcome: Mapping[str, Any]) -> tuple[int, list[str]]:
    """The number of results that the reference engine computed too, and descriptions of those with other bits."""
    if rows is not None:
        return len(rows.sample.rows()), rows.sample.disagreements()
    sampled: list[DotProducts] = [decoder.alone(row) for row in outcome["rows"] if row["sampled"]]
    return len(sampled), [text for each in sampled for text in [disagreement(each)] if text is not None]


@dataclass(frozen=True)
class Sent:
    """A segment that was sent.

    Attributes:
        rows: the file of its vectors, since removed; None for native vectors.
        outcome: the program's outcome.
    """

    segment: Segment
    rows: RowsFile | None
    outcome: Mapping[str, Any] | Broken

    @property
    def has_ended(self) -> bool:
        """Whether the segment ended before all its vectors were sent and answered."""
        return isinstance(self.outcome, Broken) or self.outcome["stopped"] is not None

    @property
    def classes(self) -> Mapping[int, str]:
        """Name of each class of the stimulus, by number."""
        return self.segment.classes if self.rows is None else self.rows.classes

    @property
    def mismatches(self) -> list[Mapping[str, Any]]:
        """The rows of elements that differ, as the program wrote them."""
        return [] if isinstance(self.outcome, Broken) else [row for row in self.outcome["rows"] if not row["agrees"]]


def run_in_volume(design: Design, request: Request, folder: Path) -> Simulated:
    """Run all segments, as one."""
    say = request.report_progress
    say(f"{design.name}: building for volume")
    sources = sources_of(design, None if request.dut is None else circuit_of(design, request.dut, folder), folder)
    program = build_program(sources, folder, request.work_dir is not None)
    say(f"{design.name}: {request.vectors:,} vectors")
    vectors = Vectors(
        design=design, timing=sources.timing, results=request.results, vectors=request.vectors, seed=request.seed,
        selection=request.selection, folder=folder, widths=request.widths,
    )  # fmt: skip
    native_seed = request.seed if request.vectors > DIRECTED and vectors.are_native else None
    plan = write_plan(design, sources.timing, folder, request.results, request.compare, native_seed, request.widths)
    segments = list(vectors.segments())
    sent = send(program, plan, segments, request.processes, request.fail_fast)
    parts = [part_of(design, request, each.segment, each.rows, each.outcome) for each in sent]
    left_out = sum(part.outcome.left_out for part in parts) + request.vectors - sum(each.vectors for each in segments)
    outcome = Outcome.joined([part.outcome for part in parts], vectors=request.vectors, left_out=left_out)
    return Simulated(
        outcome=outcome,
        seconds=sum(part.seconds for part in parts),
        minimised=_replayed(design, request, folder, outcome, sent),
        sources=sources.digests,
    )


def send(program: Path, plan: Path, segments: Sequence[Segment], processes: int, fail_fast: bool) -> list[Sent]:
    """Send segments, and return them in order up to the first one that ended early: the number of processes does not change
    the result.

    Args:
        processes: number of segments at a time.
        fail_fast: whether the first mismatch ends the run.

    Raises:
        SimulationError: the program refuses the request.
    """
    options = ["--stop-at-first"] if fail_fast else []
    ended: list[int] = []

    def one(number: int) -> Sent | None:
        if any(earlier < number for earlier in ended):
            return None
        segment = segments[number]
        rows = None if segment.write is None else segment.write()
        of_file = [] if rows is None else ["--rows", str(rows.path)]
        schedule = segment.schedule().write(plan.parent / f"schedule{segment.first}.txt")
        of_file += ["--schedule", str(schedule)]
        sent = Sent(segment, rows, run_program(program, plan, [*of_file, *segment.arguments, *options]))
        for path in (schedule, *([] if rows is None else [rows.path])):
            path.unlink()
        if sent.has_ended:
            ended.append(number)
        return sent

    found = []
    for sent in in_parallel([partial(one, number) for number in range(len(segments))], processes):
        if sent is None:
            break
        found.append(sent)
        if sent.has_ended:
            break
    return found


def _replayed(design: Design, request: Request, folder: Path, outcome: Outcome, sent: Sequence[Sent]) -> Minimised | None:
    """The first mismatch, minimised by a replay in cocotb where it also differs when sent alone; None without mismatches."""
    returned = {EchoRows(echo, 0).name for echo in design.echoes}
    original = next((row for row in outcome.differing if row.products not in returned), None)
    if original is None:
        return None
    for each in sent:
        decoder = Decoder(design, request.results, each.classes)
        for row in each.mismatches:
            if not design.echoes or decoder.echo(row) is None:
                request.report_progress(f"{design.name}: vector {row['vector']} again, in cocotb")
                vector = {"rows": [row], "classes": dict(each.classes)}
                return _minimised(design, request, folder, vector, original)
    return None


def _minimised(
    design: Design, request: Request, folder: Path, vector: Mapping[str, Any], original: ComparedRow
) -> Minimised:
    """Minimise a mismatch in cocotb; where that fails, return the original with the reason. It remains a mismatch."""
    try:
        again = replay(design, request, folder, vector)
    except SimulationError as error:
        message = "; ".join(str(error).splitlines())
        note = f"not minimised: it could not be sent again in cocotb: {message}"
        return Minimised(row=original, reproduced=False, asked=0, note=note)
    if again.minimised is not None:
        return again.minimised
    if again.outcome.stopped is not None:
        note = f"not minimised: sent alone in cocotb, the simulation ended before its result: {again.outcome.stopped}"
    else:
        note = AGREES_ALONE
    return Minimised(row=original, reproduced=False, asked=1, note=note)
