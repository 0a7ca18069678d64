"""The results of the list as files: recordings with their index, rows that differ, products with the orders that explain
them, conversions, and the tables of the timed loops.

    python -m studies.lent_minutes.unpack OUT INTO [PLACE]

PLACE, such as h100, is a folder below hwtests/recordings to which the recordings go too.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import golden
from golden import GemmOrder
from golden.arrays import bits_dtype
from golden.files import write_atomically
from golden.recordings import recording, recording_index
from studies.lent_minutes.cublaslt import Problem
from studies.lent_minutes.instructions import RECORDINGS
from studies.lent_minutes.products import SCALES, operand, problem_of, sampled
from studies.lent_minutes.records import DONE, Records
from studies.library_products.drawn_codes import STREAMS, A, B
from studies.microbenchmarks.run import POINTS, Measured, write_points, write_tables

TF32_ROUNDED, TF32_CUT = "rounded to tf32, to nearest even", "cut to tf32"

SPLIT_TILES = {"fp32": (16, 32, 64), "fp16": (64,), "bf16": (64,), "e4m3": (128,), "e5m2": (128,)}
"""Products of a kernel's tile along K that parts may have whole ones of, by format of A."""


class Order(NamedTuple):
    """How the elements are computed: an instruction of sm_90, how operands are changed before it, and keys of GemmOrder."""

    instruction: str
    operands: str
    keys: dict[str, Any]

    def __str__(self) -> str:
        keys = "".join(f", {key} = {value}" for key, value in self.keys.items())
        return self.instruction + (f", operands {self.operands}" if self.operands else "") + keys


def candidates(problem: Problem, parts: int, scaled: bool = False) -> Iterator[Order]:
    """The orders that are tried, the plain chain first.

    Args:
        parts: number of parts of K, as the library's algorithm says (SPLITK_NUM). scaled: whether the sum is multiplied
            by scales.
    """
    p = problem
    name = {
        "fp32": "wgmma.m64n128k8.f32.tf32.tf32", "fp16": "wgmma.m64n128k16.f32.f16.f16",
        "bf16": "wgmma.m64n128k16.f32.bf16.bf16",
    }.get(p.a, f"wgmma.m64n128k32.f32.{p.a}.{p.b}")  # fmt: skip
    output = {"output": p.d} if p.d != "fp32" else {}
    promoted = ({}, {"promote_every": 4}) if p.a in ("e4m3", "e5m2") and not p.fast else ({},)
    splits: list[dict[str, Any]] = [{}]
    if parts > 1:
        sums = ("fp32",) if p.d == "fp32" else ("fp32", "workspace") if scaled else ("fp32", "workspace", "in-place")
        splits += [{"split_k": parts, "split_tile": tile, "split_sum": way} for tile in SPLIT_TILES[p.a] for way in sums]
    for conversion in (TF32_ROUNDED, TF32_CUT) if p.tf32 else ("",):
        for promotion in promoted:
            for split in splits:
                yield Order(name, conversion, promotion | split | output)


def operands_of(problem: Problem) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The rows of A and the columns of B of the elements that are kept, [rows, K] and [K, columns]."""
    p, (rows, columns), k = problem, sampled(problem), np.arange(problem.K)
    places = columns * p.K + k[:, None] if p.transposed else k[:, None] * p.N + columns
    a = operand(p.a, STREAMS + A, rows[:, None] * p.K + k)
    return a.astype(bits_dtype(golden.FORMATS[p.a])), operand(p.b, STREAMS + B, places).astype(
        bits_dtype(golden.FORMATS[p.b])
    )


def computed(problem: Problem, order: Order, scaled: bool) -> npt.NDArray[Any]:
    """The codes of the elements under an order. Sums with scales are multiplied by the product of both,
    in fp32."""
    a, b = (_converted(codes, order.operands) for codes in operands_of(problem))
    keys = dict(order.keys)
    if scaled:
        keys |= {"epilogue": ("alpha",), "alpha": float(np.float32(SCALES[0]) * np.float32(SCALES[1]))}
    d = golden.gemm(golden.instruction("sm_90", order.instruction), a, b, order=GemmOrder(**keys))
    return np.asarray(d).view(bits_dtype(golden.FORMATS[problem.d]))


def _converted(codes: npt.NDArray[Any], conversion: str) -> npt.NDArray[Any]:
    if conversion == TF32_ROUNDED:
        codes = codes + np.uint32(0xFFF) + (codes >> np.uint32(13) & np.uint32(1))
    return codes & np.uint32(0xFFFFE000) if conversion else codes


def explained_by(problem: Problem, parts: int, elements: npt.NDArray[Any], scaled: bool) -> list[str]:
    """Every order that gives all elements; none where the product is to be looked at."""
    return [
        str(order) for order in candidates(problem, parts, scaled) if (computed(problem, order, scaled) == elements).all()
    ]


REPORTS = {item: f"{item}.json" for item in ("instructions", "products", "conversions", "models")}
"""Item to file of what its units found."""


def unpack(out: Path, into: Path, place: str = "", *, kept: Path = recording_index.FOLDER) -> int:
    """Write the files, and return the number of recordings.

    Args:
        place: folder below `kept` for the recordings; empty for none.

    Raises:
        ValueError: the folder has no results, or one is damaged. OSError: it cannot be read or written.
    """
    records = Records(out)
    if not records.machine:
        raise ValueError(f"{out} must have results of the list, it has none")
    count = 0
    for name, content in records.files.items():
        path = into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
        if path.parent.name == RECORDINGS:
            found, count = recording.read(path), count + 1
            recording_index.write(path.parent, found)
            if place:
                recording_index.write(kept, found, place)
    for item, file in REPORTS.items():
        units = records.units.get(item, {})
        if item == "products":
            units = {unit: explained(unit, entry) for unit, entry in units.items()}
        text = {"machine": records.machine, "runs": records.runs, "units": units}
        into.mkdir(parents=True, exist_ok=True)
        write_atomically(into / file, (json.dumps(text, indent=1, ensure_ascii=False) + "\n").encode())
    points = [
        Measured(*point) for entry in records.units.get("timed again", {}).values() for point in entry.get("points", [])
    ]
    if points:
        write_points(into / POINTS, points)
        write_tables(into, points, records.machine["device"])
    return count


def explained(unit: str, entry: dict[str, Any]) -> dict[str, Any]:
    """The entry of a product with the orders that give all its elements; the elements are dropped where an order does."""
    if entry["status"] != DONE or "elements" not in entry:
        return entry
    problem = problem_of(unit)
    rows, columns = sampled(problem)
    codes = np.frombuffer(bytes.fromhex(entry["elements"]), "<u4").reshape(len(rows), len(columns))
    elements = codes.astype(bits_dtype(golden.FORMATS[problem.d]))
    orders = explained_by(problem, entry["algorithm"]["SPLITK_NUM"], elements, "scaled" in unit)
    return {key: value for key, value in entry.items() if key != "elements" or not orders} | {"explained_by": orders}


if __name__ == "__main__":
    try:
        given, where, *to_keep = sys.argv[1:]
        print(f"{unpack(Path(given), Path(where), *to_keep[:1]):,} recordings")
    except (ValueError, OSError) as error:
        print(f"studies.lent_minutes.unpack: {error}", file=sys.stderr)
        sys.exit(2)
