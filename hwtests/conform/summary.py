"""The findings of a campaign as text."""

import golden
from hwtests.conform.campaign import Report
from hwtests.conform.instruction_progress import Progress
from hwtests.conform.mismatch import Mismatch, text_of


def summary(report: Report) -> str:
    """Text about every instruction that did not fully agree, with its mismatches by class and the first of them simplified;
    then totals."""
    lines: list[str] = []
    for name, progress in report.instructions.items():
        lines += _about(report.device["arch"], name, progress)
    counts = [progress.status for progress in report.instructions.values()]
    compared = sum(progress.total() for progress in report.instructions.values())
    differ = sum(progress.wrong() for progress in report.instructions.values())
    lines.append(
        f"{counts.count('done')} of {len(counts)} instructions done: {compared:,} results compared, {differ:,} differ; "
        f"seed {report.seed}, {report.device['device']}"
    )
    if not report.complete():
        lines.append("not complete: run the same command again to resume")
    return "\n".join(lines)


def _about(arch: str, name: str, progress: Progress) -> list[str]:
    if progress.status not in ("running", "done"):
        return [f"{name}: {progress.status}: {progress.detail}"]
    found = [_other_code(name, route, code) for route, code in progress.unexpected_code.items()]
    if not progress.wrong():
        return found
    classes = ", ".join(f"{wrong:,} of {progress.vectors[cls]:,} in {cls}" for cls, wrong in progress.mismatches.items())
    lines = [*found, f"{name}: {progress.wrong():,} of {progress.total():,} differ: {classes}"]
    if progress.first is not None:
        lines.append(text_of(Mismatch(**progress.first), golden.instruction(arch, name)))
    return lines


def _other_code(name: str, route: str, code: dict[str, int]) -> str:
    held = ", ".join(f"{mnemonic} ×{count}" for mnemonic, count in code.items())
    return f"{name}{f' ({route})' if route else ''}: the kernel lacks the expected machine instructions; it contains {held}"
