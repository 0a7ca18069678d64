"""What was measured, and how far to trust it: workloads, ratios, verification and costs, in the sentences that both reports
share."""

import tomllib
from collections.abc import Sequence
from typing import Any

from golden.text import value_as_text
from mmau.explore.accuracy import Workload
from mmau.explore.accuracy.quantise import ROW, TENSOR, Quantiser
from mmau.explore.accuracy.workload import DISTRIBUTIONS, OF_CLASSES
from mmau.explore.columns import MEASURES, SNR
from mmau.explore.compared import cells_of, measures_of, shared_words, short_names
from mmau.explore.design_space import Asked
from mmau.explore.records import Record, components, is_number, number_of, value_at, verdict

NO_WIRES = (
    "Areas and energies are those of mapped gates and registers, without wires and a clock tree: they compare designs, and "
    "are no forecast of a layout."
)

HEURISTIC = (
    "Mapping is heuristic: the same circuit, written with other names, comes out with other costs. The ± of a cost is twice "
    "the standard deviation of that, measured on four units in osu018 and in asap7; other cells are taken to be as asap7's."
)

GLITCHES = "energy_unit_delay_pj"
"""The cost that tells how much glitches may change."""

RATIOS = {
    "total": "the exact sum of the real numbers, before they are quantised, over that of both errors, quantising's and the "
    "arithmetic's",
    "quantisation": "the exact sum of the real numbers over that of the error of quantising them",
    "arithmetic": "the exact sum of the operands as they are after quantising over that of the error of the arithmetic",
}
"""What signal-to-noise ratios compare."""

DRAWN = {
    "normal": "a, b and c from N(0, 1)",
    "uniform": "a, b and c from U(−1, 1)",
    "outliers": "a, b and c from N(0, 1), of which a share of {share:g} has noise of standard deviation 10 added",
    "chain": "a and b from N(0, 1), c = 0",
    "ill-conditioned": "normal numbers whose sum is {condition:g} times smaller than its terms",
    "file": "operands of the file {path}",
    "tensors": "rows of two tensors, c = 0",
    "network": "a network that is trained on each unit",
    **{kind: f"codes of the class {of} of the stimulus" for kind, of in OF_CLASSES.items()},
}
"""How the operands of each kind of workload are drawn."""

FACTORS = {None: "no factor", TENSOR: "one factor for the whole tensor", ROW: "a factor for each row"}

CHOSEN = {"amax": "by the largest magnitude", "percentile": "by the percentile {percentile:g}", "mse": "by least squares"}


def measured(records: Sequence[Record], asked: Asked) -> list[str]:
    """What the workloads are and what their ratios compare, what all points share, and what was verified."""
    points = [record for record in records if record["kind"] == "point"]
    short = short_names(records)
    said = [f"Workload {short[each.name]}: {workload_text(each, records)}" for each in asked.workloads if each.name in short]
    said += _blocks(points)
    columns = measures_of(records, asked)
    said += [
        f"{MEASURES[f'{which}_{SNR}'].label} (dB): the power of {what}."
        for which, what in RATIOS.items()
        if any(column.endswith(f".{which}_{SNR}") for column in columns)
    ]
    if shared := _shared(points):
        said.append(f"All points: {', '.join(f'{key} = {value_as_text(value)}' for key, value in shared.items())}.")
    return [*said, *verification(points, asked)]


def workload_text(workload: Workload, records: Sequence[Record]) -> str:
    """How the rows of a workload are made, and how many there are."""
    values = {"share": workload.share, "condition": workload.condition or 0, "path": workload.path and workload.path.name}
    said = [DRAWN[workload.kind].format(**values)]
    if workload.network is None:
        said.append("as many products as a step takes" if workload.K is None else f"K = {workload.K:,} products")
    if workload.order is not None:
        said.append("in an order of their own")
    rows = sorted({found for record in records if (found := value_at(record, "accuracy", workload.name, "rows"))})
    if rows:
        said.append(f"{rows[0]:,} rows" if len(rows) == 1 else f"{rows[0]:,} to {rows[-1]:,} rows")
    how = f" {_quantised(workload.quantise)}" if workload.kind in (*DISTRIBUTIONS, "chain", "tensors") else ""
    return f"{', '.join(said)}.{how}"


def _quantised(how: Quantiser) -> str:
    chosen = CHOSEN[how.scale_from].format(percentile=how.percentile)
    return (
        f"Real numbers are rounded to the operands' formats ({how.rounding}); elements of at most 8 bits have "
        f"{FACTORS[how.scale_per]}; factors and scales of blocks are chosen {chosen}."
    )


def _blocks(points: Sequence[Record]) -> list[str]:
    """The block scales of points that have some."""
    found: dict[tuple[Any, Any], list[str]] = {}
    for record in points:
        if size := record["parameters"].get("K_block"):
            found.setdefault((size, record["parameters"].get("scale")), []).append(str(record["name"]))
    of = {key: shared_words(names) for key, names in found.items()}
    said = [f"{f'{of[key]}: ' * bool(of[key])}{key[0]} elements share a scale of {key[1]}" for key in found]
    return [f"Blocks: {'; '.join(said)}."] if said else []


def _shared(points: Sequence[Record]) -> dict[str, Any]:
    """What the files of all points have alike, of their arithmetic, and their stages."""
    files = [tomllib.loads(record["toml"]) for record in points if record.get("toml")]
    first, *others = [{**each, "stages": each.get("implementation", {}).get("stages")} for each in files] or [{}]
    alike = {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}
    return {key: value for key, value in alike.items() if key != "name" and isinstance(value, str | int)}


STAGES = "implementation.stages"


def verification(points: Sequence[Record], asked: Asked) -> list[str]:
    """Whether circuits were compared with their models, and what came of it."""
    states = [verdict(record).state for record in points if value_at(record, "cosimulation", "vectors")]
    vectors = sorted(
        {int(value_at(record, "cosimulation", "received") or 0) for record in points if record.get("cosimulation")}
    )
    netlists = [found for record in points if (found := value_at(record, "cost", "netlist_vectors"))]
    said = "Co-simulation: not asked for."
    if netlists:
        said += f" The mapped netlists of {len(netlists):,} points gave their models' bits on {min(netlists):,} rows."
    if asked.cosimulation or states:
        many = f", {vectors[-1]:,} vectors each" if vectors else ""
        differ = f"; {states.count('differs'):,} DIFFER" if "differs" in states else ""
        said = f"Co-simulation: of {len(points):,} points {states.count('agrees'):,} agree with their models{many}{differ}."
    proofs = [value_at(record, "proof", "proved") for record in points if record.get("proof")]
    if not asked.proof and not proofs:
        return [said, "Proof: not asked for."]
    refuted = f", {proofs.count(False):,} REFUTED" if False in proofs else ""
    return [said, f"Proof: {proofs.count(True):,} of {len(points):,} points are proved for all inputs{refuted}."]


def about_costs(records: Sequence[Record]) -> list[str]:
    """What the costs are, and are not."""
    wanted = [found for record in records if (found := value_at(record, "cost", "wanted"))]
    clocks = dict.fromkeys(f"{found['clock_ns']:g} ns" for found in wanted if "clock_ns" in found)
    activities = dict.fromkeys(found["activity"] for found in wanted if "activity" in found)
    cells = dict.fromkeys(cell for record in records if (cell := cells_of(record)))
    said = [f"Cells: {', '.join(cells)}."] if cells else []
    if clocks:
        is_default = all(value_at(record, "cost", "meets_clock") is None for record in records)
        why = ", the default, as the space names none" if is_default else ""
        changes = ", ".join(dict.fromkeys(map(_activity_text, activities)))
        said.append(
            f"Power and energy: at a clock of {', '.join(clocks)}{why}; cells leak for that time. Activity: {changes}."
        )
        said.append(_about_glitches(records))
    if any(key.startswith("array_") for record in records for key in record.get("cost") or {}):
        said.append(ARRAYS)
    return [*said, NO_WIRES, HEURISTIC]


ARRAYS = (
    "Arrays: a MAC is a product of one of its datapaths; area and energy of an array per MAC hold its registers and "
    "decoders, too, those of the datapath per product do not."
)


def _activity_text(activity: object) -> str:
    return f"each net changes {activity} times in a cycle" if is_number(activity) else str(activity)


def _about_glitches(records: Sequence[Record]) -> str:
    """That energies leave out glitches, and how much they would be with all of them where that is measured."""
    pairs = [(number_of(record, f"cost.{GLITCHES}"), number_of(record, "cost.energy_pj")) for record in records]
    times = [with_them / without for with_them, without in pairs if with_them and without]
    said = "No glitches: a net counts from one settled value to the next."
    if not times:
        return f"{said} Name a workload as the activity to see how many there may be."
    return (
        f"{said} With every glitch that unit delays give, which is more than the truth, a step takes "
        f"{min(times):.3g} to {max(times):.3g} times the energy; the more, the longer its paths between registers. Where "
        "designs differ in that, the truth lies between both columns of what a key changes."
    )


def parts_of_area(records: Sequence[Record]) -> str:
    """How far areas by component add up to more than the area of a datapath; empty where neither is known."""
    pairs = [(sum(components(record).values()), number_of(record, "cost.area_um2")) for record in records]
    shares = [round(100 * parts / whole) for parts, whole in pairs if parts and whole]
    if not shares:
        return ""
    most = f"{min(shares)} to {max(shares)}" if min(shares) < max(shares) else f"{max(shares)}"
    return (
        f"Components are mapped one by one: together they take {most} % of the area of the datapath (black line), which is "
        "mapped as a whole."
    )
