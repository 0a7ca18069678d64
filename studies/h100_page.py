"""The page docs/evidence/h100.md, from the facts in docs/evidence/h100.json, which a job at commit 877aadc2 found there.

    python -m studies.h100_page docs/evidence

`make h100` runs it.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import golden
from golden.catalogue.wmma import made_of
from golden.files import write_atomically
from mmau.report.markdown import bullets, document, table
from studies.pages import made_by

JSON, PAGE = "h100.json", "h100.md"

ARCH = "sm_90"

WMMA = {"w16": "m16n16k16", "w32": "m32n8k16", "w8": "m8n32k16", "w16_f32_tf32": "m16n16k8", "w8_f64": "m8n8k4"}
"""Shapes of the functions in the disassembly, by name or by its first part."""

WMMA_FOR = ("sm_80", "sm_90")

VOLUME = """\
Kernels made the inputs, the instruction computed, and golden's cuda engine computed the same and compared every
result on the device: bit patterns, except that for FP64 any NaN counts as any NaN ([numerics.md, section
3](../numerics.md#3-special-values) says which came). What tells that the comparison can fail: NaN codes and −0 are
counted as the device wrote them, and where a model has an e_zero one tile in 16 was computed with e_zero + 1 too; the
last column counts the results that this would have changed. It is 0 where that change has no effect in these formats
([recordings.md](recordings.md) marks it `=` or `·`), and for FMA, which has no e_zero. The self-test of the engine
passed before any of it."""

WMMA_TEXT = """\
nvcc 13.0 compiled `nvcuda::wmma::mma_sync` for two parts. 16 columns are two instructions of 8, and tf32 besides two
steps of k4. These are the steps that the catalogue names (`mmau eval` on `wmma.…`), whose source is NVRTC."""

RECORDED = """\
At least 8,192 rows of every instruction, of all classes and corners, in several places of the tile and by every
operand route. [hwtests/recordings](../../hwtests/recordings/README.md) keeps every row of the directed generators and
36 of each random one, of `wgmma` those with N = 8; [recordings.md](recordings.md) says which keys of a model they
pin."""

ORDERED = """\
Rows that tell the three orders from each other, and how many of them each order gets wrong. The catalogue's is
pairs-of-four: k mod 4 < 2 first ([numerics.md, section 9](../numerics.md#9-fp8-through-mmasync-on-sm_90-and-sm_100))."""

TRIED = """\
Tried were every length of a step, over the selected products or over all K with zeros between them, and every order
where FP8 runs as fp16 work; of integers whether the exact sum wraps or saturates. Every selection was run, one for all
groups of a tile. The explanations are the catalogue's entries of these instructions.
The last column is the fewest results that a hypothesis gets wrong that does not explain all."""

PROBE = """\
`mmau probe --device sm_90:NAME --vectors 1000000` knows nothing of the catalogue. A key that it could not tell is
printed with all values that give the same results; *as the catalogue* means that the catalogue's value is the one
found, or among these."""

TIMED = """\
One SM, loops without global memory. Latency: cycles of one turn at one warp (`wgmma`: four) and ILP 1. Throughput:
multiply-adds (FMA) or bytes per cycle and SM, as the work of all warps divided by the mean of their cycles. Where
warps are not served alike the mean is below the time of all, and the figure too high: loads of shared memory reach
143.9 bytes a cycle here, and its banks give 128."""

NOT_SHOWN = (
    "One part, one driver, one version of NVRTC, on one day. That an H200, another H100 or another driver computes "
    "the same is not shown.",
    "Of `wgmma` with N other than 8 rows are not kept, so that these results can be counted here and not replayed; "
    "their entries stay `inferred` ([numerics.md, section 10](../numerics.md#10-evidence)). N = 256 was recorded too:"
    " no row differs from the model.",
    "Volume was drawn by one seed from the generators of [the guide to stimulus](../guides/stimulus.md). What they do"
    " not draw was not compared: it is no proof.",
    "Results of integers of u8 by s8, of 4 bits and of single bits, of integer `wgmma` and of sparse integers were not "
    "compared, though some were timed. Of sparse instructions no row is kept, and their entries are `inferred`.",
    "`tcgen05`, block scaling and every other part than sm_90: no kernel of them has run.",
    "Machine code is that of the kernels of this project. What a library's kernel does with the same instruction is "
    "another question ([the guide to products](../guides/gemm.md)).",
)


def page(found: dict[str, Any]) -> str:
    """The page."""
    machine, volume = found["machine"], found["volume"]
    results, differ = (sum(group[key] for group in volume.values()) for key in ("results", "differ"))
    rows, rows_differ = (sum(group[key] for group in found["recordings"].values()) for key in ("results", "differ"))
    count = sum(group["instructions"] for group in volume.values())
    seconds = sum(group["seconds"] for group in volume.values())
    introduction = (
        f"{made_by('h100')} At commit 877aadc2 a job of this project ran to its end on an {machine['device']}, the first "
        f"GPU that it measured, and this is what it found.\n\n**{results:,} results of {count} instructions were compared "
        f"at volume, and {rows:,} recorded rows besides: {differ + rows_differ:,} differ.** Comparing at volume took "
        f"{seconds:,.0f} s by the job's count."
    )
    return document(
        f"The models on an {machine['device'].removeprefix('NVIDIA ')}",
        introduction, "## The machine", of_machine(found),
        "## Results compared at volume", VOLUME, of_volume(volume), "By generator: " + counts(found["generators"]) + ".",
        "## Recorded rows", of_recordings(found["recordings"]),
        "## The order of the products of FP8 `mma.sync`", of_orders(found["orders"]),
        "## Sparse and integer instructions", of_tiles(found["tiles"]),
        "## What the probe found", PROBE, of_probe(found["probe"]),
        "## Machine instructions of `wmma`", WMMA_TEXT, of_wmma(found["wmma"]),
        "## Latency and throughput", TIMED, of_timed(found["timed"]),
        "## What is not shown", bullets(NOT_SHOWN),
    )  # fmt: skip


def counts(of: dict[str, int]) -> str:
    """`ties 3, cancel 2`."""
    return ", ".join(f"{name} {count:,}" for name, count in of.items())


def of_machine(found: dict[str, Any]) -> str:
    """Device, versions, and the calls."""
    machine, tests = found["machine"], found["self-test"]
    versions = ", ".join(f"{name} {version}" for name, version in found["software"].items())
    unknown = found["machine code unknown"]
    calls = (
        f"{run['started']}: first results after {run['first_results']}; SM clock {run['sm_clock']}, "
        f"{run['temperature']} °C, {run['power']} at the start; commit {run['commit'][:8]}"
        for run in found["runs"]
    )
    code = f"that of {unknown:,} is unknown" if unknown else "every binary has the matrix instructions that it must have"
    return "\n\n".join((
        f"{machine['device']} ({machine['arch']}), driver {machine['driver']}, {machine['compiler']}, {versions}; "
        f"SM clock at most {machine['largest_sm_clock']}, memory {machine['memory_clock']}. Machine code of the kernels: "
        f"{code}. Self-test: the engine on {tests['engine']:,} rows of the reference, and {tests['kernels']:,} instructions "
        "on matrices of small integers, no wrong result.",
        bullets(calls),
    ))  # fmt: skip


def of_volume(groups: dict[str, dict[str, Any]]) -> str:
    """A row for each group of instructions."""
    header = ("instruction", "instructions", "results", "differ", "per second", "NaN by code", "−0", "e_zero + 1", "changed")
    rows = (
        (
            f"`{name}`", str(of["instructions"]), f"{of['results']:,}", exact(of["differ"]),
            f"{of['results'] / of['seconds'] / 1e9:.1f}·10^9", counts(of["nans"]), f"{of['negative zeros']:,}",
            f"{of['e_zero'][0]:,}", f"{of['e_zero'][1]:,}",
        )
        for name, of in groups.items()
    )  # fmt: skip
    return table(header, rows, numbers=(1, 2, 3, 4, 6, 7, 8))


def exact(differ: int) -> str:
    """A count that should be 0."""
    return f"{differ:,}" if not differ else f"**{differ:,}**"


def of_recordings(groups: dict[str, dict[str, Any]]) -> str:
    """How many rows, by group; a thinned part of them is kept."""
    rows = ((f"`{name}`", str(of["instructions"]), f"{of['results']:,}", exact(of["differ"])) for name, of in groups.items())
    return RECORDED + "\n\n" + table(("instruction", "instructions", "rows", "differ"), rows, numbers=(1, 2, 3))


def of_orders(orders: dict[str, dict[str, Any]]) -> str:
    """Rows that tell the orders, and how many each gets wrong."""
    names = list(dict.fromkeys(order for of in orders.values() for order in of["wrong"]))
    rows = ((f"`{name}`", f"{of['rows']:,}", *(f"{of['wrong'][o]:,}" for o in names)) for name, of in orders.items())
    return ORDERED + "\n\n" + table(("instruction", "rows", *names), rows, numbers=range(1, 2 + len(names)))


def of_tiles(tiles: dict[str, dict[str, Any]]) -> str:
    """The hypotheses that explain every result."""
    rows = (
        (f"`{name}`", f"{of['compared']:,}", "; ".join(of["explained by"]) or "**none**", f"{of['others wrong']:,}")
        for name, of in tiles.items()
    )
    return TRIED + "\n\n" + table(("instruction", "results", "explained by", "next one wrong"), rows, numbers=(1, 3))


def of_probe(probed: dict[str, dict[str, Any]]) -> str:
    """The findings, and whether they are the catalogue's."""
    rows = (
        (
            f"`{name}`", found["operation"],
            ", ".join(f"{key} {value}{alike and f' (or {alike})'}" for key, (value, alike) in found["keys"].items()),
            "; ".join(beside(name, found)) or "as the catalogue", f"{found['vectors']:,}", f"{found['validated']:,}",
        )
        for name, found in probed.items()
    )  # fmt: skip
    header = ("instruction", "operation", "found", "beside", "vectors", "random rows alike")
    return table(header, rows, numbers=(4, 5))


def beside(name: str, found: dict[str, Any]) -> Iterable[str]:
    """The catalogue where it says otherwise: keys whose value is neither found nor among those alike."""
    i = golden.instruction(ARCH, name)
    parameters = i.operation.parameters().items()
    known = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in parameters}
    if i.fp16_order is not None:
        known |= {"order": i.chain.order, "add_c": "last"}
    operation = f"converted {i.operation.name}" if i.fp16_order is not None else i.operation.name
    if found["operation"] != operation:
        yield f"the catalogue has **{operation}**"
    for key, (value, alike) in found["keys"].items():
        if key in known and known[key] != value and not among(known[key], alike):
            yield f"the catalogue has **{key} {known[key]}**"


def among(value: str, alike: str) -> bool:
    """Whether a value is in a list such as `true`, `a, b` or the range `-1024 … 7`."""
    low, _, high = alike.partition(" … ")
    return int(low) <= int(value) <= int(high) if high else value in alike.split(", ")


def of_wmma(listing: dict[str, list[dict[str, int]]]) -> str:
    """The instructions that the compiler made of each function."""
    rows = []
    for function, parts in listing.items():
        first, d, a = (*function.split("_"), "")[:3]
        shape = WMMA.get(function) or WMMA[first]
        a = a or d
        name = f"wmma.{shape}.{d}.{a}.{a}.{d}"
        made = [", ".join(f"{count} × {word}" for word, count in part.items()) for part in parts]
        rows.append((f"`{name}`", f"`{made_of(ARCH)[name]}`", *made))
    return table(("wmma", "in the catalogue the steps of", *WMMA_FOR), rows)


def of_timed(timed: Iterable[list[Any]]) -> str:
    """A row for each timed loop."""
    rows = (
        (f"`{name}`", f"{latency:.1f}", f"{throughput:,.1f}", unit, str(warps), str(ilp))
        for name, unit, latency, throughput, warps, ilp in timed
    )
    return table(("instruction", "latency", "throughput", "of", "warps", "ILP"), rows, numbers=(1, 2, 4, 5))


def main(folder: Path) -> None:
    """Write the page.

    Raises:
        OSError, ValueError: the facts cannot be read.
    """
    found = json.loads((folder / JSON).read_text(encoding="utf-8"))
    write_atomically(folder / PAGE, page(found).encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
