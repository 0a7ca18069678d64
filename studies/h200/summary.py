"""The findings of the job as text."""

from typing import Any

from studies.h200.state import STAGES, STOPPED, State


def line_of(stage: str, name: str, entry: dict[str, Any]) -> str:
    """`volume: wgmma.…: running, 10,000,000 compared, 0 differ`."""
    words = [entry["status"]]
    if "vectors" in entry:
        compared, wrong = sum(entry["vectors"].values()), sum(entry["mismatches"].values())
        words.append(f"{compared:,} compared, {wrong:,} differ")
    if entry.get("orders"):
        scores = ", ".join(f"{order} {wrong:,}" for order, wrong in entry["orders"].items())
        words.append(f"wrong of {entry['order_rows']:,} by order: {scores}")
    if entry.get("not_run"):
        words.append(f"{entry['not_run']} points not run")
    if entry.get("detail"):
        words.append(entry["detail"])
    return f"{stage}: {name}: {', '.join(word for word in words if word)}"


def agreed(state: State) -> bool:
    """Whether nothing differed, failed, hung or crashed, and kernels hold what they must."""
    entries = [entry for of_stage in state.done.values() for entry in of_stage.values()]
    return not any(_is_bad(entry) for entry in entries)


def _is_bad(entry: dict[str, Any]) -> bool:
    wrong = sum(entry.get("mismatches", {}).values())
    return bool(entry["status"] in (*STOPPED, "dependent") or wrong or entry.get("unexpected_code"))


def of_unknown_code(state: State) -> int:
    """The number of kernels that ran, by their binaries, whose machine code was never disassembled: it is not checked."""
    binaries = {False: set[str](), True: set[str]()}
    for entry in (entry for of_stage in state.done.values() for entry in of_stage.values()):
        code, sha256 = entry.get("machine_code", {}), entry.get("sha256", {})
        for route, digest in ({"": sha256} if isinstance(sha256, str) else sha256).items():
            binaries[bool(code.get(route, code))].add(digest)
    return len(binaries[False] - binaries[True])


def summary(state: State) -> str:
    """Every item that did not simply agree; then how far each stage is."""
    lines = []
    for stage in STAGES:
        for name, entry in state.done.get(stage, {}).items():
            if _is_bad(entry) or entry.get("orders"):
                lines.append(line_of(stage, name, entry))
            if entry.get("unexpected_code"):
                lines.append(f"  the kernel lacks the expected machine instructions; it contains {entry['unexpected_code']}")
    unknown = of_unknown_code(state)
    if unknown:
        lines.append(f"machine code unknown of {unknown:,} kernels: no disassembler (nvdisasm) was at hand")
    for stage in STAGES:
        items = state.planned.get(stage, [])
        compared = sum(sum(entry.get("vectors", {}).values()) for entry in state.done.get(stage, {}).values())
        results = f", {compared:,} results compared" if compared else ""
        lines.append(f"{stage}: {len(items) - len(state.open_items(stage))} of {len(items)} done{results}")
    if not state.complete():
        lines.append("not complete: run the same command again to resume")
    return "\n".join(lines)
